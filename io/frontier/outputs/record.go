package outputs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"robotsbatch/batch"
	"robotsbatch/batch/manifest"
	"robotsbatch/batch/option"
	"robotsbatch/io/frontier"
	"robotsbatch/io/frontier/format"
	"robotsbatch/io/store/blob"
)

// Output is one output of a job, and the inputs whose rows go there.
type Output struct {
	// Path is a file's name, an object's URL, or "-" for stdout. In an output folder it
	// has no ending yet, because the input's format decides that.
	Path     string
	InFolder bool
	// Format is what was asked for; Unknown if the input decides.
	Format format.Format
	Inputs []frontier.Input
}

// Record writes the manifest of a job, or of a shard of one, while the job runs. A nil Record
// belongs to a job without a manifest: AddRuleFile, Start, Sums, Enter, Save, End and Close accept
// it and do nothing. AddRuleFile, Enter and Save are safe for concurrent use.
type Record struct {
	ctx    context.Context // ends saving
	name   string          // of the manifest
	folder string          // names of outputs are relative to it
	// single says that there is only one output; its manifest is written when it is
	// complete.
	single bool
	job    manifest.Job
	file   *os.File

	// An object cannot be appended to. It is replaced each time an eighth of its
	// outputs is new.
	text  []byte // of an object: all lines
	saved int    // the number of outputs in the object
	ended bool   // End was called

	mu           sync.Mutex               // guards the fields below: workers add rule files, a Chain adds outputs
	ruleFiles    map[string]manifest.File // the rule files that were recorded, by folder and name
	newRuleFiles []manifest.RuleFile      // those that are no line of pending yet
	pending      []byte                   // lines not written yet
	outputs      int                      // the number of outputs in all lines

	writing sync.Mutex // guards the file and the fields below
	broken  error      // the first failed write, which each later Save returns
}

// NewRecord returns the record of a job, or of the shard that job names, and writes no file
// yet. A folder always has a record, a single output only if beside is set. Stdout and objects
// have none, except those of shards: then it returns nil. Saving ends with ctx.
func NewRecord(ctx context.Context, out string, beside bool, job manifest.Job) *Record {
	r := &Record{ctx: ctx, job: job, ruleFiles: make(map[string]manifest.File)}
	switch {
	case job.Shard != nil:
		r.name, r.folder = blob.Join(out, job.Shard.FileName()), out
	case out == blob.Stdio || blob.IsURL(out):
		return nil
	case IsFolder(out):
		r.name, r.folder = filepath.Join(out, manifest.FolderName), out
	case beside:
		r.name, r.folder, r.single = manifest.Beside(out), filepath.Dir(out), true
	default:
		return nil
	}
	return r
}

// Folder returns the folder of a file or object.
func Folder(name string) string {
	u, err := blob.ParseURL(name)
	if !blob.IsURL(name) || err != nil {
		return filepath.Dir(name)
	}
	u.Key = u.Key[:strings.LastIndexByte(u.Key, '/')+1]
	return u.String()
}

// AddRuleFile records that a file was read from a folder of rules. file has its name and version.
func (r *Record) AddRuleFile(folder string, file manifest.File) {
	if r == nil {
		return
	}
	folder = blob.Shown(folder)
	key := folder + "\x00" + file.Name
	r.mu.Lock()
	defer r.mu.Unlock()
	if before, ok := r.ruleFiles[key]; ok && before.Same(file) {
		return
	}
	r.ruleFiles[key] = file
	for i, rules := range r.job.Rules {
		if rules.Name == folder {
			r.newRuleFiles = append(r.newRuleFiles, manifest.RuleFile{Source: i, File: file})
			return
		}
	}
}

// queue adds lines to those that the next Save writes: one for each rule file that was read since
// the last call, and what appendLine appends.
func (r *Record) queue(appendLine func(text []byte) []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pending = appendLine(manifest.AppendRuleFiles(r.pending, r.newRuleFiles))
	r.newRuleFiles = nil
}

// begin replaces the manifest by one of this job, with the rule files and outputs of an earlier run
// that hold for this run as well. A nil output in kept is left out: this run makes it again. The
// manifest of a single output is only written when that is complete.
func (r *Record) begin(kept []*manifest.Output, rules []manifest.RuleFile) error {
	if r.single {
		return nil
	}
	text := manifest.AppendRuleFiles(manifest.AppendJob(nil, &r.job), rules)
	for _, o := range kept {
		if o != nil {
			text = manifest.AppendOutput(text, o)
			r.outputs++
		}
	}
	r.saved = r.outputs
	if err := r.replace(text); err != nil {
		return err
	}
	if r.isObject() {
		r.text = text
		return nil
	}
	var err error
	r.file, err = os.OpenFile(r.name, os.O_WRONLY|os.O_APPEND, 0)
	return r.withName(err)
}

// replace writes text as the whole manifest.
func (r *Record) replace(text []byte) error {
	return r.withName(blob.WriteFile(r.ctx, r.name, text))
}

func (r *Record) isObject() bool { return blob.IsURL(r.name) }

