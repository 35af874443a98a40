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
	// memory is the most octets that a batch's rows may have.
	memory int64
	// empty is the whole of an output without header and rows.
	empty []byte
	begun bool // something was written

	texts  sync.Pool // *[]byte: lines before they are compressed
	chunks sync.Pool // *[]byte: what Write has written
}

// NewOutput writes to w, the header first, which may be empty. Of the layout it
// takes the limit of memory.
func NewOutput(w blob.Writer, c compress.Codec, header []byte, l batch.Layout) (*Output, error) {
	o := &Output{w: w, codec: c, memory: l.MemoryLimit()}
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

// Encode makes a chunk of the rows that come out, which appendRow appends to
// dst, each with its line end. It is safe for concurrent use. An error says that
// they take more memory than is allowed.
func (o *Output) Encode(v *batch.Verdicts, appendRow func(dst []byte, row int) []byte) (batch.Chunk, error) {
	chunk := o.chunks.Get().(*[]byte)
	if o.codec == compress.None {
		text, err := o.rows((*chunk)[:0], v, appendRow)
		if err != nil {
			return nil, err
		}
		return batch.Bytes(text), nil
	}
	text := o.texts.Get().(*[]byte)
	defer o.texts.Put(text)
	var err error
	if *text, err = o.rows((*text)[:0], v, appendRow); err != nil {
		*text = nil
		return nil, err
	}
	if len(*text) == 0 {
		return batch.Bytes(nil), nil // no rows, no frame
	}
	packed, err := compress.AppendCompressed((*chunk)[:0], *text, o.codec)
	if err != nil {
		return nil, err
	}
	return batch.Bytes(packed), nil
}

// rows appends the rows that come out.
func (o *Output) rows(dst []byte, v *batch.Verdicts, appendRow func(dst []byte, row int) []byte) ([]byte, error) {
	for row := range v.Rows {
		if !Selected(v, row) {
			continue
		}
		if dst = appendRow(dst, row); int64(len(dst)) > o.memory {
			return nil, fmt.Errorf("its rows take more than %d octets as they are written, for a value is long and in many rows, or a row is: raise -memory, or lower -batch-rows", o.memory)
		}
	}
	return dst, nil
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
