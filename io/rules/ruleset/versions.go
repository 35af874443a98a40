package ruleset

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"sync"
	"time"

	"robotsbatch/batch/manifest"
	"robotsbatch/io/rules/rulesdir"
	"robotsbatch/io/store/blob"
)

// Versions holds each source's version from before any of them was opened.
type Versions struct {
	found    *Found
	captures [][]blob.Info // by source that is read as captures, of its files
}

// Versions looks up which version of each source there is.
func (f *Found) Versions(ctx context.Context) *Versions {
	v := &Versions{found: f, captures: make([][]blob.Info, len(f.sources))}
	for i, source := range f.sources {
		if !source.captured() {
			continue
		}
		for _, name := range source.files {
			info, _ := blob.Stat(ctx, name) // opening the file reports what is wrong with it
			v.captures[i] = append(v.captures[i], info)
		}
	}
	return v
}

// Identify returns the identity of the rules in the open set: one for each source, and
// one for all captures together. A file that changed since the versions were looked up
// is an error.
func (v *Versions) Identify(s *Set) ([]manifest.Rules, error) {
	list := make([]manifest.Rules, len(v.found.sources))
	next, captured := 0, false // the index in s.sources; whether that of all captures, which are one source there, is passed
	for i := range v.found.sources {
		rules, source := &list[i], &v.found.sources[i]
		rules.Name = source.shown()
		if !source.captured() {
			if o := s.sources[next]; o.dir != nil {
				rules.Kind, rules.Checksum = "folder", o.dir.Names()
			} else {
				rules.Kind, rules.Checksum = "pack", o.pack.Info().Checksum
			}
			next++
			continue
		}
		rules.Kind = "captures"
		for j, info := range v.captures[i] {
			path := source.files[j]
			if err := info.Unchanged(path); err != nil {
				return nil, err
			}
			f := manifest.File{Name: blob.Shown(path), Size: info.Size, Modified: info.Modified.UTC(), ETag: info.Version}
			if !info.Known() { // a pipe, which may have anything in the next run
				f.Modified = time.Now().UTC()
			}
			rules.Files = append(rules.Files, f)
		}
		if !captured {
			captured, rules.Checksum = true, s.captured.named
			next++
		}
	}
	return list, nil
}

// FileNow returns the current version of a file in a folder source, with its name for
// people. ok is false if there is no such source.
func (v *Versions) FileNow(ctx context.Context, source int, name string) (now manifest.File, shown string, ok bool, err error) {
	if source < 0 || source >= len(v.found.sources) || v.found.sources[source].kind != folderKind {
		return now, "", false, nil
	}
	folder := v.found.sources[source].name
	path, err := below(folder, name)
	shown = blob.Shown(path)
	if blob.IsURL(folder) {
		info, statErr := blob.Stat(ctx, path)
		return manifest.File{Name: name, Size: info.Size, Modified: info.Modified}, shown, true, cmp.Or(err, statErr)
	}
	now, err = rulesdir.Version(folder, name)
	return now, shown, true, err
}

// versionSum is a checksum of the versions of files, in whatever order they come.
type versionSum struct {
	mu  sync.Mutex
	sum [4]uint64
}

// add adds the version of a file. The sum of hashes does not depend on the order of the files.
func (v *versionSum) add(name string, i blob.Info) {
	h := sha256.Sum256(fmt.Appendf(nil, "%q %d %d %s", name, i.Size, i.Modified.UnixNano(), i.Version))
	v.mu.Lock()
	defer v.mu.Unlock()
	for n := range v.sum {
		v.sum[n] += binary.BigEndian.Uint64(h[8*n:])
	}
}

// String is empty without files.
func (v *versionSum) String() string {
	if v.sum == [4]uint64{} {
		return ""
	}
	return fmt.Sprintf("%016x%016x%016x%016x", v.sum[0], v.sum[1], v.sum[2], v.sum[3])
}
