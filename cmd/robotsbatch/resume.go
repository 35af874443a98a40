package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"robotsbatch/batch/manifest"
	"robotsbatch/io/blob"
	"robotsbatch/io/frontier"
)

// kept are the outputs of an earlier run that still are what this run would
// make, by the names of their inputs.
type kept map[string]*manifest.Output

// keyOf is what an output is found by.
func keyOf(inputs []frontier.Input) string {
	names := make([]string, len(inputs))
	for i, in := range inputs {
		names[i] = blob.Shown(in.Path)
	}
	return strings.Join(names, "\x00")
}

// startRecord starts the job's manifest. With -resume it says which outputs are
// done already.
func (j *job) startRecord(ctx context.Context, outputs []output) (kept, error) {
	r := j.record
	if r == nil {
		return nil, nil
	}
	var err error
	if r.job.Rules, err = j.versions.Identify(j.rules); err != nil {
		return nil, err
	}
	if !j.resume {
		return nil, r.begin(nil, nil)
	}
	old, err := j.earlier(ctx)
	if err != nil {
		return nil, err
	}
	if old == nil {
		return nil, r.begin(nil, nil)
	}
	done := make(map[string]*manifest.Output, len(old.Outputs))
	for i := range old.Outputs {
		var inputs []frontier.Input
		for _, in := range old.Outputs[i].Inputs {
			inputs = append(inputs, frontier.Input{Path: in.Name})
		}
		done[keyOf(inputs)] = &old.Outputs[i]
	}
	result := make(kept)
	var lines []*manifest.Output
	told := 0
	for _, out := range outputs {
		o := done[keyOf(out.inputs)]
		if o == nil {
			continue
		}
		why := j.unaccepted(o)
		if why == "" {
			why = r.outdated(ctx, out, o)
		}
		if why != "" {
			if told++; told <= shownOutdated {
				j.log.info(why+": it is done again", "redo", "reason", why)
			}
			continue
		}
		result[keyOf(out.inputs)] = o
		lines = append(lines, o)
	}
	j.log.info(fmt.Sprintf("resuming: %d of %s done already", len(lines), counted(int64(len(outputs)), "output", "outputs")),
		"resume", "done", len(lines), "outputs", len(outputs))
	if len(lines) == 0 {
		old.RuleFiles = nil
	}
	r.carry(old.RuleFiles)
	return result, r.begin(lines, old.RuleFiles)
}

// shownOutdated is how many outputs are named that are done again.
const shownOutdated = 10

// earlier reads the manifest of the run before, if all of it was the same job.
func (j *job) earlier(ctx context.Context) (*manifest.Manifest, error) {
	r := j.record
	old, err := manifest.ReadFile(r.name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		j.log.info("there is no manifest to resume from: nothing can be skipped, all inputs are done anew", "resume", "done", 0)
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("-resume: %w: run without -resume to do everything again", err)
	}
	why := old.Job.Difference(&r.job)
	if why == "" {
		why = j.changedRule(ctx, old)
	}
	if why != "" {
		j.log.info("when the job was begun "+why+": everything is done again", "resume", "done", 0, "reason", why)
		return nil, nil
	}
	return old, nil
}

// changedRule finds a file of a rules folder that is not what it was. The
// sources of rules are the same.
func (j *job) changedRule(ctx context.Context, old *manifest.Manifest) string {
	for _, f := range old.RuleFiles {
		now, shown, ok, err := j.versions.FileNow(ctx, f.Source, f.Name)
		if ok && (err != nil || !now.Same(f.File)) {
			return shown + " was another"
		}
	}
	return ""
}

// carry takes over which rule files were read before, which are in the manifest
// already.
func (r *record) carry(files []manifest.RuleFile) {
	for _, f := range files {
		if f.Source >= 0 && f.Source < len(r.job.Rules) {
			r.known[r.job.Rules[f.Source].Name+"\x00"+f.Name] = f.File
		}
	}
}

// unaccepted says which input of an output was cut, where that is not accepted
// any more; it is empty when there is none.
func (j *job) unaccepted(o *manifest.Output) string {
	if j.acceptTruncated || len(o.Truncated) == 0 {
		return ""
	}
	return o.Truncated[0].Input + " was cut, and taken as far as it came (-accept-truncated, which is not given now)"
}

// outdated says why an output has to be done again; it is empty when it has not.
func (r *record) outdated(ctx context.Context, out output, o *manifest.Output) string {
	for i, in := range out.inputs {
		now, err := blob.Stat(ctx, in.Path)
		if err != nil || !now.Known() || !fileOf(in.Path, now).Same(o.Inputs[i]) {
			return in.Name() + " is not what it was"
		}
	}
	path := r.pathOf(o)
	if path != filepath.Clean(out.path) && !strings.HasPrefix(path, filepath.Clean(out.path)+".") {
		return path + " has another name now"
	}
	now, err := blob.Stat(ctx, path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return path + " is gone"
	case err != nil || !now.Known() || !fileOf(o.Output.Name, now).Same(o.Output):
		return path + " is not what was written"
	}
	return ""
}
