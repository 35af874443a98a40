package manifest

import (
	"encoding/hex"
	"fmt"
	"io"

	"github.com/zeebo/xxh3"

	"robotsbatch/batch"
)

// Writer is what a sink writes its output to.
type Writer interface {
	io.Writer
	Close() error
	Abort()
}

// Sums computes the checksums of an output while it is written. It is the sink's
// Writer, and [Sums.Around] wraps the sink to learn where batches end.
type Sums struct {
	Writer
	whole, part xxh3.Hasher
	size        int64 // bytes written
	rows        int64 // written to the sink, and in no part yet
	parts       []Part
}

// NewSums returns a Sums that writes to w.
func NewSums(w Writer) *Sums { return &Sums{Writer: w} }

// Write implements io.Writer.
func (s *Sums) Write(p []byte) (int, error) {
	n, err := s.Writer.Write(p)
	_, _ = s.whole.Write(p[:n]) // never an error
	_, _ = s.part.Write(p[:n])
	s.size += int64(n)
	return n, err
}

// Close implements Writer. It ends the last part.
func (s *Sums) Close() error {
	s.endPart()
	return s.Writer.Close()
}

// endPart ends a part at the bytes written so far, if there are any in it.
func (s *Sums) endPart() {
	start := int64(0)
	if n := len(s.parts); n > 0 {
		start = s.parts[n-1].Offset + s.parts[n-1].Size
	}
	if s.size == start {
		return
	}
	s.parts = append(s.parts, Part{Offset: start, Size: s.size - start, Rows: s.rows, Checksum: hexSum(&s.part)})
	s.part.Reset()
	s.rows = 0
}

// hexSum returns a checksum in hexadecimal.
func hexSum(h *xxh3.Hasher) string {
	sum := h.Sum128().Bytes()
	return hex.EncodeToString(sum[:])
}

// Size returns the number of bytes that were written.
func (s *Sums) Size() int64 { return s.size }

// Checksum returns the checksum of the whole output.
func (s *Sums) Checksum() string { return hexSum(&s.whole) }

// Parts returns the parts of the output, complete after Close.
func (s *Sums) Parts() []Part { return s.parts }

// Around wraps inner, a sink that writes to s.
func (s *Sums) Around(inner batch.Sink) batch.Sink { return &sink{inner, s} }

// sink tells the sums where batches end.
type sink struct {
	batch.Sink
	sums *Sums
}

// counted is a chunk with the number of its rows.
type counted struct {
	batch.Chunk
	rows int64
}

// Kept is what [batch.Kept] asks for.
func (c *counted) Kept() int64 { return batch.Kept(c.Chunk) }

// Encode implements batch.Sink.
func (s *sink) Encode(b *batch.Batch, v *batch.Verdicts) (batch.Chunk, error) {
	c, err := s.Sink.Encode(b, v)
	if err != nil {
		return nil, err
	}
	return &counted{c, int64(v.SelectedRows)}, nil
}

// Write implements batch.Sink, and ends a part. A sink may collect batches before it writes bytes, or
// write some bytes of several batches with the first, which a chunk's method Open says: a part then has
// the rows of all of them.
func (s *sink) Write(c batch.Chunk) error {
	chunk := c.(*counted)
	if s.sums.rows == 0 {
		s.sums.endPart() // what comes before the first batch, such as a schema
	}
	s.sums.rows += chunk.rows
	if err := s.Sink.Write(chunk.Chunk); err != nil {
		return err
	}
	if open, ok := chunk.Chunk.(interface{ Open() bool }); !ok || !open.Open() {
		s.sums.endPart()
	}
	return nil
}

// Check reads an output and compares it with its checksums. It calls damaged for
// each part that is not what was written, with the part's index and what is wrong; index len(o.Parts)
// stands for damage that is in no part. The error is the reader's.
func (o *Output) Check(r io.Reader, damaged func(number int, what string)) error {
	var whole, part xxh3.Hasher
	size, intact := int64(0), true // bytes read, and whether all parts so far are what was written
	for i, p := range o.Parts {
		part.Reset()
		n, err := io.CopyN(io.MultiWriter(&whole, &part), r, p.Size)
		size += n
		if err == io.EOF {
			damaged(i, fmt.Sprintf("it ends after %d bytes; %d were written", size, o.Output.Size))
			return nil
		}
		if err != nil {
			return err
		}
		if sum := hexSum(&part); sum != p.Checksum {
			intact = false
			damaged(i, fmt.Sprintf("its checksum is %s and was %s", sum, p.Checksum))
		}
	}
	more, err := io.Copy(&whole, r)
	switch {
	case err != nil:
		return err
	case more > 0:
		damaged(len(o.Parts), fmt.Sprintf("%d bytes more than were written", more))
	case intact && hexSum(&whole) != o.Checksum:
		damaged(len(o.Parts), fmt.Sprintf("the checksum of the whole is %s and was %s", hexSum(&whole), o.Checksum))
	}
	return nil
}
