package rulesdir

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"robotsbatch/batch/manifest"
	"robotsbatch/io/store/blob"
	"robotsbatch/io/store/compress"
)

// openFlags open a file for reading; a named pipe does not wait for a writer.
const openFlags = os.O_RDONLY | syscall.O_NONBLOCK

// folder opens files, none of them outside itself. It is a folder on this machine or in an
// object store. In a store, a folder HOST exists only through its files.
type folder struct {
	root    *os.Root     // nil for one in a store
	objects *blob.Folder // nil for one on this machine
	name    string
}

// openFolder opens a folder on this machine or, by its URL, in a store. It returns an error for
// anything else.
func openFolder(ctx context.Context, name string) (folder, error) {
	if blob.IsURL(name) {
		u, err := blob.ParseURL(name)
		if err != nil {
			return folder{}, err
		}
		objects, err := blob.OpenFolder(ctx, u)
		return folder{objects: objects, name: u.Name()}, err
	}
	// Opening a named pipe as a folder would wait for a writer.
	if info, err := os.Stat(name); err == nil && !info.IsDir() {
		return folder{}, fmt.Errorf("%s is not a folder", name)
	}
	root, err := os.OpenRoot(name)
	return folder{root: root, name: name}, err
}

// openList opens a local folder, as ".", or a folder in it, to list its names.
func (f folder) openList(path string) (*os.File, error) {
	inside, err := f.root.Stat(path)
	if err != nil {
		return nil, err
	}
	// A file that os.Root opens asks for each entry's attributes, which takes
	// three times as long as listing the names does.
	list, err := os.Open(filepath.Join(f.name, path))
	if err != nil {
		return nil, err
	}
	info, err := list.Stat()
	if err == nil && !os.SameFile(info, inside) { // os.Open follows links out of the root, which Stat above does not
		err = errors.New("the folder was replaced while it was listed")
	}
	if err != nil {
		list.Close()
		return nil, err
	}
	return list, nil
}

// openFile is a robots.txt that is open.
type openFile struct {
	*os.File
	path string      // in the folder
	info fs.FileInfo // from when it was opened
}

// openRecord opens a local robots.txt. path is a file, or with isDir a folder HOST. It returns nil,
// without an error, for such a folder without a robots.txt. Two robots.txt files in one are an
// error.
func (f folder) openRecord(path string, isDir bool) (*openFile, error) {
	if !isDir {
		return f.open(path)
	}
	var found *openFile
	for _, name := range []string{"/robots.txt", "/robots.txt.gz", "/robots.txt.zst"} {
		file, err := f.open(path + name)
		switch {
		case errors.Is(err, fs.ErrNotExist) && !f.isLink(path+name): // a broken link is an error
			continue
		case err == nil && found != nil:
			file.Close()
			err = f.errClash(found.path, path+name, path)
		}
		if err != nil {
			if found != nil {
				found.Close()
			}
			return nil, err
		}
		found = file
	}
	if found == nil { // also if the folder itself is gone
		if _, err := f.root.Stat(path); err != nil {
			return nil, f.withPath(path, err)
		}
	}
	return found, nil
}

// open opens a file in the folder. It returns an error for anything but a regular file.
func (f folder) open(path string) (*openFile, error) {
	file, err := f.root.OpenFile(path, openFlags, 0)
	if err != nil {
		return nil, f.withPath(path, err)
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("not a regular file: put a robots.txt in its place, or remove it")
	}
	if err != nil {
		file.Close()
		return nil, f.withPath(path, err)
	}
	return &openFile{file, path, info}, nil
}

