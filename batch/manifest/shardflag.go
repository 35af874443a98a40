package manifest

import (
	"strconv"
	"strings"

	"robotsbatch/batch/option"
)

// taskVariables are where schedulers tell a task its number in an array: Slurm,
// Kubernetes, AWS Batch and Google Batch.
var taskVariables = []string{"SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX", "AWS_BATCH_JOB_ARRAY_INDEX", "BATCH_TASK_INDEX"}

// mostShards keeps a manifest of all of them readable.
const mostShards = 1_000_000

// ParseShard returns the shard that -shard names: its index and how many there are, such
// as 0/16 or auto/16, which takes the index from the environment of a task. The scheduler's
// own count would change when a part of an array is run again. The shard is nil if which is
// empty. Errors name the flag.
func ParseShard(which string, environment func(string) string) (*Shard, error) {
	if which == "" {
		return nil, nil
	}
	index, count, _ := strings.Cut(which, "/")
	shards, _ := strconv.Atoi(count) // 0, which is refused below, if it is no number
	if index == "auto" && shards > 0 {
		var err error
		if index, err = taskNumber(which, environment); err != nil {
			return nil, err
		}
	}
	number, err := strconv.Atoi(index)
	switch {
	case err != nil || shards < 1:
		return nil, option.Errorf("%s: want a shard from 0 and how many there are, such as 0/16 or auto/16", option.Shard.With(which))
	case shards > mostShards:
		return nil, option.Errorf("%s: want at most %d shards", option.Shard.With(which), mostShards)
	case number < 0 || number >= shards:
		return nil, option.Errorf("%s: there is no shard %d of %d: they are counted from 0 to %d, so the array must begin with 0, such as sbatch --array=0-%d", option.Shard, number, shards, shards-1, shards-1)
	}
	return &Shard{Index: number, Count: shards}, nil
}

// taskNumber returns the number that the scheduler gave this task in its array. Several variables
// may be set if they agree. which is the option's value, such as auto/16, for errors.
func taskNumber(which string, environment func(string) string) (number string, err error) {
	from := ""
	for _, name := range taskVariables {
		value := environment(name)
		switch {
		case value == "" || value == number:
		case from != "":
			return "", option.Errorf("%s: %s is %s and %s is %s: give %s", option.Shard.With(which), from, number, name, value, option.Shard.With("i/n"))
		default:
			from, number = name, value
		}
	}
	if from == "" {
		return "", option.Errorf("%s: none of %s is set: this is no task of an array; give %s", option.Shard.With(which), strings.Join(taskVariables, ", "), option.Shard.With("i/n"))
	}
	return number, nil
}
