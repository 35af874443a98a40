package rulesdir

import (
	"bytes"
	"strings"

	"robotsbatch/batch/manifest"
	"robotsbatch/io/store/blob"
	"robotsbatch/io/store/compress"
)

// listObjects adds the names of the objects in a store's folder. A robots.txt in a folder HOST
// is listed as such, so that each record has an object.
func (b *builder) listObjects() error {
	return b.folder.objects.List(func(key string, info blob.Info) error {
		in, name := general, key
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
		if x := b.index; len(x.objects) < len(x.records) {
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
// robotstxt.Options.ReadSize. It is an error if the object is not the version want, which was
// listed; found is true without an error.
func (d *Dir) readObject(path string, want objectVersion, buffer *[]byte) (found bool, version manifest.File, err error) {
	most := d.size // bytes of the object
	codec, _ := compress.ByName(path)
	if codec != compress.None {
		most = 2*most + compressedHeader // so much may d.size bytes take that do not compress
	}
	data, info, err := d.folder.objects.ReadUpTo(path, want.size, (*buffer)[:0], most)
	if err == nil && codec == compress.None { // its name does not say, but its bytes may
		if codec = compress.Detect(data); codec != compress.None && len(data) == most { // more of it may be needed
			data, info, err = d.folder.objects.ReadUpTo(path, want.size, data[:0], 2*most+compressedHeader)
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
