package frontier

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"go.uber.org/goleak"

	"robotsbatch/io/store/must"
)

func TestInterruptibleReadsAll(t *testing.T) {
	defer goleak.VerifyNone(t)
	want := bytes.Repeat([]byte("0123456789abcdef"), pipeBuffer/5)
	open := func() (io.ReadCloser, error) { return io.NopCloser(iotest.DataErrReader(bytes.NewReader(want))), nil }
	got, err := io.ReadAll(Interruptible(t.Context(), open))
	must.Be(t, err == nil && bytes.Equal(got, want), "%d bytes of %d, %v", len(got), len(want), err)
}

func TestInterruptibleErrors(t *testing.T) {
	defer goleak.VerifyNone(t)
	broken := errors.New("broken")
	for name, open := range map[string]func() (io.ReadCloser, error){
		"open": func() (io.ReadCloser, error) { return nil, broken },
		"read": func() (io.ReadCloser, error) { return io.NopCloser(iotest.ErrReader(broken)), nil },
	} {
		r := Interruptible(t.Context(), open)
		for range 2 { // an error stays
			must.Is(t, must.Err(r.Read(make([]byte, 1))), broken, name)
		}
	}
}

// The end of the context ends a read that waits, and every read after it.
func TestInterruptibleEnds(t *testing.T) {
	defer goleak.VerifyNone(t)
	silent, other := io.Pipe()
	defer other.Close() // lets the goroutine go
	ctx, cancel := context.WithCancelCause(t.Context())
	r := Interruptible(ctx, func() (io.ReadCloser, error) { return silent, nil })
	stopped := errors.New("stopped")
	go cancel(stopped)
	for range 3 {
		must.Is(t, must.Err(r.Read(make([]byte, 1))), stopped)
	}
}

// Close ends a Next that waits for a pipe.
func TestConcatenationCloseEndsNext(t *testing.T) {
	defer goleak.VerifyNone(t)
	silent, other := io.Pipe()
	defer other.Close()
	started := make(chan struct{})
	go func() {
		// Enough for the format to be told, and a row that does not end.
		_, err := io.WriteString(other, "https://example.com/"+string(bytes.Repeat([]byte("a"), 100_000)))
		if err != nil {
			t.Error(err)
		}
		close(started)
	}()
	c := must.Get(Concatenate(t.Context(), []Input{{"-", "stdin"}, {"never", "never"}}, Options{Stdin: silent}))(t)
	ended := make(chan error)
	go func() {
		_, err := c.Next(t.Context())
		ended <- err
	}()
	<-started
	must.Do(t, c.Close())
	must.Fail(t, <-ended, "Next found a piece in half a row")
}
