package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"robotsbatch/batch"
	"robotsbatch/batch/manifest"
	"robotsbatch/io/blob"
	"robotsbatch/io/frontier"
	"robotsbatch/io/outputs"
)

// sharding is what the command line says of shards.
type sharding struct {
	which  string // -shard
	count  int    // -shards
	shard  *manifest.Shard
	divide bool // one input, of which the shard reads a part
}

// taskVariables are where schedulers tell a task its number in an array: Slurm,
// Kubernetes, AWS Batch and Google Batch.
var taskVariables = []string{"SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX", "AWS_BATCH_JOB_ARRAY_INDEX", "BATCH_TASK_INDEX"}

// mostShards keeps a manifest of all of them readable.
const mostShards = 1_000_000

// checkShard finds out which shard this is. The environment is asked with -shard auto.
func (c *jobConfig) checkShard(environment func(string) string) error {
	switch {
	case c.which == "" && c.sharding.count > 0:
		return usageErrorf("-shards is how many there are: say which one with -shard, such as -shard auto")
	case c.which == "":
		return nil
	}
	index, count := c.which, c.sharding.count
	if c.which == "auto" {
		if count == 0 {
			return usageErrorf("-shard auto needs -shards N: an array's own count is another when a part of it is run again")
		}
		var err error
		if index, err = taskNumber(environment); err != nil {
			return err
		}
	} else if i, n, ok := strings.Cut(c.which, "/"); ok && count == 0 {
		index = i
		count, _ = strconv.Atoi(n)
	} else if ok {
		return usageErrorf("-shard %s says how many shards there are: leave out -shards", c.which)
	}
	number, err := strconv.Atoi(index)
	switch {
	case err != nil || count < 1:
		return usageErrorf("-shard %s: want a shard from 0 and how many there are, such as 0/16, or auto", c.which)
	case count > mostShards:
		return usageErrorf("-shard %s: want at most %d shards", c.which, mostShards)
	case number < 0 || number >= count:
		return usageErrorf("-shard: there is no shard %d of %d: they are counted from 0 to %d, so the array must begin with 0, such as sbatch --array=0-%d",
			number, count, count-1, count-1)
	case !outputs.IsFolder(c.out):
		return usageErrorf("-shard needs an -out that is a folder: its name ends with a slash, or it is there")
	}
	c.shard = &manifest.Shard{Index: number, Count: count}
	c.resume = true
	return nil
}

// taskNumber is the number of this task in its array.
func taskNumber(environment func(string) string) (number string, err error) {
	from := ""
	for _, name := range taskVariables {
		value := environment(name)
		switch {
		case value == "" || value == number:
		case from != "":
			return "", usageErrorf("-shard auto: %s is %s and %s is %s: give -shard i/n", from, number, name, value)
		default:
			from, number = name, value
		}
	}
	if from == "" {
		return "", usageErrorf("-shard auto: none of %s is set: this is no task of an array; give -shard i/n", strings.Join(taskVariables, ", "))
	}
	return number, nil
}

// deal returns the inputs of the shard: those whose names fall to it, or a part of the
// only one. Without shards it returns all.
func (c *jobConfig) deal(inputs []frontier.Input) ([]frontier.Input, error) {
	if c.shard == nil {
		return inputs, nil
	}
	names := make([]string, len(inputs))
	var mine []frontier.Input
	for i, in := range inputs {
		if in.Path == blob.Stdio {
			return nil, usageErrorf("-shard cannot divide stdin: name files with -in")
		}
		names[i] = in.Stem
		if c.shard.Takes(in.Stem) {
			mine = append(mine, in)
		}
	}
	c.shard.NameInputs(names)
	if c.divide = len(inputs) == 1; c.divide {
		return inputs, nil
	}
	return mine, nil
}

// part is what a shard reads of its input.
func (c *jobConfig) part() batch.Part {
	if !c.divide {
		return batch.Part{}
	}
	return batch.Part{Index: c.shard.Index, Count: c.shard.Count}
}

// partName is put behind the name of an output that has a part of an input.
func (c *jobConfig) partName() string {
	if !c.divide {
		return ""
	}
	return "-" + c.shard.String()
}

// claim locks what the job writes.
func (c *jobConfig) claim() (release func(), err error) {
	if c.shard != nil {
		release, err = outputs.ClaimShard(c.out, *c.shard)
	} else {
		release, err = outputs.Claim(c.out)
	}
	if err != nil {
		return nil, fmt.Errorf("-out: %w", err)
	}
	return release, nil
}

// begunBefore removes what an earlier run of the shard left of an output when it was
// killed. Those of other shards may be live, so the folder is not swept.
func (j *job) begunBefore(path string) error {
	if j.shard == nil || !j.stopped || blob.IsURL(path) {
		return nil
	}
	return blob.SweepFile(path)
}

// forgetWhole removes the manifest of the whole job, which is no longer true when a
// shard is done again.
func (j *job) forgetWhole() error {
	if j.shard == nil || blob.IsURL(j.out) {
		return nil
	}
	if err := os.Remove(outputs.Below(j.out, manifest.FolderName)); err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("the manifest: %w", err)
	}
	return nil
}
