package ipc

import (
	"fmt"
	"math"
	"sync"

	"robotsbatch/io/store/budget"
	"robotsbatch/io/store/compress"
	"robotsbatch/io/store/compress/lz4frame"
	"robotsbatch/io/store/compress/zstdcut"
	"robotsbatch/io/tables"
	"robotsbatch/io/tables/arrow/layout"
)

// bodyCopier reads the buffers of a record batch's body one after the other, and appends buffers to a
// new body. Parts of the input's body in a file may be lifted: the new body has places for them, and the output copies
// them from file to file (see [lifted]).
type bodyCopier struct {
	record   *copiedRecord
	grant    *budget.Grant
	held     int64 // bytes taken from grant
	inflated int64 // bytes that were decompressed so far

	made layout.BatchMeta // of the new body
	out  pooled           // the new body, without the lifted parts

	lifted     []lifted // parts of the new body
	liftedSize int64    // bytes of these

	raw    pooled // scratch: a buffer as it lies in the file
	plain  pooled // scratch: a buffer decompressed
	built  pooled // scratch: a buffer that is built
	bitmap pooled // scratch: a bitmap that is built
	runs   int    // number of runs of rows and values in memory; what takes as much counts as one

	lz4    lz4frame.Frame
	ranges []zstdcut.Range

	refused *zstdcut.Refusals
}

// pooled is memory of the record's pool.
type pooled struct {
	bytes   []byte
	charged int64 // bytes that charge has counted for it
}

// runSize is the number of bytes that a run takes in a slice that grows.
const runSize = 32

// newBodyCopier returns a copier for a record batch, which takes memory from a grant. refused counts frames that could
// not be cut. The copier must be released.
func newBodyCopier(r *copiedRecord, grant *budget.Grant, refused *zstdcut.Refusals) bodyCopier {
	made := layout.BatchMeta{Version: r.meta.Version, Codec: r.meta.Codec}
	return bodyCopier{record: r, grant: grant, refused: refused, made: made}
}

// release gives all memory back except the new body's.
func (b *bodyCopier) release() {
	for _, p := range []*pooled{&b.raw, &b.plain, &b.built, &b.bitmap} {
		b.record.pool.Put(p.bytes)
		*p = pooled{}
	}
	kept := min(b.held, int64(cap(b.out.bytes))) // the grant gets the rest back
	_ = b.grant.Take(kept - b.held)              // an error says that the job is over, which others notice
	b.held = kept
}

// charge counts n bytes for p from now on, and takes from the grant what it does not hold yet. The new body may have at
// most limit bytes, and so may everything else together.
func (b *bodyCopier) charge(p *pooled, n int64) error {
	p.charged = n
	scratch := b.raw.charged + b.plain.charged + b.built.charged + b.bitmap.charged + runSize*int64(b.runs)
	if need := max(scratch, b.out.charged); need > b.record.limit {
		return &budget.MemoryError{What: "a record batch", Need: need, Limit: b.record.limit}
	}
	sum := scratch + b.out.charged
	if sum <= b.held {
		return nil
	}
	err := b.grant.Take(sum - b.held)
	b.held = sum
	return err
}

// alloc returns n bytes of p, which may have any content. What p had is lost.
func (b *bodyCopier) alloc(p *pooled, n int) ([]byte, error) {
	if err := b.charge(p, int64(n)); err != nil {
		return nil, err
	}
	if cap(p.bytes) < n {
		b.record.pool.Put(p.bytes)
		p.bytes = b.record.pool.Get(n)
	}
	return p.bytes[:n], nil
}

// grow makes room in memory for n more bytes of the new body.
func (b *bodyCopier) grow(n int) error {
	size := len(b.out.bytes)
	if err := b.charge(&b.out, max(b.out.charged, int64(size+n))); err != nil {
		return err
	}
	if cap(b.out.bytes)-size >= n {
		return nil
	}
	larger := b.record.pool.Get(max(size+n, size+size/4))
	copy(larger, b.out.bytes)
	b.record.pool.Put(b.out.bytes)
	b.out.bytes = larger[:size]
	return nil
}

