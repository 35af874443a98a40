package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"robotsbatch/batch"
	"robotsbatch/batch/manifest"
	"robotsbatch/batch/option"
	"robotsbatch/io/frontier"
	"robotsbatch/io/frontier/outputs"
	"robotsbatch/io/store/blob"
)

// sharding is what the command line says of shards.
type sharding struct {
	which  string // -shard
	count  int    // -shards
	shard  *manifest.Shard
	divide bool // one input, of which the shard reads a part
}

// checkShard finds out which shard this is. The environment is asked with -shard auto.
func (c *job) checkShard(environment func(string) string) (err error) {
	if c.shard, err = manifest.ParseShard(c.which, c.sharding.count, environment); err != nil {
		return &option.UsageError{Err: err}
	}
	if c.shard == nil {
		return nil
	}
	if !outputs.IsFolder(c.Out) {
		return option.Usagef("-shard needs an -out that is a folder: its name ends with a slash, or it is there")
	}
	c.resume = true
	return nil
}

// deal returns the inputs of the shard: those whose names fall to it, or a part of the
// only one. Without shards it returns all.
func (c *job) deal(inputs []frontier.Input) ([]frontier.Input, error) {
	if c.shard == nil {
		return inputs, nil
	}
	names := make([]string, len(inputs))
	var mine []frontier.Input
	for i, in := range inputs {
		if in.Path == blob.Stdio {
			return nil, option.Usagef("-shard cannot divide stdin: name files with -in")
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
func (c *job) part() batch.Part {
	if !c.divide {
		return batch.Part{}
	}
	return batch.Part{Index: c.shard.Index, Count: c.shard.Count}
}

// partName is put behind the name of an output that has a part of an input.
func (c *job) partName() string {
	if !c.divide {
		return ""
	}
	return "-" + c.shard.String()
}

// claim locks what the job writes.
func (c *job) claim() (release func(), err error) {
	if c.shard != nil {
		release, err = outputs.ClaimShard(c.Out, *c.shard)
	} else {
		release, err = outputs.Claim(c.Out)
	}
	if err != nil {
		return nil, outError(c.Out, err)
	}
	return release, nil
}

// outError is an error about -out. One about a folder that is not there says what to do.
func outError(out string, err error) error {
	folder := filepath.Dir(out)
	if _, missing := os.Stat(folder); errors.Is(err, fs.ErrNotExist) && errors.Is(missing, fs.ErrNotExist) && !blob.IsURL(out) {
		return fmt.Errorf("-out: %w: the folder %s is missing: make it, or write -out %s/ for an output for each input", err, folder, folder)
	}
	return fmt.Errorf("-out: %w", err)
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
	if j.shard == nil || blob.IsURL(j.Out) {
		return nil
	}
	if err := os.Remove(outputs.Below(j.Out, manifest.FolderName)); err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("the manifest: %w", err)
	}
	return nil
}
