package rulesdir

import (
	"bytes"
	"strings"

	"robotsbatch/io/store/blob"
	"robotsbatch/io/store/compress"
)

// listObjects adds the names in a store's folder. The listing includes the files in folders
// HOST, so all records exist.
func (b *builder) listObjects() error {
	return b.folder.objects.List(func(key string, _ blob.Info) error {
		in, name := general, key
		if scheme, rest, ok := strings.Cut(key, "/"); ok {
			if t, ofScheme := folderTier(scheme); ofScheme {
				in, name = t, rest
			}
		}
		if name == "" || strings.Contains(cutForm(name), "/") {
			return nil // a marker of a folder, or deeper than any HOST
		}
		return b.add(name, false, in)
	})
}

// readObject reads the body of an object into buffer, up to
// robotstxt.Options.ReadSize.
func (d *Dir) readObject(path string, buffer *[]byte) (found bool, version Used, err error) {
	most := d.size
	codec, _ := compress.ByName(path)
	if codec != compress.None {
		most = 2*most + compressedHeader
	}
	data, info, err := d.folder.objects.ReadUpTo(path, (*buffer)[:0], most)
	if err != nil {
		return false, version, d.folder.explain(path, err)
	}
	*buffer = data
	if codec != compress.None {
		if *buffer, err = d.body(bytes.NewReader(data), path, nil); err != nil {
			return false, version, d.folder.explain(path, err)
		}
	}
	version = Used{Name: path, Size: info.Size, Modified: info.Modified}
	return true, version, d.checkSize(path, *buffer)
}

// compressedHeader is how many bytes a compressed object may have before its content.
const compressedHeader = 64 << 10
