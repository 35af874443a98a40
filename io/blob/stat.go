package blob

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// Info tells one version of a file from another.
type Info struct {
	// Size in octets; 0 for what is no regular file.
	Size int64
	// Modified is when it was last written to.
	Modified time.Time
	// ETag is an object store's name for the version, its entity tag or
	// generation; empty for local files.
	ETag string

	regular bool
	file    fs.FileInfo // local files
}

// Stat looks up the version that a name stands for now. [Stdio] and what is no
// regular file have none: see Info.Known.
func Stat(ctx context.Context, name string) (Info, error) {
	if name == Stdio {
		return Info{}, nil
	}
	name, isObject, err := checkName(name)
	if err != nil {
		return Info{}, err
	}
	if isObject {
		u, err := ParseURL(name)
		if err != nil {
			return Info{}, err
		}
		return statObject(ctx, u)
	}
	info, err := os.Stat(name)
	if err != nil {
		return Info{}, named(name, err)
	}
	if !info.Mode().IsRegular() {
		return Info{}, nil
	}
	return Info{Size: info.Size(), Modified: info.ModTime(), regular: true, file: info}, nil
}

// Known tells whether there are versions at all: a pipe has none.
func (i Info) Known() bool { return i.regular || i.ETag != "" }

// Same tells whether two are the same version, as far as size, time and ETag
// can say. What has no version is never the same.
func (i Info) Same(other Info) bool {
	return i.Known() && other.Known() && i.Size == other.Size && i.Modified.Equal(other.Modified) && i.ETag == other.ETag
}

// Unchanged says whether a file that was read from was written to since i was
// looked up. That another file took its name, or that the name is gone, is no
// error: who has a file open goes on reading the old one.
func (i Info) Unchanged(name string) error {
	if i.file == nil {
		return nil
	}
	now, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return named(name, err)
	case !os.SameFile(i.file, now) || now.Size() == i.Size && now.ModTime().Equal(i.Modified):
		return nil
	case now.Size() != i.Size:
		return fmt.Errorf("blob: %s: %w: it had %d octets and has %d", name, ErrChanged, i.Size, now.Size())
	}
	return fmt.Errorf("blob: %s: %w", name, ErrChanged)
}

// ErrChanged says that a file or object changed under a reader.
var ErrChanged = errors.New("it was written to while it was read: run again when it is complete")
