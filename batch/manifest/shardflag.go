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
// as 0/16, the index alone where -shards has the number of shards, or auto, which takes the
// index from the environment of a task. shards is 0 without -shards. The shard is nil if
// which is empty. Errors are about the two flags, and name them.
func ParseShard(which string, shards int, environment func(string) string) (*Shard, error) {
	switch {
	case which == "" && shards > 0:
		return nil, option.Errorf("%s is how many there are: say which one with %s, such as %s", option.Shards, option.Shard, option.Shard.With("auto"))
	case which == "":
		return nil, nil
	}
	index := which
	if which == "auto" {
		if shards == 0 {
			return nil, option.Errorf("%s needs %s: an array's own count changes when a part of it is run again", option.Shard.With("auto"), option.Shards.With("N"))
		}
		var err error
		if index, err = taskNumber(environment); err != nil {
			return nil, err
		}
	} else if i, n, ok := strings.Cut(which, "/"); ok && shards == 0 {
		index = i
		shards, _ = strconv.Atoi(n)
	} else if ok {
		return nil, option.Errorf("%s says how many shards there are: leave out %s", option.Shard.With(which), option.Shards)
	}
	number, err := strconv.Atoi(index)
	switch {
	case err != nil || shards < 1:
		return nil, option.Errorf("%s: want a shard from 0 and how many there are, such as 0/16, or auto", option.Shard.With(which))
	case shards > mostShards:
		return nil, option.Errorf("%s: want at most %d shards", option.Shard.With(which), mostShards)
	case number < 0 || number >= shards:
		return nil, option.Errorf("%s: there is no shard %d of %d: they are counted from 0 to %d, so the array must begin with 0, such as sbatch --array=0-%d", option.Shard, number, shards, shards-1, shards-1)
	}
	return &Shard{Index: number, Count: shards}, nil
}

// taskNumber is the number of this task in its array.
func taskNumber(environment func(string) string) (number string, err error) {
	from := ""
	for _, name := range taskVariables {
		value := environment(name)
		switch {
		case value == "" || value == number:
		case from != "":
			return "", option.Errorf("%s: %s is %s and %s is %s: give %s", option.Shard.With("auto"), from, number, name, value, option.Shard.With("i/n"))
		default:
			from, number = name, value
		}
	}
	if from == "" {
		return "", option.Errorf("%s: none of %s is set: this is no task of an array; give %s", option.Shard.With("auto"), strings.Join(taskVariables, ", "), option.Shard.With("i/n"))
	}
	return number, nil
}
