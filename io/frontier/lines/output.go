package lines

import (
	"fmt"
	"sync"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/batch"
	"robotsbatch/batch/option"
	"robotsbatch/io/store/blob"
	"robotsbatch/io/store/compress"
)

// Output implements batch.Sink for rows of text; a format adds the method Encode with its rows. Each
// batch is compressed on the worker that encodes it, into a gzip member or zstd frame of its
// own, or into several if it is large.
type Output struct {
	w     blob.Writer
	codec compress.Codec
	// first is what the output starts with: the header, compressed.
	first []byte
	// memory is the most bytes of a batch as it is written, and plain the most before compression.
	// part is the number of bytes from which on text is compressed as a part of its own.
	memory, plain, part int64
	// empty is the whole of an output without header and rows.
	empty []byte
	begun bool // something was written

	texts  sync.Pool // *[]byte: lines before they are compressed
	chunks sync.Pool // *[]byte: what Write has written
}

// parts is the number of parts that a batch has when it takes all of the memory.
const parts = 8

// SinkOptions say how the sinks of formats of lines write. The zero value writes URLs, not
// compressed. A format ignores what it does not have.
type SinkOptions struct {
	// Layout says which columns there are.
	Layout batch.Layout
	// Schema is the input's, nil for lists of URLs.
	Schema *arrow.Schema
	// Codec compresses the output as a whole.
	Codec compress.Codec
	// Separator stands between the fields of a row; 0 means a comma.
	Separator byte
}

// NewOutput returns an Output that writes to w, first the header, which may be empty. Of the
// options it uses the codec and the layout's limits of memory.
func NewOutput(w blob.Writer, header []byte, s SinkOptions) (*Output, error) {
	o := &Output{w: w, codec: s.Codec, memory: s.Layout.MemoryLimit(), plain: s.Layout.PlainLimit(), part: s.Layout.MemoryLimit() / parts}
	var err error
	if o.empty, err = compress.AppendCompressed(nil, nil, o.codec); err != nil {
		return nil, err
	}
	if len(header) > 0 {
		if o.first, err = compress.AppendCompressed(nil, header, o.codec); err != nil {
			return nil, err
		}
	}
	o.texts.New = func() any { return new([]byte) }
	o.chunks.New = func() any { return new([]byte) }
	return o, nil
}

// chunk is a batch as it is written, in parts.
type chunk [][]byte

// Size implements batch.Chunk.
func (c chunk) Size() (bytes int64) {
	for _, part := range c {
		bytes += int64(len(part))
	}
	return bytes
}

// Encode returns a chunk of the selected rows. appendRow appends a row and its line end to
// dst. The memory is taken from grant, which the caller ends. A batch that needs more than the limit
// is an error. Encode is safe for concurrent use.
func (o *Output) Encode(grant *batch.Grant, v *batch.Verdicts, appendRow func(dst []byte, row int) []byte) (batch.Chunk, error) {
	e := encoding{Output: o, grant: grant}
	text := o.buffer()
	if o.codec != compress.None { // else the chunk takes it: see buffer
		defer func() { o.texts.Put(&text) }()
	}
	for row := range v.Rows {
		if !selected(v, row) {
			continue
		}
		text = appendRow(text, row)
		if int64(len(text)) < e.enough {
			continue
		}
		var err error
		if text, err = e.makeRoom(text); err != nil {
			text = nil // it is larger than what the pool should keep
			return nil, err
		}
	}
	err := e.addPart(text)
	return e.chunk, err
}

// buffer returns an empty text for rows, with memory from a pool. A text that is not compressed becomes
// a part of a chunk, so its memory comes from the pool of chunks, to which Write gives it back.
func (o *Output) buffer() []byte {
	pool := &o.texts
	if o.codec == compress.None {
		pool = &o.chunks
	}
	return (*pool.Get().(*[]byte))[:0]
}

// encoding is a batch that is being encoded. Its rows are appended to a text, which becomes a part of
// the chunk when it is long.
type encoding struct {
	*Output
	grant  *batch.Grant
	chunk  chunk
	size   int64 // of the chunk
	plain  int64 // of the chunk's rows before compression
	taken  int64 // memory that was taken from grant for the text
	enough int64 // the length of the text from which on makeRoom must be called
}

// step is the number of bytes of memory that are taken for a text at a time.
const step = 1 << 20

// makeRoom returns a text to which more rows can be appended, until it has e.enough bytes. This is
// text itself, after memory was taken for more of it, or an empty text, after text became a part of
// the chunk.
func (e *encoding) makeRoom(text []byte) ([]byte, error) {
	n := int64(len(text))
	if e.size+n > e.memory && (e.codec == compress.None || n > e.memory) { // else compression may make it fit
		return nil, e.tooLarge()
	}
	if n >= e.part {
		if err := e.addPart(text); err != nil {
			return nil, err
		}
		e.taken, e.enough = 0, 0
		if e.codec == compress.None {
			return e.buffer(), nil
		}
		return text[:0], nil
	}
	more := n + step - e.taken
	e.taken += more
	e.enough = min(e.taken, e.part)
	return text, e.grant.Take(more)
}

// addPart compresses text and adds it to the chunk as a part; nothing if it is empty. It gives back
// the memory that was taken for text and that the part does not need.
func (e *encoding) addPart(text []byte) error {
	if len(text) == 0 {
		return nil // no rows, no frame
	}
	packed := text
	if e.codec != compress.None {
		if err := e.grant.Take(int64(len(text))); err != nil { // compression may not make it smaller
			return err
		}
		var err error
		if packed, err = compress.AppendCompressed((*e.chunks.Get().(*[]byte))[:0], text, e.codec); err != nil {
			return err
		}
		e.taken += int64(len(text))
	}
	e.chunk = append(e.chunk, packed)
	e.size += int64(len(packed))
	e.plain += int64(len(text))
	if e.size > e.memory || e.plain > e.Output.plain {
		return e.tooLarge()
	}
	return e.grant.Take(int64(len(packed)) - e.taken) // mostly negative, which gives back
}

func (o *Output) tooLarge() error {
	return option.Errorf("its rows take more than %d bytes as they are written, or %d before compression: raise %s, or lower %s", o.memory, o.plain, option.Memory, option.BatchRows)
}

// Write implements batch.Sink. It reuses the chunk's memory afterwards.
func (o *Output) Write(c batch.Chunk) error {
	parts, ok := c.(chunk)
	if !ok {
		return fmt.Errorf("a chunk is a %T: it was not made by Encode", c)
	}
	if len(parts) > 0 && !o.begun {
		o.begun = true
		if _, err := o.w.Write(o.first); err != nil {
			return err
		}
	}
	for i := range parts {
		if _, err := o.w.Write(parts[i]); err != nil {
			return err
		}
		o.chunks.Put(&parts[i])
	}
	return nil
}

// Close implements batch.Sink. Without rows, it writes the header or an empty compressed file.
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
