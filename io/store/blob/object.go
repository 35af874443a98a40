package blob

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// headSize and tailSize are the bytes at an object's beginning and end that are fetched
	// at once and kept: what tells its format, and most footers.
	headSize = 32 << 10
	tailSize = 64 << 10

	// ReadMemory is about the most bytes of memory that an open object takes, without
	// what was announced by [File.Expect]. Each further open object takes less than 1 MiB.
	ReadMemory = (aheadBlocks+1)*maxBlock + headSize + tailSize

	// reopenings is how often a body that broke off is opened again without one
	// more byte coming; reopenAfter is the first pause, which doubles.
	reopenings  = 6
	reopenAfter = 100 * time.Millisecond
)

// object is an object of a store, open for reading. Whatever is read of it is of
// one version: reading fails when it is replaced meanwhile.
type object struct {
	url     URL
	bucket  Bucket
	version Attributes // what is read must be of it
	size    int64

	ctx     context.Context // of all requests
	cancel  context.CancelFunc
	working sync.WaitGroup // fetches in the background

	reading *ahead // of Read, nil before it

	mu         sync.Mutex // for the following, which ReadAt needs
	head, tail []byte     // nil before they are fetched
	cursor     *ahead     // of ReadAt, since two calls came without a gap between them; nil before
	lastEnd    int64      // where the last ReadAt ended; -1 before it
	segments   []*segment // what was announced
}

// openObject finds out an object's size and version.
func openObject(ctx context.Context, u URL) (*object, error) {
	if u.IsFolder() {
		return nil, errFolder(u)
	}
	bucket, info, err := statObject(ctx, u)
	if err != nil {
		return nil, err
	}
	o := &object{url: u, bucket: bucket, size: info.Size, version: info.Attributes, lastEnd: -1}
	o.ctx, o.cancel = context.WithCancel(ctx)
	return o, nil
}

func errFolder(u URL) error {
	return fmt.Errorf("%s is a folder: name an object in it", u.Name())
}

// statObject opens the bucket of an object, and asks the store for the object's size and version.
func statObject(ctx context.Context, u URL) (Bucket, Info, error) {
	bucket, err := u.bucket(ctx)
	if err != nil {
		return nil, Info{}, err
	}
	ctx, op := startOperation(ctx)
	defer op.finish()
	a, err := bucket.Stat(ctx, u.Key)
	if err == nil && a.Size <= 0 { // some gateways answer that an object is empty when they do not know
		a.Size, err = askSize(ctx, bucket, u.Key, a.Version)
	}
	if err != nil {
		return nil, Info{}, u.explain(ctx, err)
	}
	return bucket, Info{Attributes: a, regular: true}, nil
}

// errNoLength says that neither the answer of a store nor its list of keys has the length
// of an object, without which a cut answer would look like a whole one.
var errNoLength = errors.New("the store does not say how long it is")

// askSize returns the size of an object from the answer to a request for its first byte, for
// stores that do not report it otherwise.
func askSize(ctx context.Context, bucket Bucket, key, version string) (int64, error) {
	body, err := bucket.Read(ctx, key, version, Range{0, 1})
	var refused *ResponseError
	switch {
	case errors.As(err, &refused) && refused.Status == http.StatusRequestedRangeNotSatisfiable:
		return 0, nil // it has no first byte
	case err != nil:
		return 0, err
	case body.Size < 0:
		err = errNoLength
	}
	body.Close() // it was only read from
	return body.Size, err
}

// fetch fills p with the bytes at an offset. A body that breaks off is requested again from
// where it broke, a few times.
func (o *object) fetch(ctx context.Context, p []byte, offset int64) error {
	ctx, op := startOperation(ctx)
	defer op.finish()
	for failures := 0; len(p) > 0; { // failures without progress
		n, err := o.request(ctx, p, offset)
		p, offset = p[n:], offset+int64(n)
		if err == nil {
			continue
		}
		var broken *brokenError
		if !errors.As(err, &broken) {
			return err
		}
		// A store that stalls after some bytes each time would never come to an end.
		if op.advance(n) && !broken.stalled() {
			failures = 0
		}
		if failures++; failures > reopenings {
			return err
		}
		if pause(ctx, failures) != nil {
			return o.url.explain(ctx, err)
		}
	}
	return nil
}

