#!/usr/bin/env bash
# Runs scripts/spark/filter_frontier.py on a real Spark: a standalone master and two
# workers on this machine, a frontier in many Parquet files. An executor and a pipe are killed
# in the middle; still the output must have the rows of one job of this machine, and no
# process may be left over. It needs Go, Java 17, python3, Linux, and PyPI.
#
# ROWS, FILES and ORIGINS are the numbers of rows (240,000), files (24) and authorities. With
# RECORD=1 it also tries rules in parts and a damaged pack, which takes some minutes more,
# and prints the processor time of the pipes, of the job, and of the same job with protego in
# a pandas UDF: RECORD=1 scripts/measure.sh -record run spark scripts/integration/spark.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

rows=${ROWS-240000} files=${FILES-24}
origins=${ORIGINS-$((rows / 100))}
[[ $(uname) == Linux ]] || skip "the cluster needs subreapers, which only Linux has"
command -v java >/dev/null || [[ -n ${JAVA_HOME-} ]] || skip "Spark needs Java 17 or later: there is no java"
python_with "$pyspark" pyarrow==26.0.1 pandas==3.1.1 protego==0.7.0 duckdb==2.0.0
build
ROBOTSBATCH_BINARY=$scratch/robotsbatch scripts/wheel.sh -out "$scratch/dist" "$(go env GOOS)/$(go env GOARCH)" >/dev/null
cp "$scratch"/dist/*.whl "$scratch/robotsbatch.zip" # the package, as --py-files takes it
go build -o "$scratch/gen" ./bench/corpus/gen
spark=$PWD/scripts/spark
export PATH=$scratch/venv/bin:$PATH PYSPARK_PYTHON=$scratch/venv/bin/python SPARK_LOCAL_IP=127.0.0.1
export SPARK_HOME; SPARK_HOME=$(python -c 'import os, pyspark; print(os.path.dirname(pyspark.__file__))')
cd "$scratch"

cluster=''
stop() {
  [[ -z $cluster ]] || { exec 8>&-; wait "$cluster" || true; }
  rm -rf "$scratch"
}
trap stop EXIT
fail() {
  echo "spark.sh: $1" >&2
  [[ ! -e ${2-} ]] || tail -n 40 "$2" >&2
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

# The frontier, and what one job of this machine says. TIMEFORMAT is for processor time.
TIMEFORMAT='%U %S %R'
./gen -out corpus -urls "$rows" -origins "$origins" -formats ''
seq 1 "$files" | xargs -P 2 -I K ./gen -out corpus/frontier -urls "$rows" -origins "$origins" -formats parquet -columns 30 -rules=false -part K/"$files"
./robotsbatch compile -rules corpus/rules -out site.rules -quiet
single() { ./robotsbatch -in corpus/frontier -rules site.rules -agent CCBot -quiet "$@"; }
{ time single -out whole/ -workers 1; } 2>single.time
echo "$rows rows in $files files: $(du -sm corpus/frontier | cut -f 1) MB; rules of $origins authorities: $(du -sm site.rules | cut -f 1) MB"

# The cluster. Its stdin stays open as long as this script runs.
mkfifo stdin
python "$spark/cluster.py" "$scratch/cluster" "${CORES-1}" 1g <stdin &
cluster=$!
exec 8>stdin
until_true 320 test -s cluster/url || fail "the cluster does not start" cluster/master.log

# below PID prints the processes below a process.
below() {
  local pid
  for pid in $(cat /proc/"$1"/task/*/children 2>/dev/null); do
    echo "$pid"
    below "$pid"
  done
}
# left_over prints what runs in the cluster besides master and workers.
left_over() {
  local pid
  for pid in $(below "$cluster"); do
    tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | grep -v -e 'deploy.master.Master' -e 'deploy.worker.Worker' -e '^$' || true
  done
}
nothing_left() { [[ -z $(left_over) ]]; }
# submit LOG SCRIPT ARGUMENTS... runs a job, one file a task.
batch_rows=10000 # Spark's own
submit() {
  local log=$1
  shift
  spark-submit --master "$(cat cluster/url)" --driver-memory 1g --executor-memory 700m --executor-cores 1 \
    --conf spark.ui.enabled=false --conf spark.sql.shuffle.partitions=4 --conf spark.sql.files.openCostInBytes=1g \
    --conf spark.sql.session.timeZone=UTC --conf spark.sql.execution.arrow.maxRecordsPerBatch="$batch_rows" --conf spark.sql.parquet.outputTimestampType=TIMESTAMP_MICROS \
    "$@" >"$log" 2>&1 || fail "spark-submit $*" "$log"
  until_true 60 nothing_left || fail "left over: $(left_over)" "$log"
}
# filter LOG BINARY ARGUMENTS... runs filter_frontier.py with package, binary and pack shipped.
filter() {
  local log=$1 binary=$2
  shift 2
  submit "$log" --py-files robotsbatch.zip --files "$binary,site.rules" "$spark/filter_frontier.py" \
    --frontier corpus/frontier --agent CCBot --rules site.rules "$@"
}
# same FOLDER says whether a folder has the rows of the single job, each as often, in
# any order and in any files.
same() {
  python - "$1" <<'PYTHON'
import sys, duckdb
d = duckdb.connect()
d.execute("set TimeZone = 'UTC'; set memory_limit = '3GB'; set threads = 2; set preserve_insertion_order = false")
names = [row[0] for row in d.execute("describe from 'whole/*.parquet'").fetchall()]
d.execute(f"create view a as select {', '.join(names)} from 'whole/*.parquet'")
d.execute(f"create view b as select {', '.join(names)} from read_parquet('{sys.argv[1]}/**/*.parquet', hive_partitioning = true)")
[(a, allowed)] = d.execute("select count(*), count(*) filter (allowed) from a").fetchall()
[(b,)] = d.execute("select count(*) from b").fetchall()
[(other,)] = d.execute("select count(*) from (from a except all from b)").fetchall()
if a != b or other or not 0 < allowed < a:
    sys.exit(f"{sys.argv[1]}: {b} rows, not {a}; {other} are not there as they should be")
print(f"{sys.argv[1]}: all {a} rows are those of the single job, {allowed} of them allowed")
PYTHON
}

