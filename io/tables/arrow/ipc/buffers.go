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

// buffers reads the buffers of a record batch's body one after the other, and appends buffers to a
// new body.
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
	out  lent // the new body, without what is lifted

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
	asked int64 // bytes that the grant has for it
}

// runSize is the number of bytes that a run takes in a slice that grows.
const runSize = 32

// begin prepares for a record batch. Memory is taken from a grant.
func (b *buffers) begin(r *copiedRecord, grant *budget.Grant) {
	from := r.reader
	b.limit, b.grant, b.pool = from.options.Memory, grant, from.pool
	b.codec, b.body, b.file, b.size = r.meta.Codec, r.frame.Bytes, r.frame.Body, r.frame.BodyLength
	b.made = layout.BatchMeta{Version: r.meta.Version, Codec: r.meta.Codec}
}

// end gives all memory back but the new body's.
func (b *buffers) end() {
	for _, l := range []*lent{&b.raw, &b.plain, &b.built, &b.bitmap} {
		b.pool.Put(l.bytes)
		*l = lent{}
	}
	kept := min(b.held, int64(cap(b.out.bytes)))
	_ = b.grant.Take(kept - b.held) // an error says that the job is over, which others notice
	b.held = kept
}

// ask takes n bytes from the grant for l, in place of those that it had. The new body may have the
// limit's bytes, and so may all else together.
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

// take returns n bytes of l, which are not zero. Its content is lost.
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

// room makes room for n more bytes of the new body.
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

// reserve makes room for the new body, so that it rarely grows: for n rows' share of each buffer
// that will not be lifted, and for spare bytes after all buffers.
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

