package ipc

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"sync"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/bitutil"

	"robotsbatch/io/store/budget"
	"robotsbatch/io/store/compress"
	"robotsbatch/io/store/panics"
	"robotsbatch/io/tables/arrow/layout"
)

// texts decompresses the texts of a record batch of which no other column is decoded, one piece
// after the other, each for the worker that decides its rows. So a record batch takes the memory
// of the pieces that are under way instead of that of all its texts, and two workers have work
// for it. The texts must be a frame of zstd with a small window.
type texts struct {
	of    *Part
	rows  int // of a piece
	width int // of an offset
	frame []byte
	size  int64 // of all texts
	small int64 // bytes of memory of all but the texts

	turn sync.Mutex // of those who read the stream, and what follows
	err  error      // why there is no more

	stream            io.ReadCloser
	read              int
	validity, offsets []byte

	mu    sync.Mutex
	next  int // the first piece that has no part
	parts map[int]part
	again map[int]func() // to call when it is a piece's turn
}

// part is what a piece has of a record batch.
type part struct {
	rows  arrow.Record
	taken int64 // bytes of the piece's grant
	err   error
}

// newTexts returns nil if the record batch is not of this kind.
func newTexts(p *Part) *texts {
	t := &texts{of: p, rows: p.rows, width: 4, parts: make(map[int]part), again: make(map[int]func())}
	m := p.meta
	if m.Rows <= int64(p.rows) || m.Codec != layout.CodecZstd || len(p.decoder.columns) != 1 || p.decoder.columns[0].Encoded {
		return nil
	}
	switch p.decoder.columns[0].Kind {
	case layout.TypeUTF8, layout.TypeBinary:
	case layout.TypeLargeUTF8, layout.TypeLargeBinary:
		t.width = 8
	default:
		return nil
	}
	from := m.Buffers[2]
	if from.Length < layout.PrefixSize || layout.IsStored(p.body[from.Offset:]) {
		return nil
	}
	t.frame = p.body[from.Offset+layout.PrefixSize : from.Offset+from.Length]
	t.size, _ = layout.UncompressedSize(p.body[from.Offset:]) // the decoder has checked it
	window, ok := compress.SmallWindow(t.frame)
	t.small = p.total - t.size + window
	if !ok {
		return nil
	}
	return t
}

// ready decompresses a piece's part if it is its turn; if not, again will be called then.
func (t *texts) ready(number int, g *budget.Grant, again func()) bool {
	t.mu.Lock()
	next := t.next
	if next < number {
		t.again[number] = again
	}
	t.mu.Unlock()
	if next == number {
		t.advance(number, g)
	}
	return next >= number
}

// advance decompresses the parts up to that of a piece.
func (t *texts) advance(number int, g *budget.Grant) {
	t.turn.Lock()
	defer t.turn.Unlock()
	for t.next <= number {
		var p part
		if p.rows, p.taken, t.err = t.part(t.next, g); t.err != nil {
			p.err = t.err
		}
		t.mu.Lock()
		t.parts[t.next] = p
		t.next++
		again := t.again[t.next]
		t.mu.Unlock()
		if again != nil {
			again()
		}
	}
}

