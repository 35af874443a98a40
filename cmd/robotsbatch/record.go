package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"robotsbatch/batch"
	"robotsbatch/batch/manifest"
	"robotsbatch/io/blob"
	"robotsbatch/io/frontier"
	"robotsbatch/io/rulesdir"
)

// record is the manifest of a job while it grows. A nil record is that of a job
// that wants none.
type record struct {
	name   string // of the manifest
	folder string // outputs are named from here on
	// single says that there is one output, whose manifest is written when it
	// is complete.
	single bool
	job    manifest.Job
	file   *os.File

	mu      sync.Mutex // for what follows; workers read rules, outputs are completed
	known   map[string]manifest.File
	read    []manifest.RuleFile // not written yet
	pending []byte              // lines that are not written yet
	outputs int

	writing sync.Mutex // for the file
	broken  error      // what went wrong with it
}

// newRecord returns the record of a job, which has no file yet, or nil.
func (c *jobConfig) newRecord() *record {
	r := &record{known: make(map[string]manifest.File)}
	switch {
	case c.out == blob.Stdio || blob.IsURL(c.out):
		return nil
	case isFolder(c.out):
		r.name, r.folder = filepath.Join(c.out, manifest.FolderName), c.out
	case c.manifest || c.resume:
		r.name, r.folder, r.single = manifest.Beside(c.out), filepath.Dir(c.out), true
	default:
		return nil
	}
	r.job = manifest.Job{Manifest: manifest.Version, Program: "robotsbatch " + version(), Options: c.given}
	return r
}

// used takes down that a file of the rules folder of that name was read.
func (r *record) used(folder string, u rulesdir.Used) {
	folder = blob.Shown(folder)
	file := manifest.File{Name: u.Name, Size: u.Size, Modified: u.Modified.UTC()}
	key := folder + "\x00" + u.Name
	r.mu.Lock()
	defer r.mu.Unlock()
	if before, ok := r.known[key]; ok && before.Same(file) {
		return
	}
	r.known[key] = file
	for i, rules := range r.job.Rules {
		if rules.Name == folder {
			r.read = append(r.read, manifest.RuleFile{Source: i, File: file})
			return
		}
	}
}

// queue adds to what is to be written: the lines of the rule files that were
// read since it was called last, and what line appends to them.
func (r *record) queue(line func(text []byte) []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pending = line(manifest.AppendRuleFiles(r.pending, r.read))
	r.read = nil
}

// begin starts the file with what is kept of an earlier one, all at once. It
// replaces that.
func (r *record) begin(kept []*manifest.Output, rules []manifest.RuleFile) error {
	if r == nil || r.single {
		return nil
	}
	text := manifest.AppendRuleFiles(manifest.AppendJob(nil, &r.job), rules)
	for _, o := range kept {
		text = manifest.AppendOutput(text, o)
	}
	r.outputs = len(kept)
	if err := r.replace(text); err != nil {
		return err
	}
	var err error
	if r.file, err = os.OpenFile(r.name, os.O_WRONLY|os.O_APPEND, 0); err != nil {
		return r.failed(err)
	}
	return nil
}

// replace writes the file as a whole.
func (r *record) replace(text []byte) error {
	w, err := blob.Create(context.Background(), r.name)
	if err != nil {
		return r.failed(err)
	}
	if _, err = w.Write(text); err == nil {
		err = w.Close()
	}
	if err != nil {
		w.Abort()
		return r.failed(err)
	}
	return nil
}

func (r *record) failed(err error) error {
	return fmt.Errorf("the manifest: %w", atName(r.name, err))
}

// around puts checksums before the writer of an output; the sink that writes to
// it has to go through the sums, too.
func (r *record) around(w blob.Writer) (blob.Writer, *manifest.Sums) {
	if r == nil {
		return w, nil
	}
	sums := manifest.NewSums(w)
	return sums, sums
}

// enter takes down an output that is complete.
func (r *record) enter(src *frontier.Concatenation, path string, sums *manifest.Sums, stats *batch.Stats) error {
	if r == nil || path == blob.Stdio {
		return nil
	}
	info, err := blob.Stat(context.Background(), path)
	if err != nil {
		return r.failed(err)
	}
	if !info.Known() {
		return r.failed(errors.New("there is none of what is no regular file: leave out -manifest and -resume"))
	}
	name, err := filepath.Rel(r.folder, path)
	if err != nil {
		return r.failed(err)
	}
	o := &manifest.Output{
		Output: fileOf(filepath.ToSlash(name), info), Checksum: sums.Checksum(), Parts: sums.Parts(), Counts: manifest.CountsOf(stats),
	}
	o.Output.Size = sums.Size()
	for _, in := range src.Versions() {
		o.Inputs = append(o.Inputs, fileOf(in.Path, in.Info))
	}
	for _, t := range src.Truncated() {
		o.Truncated = append(o.Truncated, manifest.Truncated{Input: blob.Shown(t.Input), Rows: t.Rows})
	}
	r.queue(func(text []byte) []byte {
		r.outputs++
		return manifest.AppendOutput(text, o)
	})
	return nil
}

// end says that the job has come to its end.
func (r *record) end() error {
	if r == nil || r.single {
		return nil
	}
	r.queue(func(text []byte) []byte { return manifest.AppendEnd(text, r.outputs) })
	return r.save()
}

// save writes what was entered, which is durable when it returns. Of several that
// call it together, one writes for all.
func (r *record) save() error {
	if r == nil {
		return nil
	}
	r.writing.Lock()
	defer r.writing.Unlock()
	r.mu.Lock()
	text := r.pending
	r.pending = nil
	r.mu.Unlock()
	if len(text) == 0 || r.broken != nil {
		return r.broken
	}
	if r.single {
		return r.replace(manifest.AppendEnd(append(manifest.AppendJob(nil, &r.job), text...), r.outputs))
	}
	_, err := r.file.Write(text)
	if err == nil {
		err = r.file.Sync()
	}
	if err != nil {
		r.broken = r.failed(err)
	}
	return r.broken
}

// close closes the file.
func (r *record) close() {
	if r != nil && r.file != nil {
		r.file.Close()
	}
}

// pathOf is where an output lies.
func (r *record) pathOf(o *manifest.Output) string {
	return filepath.Join(r.folder, filepath.FromSlash(o.Output.Name))
}

// fileOf is a version in the manifest's terms, without credentials in its name.
func fileOf(name string, info blob.Info) manifest.File {
	return manifest.File{Name: blob.Shown(name), Size: info.Size, Modified: info.Modified.UTC(), ETag: info.ETag}
}

// forget removes the manifest beside a single output, which is about to be
// replaced by one that it knows nothing of.
func forget(out string) error {
	if out == blob.Stdio || blob.IsURL(out) || isFolder(out) {
		return nil
	}
	err := os.Remove(manifest.Beside(out))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the manifest: %w", err)
	}
	return nil
}
