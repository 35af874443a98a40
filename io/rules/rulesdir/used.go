package rulesdir

import (
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/zeebo/xxh3"
)

// Used is the version of a file that was read.
type Used struct {
	// Name is the file's path in the folder. It ends in a slash for a folder HOST in which
	// there was no robots.txt.
	Name string
	// Size in bytes, 0 for a folder.
	Size int64
	// Modified is when the file was last written to, or a folder's names changed.
	Modified time.Time
}

// errChanged is for a file that had changed when it was read again.
var errChanged = errors.New("it was written to or replaced after it was first read; the folder must not change while it is used")

// Version returns the version that a file in a local folder has now. name is its Used.Name.
func Version(folder, name string) (Used, error) {
	info, err := os.Stat(filepath.Join(folder, name))
	if err != nil {
		return Used{}, err
	}
	return versionOf(name, info), nil
}

// versionOf returns the version of the file or folder called name, from its info.
func versionOf(name string, info fs.FileInfo) Used {
	u := Used{Name: name, Modified: info.ModTime()}
	if !info.IsDir() {
		u.Size = info.Size()
	}
	return u
}

// stamp is the version of a file that was read.
type stamp struct {
	size, modified int64
	read           bool // false: nothing was read yet
}

func (u Used) stamp() stamp { return stamp{u.Size, u.Modified.UnixNano(), true} }

// checkVersion records the version of an index record's file when it is first read. It returns
// an error if another version was read before.
func (d *Dir) checkVersion(record uint32, u Used) error {
	if d.stamps[record].read {
		if d.stamps[record] != u.stamp() {
			return d.folder.withPath(u.Name, errChanged)
		}
		return nil
	}
	d.stamps[record] = u.stamp()
	if d.o.Used != nil {
		d.o.Used(u)
	}
	return nil
}

// Names returns a checksum of all file names in the index. It changes if one is added or
// removed, and does not depend on the order of the listing.
func (d *Dir) Names() string {
	var sum xxh3.Uint128 // of the names' hashes, modulo 2^128
	for i := range d.index.records {
		r := &d.index.records[i]
		name := d.index.path(r)
		if r.isDir {
			name += "/"
		}
		h := xxh3.HashString128(name)
		low := sum.Lo + h.Lo
		if low < h.Lo { // the carry
			sum.Hi++
		}
		sum.Lo, sum.Hi = low, sum.Hi+h.Hi
	}
	digits := sum.Bytes()
	return hex.EncodeToString(digits[:])
}
