package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"robotsbatch/batch/manifest"
	"robotsbatch/batch/option"
	"robotsbatch/io/frontier/format"
	"robotsbatch/io/frontier/outputs"
	"robotsbatch/io/frontier/parquetio"
	"robotsbatch/io/frontier/tableio"
	"robotsbatch/io/rules/captures"
	"robotsbatch/io/rules/rulepack"
	"robotsbatch/io/rules/ruleset"
	"robotsbatch/io/store/blob"
	"robotsbatch/io/store/compress"
	"robotsbatch/io/store/meter"
	"robotsbatch/io/tables/arrow/ipc"
)

// Finding is the result for one output, rule pack or manifest.
type Finding struct {
	// Name is its name for people.
	Name string
	// Format is that of an output; format.RulePack for a pack.
	Format format.Format
	// IsTable means that Rows were counted.
	IsTable bool
	Rows    int64
	// Output is the manifest's entry of an output; nil without a manifest.
	Output *manifest.Output
	// Unlisted says that a file lies in a folder of outputs and is not in its manifest. It
	// was not read.
	Unlisted bool
	// Shards, if not 0, says that Name is a folder with that many shards, all of which are done and
	// whose manifests are not merged. Findings about their outputs follow.
	Shards int
	// Pack says what a rule pack has; nil for all else.
	Pack *rulepack.Info
	// Damage lists what is wrong; empty for an intact output.
	Damage []error
}

// State is the kind of a Finding.
type State int

const (
	Intact State = iota
	Damaged
	Missing
	Unread       // it cannot be read now
	OtherVersion // a rule pack that this version of the program does not read
	Unfinished   // a job that did not come to its end
	Apart        // shards that do not belong together
	states
)

// State returns the kind of the first damage; Intact if there is none.
func (f *Finding) State() State {
	switch {
	case len(f.Damage) == 0:
		return Intact
	case errors.Is(f.Damage[0], fs.ErrNotExist):
		return Missing
	case blob.Temporary(f.Damage[0]):
		return Unread
	case errors.Is(f.Damage[0], rulepack.ErrVersion):
		return OtherVersion
	case errors.Is(f.Damage[0], errUnfinished):
		return Unfinished
	case errors.As(f.Damage[0], new(outputs.ApartError)):
		return Apart
	}
	return Damaged
}

// errUnfinished says that a job did not come to its end.
var errUnfinished = errors.New("the job is unfinished")

// Verifier checks outputs and rule packs. It reads each manifest once.
type Verifier struct {
	manifests map[string][]manifest.Output // by a manifest's path, its outputs
	folders   map[string][]string          // by a folder's path, the paths of its manifests
	step      *meter.Step
	alone     sync.RWMutex // a check that may take all of the memory holds it for writing, others for reading
}

// atOnce is the number of outputs of a folder that are checked at the same time. They share batchMemory.
var atOnce = min(runtime.GOMAXPROCS(0), 8)

// StartProgress starts the progress of the checks of these names. Its total is the size of all named
// files, and of the outputs of all named manifests and folders. Objects and unreadable files do not
// count.
func (v *Verifier) StartProgress(ctx context.Context, names []string) {
	total := int64(0)
	for _, name := range names {
		info, err := os.Stat(name)
		switch {
		case blob.IsURL(name) || err != nil:
			continue
		case info.IsDir():
			name = filepath.Join(name, manifest.FolderName)
		case !manifest.IsName(name):
			total += info.Size()
			continue
		}
		if m, err := manifest.ReadFile(name); err == nil {
			for i := range m.Outputs {
				total += m.Outputs[i].Output.Size
			}
		}
	}
	v.step = meter.Start(ctx, "checking", meter.Bytes, total)
}

// progressOf returns the part of the progress that checking a file is. o is its entry in a manifest,
// or nil. The part is empty if the size is not known.
func (v *Verifier) progressOf(name string, o *manifest.Output) *meter.Part {
	if o != nil {
		return v.step.Part(o.Output.Size)
	}
	if info, err := os.Stat(name); err == nil && !blob.IsURL(name) {
		return v.step.Part(info.Size())
	}
	return v.step.Part(0)
}

// New returns a Verifier.
func New() *Verifier {
	return &Verifier{manifests: make(map[string][]manifest.Output), folders: make(map[string][]string)}
}

