package outputs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sync/errgroup"

	"robotsbatch/batch/manifest"
	"robotsbatch/batch/option"
	"robotsbatch/io/store/blob"
)

// mergeReaders is the number of manifests and outputs that are read at once.
const mergeReaders = 32

// Merge joins the manifests of a job's shards in a folder into one, and returns it with the
// number of shards. All shards must exist, have ended, belong to one job and have seen the
// same inputs, and their outputs must be unchanged. The error names what is wrong; it wraps
// [manifest.ErrIncomplete] if shards must still be run.
func Merge(ctx context.Context, folder string) (m *manifest.Manifest, shards int, err error) {
	lock, err := blob.LockFolder(folder) // nil for objects
	if err != nil {
		return nil, 0, err
	}
	defer lock.Unlock()
	m, text, shards, err := Joined(ctx, folder)
	if err != nil {
		return nil, 0, err
	}
	if !blob.IsURL(folder) {
		if _, err := blob.Sweep(folder); err != nil { // what killed shards left
			return nil, 0, err
		}
	}
	r := &Record{ctx: ctx, name: blob.Join(folder, manifest.FolderName)}
	return m, shards, r.replace(text)
}

// ErrNoShards says that a folder has no manifest of a shard.
var ErrNoShards = errors.New("no shard has been done here")

// ApartError says that the shards of a folder do not belong together.
type ApartError struct{ error }

// Unwrap returns what is different between them.
func (e ApartError) Unwrap() error { return e.error }

// Joined returns the manifest that [Merge] writes, also as text, without writing it. It needs
// no lock.
func Joined(ctx context.Context, folder string) (m *manifest.Manifest, text []byte, shards int, err error) {
	parts, err := readShards(ctx, folder)
	if err != nil {
		return nil, nil, 0, err
	}
	if text, err = manifest.Merge(parts); err != nil {
		if err = fmt.Errorf("%s: %w", blob.Shown(folder), err); !errors.Is(err, manifest.ErrIncomplete) {
			err = ApartError{err}
		}
		return nil, nil, 0, err
	}
	if m, err = manifest.ReadBytes(text); err == nil {
		err = checkOutputs(ctx, folder, m, parts)
	}
	return m, text, len(parts), err
}

// readShards reads the manifests of all shards in a folder, by their index; nil for a missing
// one.
func readShards(ctx context.Context, folder string) ([]*manifest.Manifest, error) {
	names, err := shardNames(ctx, folder)
	if err != nil {
		return nil, err
	}
	var parts []*manifest.Manifest
	for _, name := range names {
		s, _ := manifest.ParseFileName(name) // shardNames returns only names of shards
		if parts == nil {
			parts = make([]*manifest.Manifest, s.Count)
		}
		if s.Count != len(parts) {
			return nil, ApartError{fmt.Errorf("%s: there are shards of %d and of %d: remove the manifests of those that are not meant",
				blob.Shown(folder), len(parts), s.Count)}
		}
	}
	return parts, forEach(len(names), func(i int) error {
		s, _ := manifest.ParseFileName(names[i])
		m, err := ReadManifest(ctx, blob.Join(folder, names[i]))
		if err == nil && (m.Job.Shard == nil || m.Job.Shard.Index != s.Index || m.Job.Shard.Count != s.Count) {
			err = fmt.Errorf("%s is the manifest of another shard than its name says", names[i])
		}
		parts[s.Index] = m
		return err
	})
}

// OtherCount looks in a local folder for manifests of a job that had another number of shards than
// count, and returns that number; 0 if there are none. It does not ask a store, because each shard
// would.
func OtherCount(ctx context.Context, folder string, count int) int {
	if blob.IsURL(folder) {
		return 0
	}
	names, _ := shardNames(ctx, folder)
	for _, name := range names {
		if s, _ := manifest.ParseFileName(name); s.Count != count {
			return s.Count
		}
	}
	return 0
}

// shardNames returns the names of the shards' manifests in a folder.
func shardNames(ctx context.Context, folder string) (names []string, err error) {
	add := func(name string) {
		if _, ok := manifest.ParseFileName(name); ok {
			names = append(names, name)
		}
	}
	if blob.IsURL(folder) {
		u, err := blob.ParseURL(folder)
		if err != nil {
			return nil, err
		}
		objects, err := blob.Expand(ctx, u.Below(manifest.ShardPattern))
		if err != nil && !errors.Is(err, blob.ErrNoMatch) {
			return nil, err
		}
		for _, o := range objects {
			add(o.Stem)
		}
	} else {
		entries, err := os.ReadDir(folder)
		if err != nil {
			return nil, err
		}
		for _, entry := range entries {
			add(entry.Name())
		}
	}
	if len(names) == 0 {
		return nil, option.Errorf("%s: %w: run the job with %s first", blob.Shown(folder), ErrNoShards, option.Shard)
	}
	return names, nil
}

// checkOutputs returns an error if an output changed since its shard wrote it, which names the shard
// to run again. m has all outputs, and parts those of each shard.
func checkOutputs(ctx context.Context, folder string, m *manifest.Manifest, parts []*manifest.Manifest) error {
	shardOf := make(map[string]int) // by the name of an output
	for shard, part := range parts {
		for i := range part.Outputs {
			shardOf[part.Outputs[i].Output.Name] = shard
		}
	}
	return forEach(len(m.Outputs), func(i int) error {
		o := m.Outputs[i].Output
		name := blob.Join(folder, o.Name)
		now, err := blob.Stat(ctx, name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("%s is gone: run shard %d again", blob.Shown(name), shardOf[o.Name])
		case err != nil:
			return err
		case !now.Known() || !fileOf(o.Name, now).Same(o):
			return fmt.Errorf("%s is not what was written: run shard %d again", blob.Shown(name), shardOf[o.Name])
		}
		return nil
	})
}

// forEach calls do for 0 to n-1, several at a time, and returns the error of the lowest number
// that failed.
func forEach(n int, do func(i int) error) error {
	errs := make([]error, n)
	var group errgroup.Group
	group.SetLimit(mergeReaders)
	for i := range n {
		group.Go(func() error {
			errs[i] = do(i)
			return nil
		})
	}
	_ = group.Wait() // each error has its place
	return cmp.Or(errs...)
}