// pause waits before a body is requested again: longer after each of failures. It returns
// ctx's error if that ends first.
func pause(ctx context.Context, failures int) error {
	select {
	case <-time.After(reopenAfter << (failures - 1)):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// brokenError says that the connection broke off before the end of a body.
type brokenError struct {
	at  int64 // where, in bytes from the object's beginning
	err error
}

func (e *brokenError) stalled() bool {
	var stalled *stalledError
	return errors.As(e.err, &stalled)
}

func (e *brokenError) Error() string {
	return fmt.Sprintf("the connection broke off at byte %d: %s", e.at, publicText(e.err))
}

// request sends one request for the bytes at an offset. It fills p as far as they arrive, and returns
// their number. The error is a *brokenError if the body broke off, and ErrChanged if the object was
// replaced.
func (o *object) request(ctx context.Context, p []byte, offset int64) (int, error) {
	changed := withName(o.url.Name(), ErrChanged)
	body, err := o.bucket.Read(ctx, o.url.Key, o.version.Version, Range{offset, int64(len(p))})
	if err != nil {
		var refused *ResponseError
		isOther := errors.Is(err, fs.ErrNotExist) || errors.As(err, &refused) &&
			(refused.Status == http.StatusPreconditionFailed || refused.Status == http.StatusRequestedRangeNotSatisfiable)
		if isOther && ctx.Err() == nil {
			return 0, changed
		}
		return 0, o.url.explain(ctx, err)
	}
	defer body.Close()                           // it was only read from
	if !body.Attributes.sameVersion(o.version) { // of a store that does not compare versions itself
		return 0, changed
	}
	n, err := io.ReadFull(body, p)
	switch {
	case n == len(p):
		return n, nil
	case ctx.Err() != nil:
		return n, o.url.explain(ctx, err)
	}
	return n, withName(o.url.Name(), &brokenError{offset + int64(n), err})
}

// Read reads in order: first the head, which is often all that is wanted, then blocks that are
// fetched ahead.
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

// ReadAt reads at an offset. It takes the bytes from a range that Expect announced if they are
// in one. If calls follow each other without a gap, it fetches ahead.
func (o *object) ReadAt(p []byte, offset int64) (n int, err error) {
	if offset < 0 {
		return 0, fmt.Errorf("%s: a negative offset", o.url.Name())
	}
	if left := o.size - offset; int64(len(p)) > left {
		p, err = p[:max(0, left)], io.EOF
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
	if failure := o.readUnannounced(p, offset); failure != nil {
		return 0, failure
	}
	return len(p), err
}

// readUnannounced fills p with bytes at an offset that no announced range has: from the head or the
// tail of the object, which stay in memory, from blocks that are fetched ahead if it is called in
// order, or by a request of its own.
func (o *object) readUnannounced(p []byte, offset int64) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	inOrder := offset == o.lastEnd
	o.lastEnd = offset + int64(len(p))
	if offset < headSize {
		if err := o.fetchHead(); err != nil {
			return err
		}
		n := copy(p, o.head[min(offset, int64(len(o.head))):])
		p, offset = p[n:], offset+int64(n)
	}
	if tail := max(0, o.size-tailSize); len(p) > 0 && offset >= tail {
		if err := o.fetchOnce(&o.tail, tail, o.size); err != nil {
			return err
		}
		copy(p, o.tail[offset-tail:])
		return nil
	}
	switch {
	case len(p) == 0: // the head had all
		return nil
	case o.cursor != nil && o.cursor.skipTo(offset): // also over a small gap
	case inOrder:
		o.closeCursor()
		o.cursor = newAhead(o, offset, nil, max(firstBlock, min(len(p), maxBlock)))
	default:
		return o.fetch(o.ctx, p, offset)
	}
	_, err := io.ReadFull(o.cursor, p)
	return err
}

// fetchHead sets o.head to the object's first bytes, if it is not set yet.
func (o *object) fetchHead() error { return o.fetchOnce(&o.head, 0, min(headSize, o.size)) }

// fetchOnce sets *kept to the bytes of the object from start to end, unless it is set.
func (o *object) fetchOnce(kept *[]byte, start, end int64) error {
	if *kept != nil {
		return nil
	}
	data := make([]byte, end-start)
	err := o.fetch(o.ctx, data, start)
	if err == nil {
		*kept = data
	}
	return err
}

// closeCursor ends the fetching ahead for ReadAt.
func (o *object) closeCursor() {
	if o.cursor != nil {
		o.cursor.close()
		o.cursor = nil
	}
}

// Close ends all requests and waits for them. No read may be under way.
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

// Range is a part of a file.
type Range struct {
	Offset, Length int64
}

func (r Range) end() int64 { return r.Offset + r.Length }

func (r Range) contains(other Range) bool { return r.Offset <= other.Offset && other.end() <= r.end() }

const (
	// Ranges with at most maxGap bytes between them are fetched by one request, with those
	// bytes, as long as it is for at most maxJoined bytes.
	maxGap    = 64 << 10
	maxJoined = 8 << 20
)

// segment is an announced range, or several close to each other. All are fetched by one
// request, when the first of them is read.
type segment struct {
	Range
	left []Range // the announced ranges that are not done

	once sync.Once // fetches data, or sets err
	data []byte
	err  error
}

// Expect says that ranges will be read, each with any number of calls of ReadAt
// that stay inside it. Those of an object are each fetched with one request,
// small ones close together with one for all, and kept in memory until Done was
// called for each. For a local file it does nothing, and kept is false.
func (f *File) Expect(ranges ...Range) (kept bool) {
	o, ok := f.in.(*object)
	if ok {
		o.announce(ranges)
	}
	return ok
}

// Done says that a range that was announced has been read.
func (f *File) Done(r Range) {
	if o, ok := f.in.(*object); ok {
		o.forget(r)
	}
}

// announce makes segments of ranges that will be read, one of those that lie close together. It
// leaves out ranges that are empty or not within the object.
func (o *object) announce(ranges []Range) {
	isRefused := func(r Range) bool { return r.Length <= 0 || r.Offset < 0 || r.Offset > o.size-r.Length }
	ranges = slices.DeleteFunc(slices.Clone(ranges), isRefused)
	slices.SortFunc(ranges, func(a, b Range) int { return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Length, b.Length)) })
	o.mu.Lock()
	defer o.mu.Unlock()
	var last *segment
	for _, r := range ranges {
		if last != nil && r.Offset-last.end() <= maxGap && max(last.end(), r.end())-last.Offset <= maxJoined {
			last.Length = max(last.end(), r.end()) - last.Offset
			last.left = append(last.left, r)
			continue
		}
		last = &segment{Range: r, left: []Range{r}}
		o.segments = append(o.segments, last)
	}
}

