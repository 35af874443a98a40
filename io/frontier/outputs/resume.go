package outputs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"robotsbatch/batch/manifest"
	"robotsbatch/batch/option"
	"robotsbatch/io/frontier"
	"robotsbatch/io/frontier/format"
	"robotsbatch/io/store/blob"
)

// Resumed says what an earlier run has done.
type Resumed struct {
	// Done holds, for each planned output, the earlier run's output if that is still
	// valid; nil if it must be written.
	Done []*manifest.Output
	// Kept is the number of outputs in Done that are not nil.
	Kept int
	// First says that there was no earlier run; Stopped says that the earlier run did not
	// finish.
	First, Stopped bool
	// Redo lists the reasons why finished outputs are written again.
	Redo []option.Message
	// RedoAll is the reason why everything is written again, such as "agent has changed"; empty
	// if there is none.
	RedoAll option.Message
	// Left has a warning for each output of the earlier run that this run does not write: whoever
	// reads the folder reads its rows as well.
	Left []option.Message
}

// ReadManifest reads a manifest from a file or an object. The error names it, and wraps
// fs.ErrNotExist if it does not exist.
func ReadManifest(ctx context.Context, name string) (*manifest.Manifest, error) {
	if !blob.IsURL(name) {
		return manifest.ReadFile(name)
	}
	f, err := blob.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m, err := manifest.Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", blob.Shown(name), err)
	}
	return m, nil
}

// Start starts the manifest of a job with these rules, without resuming. It returns warnings about
// outputs of an earlier run, as Resumed.Left. If the manifest of that run cannot be read, there are
// none, and unreadable says why; the manifest is replaced all the same.
func (r *Record) Start(planned []Output, rules []manifest.Rules) (left []option.Message, unreadable, err error) {
	if r == nil {
		return nil, nil, nil
	}
	r.job.Rules = rules
	old, unreadable := ReadManifest(r.ctx, r.name)
	switch {
	case unreadable == nil:
		left = r.findLeft(old, planned)
	case errors.Is(unreadable, fs.ErrNotExist):
		unreadable = nil
	}
	return left, unreadable, r.begin(nil, nil)
}

// RuleFiles looks up the files in folders of rules.
type RuleFiles interface {
	// FileNow returns the current version of the file that has a name in a folder of rules, and the
	// file's name for people. source is the folder's index among the job's rules; ok is false if
	// that is not a folder.
	FileNow(ctx context.Context, source int, name string) (now manifest.File, shown string, ok bool, err error)
}

// Resume starts the manifest of a job with these rules. It keeps a planned output if an earlier run
// completed it and nothing that it depends on has changed since. An output of a truncated input is
// kept only with acceptTruncated. If the job or its rules changed, none is kept, and RedoAll says
// why. agents is the number of agents whose verdicts are counted. A manifest that cannot be read is
// an error.
func (r *Record) Resume(planned []Output, rules []manifest.Rules, versions RuleFiles, agents int, acceptTruncated bool) (*Resumed, error) {
	r.job.Rules = rules
	result := &Resumed{Done: make([]*manifest.Output, len(planned))}
	old, err := ReadManifest(r.ctx, r.name)
	if errors.Is(err, fs.ErrNotExist) {
		result.First = true
		return result, r.begin(nil, nil)
	}
	if err != nil {
		return nil, option.Errorf("%s: %w: run without %s to do everything again", option.Resume, err, option.Resume)
	}
	result.Stopped, result.Left = !old.Ended, r.findLeft(old, planned)
	if result.RedoAll = old.Job.Difference(&r.job); result.RedoAll.Empty() {
		result.RedoAll = changedRule(r.ctx, old, versions)
	}
	if result.RedoAll.Empty() {
		r.findDone(result, old, planned, agents, acceptTruncated)
	}
	if result.Kept == 0 {
		return result, r.begin(nil, nil)
	}
	for _, f := range old.RuleFiles {
		r.ruleFiles[r.job.Rules[f.Source].Name+"\x00"+f.Name] = f.File
	}
	return result, r.begin(result.Done, old.RuleFiles)
}

// findDone sets result.Done, Kept and Redo by an earlier run, old.
func (r *Record) findDone(result *Resumed, old *manifest.Manifest, planned []Output, agents int, acceptTruncated bool) {
	done := make(map[string]*manifest.Output, len(old.Outputs))
	for i := range old.Outputs {
		done[keyOf(inputNames(&old.Outputs[i]))] = &old.Outputs[i]
	}
	for i, out := range planned {
		o := done[keyOf(shownNames(out.Inputs))]
		if o == nil {
			continue
		}
		if why := r.outdated(out, o, agents, acceptTruncated); !why.Empty() {
			result.Redo = append(result.Redo, why)
			continue
		}
		result.Done[i] = o
		result.Kept++
	}
}