// take returns a piece's part, once.
func (t *texts) take(number int) part {
	t.mu.Lock()
	_, ok := t.parts[number]
	t.mu.Unlock()
	if !ok { // nobody asked whether it is ready
		t.advance(number, nil)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.parts[number]
	delete(t.parts, number)
	return p
}

// begin decompresses what is small: the bitmap of nulls and the offsets.
func (t *texts) begin() (err error) {
	for i, to := range []*[]byte{&t.validity, &t.offsets} {
		s := t.of.meta.Buffers[i]
		if s.Length == 0 {
			continue
		}
		from := t.of.body[s.Offset : s.Offset+s.Length]
		size, err := layout.UncompressedSize(from)
		if err != nil {
			return err
		}
		*to = make([]byte, size)
		if err := layout.Decompress(*to, from, layout.CodecZstd); err != nil {
			return fmt.Errorf("buffer %d does not decompress: %w", i, err)
		}
	}
	rows, nulls := int(t.of.meta.Rows), int(t.of.meta.Nodes[0].Nulls)
	if len(t.offsets)/t.width <= rows || nulls != 0 && len(t.validity) < (rows+7)/8 {
		return errShort
	}
	if nulls == 0 {
		t.validity = nil
	} else if found := rows - bitutil.CountSetBits(t.validity, 0, rows); found != nulls {
		return fmt.Errorf("damaged: %d values are null where it says %d", found, nulls)
	}
	t.stream, err = compress.NewSmallReader(bytes.NewReader(t.frame), compress.Zstd)
	if err == nil {
		err = t.skip(int64(offset(t.offsets, t.width, 0)))
	}
	return err
}

// skip reads n bytes of texts that no row has.
func (t *texts) skip(n int64) error {
	if n < 0 || n > t.size {
		return fmt.Errorf("damaged: the texts begin at %d of %d", n, t.size)
	}
	read, err := io.CopyN(io.Discard, t.stream, n)
	t.read += int(read)
	return err
}

// part decompresses the next part, which is number k, and decodes it.
func (t *texts) part(k int, g *budget.Grant) (rec arrow.Record, taken int64, err error) {
	defer panics.Recover(&err, panics.As("damaged"))
	if t.err == nil && t.stream == nil {
		t.err = t.begin()
	}
	if t.err != nil {
		return nil, 0, t.err
	}
	low, high := k*t.rows, min((k+1)*t.rows, int(t.of.meta.Rows))
	end, n := offset(t.offsets, t.width, high), high-low
	if end < t.read || int64(end) > t.size {
		return nil, 0, fmt.Errorf("damaged: offset %d is %d after %d, of %d bytes", high, end, t.read, t.size)
	}
	m := &layout.BatchMeta{Version: t.of.meta.Version, Rows: int64(n), Nodes: []layout.FieldNode{{Length: int64(n)}}}
	m.Buffers = make([]layout.Span, 3)
	if t.validity != nil {
		m.Buffers[0].Length = int64(n+7) / 8
	}
	m.Buffers[1] = layout.Span{Offset: (m.Buffers[0].Length + 7) &^ 7, Length: int64((n + 1) * t.width)}
	m.Buffers[2] = layout.Span{Offset: (m.Buffers[1].Offset + m.Buffers[1].Length + 7) &^ 7, Length: int64(end - t.read)}
	taken = m.Buffers[2].Offset + m.Buffers[2].Length
	if err := g.Take(taken); err != nil {
		return nil, 0, err
	}
	body := make([]byte, taken)
	if t.validity != nil {
		bitutil.CopyBitmap(t.validity, low, n, body, 0)
		m.Nodes[0].Nulls = int64(n - bitutil.CountSetBits(body, 0, n))
	}
	for i, to := low, body[m.Buffers[1].Offset:]; i <= high; i++ {
		putNumber(to, t.width, i-low, offset(t.offsets, t.width, i)-t.read)
	}
	if _, err := io.ReadFull(t.stream, body[m.Buffers[2].Offset:]); err != nil {
		return nil, 0, err
	}
	t.read = end
	if high == int(t.of.meta.Rows) {
		if err := t.end(); err != nil {
			return nil, 0, err
		}
	}
	rec, err = t.of.decoder.plainRecord(m, body)
	return rec, taken, err
}

// end reads the rest, which has the frame's checksum.
func (t *texts) end() error {
	if err := t.skip(t.size - int64(t.read)); err != nil {
		return err
	}
	if n, err := io.Copy(io.Discard, io.LimitReader(t.stream, 1)); n > 0 || err != nil {
		return cmp.Or(err, compress.ErrSize)
	}
	return t.stream.Close()
}

// offset returns an offset of width bytes.
func offset(p []byte, width, i int) int {
	if width == 4 {
		return int(int32(binary.LittleEndian.Uint32(p[4*i:])))
	}
	return int(binary.LittleEndian.Uint64(p[8*i:]))
}

// putNumber sets a number of width bytes.
func putNumber(p []byte, width, i, n int) {
	if width == 4 {
		binary.LittleEndian.PutUint32(p[4*i:], uint32(n))
	} else {
		binary.LittleEndian.PutUint64(p[8*i:], uint64(n))
	}
}
