package blob

import (
	"context"
	"io"
	"sync/atomic"
)

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

// readers counts the objects that are fetched ahead.
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
	whole   []byte         // the buffer of which block is the rest
	err     error
	counted bool // this object is counted in readers
}

type fetched struct {
	data []byte
	err  error
}

// newAhead starts at an offset; known holds the bytes there that were fetched already.
// size is the length of the first block.
func newAhead(o *object, offset int64, known []byte, size int) *ahead {
	ctx, cancel := context.WithCancel(o.ctx)
	return &ahead{o: o, ctx: ctx, cancel: cancel, at: offset, block: known, next: offset + int64(len(known)), size: size}
}

// Read returns what has arrived, and waits only if nothing has.
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

// advance makes the next block the current one, and waits until it has arrived. The buffer
// of the current block, of which nothing is unread, is used again.
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
		a.leave()
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

// ask requests the next block.
func (a *ahead) ask() {
	a.join()
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
	a.buffers = nil // all are too small, also for later blocks
	return make([]byte, length)
}

// join counts the object in readers.
func (a *ahead) join() {
	if !a.counted {
		readers.Add(1)
		a.counted = true
	}
}

// leave undoes join.
func (a *ahead) leave() {
	if a.counted {
		readers.Add(-1)
		a.counted = false
	}
}

// skipTo moves to an offset that is at most maxSkip bytes ahead; otherwise it returns
// false.
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

// close abandons the blocks on their way; their memory is collected after they arrive.
func (a *ahead) close() {
	a.cancel()
	a.leave()
	a.err = io.ErrClosedPipe
	a.block, a.whole, a.buffers, a.coming = nil, nil, nil, nil
}
