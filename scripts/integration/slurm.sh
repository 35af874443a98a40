#!/usr/bin/env bash
# Runs scripts/slurm/array.sh under a real Slurm on this machine: an array of 16 over 16
# inputs, of which one task fails once and is queued again, and one is killed and
# submitted again alone. All outputs must be those of one job, and verify -merge must say whole.
# It needs root, and Debian's slurm-wlm and munge, which it installs.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

[[ $(id -u) == 0 ]] || skip "Slurm's daemons need root"
if ! command -v slurmctld >/dev/null || ! command -v munged >/dev/null; then
  { apt-get update -qq && apt-get install -y -qq --no-install-recommends slurm-wlm munge; } >"$scratch/apt" 2>&1 ||
    skip "slurm-wlm cannot be installed: $(tail -n 1 "$scratch/apt")"
fi
build

started=()
stop() {
  local pid
  for pid in "${started[@]}"; do
    kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null || true
  done
  rm -rf "$scratch"
}
trap stop EXIT
run() { "$@" >>"$scratch/daemons" 2>&1 & started+=($!); }
fail() {
  echo "slurm.sh: $1" >&2
  tail -n 20 "$scratch"/daemons "$scratch"/log.* >&2 || true
  exit 1
}
# until_true SECONDS COMMAND... waits until a command succeeds.
until_true() {
  local left=$(($1 * 5))
  shift
  until "$@" >/dev/null 2>&1; do
    ((left-- > 0)) || return 1
    sleep 0.2
  done
}

# A cluster of this machine alone. Requeued tasks wait until credentials have expired.
host=$(hostname -s)
mkdir "$scratch/state" "$scratch/spool"
head -c 128 /dev/urandom >"$scratch/munge.key"
chmod 700 "$scratch" && chmod 400 "$scratch/munge.key"
cat >"$scratch/slurm.conf" <<CONF
ClusterName=one
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=16817
SlurmdPort=16818
AuthType=auth/munge
AuthInfo=socket=$scratch/munge.socket,cred_expire=5
SlurmUser=root
StateSaveLocation=$scratch/state
SlurmdSpoolDir=$scratch/spool
SlurmctldPidFile=$scratch/slurmctld.pid
SlurmdPidFile=$scratch/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=1,batch_sched_delay=0
MpiDefault=none
KillWait=2
MinJobAge=3600
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
export SLURM_CONF=$scratch/slurm.conf
run munged --foreground --force --socket="$scratch/munge.socket" --key-file="$scratch/munge.key" \
  --pid-file="$scratch/munge.pid" --log-file="$scratch/munge.log" --seed-file="$scratch/munge.seed"
until_true 20 test -S "$scratch/munge.socket" || fail "munge does not start"
run slurmctld -D -c
run slurmd -D
until_true 60 eval 'sinfo -h -o %T | grep -q idle' || fail "Slurm does not start: $(sinfo 2>&1)"

# The outputs of one job, and the shards that have inputs.
sample=$PWD/bench/corpus/sample task=$PWD/scripts/slurm/array.sh
mkdir "$scratch/in" && cd "$scratch"
for i in $(seq 0 15); do cp "$sample/frontier.arrow" "in/part-$i.arrow"; done
./robotsbatch compile -rules "$sample/rules" -out site.rules -quiet
arguments=(-in in -rules site.rules -agent CCBot)
./robotsbatch "${arguments[@]}" -out whole/ -quiet
for i in $(seq 0 15); do ./robotsbatch "${arguments[@]}" -out tried/ -shard "$i/16" -quiet; done
mapfile -t busy < <(grep -l '"output":' tried/_robotsbatch.shard-*.jsonl | sed 's/.*shard-0*\([0-9][0-9]*\)-of.*/\1/')
locked=${busy[0]} killed=${busy[1]}

# The program that tasks run. The task to be killed hangs the first time.
cat >task-program <<PROGRAM
#!/usr/bin/env bash
"$scratch/robotsbatch" "\$@" &
if [[ \$SLURM_ARRAY_TASK_ID == $killed && ! -e "$scratch/stopped" ]]; then
  kill -STOP \$! && touch "$scratch/stopped"
fi
wait \$!
PROGRAM
chmod +x task-program
export ROBOTSBATCH=$scratch/task-program SHARDS=16

# Another process holds the lock of one shard until its task has failed.
mkdir out
lock=out/.$(basename "tried/$(printf '_robotsbatch.shard-%05d-of-00016.manifest.jsonl' "$locked")").robotsbatch.lock
exec 9>"$lock"
flock 9
job=$(sbatch --parsable --array=0-15 --mem=0 --output="$scratch/log.%a" "$task" "${arguments[@]}" -out "$scratch/out/" -quiet)
until_true 120 grep -q 'is queued again' "log.$locked" || fail "the locked shard $locked was not queued again"
grep -q 'another run is writing it' "log.$locked" || fail "the locked shard does not say why: $(cat "log.$locked")"
flock -u 9 && exec 9>&-
until_true 60 test -e stopped || fail "the shard $killed did not begin"
until_true 60 eval "[[ \$(squeue -h -j $job -t PENDING,RUNNING,COMPLETING | wc -l) -le 2 ]]" || fail "the others do not end: $(squeue)"
scancel --signal=KILL --full "${job}_$killed"
until_true 120 eval "[[ -z \$(squeue -h -j $job) ]]" || fail "the array does not end: $(squeue)"
grep -q 'Restarts=1' <(scontrol show job "${job}_$locked") || fail "the locked shard was not started again: $(scontrol show job "${job}_$locked")"

status=0
./robotsbatch verify -merge out/ 2>merged || status=$?
[[ $status == 75 ]] && grep -q "of 16 shards, missing: $killed\$" merged || fail "verify -merge, without shard $killed: status $status: $(cat merged)"
again=$(sbatch --parsable --array="$killed" --mem=0 --output="$scratch/log.again" "$task" "${arguments[@]}" -out "$scratch/out/" -quiet)
until_true 60 eval "[[ -z \$(squeue -h -j $again) ]]" || fail "the shard that was submitted again does not end: $(squeue)"
./robotsbatch verify -merge out/ 2>merged || fail "verify -merge: $(cat merged log.again)"
cat merged
for i in $(seq 0 15); do cmp "whole/part-$i.arrow" "out/part-$i.arrow"; done
./robotsbatch verify out -quiet
echo "an array of 16 tasks: shard $locked failed once and was queued again, shard $killed was killed and submitted again; 16 outputs are those of one job"
