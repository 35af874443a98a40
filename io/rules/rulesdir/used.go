package rulesdir

import (
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/zeebo/xxh3"

	"robotsbatch/batch/manifest"
)

// errChanged is for a file that had changed when it was read again.
var errChanged = errors.New("it was written to or replaced after it was first read; the folder must not change while it is used")

// Version returns the version that a file in a local folder has now. name is that of Options.Used.
func Version(folder, name string) (version manifest.File, err error) {
	info, err := os.Stat(filepath.Join(folder, name))
	if err == nil {
		version = versionOf(name, info)
	}
	return version, err
}

// versionOf returns the version of the file or folder called name, from its info.
func versionOf(name string, info fs.FileInfo) manifest.File {
	version := manifest.File{Name: name, Modified: info.ModTime().UTC()}
	if !info.IsDir() {
		version.Size = info.Size()
	}
	return version
}

// stamp is the version of a file that was read.
type stamp struct {
	size, modified int64
	read           bool // false: nothing was read yet
}

func stampOf(version manifest.File) stamp {
	return stamp{version.Size, version.Modified.UnixNano(), true}
}

// checkVersion records the version of an index record's file when it is first read. It returns
// an error if another version was read before.
func (d *Dir) checkVersion(record uint32, version manifest.File) error {
	before, now := d.stamps[record], stampOf(version)
	if before.read && before != now {
		return d.folder.withPath(version.Name, errChanged)
	}
	d.stamps[record] = now
	if !before.read && d.o.Used != nil {
		d.o.Used(version)
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
