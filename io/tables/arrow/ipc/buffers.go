package ipc

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"sync"

	"robotsbatch/io/store/budget"
	"robotsbatch/io/store/compress"
	"robotsbatch/io/store/compress/lz4frame"
	"robotsbatch/io/store/compress/zstdcut"
	"robotsbatch/io/tables"
	"robotsbatch/io/tables/arrow/layout"
)

// buffers reads the buffers of a body, one after the other, and makes those of another.
type buffers struct {
	limit int64 // of memory
	grant *budget.Grant
	held  int64 // of the grant
	pool  *budget.Buffers

	codec    int8
	body     []byte // nil if it is still in the file
	file     *io.SectionReader
	size     int64 // of the body
	inflated int64 // bytes that were decompressed

	made layout.BatchMeta
	out  lent // the body that is made, without what is lifted

	lifted     []lifted
	liftedSize int64

	raw    lent // a buffer as it lies in the file
	plain  lent // a buffer decompressed
	built  lent // a buffer that was built
	bitmap lent
	runs   int // in memory

	lz4    lz4frame.Frame
	ranges []zstdcut.Range

	refused *zstdcut.Refusals
}

// lent is memory of the pool.
type lent struct {
	bytes []byte
	asked int64 // how many bytes of it are needed
}

// runSize is how many bytes of memory a run takes, with what grows.
const runSize = 32

func (b *buffers) begin(r *copiedRecord, grant *budget.Grant) {
	from := r.reader
	b.limit, b.grant, b.pool = from.options.Memory, grant, from.pool
	b.codec, b.body, b.file, b.size = r.meta.Codec, r.frame.Bytes, r.frame.Body, r.frame.BodyLength
	b.made = layout.BatchMeta{Version: r.meta.Version, Codec: r.meta.Codec}
}

// end gives the memory back, but not the body that was made.
func (b *buffers) end() {
	for _, l := range []*lent{&b.raw, &b.plain, &b.built, &b.bitmap} {
		b.pool.Put(l.bytes)
		*l = lent{}
	}
	kept := min(b.held, int64(cap(b.out.bytes)))
	_ = b.grant.Take(kept - b.held) // an error says that the job is over, which others notice
	b.held = kept
}

// ask asks for n bytes of memory, besides what the others take. The body that is made may
// take as much as the input's.
func (b *buffers) ask(l *lent, n int64) error {
	l.asked = n
	work := b.raw.asked + b.plain.asked + b.built.asked + b.bitmap.asked + runSize*int64(b.runs)
	if need := max(work, b.out.asked); need > b.limit {
		return &budget.MemoryError{What: "a record batch", Need: need, Limit: b.limit}
	}
	sum := work + b.out.asked
	if sum <= b.held {
		return nil
	}
	err := b.grant.Take(sum - b.held)
	b.held = sum
	return err
}

// take returns n bytes. What was there is lost.
func (b *buffers) take(l *lent, n int) ([]byte, error) {
	if err := b.ask(l, int64(n)); err != nil {
		return nil, err
	}
	if cap(l.bytes) < n {
		b.pool.Put(l.bytes)
		l.bytes = b.pool.Get(n)
	}
	return l.bytes[:n], nil
}

// room makes room for n bytes more of the body.
func (b *buffers) room(n int) error {
	size := len(b.out.bytes)
	if err := b.ask(&b.out, max(b.out.asked, int64(size+n))); err != nil {
		return err
	}
	if cap(b.out.bytes)-size >= n {
		return nil
	}
	larger := b.pool.Get(max(size+n, size+size/4))
	copy(larger, b.out.bytes)
	b.pool.Put(b.out.bytes)
	b.out.bytes = larger[:size]
	return nil
}

// reserve makes room for about all of the body that n rows take, and spare bytes more.
func (b *buffers) reserve(r *copiedRecord, n, spare int) error {
	size := int64(0)
	for _, s := range r.meta.Buffers {
		kept := s.Length
		if r.meta.Rows > 0 {
			kept = int64(float64(kept) * float64(n) / float64(r.meta.Rows))
		}
		cut := b.liftsBlocks() && zstdcut.Worth(int(s.Length), int(kept), 0)
		if !cut && !b.lifts(kept, b.runs) {
			size += kept
		}
	}
	return b.room(int(min(size+size/16, r.frame.BodyLength)) + spare + 64*len(r.meta.Buffers))
}

// lie returns a buffer as it lies in the body. It is valid until the next call.
func (b *buffers) lie(s layout.Span) ([]byte, error) {
	if s.Length == 0 {
		return nil, nil
	}
	if b.body != nil {
		if s.Offset < 0 || s.Length < 0 || s.Offset > int64(len(b.body))-s.Length {
			return nil, errShort
		}
		return b.body[s.Offset : s.Offset+s.Length], nil
	}
	raw, err := b.take(&b.raw, int(s.Length))
	if err == nil {
		err = layout.ReadAt(b.file, raw, s.Offset)
	}
	return raw, err
}