// forget records that a range was read, and frees the memory of its segment after its last range.
func (o *object) forget(r Range) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i, s := range o.segments {
		if at := slices.Index(s.left, r); at >= 0 {
			if s.left = slices.Delete(s.left, at, at+1); len(s.left) == 0 {
				o.segments = slices.Delete(o.segments, i, i+1)
			}
			return
		}
	}
}

// segment returns the announced segment that has the bytes, or nil.
func (o *object) segment(offset, length int64) *segment {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, s := range o.segments {
		if s.contains(Range{offset, length}) {
			return s
		}
	}
	return nil
}

// read fills p with the bytes at an offset of the object. The first call fetches the segment.
func (s *segment) read(o *object, p []byte, offset int64) error {
	s.once.Do(func() {
		s.data = make([]byte, s.Length)
		s.err = o.fetch(o.ctx, s.data, s.Offset)
	})
	if s.err != nil {
		return s.err
	}
	copy(p, s.data[offset-s.Offset:])
	return nil
}

const (
	// firstBlock and maxBlock are the sizes of the first and the largest block fetched
	// ahead; each block is twice as long as the one before. Objects that are read at
	// the same time share maxBlock, but each may use at least leastBlock.
	firstBlock = 1 << 20
	maxBlock   = 8 << 20
	leastBlock = 256 << 10
	// aheadBlocks is the number of blocks that are being fetched while one is read.
	aheadBlocks = 2
	// maxSkip is the most unneeded bytes that are read to avoid a new request.
	maxSkip = 64 << 10
)

// readers counts the objects that are being fetched ahead, in the whole program.
var readers atomic.Int64

// blockLimit returns the most bytes of a block.
func blockLimit() int { return max(leastBlock, maxBlock/int(max(1, readers.Load()))) }

