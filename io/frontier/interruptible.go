package frontier

import (
	"context"
	"io"
)

// pipeBuffer is the number of bytes that are read at once.
const pipeBuffer = 256 << 10

// Interruptible returns a reader of the stream that open opens, which may send nothing, such as a
// pipe. Once ctx has ended, its reads fail with the cause. A goroutine opens, reads and closes the
// stream. A read from stdin cannot be interrupted, so the goroutine may outlive ctx until the
// other end writes or the program exits.
func Interruptible(ctx context.Context, open func() (io.ReadCloser, error)) io.Reader {
	r, w := io.Pipe()
	stop := context.AfterFunc(ctx, func() { w.CloseWithError(context.Cause(ctx)) })
	go func() {
		defer stop()
		stream, err := open()
		if err == nil {
			defer stream.Close()
			onlyRead := struct{ io.Reader }{stream} // io.CopyBuffer prefers a WriteTo, whose buffer is smaller
			_, err = io.CopyBuffer(w, onlyRead, make([]byte, pipeBuffer))
		}
		w.CloseWithError(err) // with nil, reads end with io.EOF
	}()
	return r
}
