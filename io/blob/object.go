package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	gcblob "gocloud.dev/blob"
	"gocloud.dev/gcerrors"
)

const (
	// headSize and tailSize are how many octets of an object's beginning and end
	// are fetched at once and kept: what tells its format, and most footers.
	headSize = 32 << 10
	tailSize = 64 << 10

	// ReadMemory is about the most octets that an open object takes, without
	// what was announced by [File.Expect]. Each that is open beside it takes
	// less than a MiB more.
	ReadMemory = (aheadBlocks+1)*maxBlock + headSize + tailSize

	// reopenings is how often a body that broke off is opened again without one
	// more octet coming; reopenAfter is the first pause, which doubles.
	reopenings  = 6
	reopenAfter = 100 * time.Millisecond
)

// object is an object of a store, open for reading. Whatever is read of it is of
// one version: should it be replaced meanwhile, reading fails.
type object struct {
	url     URL
	bucket  *gcblob.Bucket
	store   Store
	version string
	size    int64

	ctx     context.Context // of all requests
	cancel  context.CancelFunc
	working sync.WaitGroup // fetches in the background

	reading *ahead // of Read, nil before it

	mu         sync.Mutex // for what ReadAt needs, that follows
	head, tail []byte     // nil before they are fetched
	cursor     *ahead     // ReadAt in order, nil when it is not
	last       int64      // where the last ReadAt ended
	segments   []*segment // what was announced
}

// openObject finds out an object's size and version.
func openObject(ctx context.Context, u URL) (*object, error) {
	if u.IsFolder() {
		return nil, fmt.Errorf("blob: %s is the name of a folder, not of an object", u.Name())
	}
	bucket, err := u.bucket(ctx)
	if err != nil {
		return nil, err
	}
	info, err := statObject(ctx, u)
	if err != nil {
		return nil, err
	}
	o := &object{url: u, bucket: bucket, store: stores[u.Scheme], size: info.Size, version: info.ETag, last: -1}
	o.ctx, o.cancel = context.WithCancel(ctx)
	return o, nil
}

// statObject looks up an object's size and version.
func statObject(ctx context.Context, u URL) (Info, error) {
	bucket, err := u.bucket(ctx)
	if err != nil {
		return Info{}, err
	}
	a, err := bucket.Attributes(ctx, u.Key)
	if err != nil {
		return Info{}, u.explain(ctx, err)
	}
	return Info{Size: a.Size, Modified: a.ModTime, ETag: stores[u.Scheme].Version(a), regular: true}, nil
}

// fetch fills p with the octets at an offset. The store's library tries a
// request several times; a body that breaks off is asked for again from there.
func (o *object) fetch(ctx context.Context, p []byte, offset int64) error {
	for failures := 0; len(p) > 0; {
		n, err := o.request(ctx, p, offset)
		p, offset = p[n:], offset+int64(n)
		switch {
		case err == nil:
			continue
		case !errors.Is(err, errBroken):
			return err
		case n > 0:
			failures = 0
		}
		if failures++; failures > reopenings {
			return err
		}
		select {
		case <-time.After(reopenAfter << (failures - 1)):
		case <-ctx.Done():
			return o.url.explain(ctx, ctx.Err())
		}
	}
	return nil
}

// errBroken says that a body ended before its end.
var errBroken = errors.New("the connection broke off")

