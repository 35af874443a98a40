#!/usr/bin/env bash
# A task of an array job: one shard. Arguments are those of robotsbatch without -shard;
# SHARDS is their number, also when a part of the array is submitted again.
#
#   SHARDS=16 sbatch --array=0-15 array.sh -in frontier -rules site.rules -agent CCBot -out verdicts/
#   SHARDS=16 sbatch --array=3,7 array.sh ...             # these again
#   sbatch --dependency=afterok:JOB --wrap "robotsbatch verify -merge verdicts/"
#
# A task that ends with status 75, where another try may help, is queued again, at most
# RETRIES times (3). ROBOTSBATCH is the program to run.
#SBATCH --job-name=robotsbatch
#SBATCH --cpus-per-task=1
#SBATCH --mem=1G
#SBATCH --requeue
#SBATCH --open-mode=append
set -uo pipefail

: "${SHARDS:?say how many shards there are: SHARDS=16 sbatch --array=0-15 ...}"
status=0
"${ROBOTSBATCH:-robotsbatch}" "$@" -shard "auto/$SHARDS" -workers "${SLURM_CPUS_PER_TASK:-1}" || status=$?
if [[ $status == 75 && ${SLURM_RESTART_COUNT:-0} -lt ${RETRIES:-3} ]]; then
  echo "array.sh: shard ${SLURM_ARRAY_TASK_ID} is queued again"
  scontrol requeue "${SLURM_JOB_ID}" && sleep 60 # Slurm ends this script
fi
exit "$status"
