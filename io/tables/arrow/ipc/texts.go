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
	"robotsbatch/io/tables"
	"robotsbatch/io/tables/arrow/layout"
)

// texts decompresses the texts of a record batch of which no other column is decoded, one piece
// after the other, each when a worker asks for it. So a record batch takes the memory
// of the pieces that are being worked on instead of that of all its texts, and several workers have
// work for it. The texts must be a frame of zstd with a small window.
type texts struct {
	checkedRecord
	rows  int    // of a piece
	width int    // of an offset, in bytes
	frame []byte // of zstd: the texts, compressed
	size  int64  // bytes of all texts
	small int64  // bytes of memory besides the texts and the body

	decoding sync.Mutex // held while a piece is decoded; guards the fields up to offsets
	err      error      // why no more pieces can be decoded

	stream            io.ReadCloser // the texts; nil before the first piece
	read              int           // bytes of the stream that were read
	validity, offsets []byte        // of all rows; validity is nil if no text is null

	mu    sync.Mutex        // guards the fields below
	next  int               // the first piece that is not decoded; it changes only while decoding is held as well
	ready map[int]textPiece // decoded pieces that were not taken yet
	again map[int]func()    // to call when a piece is the next
}

// textPiece is a decoded piece, or the error that it has instead.
type textPiece struct {
	rows  arrow.Record
	taken int64 // bytes of the piece's grant
	err   error
}

// newTexts returns the texts of a record batch in pieces of this number of rows, or nil if they cannot be decompressed
// piece by piece.
func newTexts(r checkedRecord, rows int) *texts {
	m, columns := r.meta, r.decoder.columns
	hasOnePiece := m.Rows <= int64(rows)
	if hasOnePiece || m.Codec != layout.CodecZstd || len(columns) != 1 || columns[0].Encoded {
		return nil
	}
	t := &texts{checkedRecord: r, rows: rows, ready: make(map[int]textPiece), again: make(map[int]func())}
	switch columns[0].Kind {
	case layout.TypeUTF8, layout.TypeBinary, layout.TypeLargeUTF8, layout.TypeLargeBinary:
		t.width = columns[0].OffsetWidth()
	default:
		return nil
	}
	from := m.Buffers[2] // the texts, after validity and offsets
	if from.Length < layout.PrefixSize || layout.IsStored(r.body[from.Offset:]) {
		return nil
	}
	t.frame = r.body[from.Offset+layout.PrefixSize : from.Offset+from.Length]
	t.size, _ = layout.UncompressedSize(r.body[from.Offset:]) // no error: checkRecord has read it
	window, ok := compress.SmallWindow(t.frame)
	if !ok {
		return nil
	}
	t.small = r.total - t.size + window
	return t
}