// read returns a buffer decompressed, which must have least bytes. It is valid until the
// next call.
func (b *buffers) read(s layout.Span, least int) ([]byte, error) {
	raw, err := b.lie(s)
	if err != nil {
		return nil, err
	}
	if b.codec == layout.CodecNone || len(raw) == 0 {
		if len(raw) < least {
			return nil, errShort
		}
		return raw, nil
	}
	return b.inflate(raw, least)
}

// mostRatio is how many times as large as a body its buffers may be where they take more
// than the memory together.
const mostRatio = 256

// inflate decompresses a buffer that is not empty.
func (b *buffers) inflate(raw []byte, least int) ([]byte, error) {
	size, err := layout.UncompressedSize(raw)
	if err != nil {
		return nil, err
	}
	if size < int64(least) {
		return nil, errShort
	}
	if layout.IsStored(raw) {
		return raw[layout.PrefixSize:], nil
	}
	if b.inflated += size; b.inflated > b.limit && b.inflated/mostRatio > b.size {
		return nil, &budget.MemoryError{What: "a record batch decompressed", Need: b.inflated, Limit: b.limit}
	}
	plain, err := b.take(&b.plain, int(size))
	if err != nil {
		return nil, err
	}
	if b.codec == layout.CodecLZ4 && b.lz4.Decode(plain, raw[layout.PrefixSize:]) {
		return plain, nil
	}
	if err := compress.Fill(plain, raw[layout.PrefixSize:], layout.Codecs[b.codec]); err != nil {
		return nil, fmt.Errorf("a buffer does not decompress: %w", err)
	}
	return plain, nil
}

// add appends a buffer to the body.
func (b *buffers) add(content []byte) error { return b.addAt(content, compress.Fastest) }

// addAt is add with a level of zstd.
func (b *buffers) addAt(content []byte, level int) error {
	if len(content) == 0 {
		b.made.Buffers = append(b.made.Buffers, layout.Span{Offset: b.madeSize()})
		return nil
	}
	if err := b.room(len(content)); err != nil {
		return err
	}
	return b.extend(func(dst []byte) ([]byte, error) {
		if b.codec == layout.CodecNone {
			return append(dst, content...), nil
		}
		return layout.AppendDeflated(dst, content, b.codec, level), nil
	})
}

// extend appends a buffer to the body, which f appends, and pads it.
func (b *buffers) extend(f func(dst []byte) ([]byte, error)) error {
	begin := b.madeSize()
	out, err := f(b.out.bytes)
	if err != nil {
		return err
	}
	return b.extended(begin, out)
}

// extended takes the body after a buffer that begins at begin was appended, and pads it.
func (b *buffers) extended(begin int64, out []byte) error {
	b.out.bytes = out
	size := b.madeSize() - begin
	b.made.Buffers = append(b.made.Buffers, layout.Span{Offset: begin, Length: size})
	b.out.bytes = append(out, zeros[:-size&7]...)
	return b.ask(&b.out, max(b.out.asked, int64(len(b.out.bytes))))
}

// build returns n bytes for a buffer, which are not zero. They are valid until the next
// call.
func (b *buffers) build(n int) ([]byte, error) { return b.take(&b.built, n) }

// bits returns runs of bits, n in all. They are valid until the next call.
func (b *buffers) bits(from []byte, runs tables.Rows, n int) ([]byte, error) {
	to, err := b.take(&b.bitmap, (n+7)/8)
	if err != nil {
		return nil, err
	}
	runs.CopyBits(to, from)
	return to, nil
}

// copyValues appends a buffer of runs of values, of width bytes each, of a buffer that must have
// least of them.
func (b *buffers) copyValues(s layout.Span, width, least int, runs tables.Rows) error {
	if least > math.MaxInt/2/width {
		return errShort
	}
	least *= width
	kept := runs.Count() * width
	if b.codec == layout.CodecNone {
		return b.copyPlain(s, width, least, kept, runs)
	}
	if s.Length == 0 || kept == 0 {
		if least > 0 && s.Length == 0 {
			return errShort
		}
		return b.add(nil)
	}
	if kept == least {
		size, err := b.plainSize(s)
		if err != nil {
			return err
		}
		if size == int64(least) {
			return b.appendWhole(s)
		}
	}
	raw, err := b.lie(s)
	if err != nil {
		return err
	}
	plain, err := b.inflate(raw, least)
	if err != nil {
		return err
	}
	if kept == least && len(plain) <= least+maxPadding && len(bytes.TrimLeft(plain[least:], "\x00")) == 0 {
		return b.appendWhole(s)
	}
	ranges := len(runs)
	if b.codec == layout.CodecLZ4 {
		ranges = 0 // its blocks are cut, of which each has many
	}
	if !layout.IsStored(raw) && zstdcut.Worth(len(plain), kept, ranges) {
		if ok, err := b.cut(s, raw, plain, width, kept, runs); ok || err != nil {
			return err
		}
	}
	if layout.IsStored(raw) { // what lies in the body stays
		to, err := b.take(&b.plain, kept)
		if err != nil {
			return err
		}
		return b.add(to[:runs.CopyValues(to, plain, width)])
	}
	level := b.level(plain, raw) // before plain changes
	return b.addAt(plain[:runs.CopyValues(plain, plain, width)], level)
}

