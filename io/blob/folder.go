package blob

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	gcblob "gocloud.dev/blob"
)

// Folder is a folder of objects that are small.
type Folder struct {
	ctx    context.Context
	url    URL
	bucket *gcblob.Bucket
}

// OpenFolder opens the folder of that URL. Whatever is read of it ends with ctx.
func OpenFolder(ctx context.Context, u URL) (*Folder, error) {
	if !u.IsFolder() {
		return nil, fmt.Errorf("blob: %s: a folder's name ends with a slash", u.Name())
	}
	bucket, err := u.bucket(ctx)
	if err != nil {
		return nil, err
	}
	return &Folder{ctx, u, bucket}, nil
}

// Name is the folder's URL, without parameters.
func (f *Folder) Name() string { return f.url.Name() }

// List calls visit for each key, from the folder on, in order, with its size and
// time. An error of visit ends it, and is returned.
func (f *Folder) List(visit func(key string, info Info) error) error {
	var stopped error
	err := listKeys(f.ctx, f.bucket, f.url.Key, "", func(x *gcblob.ListObject) error {
		stopped = visit(strings.TrimPrefix(x.Key, f.url.Key), Info{Size: x.Size, Modified: x.ModTime, regular: true})
		return stopped
	})
	if err != nil && stopped == nil {
		err = f.url.explain(f.ctx, err)
	}
	return err
}

// ReadUpTo appends the first octets of an object to buffer, up to so many, and
// tells its size and time. Should its body break off, it is read anew.
func (f *Folder) ReadUpTo(key string, buffer []byte, most int) ([]byte, Info, error) {
	u := f.url.Below(key)
	for failures := 0; ; failures++ {
		data, info, err := f.read(u, buffer, most)
		if err == nil || !info.regular || failures == reopenings {
			return data, info, err
		}
		select {
		case <-time.After(reopenAfter << failures):
		case <-f.ctx.Done():
			return data, info, u.explain(f.ctx, err)
		}
	}
}

// read reads an object once. An error with an info is one of its body.
func (f *Folder) read(u URL, buffer []byte, most int) ([]byte, Info, error) {
	// No range is asked for, because an empty object has none.
	r, err := f.bucket.NewRangeReader(f.ctx, u.Key, 0, -1, nil)
	if err != nil {
		return buffer, Info{}, u.explain(f.ctx, err)
	}
	defer r.Close() // it was only read from
	info := Info{Size: r.Size(), Modified: r.ModTime(), regular: true}
	start := len(buffer)
	buffer = append(buffer, make([]byte, min(r.Size(), int64(most)))...)
	if n, err := io.ReadFull(r, buffer[start:]); err != nil {
		return buffer[:start+n], info, u.explain(f.ctx, err)
	}
	return buffer, info, nil
}