// reserve makes room for the new body, so that growing rarely moves it: for n rows' share of each buffer that will
// probably not be lifted, and for spare bytes after all buffers.
func (b *bodyCopier) reserve(n, spare int) error {
	r, size := b.record, int64(0)
	for _, s := range r.meta.Buffers {
		kept := s.Length
		if r.meta.Rows > 0 {
			kept = int64(float64(kept) * float64(n) / float64(r.meta.Rows))
		}
		liftsBlocks := b.liftsBlocks() && zstdcut.Worth(int(s.Length), int(kept), 0) // 0: however many ranges
		if !liftsBlocks && !b.lifts(kept, b.runs) {
			size += kept
		}
	}
	// Rows differ in size: a sixteenth more. Each buffer has padding, and may have a prefix: 64 bytes at most.
	return b.grow(int(min(size+size/16, r.frame.BodyLength)) + spare + 64*len(r.meta.Buffers))
}

// readRaw returns a buffer as it lies in the input's body, compressed or not, nil for an empty one. It is valid
// until the next call, and must not be changed.
func (b *bodyCopier) readRaw(s layout.Span) ([]byte, error) {
	if s.Length == 0 {
		return nil, nil
	}
	if b.record.frame.Bytes != nil {
		if !s.In(int64(len(b.record.frame.Bytes))) {
			return nil, layout.ErrShort
		}
		return b.record.frame.Bytes[s.Offset : s.Offset+s.Length], nil
	}
	raw, err := b.alloc(&b.raw, int(s.Length))
	if err == nil {
		err = layout.ReadAt(b.record.frame.Body, raw, s.Offset)
	}
	return raw, err
}

// readPlain returns a buffer decompressed, which must have least bytes or more. It is valid until the
// next call, and must not be changed.
func (b *bodyCopier) readPlain(s layout.Span, least int) ([]byte, error) {
	raw, err := b.readRaw(s)
	if err != nil {
		return nil, err
	}
	if b.made.Codec == layout.CodecNone || len(raw) == 0 {
		if len(raw) < least {
			return nil, layout.ErrShort
		}
		return raw, nil
	}
	return b.inflate(raw, least)
}

// mostRatio limits the time that a small body takes: if its buffers have more bytes than the limit in all, decompressed,
// these must be fewer than mostRatio times the bytes of the body.
const mostRatio = 256

// inflate returns a buffer of a compressed body decompressed, which must have least bytes or more. raw has the buffer's
// bytes as they lie, and is not empty. The result is valid until the next call; it is a part of raw if the buffer is
// stored uncompressed.
func (b *bodyCopier) inflate(raw []byte, least int) ([]byte, error) {
	size, err := layout.UncompressedSize(raw)
	if err != nil {
		return nil, err
	}
	if size < int64(least) {
		return nil, layout.ErrShort
	}
	if layout.IsStored(raw) {
		return raw[layout.PrefixSize:], nil
	}
	if b.inflated += size; b.inflated > b.record.limit && b.inflated/mostRatio > b.record.frame.BodyLength {
		return nil, &budget.MemoryError{What: "a record batch decompressed", Need: b.inflated, Limit: b.record.limit}
	}
	plain, err := b.alloc(&b.plain, int(size))
	if err != nil {
		return nil, err
	}
	// Decode knows simple frames alone; Fill knows all.
	if b.made.Codec == layout.CodecLZ4 && b.lz4.Decode(plain, raw[layout.PrefixSize:]) {
		return plain, nil
	}
	if err := compress.Fill(plain, raw[layout.PrefixSize:], layout.Codecs[b.made.Codec]); err != nil {
		return nil, fmt.Errorf("a buffer does not decompress: %w", err)
	}
	return plain, nil
}

// add appends a buffer of content to the new body, compressed fast if the body is compressed.
func (b *bodyCopier) add(content []byte) error { return b.addDeflated(content, compress.Fastest) }

// addDeflated is add with a level of zstd.
func (b *bodyCopier) addDeflated(content []byte, level int) error {
	begin := b.madeSize()
	if err := b.grow(len(content)); err != nil {
		return err
	}
	b.out.bytes = layout.AppendBuffer(b.out.bytes, content, b.made.Codec, level)
	return b.endBuffer(begin)
}

// endBuffer pads and lists the last buffer of the new body, which begins at byte begin.
func (b *bodyCopier) endBuffer(begin int64) error {
	size := b.madeSize() - begin
	b.made.Buffers = append(b.made.Buffers, layout.Span{Offset: begin, Length: size})
	b.out.bytes = append(b.out.bytes, padding(size)...)
	return b.charge(&b.out, max(b.out.charged, int64(len(b.out.bytes)))) // compressed bytes may be more than content
}

// build returns n bytes in which the caller builds a buffer. They may have any content, and are valid until the
// next call.
func (b *bodyCopier) build(n int) ([]byte, error) { return b.alloc(&b.built, n) }

