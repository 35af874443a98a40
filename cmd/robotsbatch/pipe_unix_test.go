//go:build unix

package main

import (
	"bytes"
	"io"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"robotsbatch/io/store/must"
)

// client is the other end of a robotsbatch pipe.
type client struct {
	cmd    *exec.Cmd
	to     io.WriteCloser
	from   io.ReadCloser
	stderr *strings.Builder
	w      *ipc.Writer
	r      *ipc.Reader
	schema *arrow.Schema
}

// startPipe starts a pipe that has answered its first batch.
func startPipe(t *testing.T, rows int) *client {
	t.Helper()
	workplace(t)
	c := &client{cmd: exec.Command("robotsbatch", "pipe", "-rules", "rules"), stderr: new(strings.Builder)}
	c.cmd.Stderr = c.stderr
	c.to = must.Get(c.cmd.StdinPipe())(t)
	c.from = must.Get(c.cmd.StdoutPipe())(t)
	must.Do(t, c.cmd.Start())
	c.schema = arrow.NewSchema([]arrow.Field{{Name: "url", Type: arrow.BinaryTypes.String}}, nil)
	c.w = ipc.NewWriter(c.to, ipc.WithSchema(c.schema))
	c.ask(t, rows)
	return c
}

// ask writes a batch and reads its answer, without a thread.
func (c *client) ask(t *testing.T, rows int) {
	t.Helper()
	b := array.NewStringBuilder(memory.NewGoAllocator())
	for range rows {
		b.Append("https://example.com/private/and/so/on")
	}
	urls := b.NewArray()
	must.Do(t, c.w.Write(array.NewRecord(c.schema, []arrow.Array{urls}, int64(rows))))
	if c.r == nil {
		c.r = must.Get(ipc.NewReader(c.from))(t)
	}
	must.Need(t, c.r.Next() && c.r.Record().NumRows() == int64(rows) && c.r.Record().Column(1).ValueStr(0) == "false", "no answer: %v: %s", c.r.Err(), c.stderr)
}

// ended checks the exit status and how many lines there are on stderr.
func (c *client) ended(t *testing.T, status, lines int) {
	t.Helper()
	got := exitStatus(t, c.cmd)
	must.Be(t, got == status && strings.Count(c.stderr.String(), "\n") == lines, "exit status %d, want %d; stderr: %q", got, status, c.stderr)
}

// A pipe ends with the end marker, though its stdin stays open, and says nothing.
func TestPipeEnds(t *testing.T) {
	c := startPipe(t, 3)
	c.ask(t, 100_000) // more than a pipe holds
	c.ask(t, 1)
	must.Do(t, c.w.Close())
	must.Be(t, !c.r.Next() && c.r.Err() == nil, "after the end marker: %v", c.r.Err())
	c.ended(t, exitDone, 0)
}

// A signal ends a pipe that waits.
func TestSignalStopsPipe(t *testing.T) {
	ignoreNoSignals(t)
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		c := startPipe(t, 3)
		must.Do(t, c.cmd.Process.Signal(signal))
		c.ended(t, 128+int(signal), 1)
		must.Be(t, strings.HasPrefix(c.stderr.String(), "robotsbatch: stopped ("), "stderr: %s", c.stderr)
	}
}

// A client that has enough closes the answer, and one that dies closes both: the pipe
// ends, with success if it can still tell.
func TestPipeClientCloses(t *testing.T) {
	c := startPipe(t, 3)
	c.from.Close()
	b := array.NewStringBuilder(memory.NewGoAllocator())
	b.Append("https://example.com/")
	must.Do(t, c.w.Write(array.NewRecord(c.schema, []arrow.Array{b.NewArray()}, 1)))
	c.ended(t, exitDone, 0)

	c = startPipe(t, 3)
	c.to.Close()
	rest, err := io.ReadAll(c.from)
	must.Be(t, err == nil && len(rest) == 0, "a cut stream has an end marker: %x, %v", rest, err)
	c.ended(t, exitFailed, 1)
}

// A client that is killed while it writes a batch leaves both ends closed, and a part of a
// message: the pipe ends, and so does one whose client closes stdin there and still reads.
func TestPipeClientDies(t *testing.T) {
	var stream bytes.Buffer
	schema := arrow.NewSchema([]arrow.Field{{Name: "url", Type: arrow.BinaryTypes.String}}, nil)
	w := ipc.NewWriter(&stream, ipc.WithSchema(schema))
	b := array.NewStringBuilder(memory.NewGoAllocator())
	for range 20_000 { // more than pipes hold
		b.Append("https://example.com/private/and/so/on")
	}
	must.Do(t, w.Write(array.NewRecord(schema, []arrow.Array{b.NewArray()}, 20_000)))
	start := bytes.LastIndex(stream.Bytes()[:stream.Len()/2], []byte{0xff, 0xff, 0xff, 0xff}) // of the batch
	for _, cut := range []int{start + 3, start + 20, stream.Len() / 2, stream.Len() - 1} {
		for _, reads := range []bool{false, true} {
			c := startPipe(t, 3)
			must.Get(c.to.Write(stream.Bytes()[start:cut]))(t)
			c.to.Close()
			if !reads {
				c.from.Close()
			} else if rest, err := io.ReadAll(c.from); err != nil || len(rest) > 0 {
				t.Errorf("cut at %d: an answer to a part of a batch: %d bytes, %v", cut-start, len(rest), err)
			}
			c.ended(t, exitFailed, 1)
		}
	}
}