// leastChosen is how many bytes a buffer has at least for which a level of zstd is chosen.
const leastChosen = 2 << 20

// level returns the level for what stays of a buffer.
func (b *buffers) level(plain, raw []byte) int {
	if b.codec != layout.CodecZstd || len(plain) < leastChosen {
		return compress.Fastest
	}
	return compress.Level(plain, len(raw)-layout.PrefixSize)
}

// maxPadding is the most padding that follows the values of a buffer that is copied whole.
const maxPadding = 64

// plainSize returns the size of a compressed buffer decompressed, from its prefix.
func (b *buffers) plainSize(s layout.Span) (int64, error) {
	prefix, err := b.lie(layout.Span{Offset: s.Offset, Length: min(s.Length, layout.PrefixSize)})
	if err != nil {
		return 0, err
	}
	size, err := layout.UncompressedSize(prefix)
	if err == nil && layout.IsStored(prefix) {
		size = s.Length - layout.PrefixSize
	}
	return size, err
}

// appendWhole appends a buffer as it lies, compressed.
func (b *buffers) appendWhole(s layout.Span) error {
	if b.body == nil {
		return b.extend(func(dst []byte) ([]byte, error) {
			b.lift(len(dst), s.Offset, s.Length)
			return dst, nil
		})
	}
	raw, err := b.lie(s)
	if err == nil {
		err = b.room(len(raw))
	}
	if err != nil {
		return err
	}
	return b.extend(func(dst []byte) ([]byte, error) { return append(dst, raw...), nil })
}

// longRun is how many bytes runs have on average that are lifted.
const longRun = 8 << 10

// lifts reports whether so many runs of an uncompressed buffer, of kept bytes in all, are
// lifted.
func (b *buffers) lifts(kept int64, runs int) bool {
	return b.body == nil && b.codec == layout.CodecNone && kept/longRun >= int64(runs)
}

// copyPlain is copyValues for buffers that are not compressed.
func (b *buffers) copyPlain(s layout.Span, width, least, kept int, runs tables.Rows) error {
	if s.Length < int64(least) {
		return errShort
	}
	if b.lifts(int64(kept), len(runs)) {
		return b.extend(func(dst []byte) ([]byte, error) {
			for _, r := range runs {
				b.lift(len(dst), s.Offset+int64(r.Low*width), int64(r.High-r.Low)*int64(width))
			}
			return dst, nil
		})
	}
	raw, err := b.lie(s)
	if err == nil {
		err = b.room(kept)
	}
	if err != nil {
		return err
	}
	return b.extend(func(dst []byte) ([]byte, error) {
		n := runs.CopyValues(dst[len(dst):len(dst)+kept], raw, width)
		return dst[:len(dst)+n], nil
	})
}

// cutters are kept because each has tables.
var cutters = sync.Pool{New: func() any { return new(zstdcut.Cutter) }}

// cut appends a compressed buffer by cutting the rest out of its frame. It returns false if
// that is not possible.
func (b *buffers) cut(s layout.Span, raw, plain []byte, width, kept int, runs tables.Rows) (ok bool, err error) {
	b.ranges = b.ranges[:0]
	for _, r := range runs {
		b.ranges = append(b.ranges, zstdcut.Range{Low: r.Low * width, High: r.High * width})
	}
	need := len(raw)
	if b.liftsBlocks() {
		changed := b.lz4.Changed(b.ranges)
		need = min(need, changed+changed/8+64<<10)
	}
	if err := b.room(need); err != nil {
		return false, err
	}
	begin, size := b.madeSize(), len(b.out.bytes)
	out := layout.AppendPrefix(b.out.bytes, kept)
	if b.codec == layout.CodecLZ4 {
		out, ok = b.lz4.Cut(out, b.ranges, b.liftBlocks(s))
	} else {
		cutter := cutters.Get().(*zstdcut.Cutter)
		defer cutters.Put(cutter)
		if out, err = cutter.Cut(out, raw[layout.PrefixSize:], plain, nil, b.ranges); err != nil {
			b.refused.Count(err)
		}
		ok = err == nil
	}
	if !ok {
		b.out.bytes = out[:size]
		return false, nil
	}
	return true, b.extended(begin, out)
}

// liftsBlocks reports whether blocks of an LZ4 frame are lifted.
func (b *buffers) liftsBlocks() bool { return b.body == nil && b.codec == layout.CodecLZ4 }

// liftBlocks returns what an LZ4 frame in the input is cut with: a function that leaves bytes low
// to high-1 of it to be copied when the output is written. It is nil for a body in memory, and
// for another codec.
func (b *buffers) liftBlocks(s layout.Span) func(dst []byte, low, high int) []byte {
	if !b.liftsBlocks() {
		return nil
	}
	return func(dst []byte, low, high int) []byte {
		b.lift(len(dst), s.Offset+layout.PrefixSize+int64(low), int64(high-low))
		return dst
	}
}
