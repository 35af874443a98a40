package blob

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"
)

const (
	// An object is written in parts of PartSize bytes, of which up to parts are sent at once.
	PartSize = 16 << 20
	parts    = 2
	// maxParts is the number of parts that the stores take.
	maxParts = 10_000

	// WriteMemory is about the most bytes that an object takes while it is
	// written: the parts on their way, and the one that is being filled.
	WriteMemory = (parts + 1) * PartSize

	// abortTime bounds how long the parts of an upload that failed are being
	// removed.
	abortTime = 15 * time.Second
)

// createObject begins an object, which appears when Close succeeds. When ctx ends, writing
// fails.
func createObject(ctx context.Context, u URL) (Writer, error) {
	if u.IsFolder() {
		return nil, errFolder(u)
	}
	bucket, err := u.bucket(ctx)
	if err != nil {
		return nil, err
	}
	// A store that is not there shows at once, and not after all was read. Who
	// may write need not be allowed to look.
	_, err = (&Folder{ctx, u, bucket}).page(Query{Limit: 1})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: there is no such bucket: %w", u.Name(), fs.ErrNotExist)
	case err != nil && !errors.Is(err, fs.ErrPermission):
		return nil, err
	}
	up := &upload{url: u, bucket: bucket, number: 1}
	up.ctx, up.cancel = context.WithCancelCause(ctx)
	parallel := parts
	if stores[u.Scheme].Ordered {
		parallel = 1
	}
	up.slots = make(chan []byte, parallel)
	for range parallel {
		up.slots <- nil
	}
	return newWriter(u.Name(), up, up.complete, up.abort), nil
}

// upload is an object that is being written. It belongs to one goroutine.
type upload struct {
	url    URL
	bucket Bucket
	ctx    context.Context // ends with the first error
	cancel context.CancelCauseFunc

	buffer []byte      // the part that is being filled
	number int         // of that part, from 1
	offset int64       // of its first byte
	slots  chan []byte // has a buffer for each part that may be sent now; nil: none was allocated yet
	parts  Upload      // nil before the first part is sent
	before Attributes  // of the object that was there before; zero for none
	known  bool        // the store said what was there before
	over   bool        // completed or removed

	sending sync.WaitGroup // for the goroutines that send parts
}

// Write fills parts. A full part is sent only when more bytes come, because the last part is
// sent in another way.
func (u *upload) Write(p []byte) (n int, err error) {
	for n < len(p) {
		if len(u.buffer) == PartSize {
			if err := u.send(false); err != nil { // not the last part
				return n, err
			}
		}
		more := min(len(p)-n, PartSize-len(u.buffer))
		u.buffer = append(u.buffer, p[n:n+more]...)
		n += more
	}
	return n, nil
}

// send begins to send the filled part, and waits until another may be filled. last says that
// it is the last one.
func (u *upload) send(last bool) error {
	if u.parts == nil {
		err := u.do(func(ctx context.Context) (err error) {
			u.lookBefore(ctx)
			u.parts, err = u.bucket.StartUpload(ctx, u.url.Key)
			return err
		})
		if err != nil {
			return err
		}
	}
	if u.number > maxParts {
		return fmt.Errorf("an object has at most %d GiB: write several outputs", int64(maxParts)*PartSize>>30)
	}
	part := Part{Number: u.number, Offset: u.offset, Data: u.buffer, Last: last}
	u.number, u.offset = u.number+1, u.offset+int64(len(u.buffer))
	select {
	case u.buffer = <-u.slots:
		u.buffer = u.buffer[:0]
	case <-u.ctx.Done():
		return context.Cause(u.ctx)
	}
	u.sending.Go(func() {
		if err := u.do(func(ctx context.Context) error { return u.parts.Part(ctx, part) }); err != nil {
			u.cancel(err) // of several, the first is reported
		}
		u.slots <- part.Data
	})
	return nil
}

// lookBefore records which object the upload will replace, for verify. The store may not permit
// looking: then known is false.
func (u *upload) lookBefore(ctx context.Context) {
	is, err := u.bucket.Stat(ctx, u.url.Key)
	u.before, u.known = is, err == nil && !is.isNothing() || errors.Is(err, fs.ErrNotExist)
}

// complete makes an object of what was written.
func (u *upload) complete() error {
	err := u.completeParts()
	if err == nil {
		u.over = true
		u.cancel(nil)
	}
	return err
}

// completeParts completes the object, in one request if no part was sent yet, and else by sending the
// last part and completing the upload. If a part could not be sent, the error is that of the part. If
// the answer does not say that the object is complete (ErrUnconfirmed), verify looks.
func (u *upload) completeParts() error {
	var complete func(context.Context) error
	var err error
	if u.parts == nil {
		complete = func(ctx context.Context) error { return u.bucket.Put(ctx, u.url.Key, u.buffer) }
		// In an operation of its own: an error of an operation says how far it came, and looking
		// comes further than a request that is not answered.
		err = u.do(func(ctx context.Context) error {
			u.lookBefore(ctx)
			return ctx.Err() // lookBefore returns none
		})
	} else {
		complete = u.parts.Complete
		err = u.send(true) // the last part
		u.sending.Wait()
	}
	if err != nil {
		return err
	}
	return u.do(func(ctx context.Context) error {
		err := complete(ctx)
		if err != nil && !errors.Is(err, ErrUnconfirmed) {
			return err
		}
		return u.verify(ctx, err) // nil or ErrUnconfirmed
	})
}

// verify checks that the store has the object. unconfirmed is ErrUnconfirmed if the store's answer did
// not say so, else nil: verify returns it unless there is certainly another object than before the
// upload, and where the store does not permit looking. An object written in one request, such as a
// manifest, may have been replaced by another process already, so that its size proves a loss only
// if it is 0.
func (u *upload) verify(ctx context.Context, unconfirmed error) error {
	is, err := u.bucket.Stat(ctx, u.url.Key)
	mayBeBefore := !u.known || is == u.before || err == nil && is.isNothing()
	isLost := is.Size == 0 && len(u.buffer) > 0 || u.parts != nil && is.Size >= 0 && is.Size != u.offset
	switch {
	case errors.Is(err, fs.ErrPermission), unconfirmed != nil && mayBeBefore:
		return unconfirmed
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("the store says that it is complete, and has no such object")
	case err != nil:
		return err
	case isLost:
		return fmt.Errorf("the store says that it is complete, and has %d bytes of %d", is.Size, u.offset+int64(len(u.buffer)))
	}
	return nil
}

// abort gives the upload up and removes its parts from the store, even if ctx has ended.
func (u *upload) abort() {
	u.cancel(nil)
	if u.over || u.parts == nil {
		return
	}
	u.over = true
	u.sending.Wait()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(u.ctx), abortTime)
	defer cancel()
	_ = u.parts.Abort(ctx) // what fails is left to the store's own rules
}

// do calls request with a context that ends if the store makes no progress. The error does not
// name the object, because the writer adds its name; u.url is what the error hides in the store's text.
func (u *upload) do(request func(context.Context) error) error {
	if u.ctx.Err() != nil {
		return context.Cause(u.ctx)
	}
	ctx, op := startOperation(u.ctx)
	defer op.finish()
	err := request(ctx)
	switch {
	case err == nil:
		return nil
	case u.ctx.Err() != nil:
		return context.Cause(u.ctx)
	case ctx.Err() != nil:
		err = context.Cause(ctx) // the store stands still
	}
	return newStoreError(u.url, "writing it: ", err)
}
