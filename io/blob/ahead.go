package blob

import (
	"context"
	"io"
	"sync/atomic"
)

const (
	// firstBlock and maxBlock are the sizes of the first block that is fetched
	// ahead and of the largest; each is twice as long as the one before. Objects
	// that are read at the same time share maxBlock, but for leastBlock.
	firstBlock = 1 << 20
	maxBlock   = 8 << 20
	leastBlock = 256 << 10
	// aheadBlocks is how many blocks are on their way while one is read.
	aheadBlocks = 2
	// maxSkip is how many bytes may be read for nothing before a new request is
	// made.
	maxSkip = 64 << 10
)

// readers is how many objects are fetched ahead.
var readers atomic.Int64

// blockLimit is how long a block may be.
func blockLimit() int { return max(leastBlock, maxBlock/int(max(1, readers.Load()))) }

// ahead reads an object from an offset to its end, in blocks that are fetched
// before they are asked for. It belongs to one goroutine.
type ahead struct {
	o      *object
	ctx    context.Context
	cancel context.CancelFunc

	at      int64          // offset of the next byte to be read
	block   []byte         // what is left of the block that is being read
	coming  []chan fetched // blocks on their way, in order
	next    int64          // offset of the next block to ask for
	size    int            // of that block
	buffers [][]byte       // that were read
	whole   []byte         // the buffer that block is of
	err     error
	counted bool // among the readers
}

type fetched struct {
	data []byte
	err  error
}

// newAhead starts at an offset, where these bytes are known already. The first
// block has so many.
func newAhead(o *object, offset int64, known []byte, size int) *ahead {
	ctx, cancel := context.WithCancel(o.ctx)
	return &ahead{o: o, ctx: ctx, cancel: cancel, at: offset, block: known, next: offset + int64(len(known)), size: size}
}

// Read reads what has come, and waits only when nothing has.
func (a *ahead) Read(p []byte) (int, error) {
	for len(a.block) == 0 {
		if a.err != nil {
			return 0, a.err
		}
		a.advance()
	}
	n := copy(p, a.block)
	a.block = a.block[n:]
	a.at += int64(n)
	return n, nil
}

// advance waits for the next block.
func (a *ahead) advance() {
	if a.whole != nil {
		a.buffers = append(a.buffers, a.whole)
		a.whole = nil
	}
	for len(a.coming) <= aheadBlocks && a.next < a.o.size {
		a.ask()
	}
	if len(a.coming) == 0 {
		a.err = io.EOF
		a.count(false)
		return
	}
	select {
	case block := <-a.coming[0]:
		a.coming = a.coming[1:]
		a.whole, a.block, a.err = block.data, block.data, block.err
	case <-a.ctx.Done():
		a.err = a.o.url.explain(a.ctx, a.ctx.Err())
	}
}

// ask asks for the next block.
func (a *ahead) ask() {
	a.count(true)
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

// buffer returns memory for a block, if possible one that was used before.
func (a *ahead) buffer(length int) []byte {
	for i, b := range a.buffers {
		if cap(b) >= length {
			a.buffers = append(a.buffers[:i], a.buffers[i+1:]...)
			return b[:length]
		}
	}
	a.buffers = nil // all too small, and so will they be for the next
	return make([]byte, length)
}

// count says whether this is one of the readers.
func (a *ahead) count(is bool) {
	switch {
	case is && !a.counted:
		readers.Add(1)
	case !is && a.counted:
		readers.Add(-1)
	}
	a.counted = is
}

// skipTo goes to an offset, if it is here or a little further.
func (a *ahead) skipTo(offset int64) bool {
	if offset < a.at || offset > a.at+maxSkip {
		return false
	}
	for a.err == nil && a.at < offset {
		if len(a.block) == 0 {
			a.advance()
			continue
		}
		n := min(int64(len(a.block)), offset-a.at)
		a.block = a.block[n:]
		a.at += n
	}
	return true
}

// close gives up what is on its way. What it was for may be collected when it
// has come.
func (a *ahead) close() {
	a.cancel()
	a.count(false)
	a.err = io.ErrClosedPipe
	a.block, a.whole, a.buffers, a.coming = nil, nil, nil, nil
}