# A pipe of which something is to be seen stands still when it has read some of its batch:
# the shim becomes robotsbatch, and a process beside it stops it. The 5th and the 9th
# that begin are stopped, or a later one if that was too quick.
mkdir plain killed begun timed && cp robotsbatch plain/
cat >killed/robotsbatch <<SHIM
#!/usr/bin/env bash
for count in {1..60} none; do
  [[ \$count != none ]] && mkdir "$scratch/begun/\$count" 2>/dev/null && break
done
for stop in 5 9; do
  [[ \$count != none ]] && ((count >= stop)) && [[ ! -e "$scratch/stopped.\$stop" ]] || continue
  (
    while [[ -e /proc/\$\$ ]]; do
      read -r _ bytes </proc/\$\$/io
      if [[ /proc/\$\$/exe -ef "$scratch/plain/robotsbatch" ]] && ((bytes > 100000)); then
        mkdir "$scratch/stopping.\$stop" || exit 0
        kill -STOP \$\$ && echo \$\$ >"$scratch/stopped.\$stop"
        exit 0
      fi
    done
  ) <&- >/dev/null 2>&1 &
  break
done
exec "$scratch/plain/robotsbatch" "\$@"
SHIM
cat >timed/robotsbatch <<SHIM
#!/usr/bin/env bash
TIMEFORMAT='%U %S'
{ time "$scratch/plain/robotsbatch" "\$@" 2>&3; } 3>&2 2>>"$scratch/pipes.time"
SHIM
chmod +x killed/robotsbatch timed/robotsbatch

# An executor is killed while a pipe of its works, and a pipe of another task.
batch_rows=1000
filter killed.log killed/robotsbatch --out out.killed &
job=$!
until_true 600 test -s stopped.5 || fail "no pipe was there to be stopped" killed.log
pipe=$(cat stopped.5)
executor=$pipe
until grep -q CoarseGrainedExecutorBackend "/proc/$executor/cmdline"; do
  executor=$(awk '/^PPid/ { print $2 }' "/proc/$executor/status")