// bits returns a copy of these runs of a bitmap, which have n bits. It is valid until the next call.
func (b *bodyCopier) bits(from []byte, runs tables.Rows, n int) ([]byte, error) {
	to, err := b.alloc(&b.bitmap, (n+7)/8)
	if err != nil {
		return nil, err
	}
	runs.CopyBits(to, from)
	return to, nil
}

// selection says which values of a buffer of the input are kept.
type selection struct {
	span  layout.Span // the buffer
	width int         // bytes of a value
	size  int         // bytes of all values
	kept  int         // bytes of those that are kept
	runs  tables.Rows // that are kept
}

// copyValues appends a buffer with the kept runs of the values in buffer s of the input. s must have n values or more, of
// width bytes each. If all are kept and only padding follows them, s is copied as it lies. Otherwise the rest is cut out
// of its compressed bytes, or the kept values are compressed again.
func (b *bodyCopier) copyValues(s layout.Span, width, n int, runs tables.Rows) error {
	if n > math.MaxInt/2/width { // no buffer has so many bytes
		return layout.ErrShort
	}
	v := selection{span: s, width: width, size: n * width, kept: runs.Count() * width, runs: runs}
	isPlain := b.made.Codec == layout.CodecNone
	switch {
	case isPlain && s.Length < int64(v.size), s.Length == 0 && v.size > 0: // a compressed buffer is short if it is empty
		return layout.ErrShort
	case isPlain:
		return b.copyRuns(v, b.lifts(int64(v.kept), len(v.runs)))
	case v.kept == 0: // an empty buffer has none to keep
		return b.add(nil)
	}
	all := v.kept == v.size
	if all {
		size, err := b.plainSize(s)
		if err != nil {
			return err
		}
		if size == int64(v.size) { // nothing follows the values: no need to decompress
			return b.copyWhole(s)
		}
	}
	raw, err := b.readRaw(s)
	if err != nil {
		return err
	}
	plain, err := b.inflate(raw, v.size)
	if err != nil {
		return err
	}
	if all && tables.IsPadding(plain[v.size:]) {
		return b.copyWhole(s)
	}
	return b.cutOrDeflate(v, raw, plain)
}

// cutOrDeflate appends a buffer with the kept values v, for a compressed body: it cuts the input's buffer, if that is
// worth it, or compresses again. raw has the bytes of the input's buffer as they lie, and plain has them decompressed and
// may be overwritten.
func (b *bodyCopier) cutOrDeflate(v selection, raw, plain []byte) error {
	if layout.IsStored(raw) { // plain is a part of the input's body, which must not change
		to, err := b.alloc(&b.plain, v.kept)
		if err != nil {
			return err
		}
		return b.add(to[:v.runs.CopyValues(to, plain, v.width)])
	}
	ranges := len(v.runs)
	if b.made.Codec == layout.CodecLZ4 {
		ranges = 0 // blocks are copied or compressed again, however many ranges they have
	}
	if zstdcut.Worth(len(plain), v.kept, ranges) {
		if ok, err := b.cutFrame(v, raw, plain); ok || err != nil {
			return err
		}
	}
	level := b.level(plain, raw) // before plain changes
	return b.addDeflated(plain[:v.runs.CopyValues(plain, plain, v.width)], level)
}

// leastChosen is the least number of bytes of a buffer for which a level of zstd is chosen; a smaller one gets the
// fastest.
const leastChosen = 2 << 20

// level returns the level of zstd with which to compress the kept values of a buffer, which is raw as it lies and plain
// decompressed.
func (b *bodyCopier) level(plain, raw []byte) int {
	if b.made.Codec != layout.CodecZstd || len(plain) < leastChosen {
		return compress.Fastest
	}
	return compress.Level(plain, len(raw)-layout.PrefixSize)
}

// plainSize returns the decompressed size of a buffer of a compressed body. It reads only its prefix.
func (b *bodyCopier) plainSize(s layout.Span) (int64, error) {
	prefix, err := b.readRaw(layout.Span{Offset: s.Offset, Length: min(s.Length, layout.PrefixSize)})
	if err != nil {
		return 0, err
	}
	size, err := layout.UncompressedSize(prefix)
	if err == nil && layout.IsStored(prefix) {
		size = s.Length - layout.PrefixSize
	}
	return size, err
}

// copyWhole appends a buffer as it lies in the input's body; from a file it is lifted.
func (b *bodyCopier) copyWhole(s layout.Span) error {
	all := tables.Rows(nil).Add(0, int(s.Length)) // of values of one byte
	return b.copyRuns(selection{span: s, width: 1, kept: int(s.Length), runs: all}, b.record.frame.Bytes == nil)
}