// ahead reads an object from an offset to its end, in blocks that are fetched
// before they are asked for. It belongs to one goroutine.
type ahead struct {
	o      *object
	ctx    context.Context
	cancel context.CancelFunc

	at      int64          // offset of the next byte to be read
	block   []byte         // the unread rest of the current block
	coming  []chan fetched // blocks on their way, in order
	next    int64          // offset of the next block to ask for
	size    int            // size of that block
	buffers [][]byte       // buffers for reuse
	current []byte         // the buffer of which block is the rest; nil for none to reuse
	err     error          // of Read, after block; io.EOF at the end
	counted bool           // this object is counted in readers
}

// fetched is a block, or why it could not be fetched.
type fetched struct {
	data []byte
	err  error
}

// newAhead returns a reader of o from an offset on. known has the bytes at the offset that are
// fetched already. size is the length of the first block to fetch.
func newAhead(o *object, offset int64, known []byte, size int) *ahead {
	ctx, cancel := context.WithCancel(o.ctx)
	return &ahead{o: o, ctx: ctx, cancel: cancel, at: offset, block: known, next: offset + int64(len(known)), size: size}
}

// Read returns bytes that have arrived, and waits only if there are none.
func (a *ahead) Read(p []byte) (int, error) {
	for len(a.block) == 0 {
		if a.err != nil {
			return 0, a.err
		}
		a.nextBlock()
	}
	n := copy(p, a.block)
	a.block = a.block[n:]
	a.at += int64(n)
	return n, nil
}

// nextBlock requests blocks ahead, waits for the next one and makes it current. All bytes of
// the current block must have been read, because its memory is reused. At the end of the
// object it sets a.err to io.EOF.
func (a *ahead) nextBlock() {
	if a.current != nil {
		a.buffers = append(a.buffers, a.current)
		a.current = nil
	}
	for len(a.coming) <= aheadBlocks && a.next < a.o.size {
		a.requestBlock()
	}
	if len(a.coming) == 0 {
		a.err = io.EOF
		a.uncountReader()
		return
	}
	select {
	case block := <-a.coming[0]:
		a.coming = a.coming[1:]
		a.current, a.block, a.err = block.data, block.data, block.err
	case <-a.ctx.Done():
		a.err = a.o.url.explain(a.ctx, a.ctx.Err())
	}
}

// requestBlock requests the next block in the background.
func (a *ahead) requestBlock() {
	if !a.counted {
		readers.Add(1)
		a.counted = true
	}
	length, offset := int(min(int64(a.size), int64(blockLimit()), a.o.size-a.next)), a.next
	a.next += int64(length)
	a.size = min(2*a.size, maxBlock)
	data := a.buffer(length)
	coming := make(chan fetched, 1)
	a.coming = append(a.coming, coming)
	a.o.working.Go(func() {
		err := a.o.fetch(a.ctx, data, offset)
		if err != nil {
			data = nil
		}
		coming <- fetched{data, err}
	})
}

// buffer returns length bytes of memory for a block, reused if possible.
func (a *ahead) buffer(length int) []byte {
	for i, b := range a.buffers {
		if cap(b) >= length {
			a.buffers = append(a.buffers[:i], a.buffers[i+1:]...)
			return b[:length]
		}
	}
	a.buffers = nil // all are too small, also for later blocks
	return make([]byte, length)
}

// uncountReader counts the object in readers no more.
func (a *ahead) uncountReader() {
	if a.counted {
		readers.Add(-1)
		a.counted = false
	}
}

// skipTo moves forward to an offset, or to the first error. It returns false, and does not move,
// if the offset is behind or more than maxSkip bytes ahead.
func (a *ahead) skipTo(offset int64) bool {
	if offset < a.at || offset > a.at+maxSkip {
		return false
	}
	for a.err == nil && a.at < offset {
		if len(a.block) == 0 {
			a.nextBlock()
			continue
		}
		n := min(int64(len(a.block)), offset-a.at)
		a.block = a.block[n:]
		a.at += n
	}
	return true
}

// close abandons the blocks on their way; their memory is collected after they arrive.
func (a *ahead) close() {
	a.cancel()
	a.uncountReader()
	a.err = io.ErrClosedPipe
	a.block, a.current, a.buffers, a.coming = nil, nil, nil, nil
}
