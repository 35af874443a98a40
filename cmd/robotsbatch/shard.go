package main

import (
	"fmt"
	"os"

	"robotsbatch/batch/manifest"
	"robotsbatch/io/frontier/outputs"
	"robotsbatch/io/store/blob"
)

// begunBefore removes what an earlier run of the shard left of an output when it was
// killed. Those of other shards may be live, so the folder is not swept.
func (j *job) begunBefore(path string) error {
	if j.Shard == nil || !j.stopped || blob.IsURL(path) {
		return nil
	}
	return blob.SweepFile(path)
}

// forgetWhole removes the manifest of the whole job, which is no longer true when a
// shard is done again.
func (j *job) forgetWhole() error {
	if j.Shard == nil || blob.IsURL(j.Out) {
		return nil
	}
	if err := os.Remove(outputs.Below(j.Out, manifest.FolderName)); err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("the manifest: %w", err)
	}
	return nil
}
