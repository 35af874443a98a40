package frontier

import (
	"context"
	"io"
)

// pipeReader reads a stream that may send nothing, such as a pipe, and stops
// waiting when its context ends.
type pipeReader struct {
	ctx    context.Context
	filled chan readResult
	free   chan []byte
	now    readResult // being handed out
	rest   []byte
}

// readResult is the outcome of one read.
type readResult struct {
	data []byte
	err  error
}

// pipeBuffer is the number of bytes that are read at once; there are two such buffers.
const pipeBuffer = 256 << 10

// Interruptible returns a reader of the stream that open opens. Once ctx has ended, its reads
// fail with the cause. A goroutine opens, reads and closes the stream. A read from stdin
// cannot be interrupted, so the goroutine may outlive ctx until the other end writes or the
// program exits.
func Interruptible(ctx context.Context, open func() (io.ReadCloser, error)) io.Reader {
	p := &pipeReader{ctx: ctx, filled: make(chan readResult), free: make(chan []byte, 2)}
	p.free <- make([]byte, pipeBuffer)
	p.free <- make([]byte, pipeBuffer)
	go p.fill(open)
	return p
}

// fill reads the stream into buffers and sends them, until the stream or the context ends.
func (p *pipeReader) fill(open func() (io.ReadCloser, error)) {
	r, err := open()
	if err != nil {
		p.send(readResult{err: err})
		return
	}
	defer r.Close()
	for {
		var buffer []byte
		select {
		case buffer = <-p.free:
		case <-p.ctx.Done():
			return
		}
		n, err := r.Read(buffer)
		if !p.send(readResult{buffer[:n], err}) || err != nil {
			return
		}
	}
}

// send passes a result to Read. It returns false if the context ends first.
func (p *pipeReader) send(result readResult) bool {
	select {
	case p.filled <- result:
		return true
	case <-p.ctx.Done():
		return false
	}
}

// Read reads bytes of the stream, or returns the cause once the context has ended.
func (p *pipeReader) Read(dst []byte) (int, error) {
	for len(p.rest) == 0 {
		if p.now.err != nil {
			return 0, p.now.err
		}
		if p.now.data != nil {
			p.free <- p.now.data[:pipeBuffer]
			p.now = readResult{}
		}
		select {
		case p.now = <-p.filled:
			p.rest = p.now.data
		case <-p.ctx.Done():
			return 0, context.Cause(p.ctx)
		}
	}
	n := copy(dst, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}