// findLeft returns warnings about outputs of an earlier run that still exist and are not planned.
// It returns none for a shard, because another shard may have the input now, nor for a single
// output, which is replaced.
func (r *Record) findLeft(old *manifest.Manifest, planned []Output) (left []option.Message) {
	if r.single || r.job.Shard != nil {
		return nil
	}
	plannedInputs, plannedAt := make(map[string]bool, len(planned)), make(map[string]*Output, len(planned)) // the latter by path
	for i := range planned {
		plannedInputs[keyOf(shownNames(planned[i].Inputs))] = true
		plannedAt[planned[i].Path] = &planned[i]
	}
	for i := range old.Outputs {
		o := &old.Outputs[i]
		path, names := r.PathOf(o), inputNames(o)
		if len(names) == 0 || plannedAt[withoutEnding(path)].replaces(path, names[0]) {
			continue
		}
		if _, err := blob.Stat(r.ctx, path); err != nil { // it is gone
			continue
		}
		why := option.Messagef("%s no longer names its input %s", option.In, names[0])
		if plannedInputs[keyOf(names)] {
			why = option.Messagef("its input %s has another output now", names[0])
		}
		for _, name := range names {
			if _, err := blob.Stat(r.ctx, name); errors.Is(err, fs.ErrNotExist) {
				why = option.Messagef("its input %s is gone", name)
				break
			}
		}
		left = append(left, option.Messagef("%s is still there, and %s: remove it if its rows are not wanted", blob.Shown(path), why))
	}
	return left
}

// replaces reports whether this output will replace an earlier output at path, which has the same
// name apart from the ending. input is the first input of the earlier output. If o.Format is
// Unknown, the input's format decides about the ending: an input of the same name is taken to have
// the same format. A nil output replaces none.
func (o *Output) replaces(path, input string) bool {
	switch {
	case o == nil:
		return false
	case o.Format == format.Unknown:
		return filepath.Base(o.Inputs[0].Path) == filepath.Base(input)
	}
	is, _ := format.ByName(path)
	return o.Format == is
}

// inputNames returns the names of an output's inputs.
func inputNames(o *manifest.Output) []string {
	var names []string
	for _, in := range o.Inputs {
		names = append(names, in.Name)
	}
	return names
}

// keyOf returns the names of an output's inputs as the key of a map.
func keyOf(names []string) string { return strings.Join(names, "\x00") }

func shownNames(inputs []frontier.Input) []string {
	names := make([]string, len(inputs))
	for i, in := range inputs {
		names[i] = blob.Shown(in.Path)
	}
	return names
}

// changedRule names a file of a folder of rules that changed since the earlier run, old; empty
// if none did. The sources of rules must be the same.
func changedRule(ctx context.Context, old *manifest.Manifest, versions RuleFiles) (none option.Message) {
	for _, f := range old.RuleFiles {
		now, shown, ok, err := versions.FileNow(ctx, f.Source, f.Name)
		if ok && (err != nil || !now.Same(f.File)) {
			return option.Messagef("%s has changed", shown)
		}
	}
	return none
}

// outdated says why an earlier run's output o must be written again as out; empty if it need not,
// because its inputs and itself are unchanged. agents and acceptTruncated are those of Resume.
func (r *Record) outdated(out Output, o *manifest.Output, agents int, acceptTruncated bool) (none option.Message) {
	if len(o.Counts.Agents) != agents || len(o.Inputs) != len(out.Inputs) {
		return option.Messagef("the manifest does not have the counts of %s", blob.Shown(r.PathOf(o)))
	}
	if !acceptTruncated && len(o.Truncated) > 0 {
		return option.Messagef("%s was cut, and taken as far as it came (%s, which is not given now)", o.Truncated[0].Input, option.AcceptTruncated)
	}
	for i, in := range out.Inputs {
		now, err := blob.Stat(r.ctx, in.Path)
		if err != nil || !now.Known() || !fileOf(in.Path, now).Same(o.Inputs[i]) {
			return option.Messagef("%s is not what it was", in.Name())
		}
	}
	path := r.PathOf(o)
	shown, planned := blob.Shown(path), blob.Shown(out.Path)
	if !r.isObject() {
		planned = filepath.Clean(planned)
	}
	if shown != planned && !strings.HasPrefix(shown, planned+".") { // a planned path in a folder has no ending yet
		return option.Messagef("%s has another name now", shown)
	}
	now, err := blob.Stat(r.ctx, path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return option.Messagef("%s is gone", shown)
	case err != nil || !now.Known() || !fileOf(o.Output.Name, now).Same(o.Output):
		return option.Messagef("%s is not what was written", shown)
	}
	return none
}