done
kill -KILL "$executor"
kill -CONT "$pipe" 2>/dev/null || true
until_true 60 test ! -e "/proc/$pipe" || fail "the pipe of the killed executor still runs" killed.log
until_true 600 test -s stopped.9 || fail "no second pipe was there to be stopped" killed.log
pipe=$(cat stopped.9)
grep -q 'pipe' "/proc/$pipe/cmdline" || fail "the second pipe is gone" killed.log
kill -KILL "$pipe"
wait "$job" || exit 1
grep -q 'Lost executor' killed.log || fail "Spark did not see that an executor is lost" killed.log
grep -q 'robotsbatch pipe was killed by SIGKILL' killed.log || fail "the task's error does not say what happened" killed.log
batch_rows=10000
grep '^robotsbatch: rows' killed.log
same out.killed

[[ -n ${RECORD-} ]] || exit 0

# Rules in parts, each opened by the tasks whose URLs it knows; partitioned output.
./robotsbatch compile -rules corpus/rules -out parts.rules -partitions 3 -quiet
filter parts.log plain/robotsbatch --rules "$scratch/parts.rules" --partitions 3 --tasks 6 --partition-by fetch_status --out out.parts
[[ -d $(echo out.parts/fetch_status=200) ]] || fail "the output is not partitioned: $(ls out.parts)"
same out.parts

# What the program says of a damaged pack is in the job's error.
mkdir cut && head -c 3000 site.rules >cut/site.rules
status=0
(submit cut.log --py-files robotsbatch.zip --files "plain/robotsbatch,cut/site.rules" "$spark/filter_frontier.py" \
  --frontier corpus/frontier --agent CCBot --rules site.rules --out out.cut) 2>/dev/null || status=$?
[[ $status == 1 ]] && grep -q 'robotsbatch: .*site.rules' cut.log || fail "a damaged pack is no error" cut.log
[[ ! -e out.cut ]] || fail "a job that failed wrote an output"

# used prints the processor time in seconds of the cluster and all it ran.
used() {
  local pid hertz
  hertz=$(getconf CLK_TCK)
  for pid in "$cluster" $(below "$cluster"); do
    sed 's/.*) //' "/proc/$pid/stat" 2>/dev/null || true
  done | awk -v hertz="$hertz" '{ sum += $12 + $13 + $14 + $15 } END { printf "%.1f", sum / hertz }'
}
# costs NAME COMMAND... says what a job costs.
costs() {
  local name=$1 before
  shift
  before=$(used)
  { time "$@"; } 2>driver.time
  awk -v name="$name" -v before="$before" -v after="$(used)" \
    '{ printf "%s: %.1f s of processor time in the cluster, %.1f s of the driver; %.1f s by the clock\n", name, after - before, $1 + $2, $3 }' driver.time
}
echo "python: $(python -V 2>&1), pyspark $(python -c 'import pyspark; print(pyspark.__version__)'), $(java -version 2>&1 | head -n 1)"
echo "data: $rows URLs in $files Parquet files of 30 columns, $origins origins; two workers of ${CORES-1} core"
echo "rows after kill -9 of an executor and of a pipe, and with rules in 3 parts: those of the single job"
costs robotsbatch filter timed.log timed/robotsbatch --out out.timed
costs protego submit protego.log "$spark/protego_frontier.py" --frontier corpus/frontier --rules "$scratch/corpus/rules" --agent CCBot --out out.protego
costs 'neither, only read and written' submit copy.log "$spark/protego_frontier.py" --frontier corpus/frontier --out out.copy
awk '{ sum += $1 + $2 } END { printf "the %d pipes: %.2f s of processor time\n", NR, sum }' pipes.time
awk '{ printf "the single job, Parquet to Parquet, one worker: %.2f s of processor time, %.2f s by the clock\n", $1 + $2, $3 }' single.time
same out.timed