// isLink reports whether a file is a symbolic link; objects are none.
func (f folder) isLink(path string) bool {
	if f.root == nil {
		return false
	}
	info, err := f.root.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// withPath adds the path of a file in the folder to an error, and what to do if the file is
// gone or a symbolic link.
func (f folder) withPath(path string, err error) error {
	full := f.full(path)
	var inner *fs.PathError
	if errors.As(err, &inner) {
		err = inner.Err
	}
	switch {
	case f.isLink(path):
		return fmt.Errorf("%s: a symbolic link must be relative and lead to a file inside the folder: %w", full, err)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: it was there when the folder was listed; the folder must not change while it is used: %w", full, err)
	}
	return fmt.Errorf("%s: %w", full, err)
}

// mostCompared is the most bytes of two files that are compared.
const mostCompared = 4 << 20

// readRecord returns a robots.txt as it is stored, up to a byte more than mostCompared, and
// its path in the folder. path and isDir are as those of openRecord; the name is "" if that
// finds none. size is that of a listed object: another size is an error.
func (f folder) readRecord(path string, isDir bool, size int64) (body []byte, name string, err error) {
	if f.objects != nil { // which are no folders
		body, _, err = f.objects.ReadUpTo(path, size, nil, mostCompared+1)
		return body, path, err
	}
	file, err := f.openRecord(path, isDir)
	if err != nil || file == nil {
		return nil, "", err
	}
	defer file.Close() // it was only read from
	if body, err = io.ReadAll(io.LimitReader(file, mostCompared+1)); err != nil {
		return nil, "", f.withPath(file.path, err)
	}
	return body, file.path, nil
}

// errClash returns the error for two files, a and b, that are both for host.
func (f folder) errClash(a, b, host string) error {
	if b < a {
		a, b = b, a
	}
	return fmt.Errorf("%s and %s are both for %s: remove one of them", f.full(a), f.full(b), host)
}

// full returns the path of a file with the folder's name.
func (f folder) full(path string) string {
	if f.root == nil {
		return f.name + path
	}
	return filepath.Join(f.name, path)
}

func (f folder) close() error {
	if f.root == nil {
		return nil
	}
	return f.root.Close()
}

// listObjects adds the names of the objects in a store's folder. A robots.txt in a folder HOST
// is listed as such, so that each record has an object.
func (b *builder) listObjects() error {
	return b.folder.objects.List(func(key string, info blob.Info) error {
		in, name := general, key // the tier whose folder has the object, and the object's name there
		if scheme, rest, ok := strings.Cut(key, "/"); ok {
			if t, ofScheme := folderTier(scheme); ofScheme {
				in, name = t, rest
			}
		}
		if name == "" || strings.Contains(cutEndings(name), "/") {
			return nil // a marker of a folder, or deeper than any HOST
		}
		if err := b.add(name, false, in); err != nil { // an object is no folder
			return err
		}
		if x := b.index; len(x.objects) < len(x.records) { // the name was not ignored
			x.objects = append(x.objects, objectVersion{info.Size, x.hashTag(info.Version)})
		}
		return b.folder.objects.CheckHeld(recordSize*int64(len(b.index.records)) + int64(len(b.index.names)))
	})
}

// recordSize is about how many bytes of memory an object takes in the index, besides its name.
const recordSize = 80

// objectVersion is the version of an object, as far as a store's list of keys has it.
type objectVersion struct {
	size int64  // -1 where it is not said
	tag  uint32 // hash of the ETag; 0 where there is none
}

// hashTag returns the hash of an ETag without quotes and the weak mark, which lists and
// proxies may differ in; 0 for none.
func (x *nameIndex) hashTag(tag string) uint32 {
	if tag = strings.Trim(strings.TrimPrefix(tag, "W/"), `"`); tag == "" {
		return 0
	}
	return x.hash([]byte(tag))
}

// readObject replaces *buffer by the body of the object at path, decompressed, up to
// robotstxt.Options.ReadSize. It is an error if the object is no longer the listed version, want.
// found is true unless there is an error: it is what read returns.
func (d *Dir) readObject(path string, want objectVersion, buffer *[]byte) (found bool, version manifest.File, err error) {
	mostCompressed := 2*d.size + compressedHeader // the most bytes that d.size bytes take compressed
	most := d.size                                // bytes to read
	codec, _ := compress.ByName(path)
	if codec != compress.None {
		most = mostCompressed
	}
	data, info, err := d.folder.objects.ReadUpTo(path, want.size, (*buffer)[:0], most)
	if err == nil && codec == compress.None { // its name does not say, but its bytes may
		if codec = compress.Detect(data); codec != compress.None && len(data) == most { // more of it may be needed
			data, info, err = d.folder.objects.ReadUpTo(path, want.size, data[:0], mostCompressed)
		}
	}
	if tag := d.index.hashTag(info.Version); err == nil && tag != want.tag && tag != 0 && want.tag != 0 {
		err = blob.ErrChanged
	}
	if err != nil {
		return false, version, d.folder.withPath(path, err)
	}
	*buffer = data
	if codec != compress.None {
		if *buffer, err = d.readBody(bytes.NewReader(data), path, nil); err != nil {
			return false, version, d.folder.withPath(path, err)
		}
	}
	version = manifest.File{Name: path, Size: info.Size, Modified: info.Modified.UTC()}
	return true, version, d.checkSize(path, *buffer)
}

// compressedHeader is the number of bytes that a compressed object may have before its content.
const compressedHeader = 64 << 10
