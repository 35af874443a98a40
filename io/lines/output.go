package lines

import (
	"fmt"
	"sync"

	"robotsbatch/batch"
	"robotsbatch/io/blob"
	"robotsbatch/io/compress"
)

// Output is all of a batch.Sink but Encode. Each batch is compressed on the
// worker that encodes it, into a gzip member or zstd frame of its own.
type Output struct {
	w     blob.Writer
	codec compress.Codec
	// first is what the output starts with: the header, compressed.
	first []byte
	// empty is the whole of an output without header and rows.
	empty []byte
	begun bool // something was written

	texts  sync.Pool // *[]byte: lines before they are compressed
	chunks sync.Pool // *[]byte: what Write has written
}

// NewOutput writes to w, the header first, which may be empty.
func NewOutput(w blob.Writer, c compress.Codec, header []byte) (*Output, error) {
	o := &Output{w: w, codec: c}
	var err error
	if o.empty, err = compress.AppendCompressed(nil, nil, c); err != nil {
		return nil, err
	}
	if len(header) > 0 {
		if o.first, err = compress.AppendCompressed(nil, header, c); err != nil {
			return nil, err
		}
	}
	o.texts.New = func() any { return new([]byte) }
	o.chunks.New = func() any { return new([]byte) }
	return o, nil
}

// Encode makes a chunk of the lines that fill appends to dst. It is safe for
// concurrent use.
func (o *Output) Encode(fill func(dst []byte) []byte) (batch.Chunk, error) {
	chunk := o.chunks.Get().(*[]byte)
	if o.codec == compress.None {
		return batch.Bytes(fill((*chunk)[:0])), nil
	}
	text := o.texts.Get().(*[]byte)
	defer o.texts.Put(text)
	*text = fill((*text)[:0])
	if len(*text) == 0 {
		return batch.Bytes(nil), nil // no rows, no frame
	}
	packed, err := compress.AppendCompressed((*chunk)[:0], *text, o.codec)
	if err != nil {
		return nil, err
	}
	return batch.Bytes(packed), nil
}

// Write implements batch.Sink. The chunk's memory is used again.
func (o *Output) Write(c batch.Chunk) error {
	octets, ok := c.(batch.Bytes)
	if !ok {
		return fmt.Errorf("lines: a chunk is a %T: it was not made by Encode", c)
	}
	if len(octets) == 0 {
		return nil
	}
	if !o.begun {
		o.begun = true
		if _, err := o.w.Write(o.first); err != nil {
			return err
		}
	}
	if _, err := o.w.Write(octets); err != nil {
		return err
	}
	o.chunks.Put((*[]byte)(&octets))
	return nil
}

// Close implements batch.Sink. An output without rows still is a whole file of
// its kind.
func (o *Output) Close() error {
	if !o.begun {
		first := o.first
		if len(first) == 0 {
			first = o.empty
		}
		if _, err := o.w.Write(first); err != nil {
			o.w.Abort()
			return err
		}
	}
	return o.w.Close()
}

// Abort implements batch.Sink.
func (o *Output) Abort() { o.w.Abort() }