// Check checks a file, an object, a folder of outputs or a manifest. It calls found with the result
// for each output or pack. The error is the cause if ctx ends, or wraps [manifest.ErrIncomplete] if
// some shards of a folder must still be run. Damage is no error.
func (v *Verifier) Check(ctx context.Context, name string, found func(Finding)) error {
	isURL, shown := blob.IsURL(name), blob.Shown(name) // shown is name, if that is no URL
	info, err := os.Stat(name)
	switch {
	case !isURL && err != nil:
		found(damaged(name, err))
		return nil
	case isURL && strings.HasSuffix(shown, "/"), !isURL && info.IsDir():
		return v.checkManifest(ctx, name, blob.Join(name, manifest.FolderName), found)
	case manifest.IsName(shown):
		return v.checkManifest(ctx, outputs.Folder(name), name, found)
	}
	f := v.checkFile(ctx, name)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	found(f)
	return nil
}

func damaged(name string, err error) Finding { return Finding{Name: name, Damage: []error{err}} }

// checkFile checks an output or a rule pack. If a manifest on this machine lists the output,
// it is compared with that.
func (v *Verifier) checkFile(ctx context.Context, name string) Finding {
	kind, err := ruleset.Detect(ctx, name)
	switch {
	case err == nil && kind == format.RulePack:
		return v.checkPack(ctx, name)
	case blob.IsURL(name) && err != nil:
		return damaged(blob.Shown(name), err)
	case blob.IsURL(name):
		return v.checkOutput(ctx, name, nil)
	}
	o, err := v.findEntry(name)
	if err != nil {
		return damaged(name, err)
	}
	return v.checkOutput(ctx, name, o)
}

// checkPack checks a rule pack, and the captures that it keeps.
func (v *Verifier) checkPack(ctx context.Context, name string) Finding {
	f := Finding{Name: blob.Shown(name), Format: format.RulePack}
	err := ruleset.Inspect(ctx, name, func(p *rulepack.Pack) error {
		f.Pack = p.Info()
		if err := p.Verify(); err != nil {
			return err
		}
		return p.EachKnown(ctx, func(k *rulepack.Known) error {
			if err := captures.Kept(k.Captures).Check(); err != nil {
				return fmt.Errorf("%s: %w: %w", f.Name, rulepack.ErrDamaged, err)
			}
			return nil
		})
	})
	if err != nil {
		return damaged(f.Name, err)
	}
	v.progressOf(name, nil).To(1)
	return f
}

// checkManifest checks all outputs that a manifest of a folder, called name, lists, and reports files that it
// does not list. If the folder has only the manifests of shards, it takes all of these together.
func (v *Verifier) checkManifest(ctx context.Context, folder, name string, found func(Finding)) error {
	m, err := outputs.ReadManifest(ctx, name)
	shown := blob.Shown(name)
	if errors.Is(err, fs.ErrNotExist) && path.Base(shown) == manifest.FolderName {
		var shards int // the number of them, whose manifests are not merged
		switch m, _, shards, err = outputs.Joined(ctx, folder); {
		case errors.Is(err, manifest.ErrIncomplete):
			return err
		case errors.Is(err, outputs.ErrNoShards):
			err = &causedError{shown + ": there is no manifest: name the files, and each is read to its end", fs.ErrNotExist}
		case err == nil:
			found(Finding{Name: blob.Shown(folder), Shards: shards})
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		found(damaged(shown, err))
		return nil
	}
	if err := v.checkOutputs(ctx, folder, m.Outputs, found); err != nil {
		return err
	}
	if err := checkUnlisted(ctx, folder, name, m, found); err != nil {
		return err
	}
	if !m.Ended {
		found(damaged(shown, option.Errorf("%s: %w: outputs beyond the %d listed may be missing: run it again with %s", shown, errUnfinished, len(m.Outputs), option.Resume)))
	}
	return nil
}

// checkOutputs checks outputs of a folder, several at once, and calls found in their order.
func (v *Verifier) checkOutputs(ctx context.Context, folder string, list []manifest.Output, found func(Finding)) error {
	chain := outputs.NewChain(atOnce, func() {})
	for i := range list {
		if ctx.Err() != nil {
			break
		}
		var f Finding
		chain.Start(outputs.Steps{
			Work: func() error {
				if name := list[i].Output.Name; filepath.IsLocal(filepath.FromSlash(strings.TrimLeft(name, "/"))) {
					f = v.checkOutput(ctx, blob.Join(folder, name), &list[i])
				} else {
					f = damaged(name, fmt.Errorf("%s: the manifest lists %q, which is not in its folder", blob.Shown(folder), name))
				}
				return context.Cause(ctx) // if ctx has ended, f may only say that, and is not reported
			},
			Complete: func() error { found(f); return nil },
		})
	}
	return cmp.Or(chain.Wait(), context.Cause(ctx))
}

// checkUnlisted reports files in and below a folder whose names are those of outputs and that the folder's
// manifest m, called name, does not list. It skips what cannot be read.
func checkUnlisted(ctx context.Context, folder, name string, m *manifest.Manifest, found func(Finding)) error {
	if path.Base(filepath.ToSlash(blob.Shown(name))) != manifest.FolderName { // of one output, or of a shard
		return nil
	}
	listed := make(map[string]bool)
	for i := range m.Outputs {
		listed[m.Outputs[i].Output.Name] = true
	}
	isUnlisted := func(relative string) bool {
		named, _ := format.ByName(relative)
		return named.Writable() && !listed[filepath.ToSlash(relative)]
	}
	if u, err := blob.ParseURL(folder); blob.IsURL(folder) && err == nil {
		objects, _ := blob.Expand(ctx, u)
		for _, object := range objects {
			if isUnlisted(object.Stem) {
				found(Finding{Name: object.URL.Name(), Unlisted: true})
			}
		}
		return context.Cause(ctx)
	}
	return filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		hidden := path != folder && strings.ContainsAny(filepath.Base(path)[:1], "._")
		switch {
		case err != nil:
			return nil
		case entry.IsDir() && hidden:
			return fs.SkipDir
		case !entry.Type().IsRegular() || hidden:
			return nil
		}
		relative, err := filepath.Rel(folder, path)
		if err == nil && isUnlisted(relative) {
			found(Finding{Name: path, Unlisted: true})
		}
		return nil
	})
}