// request asks for the octets at an offset once, and returns how many came.
func (o *object) request(ctx context.Context, p []byte, offset int64) (int, error) {
	pin := func(as func(any) bool) error { return o.store.Pin(as, o.version) }
	r, err := o.bucket.NewRangeReader(ctx, o.url.Key, offset, int64(len(p)), &gcblob.ReaderOptions{BeforeRead: pin})
	switch code := gcerrors.Code(err); {
	case err == nil:
	case ctx.Err() == nil && (code == gcerrors.FailedPrecondition || code == gcerrors.NotFound || strings.Contains(err.Error(), "InvalidRange")):
		return 0, fmt.Errorf("blob: %s: %w", o.url.Name(), ErrChanged)
	default:
		return 0, o.url.explain(ctx, err)
	}
	defer r.Close() // it was only read from
	if r.Size() != o.size {
		return 0, fmt.Errorf("blob: %s: %w", o.url.Name(), ErrChanged)
	}
	n, err := io.ReadFull(r, p)
	switch {
	case n == len(p):
		return n, nil
	case ctx.Err() != nil:
		return n, o.url.explain(ctx, err)
	}
	return n, fmt.Errorf("blob: %s: octet %d: %w: %s", o.url.Name(), offset+int64(n), errBroken, cleaned(err))
}

// Read reads in order: the head first, for often no more is wanted, then blocks
// that are fetched ahead.
func (o *object) Read(p []byte) (int, error) {
	if o.reading == nil {
		o.mu.Lock()
		err := o.fetchHead()
		o.mu.Unlock()
		if err != nil {
			return 0, err
		}
		o.reading = newAhead(o, 0, o.head, firstBlock)
	}
	return o.reading.Read(p)
}

// ReadAt reads at any place, with few requests: see Expect, and fetch ahead
// where each ReadAt begins where the one before has ended.
func (o *object) ReadAt(p []byte, offset int64) (n int, err error) {
	if offset < 0 {
		return 0, fmt.Errorf("blob: %s: a negative offset", o.url.Name())
	}
	if short := o.size - offset; int64(len(p)) > short {
		p, err = p[:max(0, short)], io.EOF
	}
	if len(p) == 0 {
		return 0, err
	}
	if s := o.segment(offset, int64(len(p))); s != nil {
		if err := s.read(o, p, offset); err != nil {
			return 0, err
		}
		return len(p), err
	}
	if failure := o.readAt(p, offset); failure != nil {
		return 0, failure
	}
	return len(p), err
}

// readAt fills p with what nobody announced.
func (o *object) readAt(p []byte, offset int64) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	inOrder := offset == o.last
	o.last = offset + int64(len(p))
	if offset < headSize {
		if err := o.fetchHead(); err != nil {
			return err
		}
		n := copy(p, o.head[min(offset, int64(len(o.head))):])
		p, offset = p[n:], offset+int64(n)
	}
	if tail := max(0, o.size-tailSize); len(p) > 0 && offset >= tail {
		if err := o.fetchTail(tail); err != nil {
			return err
		}
		copy(p, o.tail[offset-tail:])
		return nil
	}
	switch {
	case len(p) == 0:
		return nil
	case o.cursor != nil && o.cursor.skipTo(offset):
	case inOrder:
		o.closeCursor()
		o.cursor = newAhead(o, offset, nil, max(firstBlock, min(len(p), maxBlock)))
	default:
		return o.fetch(o.ctx, p, offset)
	}
	_, err := io.ReadFull(o.cursor, p)
	return err
}

func (o *object) fetchHead() error {
	if o.head != nil {
		return nil
	}
	head := make([]byte, min(headSize, o.size))
	if err := o.fetch(o.ctx, head, 0); err != nil {
		return err
	}
	o.head = head
	return nil
}

func (o *object) fetchTail(offset int64) error {
	if o.tail != nil {
		return nil
	}
	tail := make([]byte, o.size-offset)
	if err := o.fetch(o.ctx, tail, offset); err != nil {
		return err
	}
	o.tail = tail
	return nil
}

func (o *object) closeCursor() {
	if o.cursor != nil {
		o.cursor.close()
		o.cursor = nil
	}
}

// Close ends all requests. Who reads has to be done.
func (o *object) Close() error {
	o.cancel()
	o.mu.Lock()
	o.closeCursor()
	o.mu.Unlock()
	if o.reading != nil {
		o.reading.close()
		o.reading = nil
	}
	o.working.Wait()
	return nil
}