// longRun is the least average number of bytes of runs that are lifted. It takes longer to read shorter ones one by one
// than to read the whole buffer.
const longRun = 8 << 10

// lifts reports whether to lift a number of runs of values, which have kept bytes in all. They must be of an uncompressed
// buffer in a file.
func (b *bodyCopier) lifts(kept int64, runs int) bool {
	return b.record.frame.Bytes == nil && b.made.Codec == layout.CodecNone && kept/longRun >= int64(runs)
}

// copyRuns appends a buffer with the kept values v as they lie in the input's body. lifts says that they are lifted,
// which takes a body in a file.
func (b *bodyCopier) copyRuns(v selection, lifts bool) error {
	begin := b.madeSize()
	if lifts {
		for _, r := range v.runs {
			b.lift(len(b.out.bytes), v.span.Offset+int64(r.Low*v.width), int64(r.High-r.Low)*int64(v.width))
		}
		return b.endBuffer(begin)
	}
	raw, err := b.readRaw(v.span)
	if err == nil {
		err = b.grow(v.kept)
	}
	if err != nil {
		return err
	}
	size := len(b.out.bytes)
	n := v.runs.CopyValues(b.out.bytes[size:size+v.kept], raw, v.width)
	b.out.bytes = b.out.bytes[:size+n]
	return b.endBuffer(begin)
}

// cutters are kept because each has much memory.
var cutters = sync.Pool{New: func() any { return new(zstdcut.Cutter) }}

// cutFrame appends a buffer with the kept values v by cutting the others out of the frame of the input's buffer. raw and
// plain are as in cutOrDeflate. ok is false, and nothing is appended, if the frame cannot be cut.
func (b *bodyCopier) cutFrame(v selection, raw, plain []byte) (ok bool, err error) {
	b.ranges = b.ranges[:0]
	for _, r := range v.runs {
		b.ranges = append(b.ranges, zstdcut.Range{Low: r.Low * v.width, High: r.High * v.width})
	}
	need := len(raw)
	if b.liftsBlocks() { // only blocks that change take memory, and these may be larger than before
		changed := b.lz4.Changed(b.ranges)
		need = min(need, changed+changed/8+64<<10) // a guess: the body grows if they need more
	}
	if err := b.grow(need); err != nil {
		return false, err
	}
	begin, size := b.madeSize(), len(b.out.bytes)
	out := layout.AppendPrefix(b.out.bytes, v.kept)
	if b.made.Codec == layout.CodecLZ4 {
		out, ok = b.lz4.Cut(out, b.ranges, b.liftBlocks(v.span))
	} else {
		cutter := cutters.Get().(*zstdcut.Cutter)
		defer cutters.Put(cutter)
		if out, err = cutter.Cut(out, raw[layout.PrefixSize:], plain, nil, b.ranges); err != nil { // nil: nothing comes before the ranges
			b.refused.Count(err)
		}
		ok = err == nil
	}
	if !ok {
		b.out.bytes = out[:size]
		return false, nil
	}
	b.out.bytes = out
	return true, b.endBuffer(begin)
}

// liftsBlocks reports whether blocks that do not change are lifted: those of LZ4 frames in a file.
func (b *bodyCopier) liftsBlocks() bool {
	return b.record.frame.Bytes == nil && b.made.Codec == layout.CodecLZ4
}

// liftBlocks returns the function that [lz4frame.Frame.Cut] calls for a block that does not change: bytes low to high-1
// of the frame in buffer s. The function lifts the block, and appends nothing to dst. It is nil if blocks are not lifted.
func (b *bodyCopier) liftBlocks(s layout.Span) func(dst []byte, low, high int) []byte {
	if !b.liftsBlocks() {
		return nil
	}
	return func(dst []byte, low, high int) []byte {
		b.lift(len(dst), s.Offset+layout.PrefixSize+int64(low), int64(high-low))
		return dst
	}
}

// lift appends size bytes of the input's body, from byte from on, to the new body without reading them. at is the number
// of bytes of the new body that are in memory.
func (b *bodyCopier) lift(at int, from, size int64) {
	b.liftedSize += size
	if n := len(b.lifted); n > 0 {
		if last := &b.lifted[n-1]; last.at == at && last.from+last.size == from {
			last.size += size
			return
		}
	}
	b.lifted = append(b.lifted, lifted{at: at, from: from, size: size})
}

// madeSize returns the size of the new body so far, lifted parts included.
func (b *bodyCopier) madeSize() int64 { return int64(len(b.out.bytes)) + b.liftedSize }