// findEntry returns an output's entry in a manifest; nil if no manifest lists it. It looks at the manifest
// beside the output and those of its folder, shards' manifests included, and if none lists it, at those of
// each folder above. If several manifests in a folder have an entry, the newest counts. A manifest that
// cannot be read is an error unless another of its folder has an entry.
func (v *Verifier) findEntry(name string) (found *manifest.Output, err error) {
	path, err := filepath.Abs(name)
	if err != nil {
		return nil, err
	}
	candidates := []string{manifest.Beside(path)}
	for folder := filepath.Dir(path); ; folder = filepath.Dir(folder) {
		for _, candidate := range append(candidates, v.folderManifests(folder)...) {
			listed, unread := v.outputsOf(candidate)
			err = cmp.Or(unread, err)
			for i := range listed {
				o := &listed[i]
				if filepath.Join(filepath.Dir(candidate), filepath.FromSlash(o.Output.Name)) == path && (found == nil || o.Output.Modified.After(found.Output.Modified)) {
					found = o
				}
			}
		}
		switch {
		case found != nil:
			return found, nil
		case err != nil || folder == filepath.Dir(folder):
			return nil, err
		}
		candidates = nil // the one beside the output was looked at
	}
}

// outputsOf returns the outputs in a manifest; none if there is no such file.
func (v *Verifier) outputsOf(name string) ([]manifest.Output, error) {
	known, ok := v.manifests[name]
	if ok {
		return known, nil
	}
	switch m, err := manifest.ReadFile(name); {
	case err == nil:
		known = m.Outputs
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	v.manifests[name] = known
	return known, nil
}

// folderManifests returns the paths of the manifests in a folder: its own and those of shards.
func (v *Verifier) folderManifests(folder string) []string {
	names, ok := v.folders[folder]
	if !ok {
		names = []string{filepath.Join(folder, manifest.FolderName)}
		entries, _ := os.ReadDir(folder) // a folder above may be closed to this user
		for _, entry := range entries {
			if _, ok := manifest.ParseFileName(entry.Name()); ok {
				names = append(names, filepath.Join(folder, entry.Name()))
			}
		}
		v.folders[folder] = names
	}
	return names
}

// checkOutput compares an output with the checksums of its entry o, unless that is nil, and if they are right
// reads it to its end.
func (v *Verifier) checkOutput(ctx context.Context, name string, o *manifest.Output) Finding {
	f := Finding{Name: blob.Shown(name), Output: o}
	part, before := v.progressOf(name, o), 0.0 // before is the share of the work that precedes decoding
	defer part.To(1)
	if o != nil {
		if info, err := os.Stat(name); !blob.IsURL(name) && err == nil && !info.Mode().IsRegular() { // reading it may not end
			f.Damage = []error{fmt.Errorf("%s is no regular file", name)}
			return f
		}
		before = sumsShare
		f.Damage = checkSums(ctx, name, o, func(share float64) { part.To(sumsShare * share) })
		if len(f.Damage) > 0 {
			return f
		}
	}
	decoded := func(share float64) { part.To(before + (1-before)*share) }
	v.alone.RLock()
	err := f.decode(ctx, name, decoded, batchMemory/int64(atOnce))
	v.alone.RUnlock()
	if err != nil && atOnce > 1 && !blob.Temporary(err) { // it may have lacked memory: try again with all of it
		v.alone.Lock()
		err = f.decode(ctx, name, decoded, batchMemory)
		v.alone.Unlock()
	}
	if err != nil {
		f.Damage = []error{err}
	} else if o != nil && f.IsTable && f.Rows != o.Counts.Selected {
		f.Damage = []error{fmt.Errorf("%s: rows: it has %d, and %d were written", f.Name, f.Rows, o.Counts.Selected)}
	}
	return f
}

// sumsShare is the share of the work on an output that is comparing checksums; the rest is decoding.
const sumsShare = 0.25

// checkSums compares an output with its checksums and returns an error for each part that
// differs. It calls progress with the share that was read.
func checkSums(ctx context.Context, name string, o *manifest.Output, progress func(share float64)) []error {
	in, err := openWatched(ctx, name, progress)
	if err != nil {
		return []error{err}
	}
	defer in.file.Close()
	var damage []error
	err = o.Check(in, func(part int, what string) {
		damage = append(damage, fmt.Errorf("%s: %s: %s", blob.Shown(name), partName(o, part), what))
	})
	if err != nil {
		damage = append(damage, err) // last: State goes by the first, and that of the parts is certain
	}
	return damage
}

// partName describes the part of an output with an index, such as "batch 3 (rows 0 to 9, bytes 8 to
// 90)". Some parts have no rows, such as the beginning of a file.
func partName(o *manifest.Output, part int) string {
	if part == len(o.Parts) {
		return fmt.Sprintf("after byte %d", o.Output.Size)
	}
	number, row := 0, int64(0)
	for _, before := range o.Parts[:part] {
		row += before.Rows
		if before.Rows > 0 {
			number++
		}
	}
	p := o.Parts[part]
	bytes := fmt.Sprintf("bytes %d to %d", p.Offset, p.Offset+p.Size-1)
	kind := "batch"
	if strings.HasSuffix(o.Output.Name, format.Parquet.Ending()) {
		kind = "row group"
	}
	switch {
	case p.Rows > 0:
		return fmt.Sprintf("%s %d (rows %d to %d, %s)", kind, number, row, row+p.Rows-1, bytes)
	case part == 0:
		return fmt.Sprintf("beginning (%s)", bytes)
	}
	return fmt.Sprintf("after row %d (%s)", row, bytes)
}

// batchMemory is the most bytes of decoded batches of all tables that are checked at a time.
const batchMemory = 512 << 20

// decode reads an output to its end. It counts the rows of a table, whose batches may take
// memory bytes each. Of text it only checks that it can be decompressed. It calls progress with
// the share that was read.
func (f *Finding) decode(ctx context.Context, name string, progress func(share float64), memory int64) error {
	in, err := openWatched(ctx, name, progress)
	if err != nil {
		return err
	}
	defer in.file.Close()
	found, codec, r, err := format.Sniff(in, in.file.Name())
	if err != nil {
		return err
	}
	defer r.Close()
	f.Format = found
	if !found.IsBinary() || codec != compress.None {
		if _, err := io.Copy(io.Discard, r); err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		return nil
	}
	f.IsTable = true
	if found == format.Parquet {
		f.Rows, err = parquetio.CheckFile(in, in.size, memory)
	} else {
		f.Rows, err = ipc.Check(in, in.size, found == format.Arrow, memory)
	}
	if err != nil {
		err = tableio.Worded(fmt.Errorf("%s: %w", f.Name, err))
	}
	return err
}

// watched is a file that reports how much of it was read, and whose reads fail once ctx has ended.
type watched struct {
	ctx      context.Context
	file     *blob.File
	size     int64 // 0 if it is not known
	read     atomic.Int64
	progress func(share float64)
}

// openWatched opens a file or an object. Each read calls progress with the share that was read.
func openWatched(ctx context.Context, name string, progress func(share float64)) (*watched, error) {
	f, err := blob.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	size, _ := f.Size()
	return &watched{ctx: ctx, file: f, size: size, progress: progress}, nil
}

// Read implements io.Reader.
func (w *watched) Read(p []byte) (int, error) {
	if err := context.Cause(w.ctx); err != nil {
		return 0, err
	}
	return w.count(w.file.Read(p))
}

// ReadAt implements io.ReaderAt.
func (w *watched) ReadAt(p []byte, at int64) (int, error) {
	if err := context.Cause(w.ctx); err != nil {
		return 0, err
	}
	return w.count(w.file.ReadAt(p, at))
}

// count counts the bytes that a call has read, and returns the call's results.
func (w *watched) count(n int, err error) (int, error) {
	w.progress(float64(w.read.Add(int64(n))) / float64(max(1, w.size)))
	return n, err
}