// prepare decodes a piece if it is the next, in memory of its grant g, and returns true once the piece is decoded. If
// pieces before it are not, it does nothing and returns false: again will be called when the piece is the next.
func (t *texts) prepare(number int, g *budget.Grant, again func()) bool {
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

// advance decodes all pieces up to number that are not decoded, in memory of the grant g of piece number. After each it
// calls the function again with which prepare was called for the next.
func (t *texts) advance(number int, g *budget.Grant) {
	t.decoding.Lock()
	defer t.decoding.Unlock()
	for t.next <= number {
		var p textPiece
		p.rows, p.taken, t.err = t.decode(t.next, g)
		p.err = t.err
		t.mu.Lock()
		t.ready[t.next] = p
		t.next++
		again := t.again[t.next]
		t.mu.Unlock()
		if again != nil {
			again()
		}
	}
}

// take returns a piece. It is called once for each. It decodes the piece, and those before it, if prepare has not done so.
func (t *texts) take(number int) textPiece {
	t.mu.Lock()
	_, ok := t.ready[number]
	t.mu.Unlock()
	if !ok {
		t.advance(number, nil) // no grant counts its memory
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.ready[number]
	delete(t.ready, number)
	return p
}

// open decompresses what is small, the validity bitmap and the offsets, checks that there is a bit
// and an offset for each row, and opens the stream of texts.
func (t *texts) open() (err error) {
	for i, to := range []*[]byte{&t.validity, &t.offsets} {
		s := t.meta.Buffers[i]
		if s.Length == 0 {
			continue
		}
		from := t.body[s.Offset : s.Offset+s.Length]
		size, err := layout.UncompressedSize(from)
		if err != nil {
			return err
		}
		*to = make([]byte, size)
		if err := layout.Decompress(*to, from, layout.CodecZstd); err != nil {
			return fmt.Errorf("buffer %d does not decompress: %w", i, err)
		}
	}
	rows, nulls := int(t.meta.Rows), int(t.meta.Nodes[0].Nulls)
	if len(t.offsets)/t.width <= rows || nulls != 0 && len(t.validity) < (rows+7)/8 {
		return layout.ErrShort
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

// skip passes over the next n bytes of the stream, which belong to no row.
func (t *texts) skip(n int64) error {
	if n < 0 || n > t.size {
		return fmt.Errorf("damaged: the texts begin at %d of %d", n, t.size)
	}
	read, err := io.CopyN(io.Discard, t.stream, n)
	t.read += int(read)
	return shortIfEnded(err)
}

// shortIfEnded returns layout.ErrShort for the errors of a stream that ends too early, because io.EOF would mean to
// callers that the input has no more batches. It returns other errors as they are.
func shortIfEnded(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return layout.ErrShort
	}
	return err
}

// decode decompresses and decodes a piece, which must be the next. It takes the memory from grant g: taken bytes. The
// caller holds t.decoding.
func (t *texts) decode(piece int, g *budget.Grant) (rec arrow.Record, taken int64, err error) {
	defer panics.Recover(&err, panics.As("damaged"))
	if t.err == nil && t.stream == nil {
		t.err = t.open()
	}
	if t.err != nil {
		return nil, 0, t.err
	}
	low, high := piece*t.rows, min((piece+1)*t.rows, int(t.meta.Rows))
	end := offset(t.offsets, t.width, high)
	if end < t.read || int64(end) > t.size { // t.read is the end of the piece before
		return nil, 0, fmt.Errorf("damaged: offset %d is %d after %d, of %d bytes", high, end, t.read, t.size)
	}
	m := t.layOut(high-low, end-t.read)
	offsets, texts := m.Buffers[1].Offset, m.Buffers[2].Offset
	taken = texts + m.Buffers[2].Length
	if err := g.Take(taken); err != nil {
		return nil, 0, err
	}
	body := make([]byte, taken)
	if t.validity != nil {
		bitutil.CopyBitmap(t.validity, low, high-low, body, 0)
		m.Nodes[0].Nulls = int64(high - low - bitutil.CountSetBits(body, 0, high-low))
	}
	tables.Rows{{Low: low, High: high}}.MoveOffsets(body[offsets:], t.offsets, t.width)
	if _, err := io.ReadFull(t.stream, body[texts:]); err != nil {
		return nil, 0, shortIfEnded(err)
	}
	t.read = end
	if high == int(t.meta.Rows) {
		if err := t.finish(); err != nil {
			return nil, 0, err
		}
	}
	rec, err = t.decoder.plainRecord(m, body)
	return rec, taken, err
}

// layOut returns the metadata of a record batch of n texts of size bytes, not compressed: a validity
// bitmap if there are nulls, offsets and texts, each aligned to 8 bytes.
func (t *texts) layOut(n, size int) *layout.BatchMeta {
	var validity, offsets, texts layout.Span
	if t.validity != nil {
		validity.Length = int64(n+7) / 8
	}
	offsets = layout.Span{Offset: (validity.Length + 7) &^ 7, Length: int64((n + 1) * t.width)}
	texts = layout.Span{Offset: (offsets.Offset + offsets.Length + 7) &^ 7, Length: int64(size)}
	return &layout.BatchMeta{
		Version: t.meta.Version, Rows: int64(n), Nodes: []layout.FieldNode{{Length: int64(n)}}, Buffers: []layout.Span{validity, offsets, texts},
	}
}

// finish reads what follows the last piece, so that the frame's checksum is compared, and closes the stream.
func (t *texts) finish() error {
	if err := t.skip(t.size - int64(t.read)); err != nil {
		return err
	}
	if n, err := io.Copy(io.Discard, io.LimitReader(t.stream, 1)); n > 0 || err != nil {
		return cmp.Or(err, compress.ErrSize)
	}
	return t.stream.Close()
}

// offset returns number i of the offsets in p, which have width bytes each: 4 or 8.
func offset(p []byte, width, i int) int {
	if width == 4 {
		return int(int32(binary.LittleEndian.Uint32(p[4*i:])))
	}
	return int(binary.LittleEndian.Uint64(p[8*i:]))
}