// fetch returns a buffer as it lies in the body, compressed or not. It is valid until the next call.
func (b *buffers) fetch(s layout.Span) ([]byte, error) {
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
	raw, err := b.fetch(s)
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

// mostRatio is the most times that buffers may be larger decompressed than their body. It holds for
// those that together have more than the limit's bytes.
const mostRatio = 256

// inflate decompresses a buffer that is not empty, and must then have least bytes. The result is
// valid until the next call. It is a part of raw where the buffer is stored uncompressed.
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

// add appends a buffer of content to the new body.
func (b *buffers) add(content []byte) error { return b.addAt(content, compress.Fastest) }

// addAt is add with a level of zstd.
func (b *buffers) addAt(content []byte, level int) error {
	begin := b.madeSize()
	if len(content) == 0 {
		b.made.Buffers = append(b.made.Buffers, layout.Span{Offset: begin})
		return nil
	}
	if err := b.room(len(content)); err != nil {
		return err
	}
	if b.codec == layout.CodecNone {
		b.out.bytes = append(b.out.bytes, content...)
	} else {
		b.out.bytes = layout.AppendDeflated(b.out.bytes, content, b.codec, level)
	}
	return b.finish(begin)
}

// finish ends a buffer of the new body that begins at begin: it pads it, and lists it.
func (b *buffers) finish(begin int64) error {
	size := b.madeSize() - begin
	b.made.Buffers = append(b.made.Buffers, layout.Span{Offset: begin, Length: size})
	b.out.bytes = append(b.out.bytes, zeros[:-size&7]...)
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

// selection says which values of a buffer are kept.
type selection struct {
	span  layout.Span
	width int // bytes of a value
	size  int // bytes of all values
	kept  int // bytes of those that are kept
	runs  tables.Rows
}

// copyValues appends the kept runs of a buffer's values, which have width bytes. There must be n
// values. If all are kept, the buffer is copied as it lies, unless more than padding follows them.
// Otherwise the rest is cut out of the compressed bytes, or the kept values are compressed.
func (b *buffers) copyValues(s layout.Span, width, n int, runs tables.Rows) error {
	if n > math.MaxInt/2/width {
		return errShort
	}
	v := selection{span: s, width: width, size: n * width, kept: runs.Count() * width, runs: runs}
	switch {
	case b.codec == layout.CodecNone:
		return b.copyPlain(v)
	case s.Length == 0 && v.size > 0:
		return errShort
	case s.Length == 0 || v.kept == 0:
		return b.add(nil)
	}
	all := v.kept == v.size
	if all {
		size, err := b.plainSize(s)
		if err != nil {
			return err
		}
		if size == int64(v.size) { // without decompressing it
			return b.copyWhole(s)
		}
	}
	raw, err := b.fetch(s)
	if err != nil {
		return err
	}
	plain, err := b.inflate(raw, v.size)
	if err != nil {
		return err
	}
	if all && len(plain) <= v.size+maxPadding && len(bytes.TrimLeft(plain[v.size:], "\x00")) == 0 {
		return b.copyWhole(s)
	}
	return b.cutOrDeflate(v, raw, plain)
}

// cutOrDeflate appends the kept values of a buffer: raw as it lies, plain decompressed.
func (b *buffers) cutOrDeflate(v selection, raw, plain []byte) error {
	if layout.IsStored(raw) { // plain is a part of the input's body, which must not change
		to, err := b.take(&b.plain, v.kept)
		if err != nil {
			return err
		}
		return b.add(to[:v.runs.CopyValues(to, plain, v.width)])
	}
	ranges := len(v.runs)
	if b.codec == layout.CodecLZ4 {
		ranges = 0 // cutting takes blocks, however many ranges each has
	}
	if zstdcut.Worth(len(plain), v.kept, ranges) {
		if ok, err := b.cut(v, raw, plain); ok || err != nil {
			return err
		}
	}
	level := b.level(plain, raw) // before plain changes
	return b.addAt(plain[:v.runs.CopyValues(plain, plain, v.width)], level)
}

// leastChosen is the least number of bytes of a buffer for which a level of zstd is chosen.
const leastChosen = 2 << 20

// level returns the level of zstd for values of a buffer: raw as it lies, plain decompressed.
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
	prefix, err := b.fetch(layout.Span{Offset: s.Offset, Length: min(s.Length, layout.PrefixSize)})
	if err != nil {
		return 0, err
	}
	size, err := layout.UncompressedSize(prefix)
	if err == nil && layout.IsStored(prefix) {
		size = s.Length - layout.PrefixSize
	}
	return size, err
}

// copyWhole appends a buffer as it lies in the input's body. It is lifted if that is in a file.
func (b *buffers) copyWhole(s layout.Span) error {
	begin := b.madeSize()
	if b.body == nil {
		b.lift(len(b.out.bytes), s.Offset, s.Length)
		return b.finish(begin)
	}
	raw, err := b.fetch(s)
	if err == nil {
		err = b.room(len(raw))
	}
	if err != nil {
		return err
	}
	b.out.bytes = append(b.out.bytes, raw...)
	return b.finish(begin)
}

// longRun is the least average number of bytes of runs that are lifted.
const longRun = 8 << 10

// lifts reports whether runs of an uncompressed buffer, which have kept bytes together, are lifted.
func (b *buffers) lifts(kept int64, runs int) bool {
	return b.body == nil && b.codec == layout.CodecNone && kept/longRun >= int64(runs)
}

// copyPlain is copyValues for a buffer that is not compressed.
func (b *buffers) copyPlain(v selection) error {
	if v.span.Length < int64(v.size) {
		return errShort
	}
	begin := b.madeSize()
	if b.lifts(int64(v.kept), len(v.runs)) {
		for _, r := range v.runs {
			b.lift(len(b.out.bytes), v.span.Offset+int64(r.Low*v.width), int64(r.High-r.Low)*int64(v.width))
		}
		return b.finish(begin)
	}
	raw, err := b.fetch(v.span)
	if err == nil {
		err = b.room(v.kept)
	}
	if err != nil {
		return err
	}
	size := len(b.out.bytes)
	n := v.runs.CopyValues(b.out.bytes[size:size+v.kept], raw, v.width)
	b.out.bytes = b.out.bytes[:size+n]
	return b.finish(begin)
}

// cutters are kept because each has tables.
var cutters = sync.Pool{New: func() any { return new(zstdcut.Cutter) }}

// cut appends the kept values of a compressed buffer by cutting the rest out of its frame. It
// returns false, and appends nothing, if that is not possible.
func (b *buffers) cut(v selection, raw, plain []byte) (ok bool, err error) {
	b.ranges = b.ranges[:0]
	for _, r := range v.runs {
		b.ranges = append(b.ranges, zstdcut.Range{Low: r.Low * v.width, High: r.High * v.width})
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
	out := layout.AppendPrefix(b.out.bytes, v.kept)
	if b.codec == layout.CodecLZ4 {
		out, ok = b.lz4.Cut(out, b.ranges, b.liftBlocks(v.span))
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
	b.out.bytes = out
	return true, b.finish(begin)
}

// liftsBlocks reports whether blocks of an LZ4 frame are lifted.
func (b *buffers) liftsBlocks() bool { return b.body == nil && b.codec == layout.CodecLZ4 }

// liftBlocks returns the function that [lz4frame.Frame.Cut] calls for the blocks of a buffer's frame
// that it copies: it lifts them. It is nil for a body in memory, whose blocks are appended.
func (b *buffers) liftBlocks(s layout.Span) func(dst []byte, low, high int) []byte {
	if !b.liftsBlocks() {
		return nil
	}
	return func(dst []byte, low, high int) []byte {
		b.lift(len(dst), s.Offset+layout.PrefixSize+int64(low), int64(high-low))
		return dst
	}
}