// withName returns an error with the manifest's name; nil for nil.
func (r *Record) withName(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("the manifest: %s: %w", blob.Shown(r.name), err)
}

// Sums returns a writer to w that computes checksums, and the checksums. The sink that writes
// to it must be wrapped by [manifest.Sums.Around]. A nil Record returns w and nil.
func (r *Record) Sums(w blob.Writer) (blob.Writer, *manifest.Sums) {
	if r == nil {
		return w, nil
	}
	sums := manifest.NewSums(w)
	return sums, sums
}

// Read is what was read for an output.
type Read struct {
	Versions  []frontier.Version
	Truncated []frontier.Truncated
}

// Enter records the output at path, which is complete; Save writes the record. read is what was
// read for the output, and sums are its checksums, which Sums returned.
func (r *Record) Enter(read Read, path string, sums *manifest.Sums, stats *batch.Stats) error {
	if r == nil || path == blob.Stdio {
		return nil
	}
	info, err := blob.Stat(r.ctx, path)
	if err != nil {
		return r.withName(err)
	}
	if !info.Known() {
		return r.withName(option.Errorf("only a regular file can have a manifest: leave out %s and %s", option.Manifest, option.Resume))
	}
	name, err := r.relative(path)
	if err != nil {
		return r.withName(err)
	}
	o := &manifest.Output{
		Output: fileOf(name, info), Checksum: sums.Checksum(), Parts: sums.Parts(), Counts: *stats,
	}
	o.Output.Size = sums.Size() // of what was written: the file may be another one's by now
	for _, in := range read.Versions {
		o.Inputs = append(o.Inputs, fileOf(in.Path, in.Info))
	}
	for _, t := range read.Truncated {
		o.Truncated = append(o.Truncated, manifest.Truncated{Input: blob.Shown(t.Input), Rows: t.Rows()})
	}
	r.queue(func(text []byte) []byte {
		r.outputs++
		return manifest.AppendOutput(text, o)
	})
	return nil
}

// relative returns the path of an output relative to the folder, with slashes.
func (r *Record) relative(path string) (string, error) {
	if r.isObject() {
		return strings.TrimPrefix(blob.Shown(path), blob.Shown(r.folder)), nil
	}
	name, err := filepath.Rel(r.folder, path)
	return filepath.ToSlash(name), err
}

// End records that the job has ended, and saves the manifest.
func (r *Record) End() error {
	if r == nil || r.single {
		return nil
	}
	r.queue(func(text []byte) []byte { return manifest.AppendEnd(text, r.outputs) })
	r.ended = true
	return r.Save()
}

// Save writes the outputs that were entered and makes the manifest durable. Of several
// concurrent calls, one writes for all. The manifest of a shard in a store is only replaced
// when an eighth of its outputs is new, or at the end.
func (r *Record) Save() error {
	if r == nil {
		return nil
	}
	r.writing.Lock()
	defer r.writing.Unlock()
	r.mu.Lock()
	text, outputs := r.pending, r.outputs
	r.pending = nil
	r.mu.Unlock()
	if len(text) == 0 || r.broken != nil { // another call has written or failed
		return r.broken
	}
	if r.single {
		return r.replace(manifest.AppendEnd(append(manifest.AppendJob(nil, &r.job), text...), r.outputs))
	}
	if r.isObject() {
		r.text = append(r.text, text...)
		if r.ended || outputs-r.saved > r.saved/8 {
			r.broken, r.saved = r.replace(r.text), outputs
		}
		return r.broken
	}
	_, err := r.file.Write(text)
	if err == nil {
		err = r.file.Sync()
	}
	r.broken = r.withName(err)
	return r.broken
}

// Close closes the file.
func (r *Record) Close() {
	if r != nil && r.file != nil {
		r.file.Close()
	}
}

// PathOf returns the path of a recorded output.
func (r *Record) PathOf(o *manifest.Output) string {
	return blob.Join(r.folder, o.Output.Name)
}

// fileOf converts a version to the manifest's form, without credentials in its name.
func fileOf(name string, info blob.Info) manifest.File {
	return manifest.File{Size: info.Size, Modified: info.Modified.UTC(), ETag: info.Version}.Named(blob.Shown(name))
}

// Forget removes the manifest of a single output that is about to be replaced.
func (t Target) Forget() error {
	if t.Path == blob.Stdio || blob.IsURL(t.Path) {
		return nil // none is beside it: see NewRecord
	}
	err := os.Remove(manifest.Beside(t.Path))
	if err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENAMETOOLONG) { // a name that is too long is no file's
		return nil
	}
	return fmt.Errorf("the manifest: %w", err)
}

// IsFolder reports whether a name is that of a folder of outputs: it is an existing folder, or
// ends with a separator.
func IsFolder(name string) bool {
	if blob.IsURL(name) {
		u, err := blob.ParseURL(name)
		return err == nil && u.IsFolder()
	}
	if strings.HasSuffix(name, "/") || strings.HasSuffix(name, string(filepath.Separator)) {
		return true
	}
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}
