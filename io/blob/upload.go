package blob

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"

	gcblob "gocloud.dev/blob"
	"gocloud.dev/gcerrors"
)

const (
	// PartSize and Parts are how an object is written: in parts of so many
	// octets, so many at once. Stores take up to 10,000 parts, so that an object
	// may have 160 GB.
	PartSize = 16 << 20
	Parts    = 2

	// WriteMemory is about the most octets that an object takes while it is
	// written.
	WriteMemory = (Parts + 2) * PartSize

	contentType = "application/octet-stream"
)

// createObject starts an object, which appears when Close succeeds. Once ctx
// ends, writing fails.
func createObject(ctx context.Context, u URL) (Writer, error) {
	if u.IsFolder() {
		return nil, fmt.Errorf("blob: %s is the name of a folder, not of an object", u.Name())
	}
	bucket, err := u.bucket(ctx)
	if err != nil {
		return nil, err
	}
	// A store that is not there shows at once, and not after all was read. Who
	// may write need not be allowed to look.
	there, err := bucket.IsAccessible(ctx)
	switch {
	case err != nil && gcerrors.Code(err) != gcerrors.PermissionDenied:
		return nil, u.explain(ctx, err)
	case err == nil && !there:
		return nil, fmt.Errorf("blob: %s: there is no such bucket: %w", u.Name(), fs.ErrNotExist)
	}
	options := &gcblob.WriterOptions{BufferSize: PartSize, MaxConcurrency: Parts, ContentType: contentType}
	if before := stores[u.Scheme].BeforeWrite; before != nil {
		options.BeforeWrite = func(as func(any) bool) error { return before(bucket, as) }
	}
	writing, cancel := context.WithCancel(ctx)
	w, err := bucket.NewWriter(writing, u.Key, options)
	if err != nil {
		cancel()
		return nil, u.explain(ctx, err)
	}
	up := &upload{url: u, ctx: writing, w: w}
	// Nothing completes an object whose context has ended: that is how a writer
	// is given up, and its parts with it.
	discard := func() {
		cancel()
		_ = up.close()
	}
	publish := func() error {
		defer cancel()
		return up.close()
	}
	return newWriter(u.Name(), up, publish, discard), nil
}

// upload is an object that is being written.
type upload struct {
	url    URL
	ctx    context.Context
	w      *gcblob.Writer
	closed sync.Once
	err    error
}

func (u *upload) Write(p []byte) (int, error) {
	n, err := u.w.Write(p)
	if err != nil {
		return n, u.explain(err)
	}
	return n, nil
}

// close completes the object, unless its context has ended.
func (u *upload) close() error {
	u.closed.Do(func() {
		if err := u.w.Close(); err != nil {
			u.err = u.explain(err)
		}
	})
	return u.err
}

// explain is without the name, which the writer puts in front.
func (u *upload) explain(err error) error {
	if u.ctx.Err() != nil {
		return context.Cause(u.ctx)
	}
	return errors.New("writing it: " + cleaned(err)) // not wrapped, see URL.explain
}
