package zstdcut

import (
	"encoding/binary"
	"errors"
	"math/bits"
	"slices"
	"sort"

	"github.com/klauspost/compress/huff0"
)

// Range is a part of what a frame holds, from Low to High-1.
type Range struct{ Low, High int }

// Cutter cuts frames. One goroutine may use it at a time.
type Cutter struct {
	kept   []Range
	places []int // where each begins in what comes out
	plain  []byte
	window int // how far back a match may begin

	in, out  state
	homes    []int32 // of each byte that is cut: where it was written again, -1 for nowhere
	cuts     []int   // behind each kept range: how many bytes are cut before it
	blocks   int
	block    block
	literals []byte
	written  []sequence
	huffman  huff0.Scratch
	tables   shelf
	codes    []codes3
	content  []byte
	last     int // where the last block's header lies in what is written, -1 for none
}

// codes3 are the codes of a sequence and the bits that follow them.
type codes3 struct {
	symbols [streams]uint8
	value   uint32
}

// Cut appends to dst a frame that holds head and then those ranges of what frame holds,
// which is plain; they are in order, and do not touch. It returns false, and appends
// nothing, where the frame is not as simple as writers make them: then compress.
func (c *Cutter) Cut(dst, frame, plain, head []byte, kept []Range) ([]byte, bool) {
	h, ok := readHeader(frame)
	if !ok || h.size >= 0 && h.size != int64(len(plain)) {
		return dst, false
	}
	c.begin(plain, len(head), kept)
	if c.window = len(plain); !h.single {
		c.window = (8 + int(h.window&7)) << (7 + h.window>>3)
	}
	begin := len(dst)
	dst = h.append(dst, c.size(head))
	for len(head) > 0 {
		n := min(len(head), 1<<10)
		dst = c.raw(dst, head[:n])
		head = head[n:]
	}
	if dst, ok = c.cutBlocks(dst, frame[h.length:], h.checksum); !ok {
		return dst[:begin], false
	}
	if c.last < 0 {
		dst = c.raw(dst, nil)
	}
	dst[c.last] |= 1
	return dst, true
}

func (c *Cutter) begin(plain []byte, head int, kept []Range) {
	c.plain, c.kept, c.last, c.blocks = plain, kept, -1, 0
	c.places, c.cuts = c.places[:0], c.cuts[:0]
	at, end, gone := head, 0, 0
	for _, r := range kept {
		gone += r.Low - end
		c.places, c.cuts = append(c.places, at), append(c.cuts, gone)
		at += r.High - r.Low
		end = r.High
	}
	gone += len(plain) - end
	c.homes = slices.Grow(c.homes[:0], gone)[:gone]
	for i := range c.homes {
		c.homes[i] = -1
	}
	c.in = state{recent: [3]uint32{1, 4, 8}}
	c.out = c.in
}

// size is how many bytes come out.
func (c *Cutter) size(head []byte) int {
	n := len(head)
	for _, r := range c.kept {
		n += r.High - r.Low
	}
	return n
}

// header is a frame's header.
type header struct {
	length   int
	size     int64 // -1 where it does not say
	window   byte  // its descriptor
	single   bool  // the window is all of it
	checksum bool
}

const magic = 0xFD2FB528

func readHeader(frame []byte) (h header, ok bool) {
	if len(frame) < 6 || binary.LittleEndian.Uint32(frame) != magic {
		return h, false
	}
	flags := frame[4]
	h.single, h.checksum, h.size, h.length = flags&0x20 != 0, flags&4 != 0, -1, 5
	if flags&0x0B != 0 { // a dictionary, or a bit that is reserved
		return h, false
	}
	if !h.single {
		h.window = frame[5]
		h.length++
	}
	width := [4]int{0, 2, 4, 8}[flags>>6]
	if width == 0 && h.single {
		width = 1
	}
	if len(frame) < h.length+width {
		return h, false
	}
	if width > 0 {
		var v [8]byte
		copy(v[:], frame[h.length:h.length+width])
		h.size = int64(binary.LittleEndian.Uint64(v[:]))
		if width == 2 {
			h.size += 256
		}
	}
	h.length += width
	return h, true
}

// append appends the header of a frame of n bytes.
func (h *header) append(dst []byte, n int) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, magic)
	if h.single {
		dst = append(dst, 0xA0)
	} else {
		dst = append(dst, 0x80, h.window)
	}
	return binary.LittleEndian.AppendUint32(dst, uint32(n))
}

// cutBlocks appends the blocks.
func (c *Cutter) cutBlocks(dst, data []byte, checksum bool) ([]byte, bool) {
	for at := 0; ; {
		if len(data) < 3 {
			return dst, false
		}
		head := int(data[0]) | int(data[1])<<8 | int(data[2])<<16
		last, kind, size := head&1 == 1, head>>1&3, head>>3
		stored := size
		if kind == rleBlock {
			stored = 1
		}
		if size > mostBlock || stored > len(data)-3 {
			return dst, false
		}
		whole := data[:3+stored]
		data = data[3+stored:]
		var ok bool
		var n int
		switch kind {
		case rawBlock, rleBlock:
			n = size
			dst, ok = c.cutPlain(dst, whole, at, n, kind == rleBlock)
		case packedBlock:
			dst, n, ok = c.cutPacked(dst, whole, at)
		}
		if at += n; !ok || at > len(c.plain) {
			return dst, false
		}
		if last {
			if checksum && len(data) >= 4 {
				data = data[4:] // of what is no more
			}
			return dst, at == len(c.plain) && len(data) == 0
		}
	}
}

// first is the first of the kept ranges that ends behind a place.
func (c *Cutter) first(at int) int {
	return sort.Search(len(c.kept), func(i int) bool { return c.kept[i].High > at })
}

// parts calls f for the parts from low to high-1 that are kept.
func (c *Cutter) parts(low, high int, f func(low, high, kept int)) {
	for k := c.first(low); k < len(c.kept) && c.kept[k].Low < high; k++ {
		f(max(low, c.kept[k].Low), min(high, c.kept[k].High), k)
	}
}

// cutPlain cuts a block that is not compressed, or one byte repeated.
func (c *Cutter) cutPlain(dst, whole []byte, at, n int, repeated bool) ([]byte, bool) {
	if at+n > len(c.plain) {
		return dst, false
	}
	if k := c.first(at); k < len(c.kept) && c.kept[k].Low <= at && at+n <= c.kept[k].High {
		return c.copied(dst, whole), true
	}
	c.parts(at, at+n, func(low, high, _ int) {
		if repeated {
			dst = c.head(dst, rleBlock, high-low)
			dst = append(dst, whole[3])
		} else {
			dst = c.raw(dst, c.plain[low:high])
		}
	})
	return dst, true
}

// head appends a block's header.
func (c *Cutter) head(dst []byte, kind, size int) []byte {
	c.last = len(dst)
	v := kind<<1 | size<<3
	return append(dst, byte(v), byte(v>>8), byte(v>>16))
}

func (c *Cutter) raw(dst, content []byte) []byte {
	return append(c.head(dst, rawBlock, len(content)), content...)
}

// copied appends a block as it lies.
func (c *Cutter) copied(dst, whole []byte) []byte {
	c.last = len(dst)
	dst = append(dst, whole...)
	dst[c.last] &^= 1
	return dst
}

// cutPacked cuts a compressed block, and returns how many bytes it had.
func (c *Cutter) cutPacked(dst, whole []byte, at int) ([]byte, int, bool) {
	c.blocks++
	c.tables.sort(&c.in, &c.out)
	before := c.in
	b := &c.block
	if !b.parse(whole[3:], c.blocks, &c.in, &c.tables) || at+b.total > len(c.plain) {
		return dst, 0, false
	}
	k := c.first(at)
	if k == len(c.kept) || c.kept[k].Low >= at+b.total {
		for _, s := range b.sequences { // nothing is left of it
			at += int(s.literals)
			if int(s.offset) > at {
				return dst, 0, false
			}
			c.lose(at, at+int(s.match), int(s.offset))
			at += int(s.match)
		}
		return dst, b.total, true
	}
	inside := c.kept[k].Low <= at && at+b.total <= c.kept[k].High
	same := inside && (at+b.reach >= c.kept[k].Low)
	if same && c.copies(&before) {
		return c.copied(dst, whole), b.total, true
	}
	if same {
		c.written = append(c.written[:0], b.sequences...)
		return c.write(dst, at, k, true), b.total, true
	}
	changed, ok := c.change(at, k)
	if !ok {
		return dst, 0, false
	}
	return c.write(dst, at, k, !changed), b.total, true
}

// copies reports whether the block can be copied: what it takes from the blocks before is
// the same in what is written. If so the state becomes the one behind it.
func (c *Cutter) copies(before *state) bool {
	b := &c.block
	if b.kind == treelessLiterals && c.out.huffman != before.huffman {
		return false
	}
	if len(b.sequences) > 0 {
		if c.out.recent != before.recent {
			return false
		}
		for k := range streams {
			if !b.defines[k] && c.out.tables[k] != before.tables[k] {
				return false
			}
		}
		c.out.recent = c.in.recent
		c.out.tables = tablesBehind(&c.out, &c.in, b)
	}
	if b.kind == packedLiterals {
		c.out.huffman = c.in.huffman
	}
	return true
}

func tablesBehind(out, in *state, b *block) [streams]*table {
	tables := out.tables
	for k := range streams {
		if b.defines[k] {
			tables[k] = in.tables[k]
		}
	}
	return tables
}

// change sets the sequences and literals that are left of the block, which begins at a
// place, and reports whether the literals are other ones. Nothing before the kept range k
// is left.
func (c *Cutter) change(at, k int) (changed, ok bool) {
	b := &c.block
	c.written, c.literals = c.written[:0], slices.Grow(c.literals[:0], mostBlock+32)
	end := at + b.total
	pending := 0 // literals before the next match
	literal := func(low, high int) {
		c.literals = append(c.literals, c.plain[low:high]...)
		pending += high - low
	}
	// span walks over what is kept from low to high-1.
	span := func(low, high int, f func(low, high int)) {
		for k < len(c.kept) && c.kept[k].High <= low {
			k++
		}
		for i := k; i < len(c.kept) && c.kept[i].Low < high; i++ {
			from, to := max(low, c.kept[i].Low), min(high, c.kept[i].High)
			if from > low || to < high {
				changed = true
			}
			f(from, to)
		}
		if k == len(c.kept) || c.kept[k].Low >= high {
			changed = changed || low < high
		}
	}
	for _, s := range b.sequences {
		offset := int(s.offset)
		for k < len(c.kept) && c.kept[k].High <= at {
			k++
		}
		// Most sequences are kept whole, and so is what they take.
		if k < len(c.kept) && c.kept[k].Low <= at && at+int(s.literals+s.match) <= c.kept[k].High {
			low := at + int(s.literals)
			if now := c.moved(low, low+int(s.match), offset, k); now > 0 {
				c.literals = appendShort(c.literals, c.plain, at, low)
				c.written = append(c.written, sequence{uint32(pending) + s.literals, s.match, uint32(now)})
				pending, at = 0, low+int(s.match)
				continue
			}
		}
		span(at, at+int(s.literals), literal)
		at += int(s.literals)
		if offset > at {
			return false, false
		}
		span(at, at+int(s.match), func(low, high int) {
			now, n := c.moved(low, high, offset, k), high-low
			if now == 0 {
				now, n = c.home(low, high, offset, k)
			}
			if n >= 3 && now > 0 {
				c.written = append(c.written, sequence{uint32(pending), uint32(n), uint32(now)})
				pending = 0
				low += n
			}
			if low < high {
				changed = true
				literal(low, high)
			}
		})
		if part := c.kept[min(k, len(c.kept)-1)]; at < part.Low || at+int(s.match) > part.High {
			c.lose(at, at+int(s.match), offset)
		}
		at += int(s.match)
	}
	span(at, end, literal)
	return changed, true
}

// appendShort appends the bytes from low to high-1, which are few.
func appendShort(dst, from []byte, low, high int) []byte {
	const most = 16
	if n := len(dst); high-low <= most && low+most <= len(from) && n+most <= cap(dst) {
		copy(dst[n:n+most], from[low:low+most])
		return dst[:n+high-low]
	}
	return append(dst, from[low:high]...)
}

// moved returns how far back a match begins that is kept from low to high-1, where what
// lies between is cut; 0 where a part of it is gone, or does not exist. The kept range k ends
// behind low.
func (c *Cutter) moved(low, high, offset, k int) int {
	from := low - offset
	for c.kept[k].High <= low {
		k++
	}
	if from >= c.kept[k].Low {
		return offset
	}
	j := k - 1
	for steps := 0; j >= 0 && from < c.kept[j].Low; j-- {
		if steps++; steps > 8 {
			j = c.first(from)
			break
		}
	}
	if j < 0 || from < c.kept[j].Low || high-offset > c.kept[j].High {
		return 0
	}
	return c.places[k] + low - c.kept[k].Low - (c.places[j] + from - c.kept[j].Low)
}

// home is as moved, for a match a part of which is gone: of what is gone it finds where it
// lies as well, and returns how long that matches. It remembers that it lies here now.
func (c *Cutter) home(low, high, offset, k int) (back, n int) {
	for c.kept[k].High <= low {
		k++
	}
	var from spot
	for at := low; at < high; {
		place := c.gone(&from, at-offset)
		part := min(high-at, from.high-(at-offset))
		if place >= 0 {
			if home := int(c.homes[place]); home >= 0 && at == low {
				j := c.first(home)
				n = matching(c.plain[low:high], c.plain[home:min(c.kept[j].High, low)])
				if back = c.places[k] + low - c.kept[k].Low - (c.places[j] + home - c.kept[j].Low); back > c.window {
					n = 0
				}
			}
			for i := range part {
				c.homes[place+i] = int32(at + i)
			}
		}
		at += part
	}
	return back, n
}

// lose remembers of a match of which a part is cut where its bytes lie as well.
func (c *Cutter) lose(low, high, offset int) {
	var from, to spot
	for at := low; at < high; {
		place := c.gone(&to, at)
		part := min(high, to.high) - at
		if place >= 0 {
			before := c.gone(&from, at-offset)
			part = min(part, from.high-(at-offset))
			for i := range part { // which may lie in what it copies
				if before >= 0 {
					c.homes[place+i] = c.homes[before+i]
				} else {
					c.homes[place+i] = int32(at + i - offset)
				}
			}
		}
		at += part
	}
}

// spot is a kept range, or one that is cut.
type spot struct {
	low, high int
	first     int // number of its first byte among those that are cut; -1 if it is kept
}

// gone is the number of a byte among those that are cut, -1 for one that is kept. s is
// where the last one was.
func (c *Cutter) gone(s *spot, at int) int {
	if at < s.low || at >= s.high {
		k := c.first(at)
		switch {
		case k < len(c.kept) && c.kept[k].Low <= at:
			*s = spot{c.kept[k].Low, c.kept[k].High, -1}
		case k == 0:
			*s = spot{0, len(c.plain), 0}
		default:
			last := &c.kept[k-1]
			*s = spot{last.High, len(c.plain), c.cuts[k-1]}
		}
		if s.first >= 0 && k < len(c.kept) {
			s.high = c.kept[k].Low
		}
	}
	if s.first < 0 {
		return -1
	}
	return s.first + at - s.low
}

// matching is how many bytes are equal at the beginning.
func matching(a, b []byte) (n int) {
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// write appends a block of what is written of the block that begins at a place. same says
// that its literals are those of the block that was read.
func (c *Cutter) write(dst []byte, at, k int, same bool) []byte {
	b := &c.block
	begin, before := len(dst), c.last
	was := c.out
	dst = c.head(dst, packedBlock, 0)
	if same && (b.kind != treelessLiterals || c.out.huffman == c.in.huffman) {
		dst = append(dst, b.literals...)
		if b.kind == packedLiterals {
			c.out.huffman = c.in.huffman
		}
	} else {
		if same {
			c.extract(at)
		}
		dst = c.packLiterals(dst, c.literals)
	}
	dst = c.packSequences(dst)
	size := len(dst) - begin - 3
	c.content = c.content[:0]
	left := 0
	for i := k; i < len(c.kept) && c.kept[i].Low < at+b.total; i++ {
		left += min(at+b.total, c.kept[i].High) - max(at, c.kept[i].Low)
	}
	if size < left {
		v := packedBlock<<1 | size<<3
		dst[begin], dst[begin+1], dst[begin+2] = byte(v), byte(v>>8), byte(v>>16)
		return dst
	}
	dst, c.last, c.out = dst[:begin], before, was
	if left == 0 {
		return dst
	}
	c.parts(at, at+b.total, func(low, high, _ int) { c.content = append(c.content, c.plain[low:high]...) })
	return c.raw(dst, c.content)
}

// extract sets the literals to those of the block, which begins at a place.
func (c *Cutter) extract(at int) {
	c.literals = c.literals[:0]
	end := at + c.block.total
	for _, s := range c.block.sequences {
		c.literals = append(c.literals, c.plain[at:at+int(s.literals)]...)
		at += int(s.literals + s.match)
	}
	c.literals = append(c.literals, c.plain[at:end]...)
}

// packLiterals appends a section of literals.
func (c *Cutter) packLiterals(dst, literals []byte) []byte {
	n := len(literals)
	if n < 32 {
		return append(literalHead(dst, rawLiterals, n), literals...)
	}
	c.huffman.Reuse = huff0.ReusePolicyNone
	var packed []byte
	var err error
	single := n < 1024
	if single {
		packed, _, err = huff0.Compress1X(literals, &c.huffman)
	} else {
		packed, _, err = huff0.Compress4X(literals, &c.huffman)
	}
	switch {
	case errors.Is(err, huff0.ErrUseRLE):
		return append(literalHead(dst, rleLiterals, n), literals[0])
	case err != nil || len(packed) >= n:
		return append(literalHead(dst, rawLiterals, n), literals...)
	}
	c.out.huffman = -c.blocks // no block that was read has it
	format, width, size := 3, 18, 5
	switch {
	case single:
		format, width, size = 0, 10, 3
	case n < 1<<10 && len(packed) < 1<<10:
		format, width, size = 1, 10, 3
	case n < 1<<14 && len(packed) < 1<<14:
		format, width, size = 2, 14, 4
	}
	v := uint64(packedLiterals) | uint64(format)<<2 | uint64(n)<<4 | uint64(len(packed))<<(4+width)
	for range size {
		dst = append(dst, byte(v))
		v >>= 8
	}
	return append(dst, packed...)
}

// literalHead appends the header of literals that are not packed.
func literalHead(dst []byte, kind, n int) []byte {
	switch {
	case n < 32:
		return append(dst, byte(kind|n<<3))
	case n < 1<<12:
		v := kind | 1<<2 | n<<4
		return append(dst, byte(v), byte(v>>8))
	}
	v := kind | 3<<2 | n<<4
	return append(dst, byte(v), byte(v>>8), byte(v>>16))
}

// packSequences appends the sequences that are written.
func (c *Cutter) packSequences(dst []byte) []byte {
	n := len(c.written)
	switch {
	case n < 128:
		dst = append(dst, byte(n))
	case n < 0x7F00:
		dst = append(dst, byte(n>>8)+128, byte(n))
	default:
		dst = append(dst, 255, byte(n-0x7F00), byte((n-0x7F00)>>8))
	}
	if n == 0 {
		return dst
	}
	var used [streams]uint64
	c.codes = slices.Grow(c.codes[:0], n)[:n]
	symbols := ^uint64(0)
	if t := c.in.tables[offsets]; t != nil {
		symbols = t.symbols
	}
	recent := c.out.recent
	for i := range c.written {
		s := &c.written[i]
		value := s.offset + 3
		if o := s.offset; o != recent[0] && o != recent[1] && o != recent[2] && (s.literals > 0 || o+1 != recent[0]) {
			recent = [3]uint32{o, recent[0], recent[1]}
		} else {
			c.out.recent = recent
			value = c.out.value(o, s.literals, symbols)
			recent = c.out.recent
		}
		x := &c.codes[i]
		x.value = value
		x.symbols[literalLengths], x.symbols[offsets], x.symbols[matchLengths] = literalCode(s.literals), uint8(bits.Len32(value))-1, matchCode(s.match-3)
		used[0] |= 1 << (x.symbols[0] % 64)
		used[1] |= 1 << (x.symbols[1] % 64)
		used[2] |= 1 << (x.symbols[2] % 64)
	}
	c.out.recent = recent
	modesAt := len(dst)
	dst = append(dst, 0)
	var tables [streams]*table
	for k := range streams {
		t, mode := c.choose(k, used[k])
		if mode == 1 || mode == 2 {
			dst = append(dst, t.description...)
		}
		dst[modesAt] |= mode << (6 - 2*k)
		tables[k] = t
	}
	c.out.tables = tables
	return c.packBits(dst, &tables)
}

// choose returns the table for the symbols that a stream has, and how it is named: the
// one of the block that was read, if it has them all, or else one of its own.
func (c *Cutter) choose(k stream, used uint64) (*table, byte) {
	t := c.in.tables[k]
	if t != nil && t.covers(used) {
		switch {
		case c.out.tables[k] == t:
			return t, 3
		case t.single:
			return t, 1
		case t.description != nil:
			return t, 2
		}
	}
	if t = standard[k]; len(c.written) < 64 && t.covers(used) {
		return t, 0
	}
	var counts [64]uint32
	for i := range c.codes {
		counts[c.codes[i].symbols[k]%64]++
	}
	if t = c.tables.take().fit(k, &counts, len(c.written)); t.single {
		return t, 1
	}
	return t, 2
}

// packBits appends the sequences' numbers, the last sequence first.
func (c *Cutter) packBits(dst []byte, tables *[streams]*table) []byte {
	l, o, m := tables[literalLengths], tables[offsets], tables[matchLengths]
	var ls, os, ms uint32
	at := len(dst)
	out := slices.Grow(dst, 12*len(c.written)+32)
	out = out[:cap(out)]
	word, n := uint64(0), uint(0) // bits that wait
	for i := len(c.written) - 1; i >= 0; i-- {
		x, s := &c.codes[i], &c.written[i]
		ll, of, ml := x.symbols[literalLengths]%64, x.symbols[offsets]%64, x.symbols[matchLengths]%64
		if i == len(c.written)-1 {
			ls, os, ms = l.start(ll), o.start(of), m.start(ml)
		} else {
			var lw, ow, mw uint
			var lv, ov, mv uint64
			os, ov, ow = o.turn(os, of)
			ms, mv, mw = m.turn(ms, ml)
			ls, lv, lw = l.turn(ls, ll)
			word |= (ov | mv<<ow | lv<<(ow+mw)) << n
			n += ow + mw + lw
		}
		// Up to 7 bits wait, states have 26, and both lengths of a block 31 together.
		word |= uint64(s.literals-literalBase[ll]) << n
		n += uint(literalBits[ll])
		word |= uint64(s.match-matchBase[ml]) << n
		n += uint(matchBits[ml])
		if n+uint(of) > 64 {
			binary.LittleEndian.PutUint64(out[at:], word)
			at += int(n >> 3)
			word >>= n &^ 7
			n &= 7
		}
		word |= uint64(x.value) & (1<<of - 1) << n
		n += uint(of)
		binary.LittleEndian.PutUint64(out[at:], word)
		at += int(n >> 3)
		word >>= n &^ 7
		n &= 7
	}
	w := writer{out: out, at: at, bits: word, n: n}
	w.add(uint64(ms)&(1<<m.log-1), m.log)
	w.add(uint64(os)&(1<<o.log-1), o.log)
	w.add(uint64(ls)&(1<<l.log-1), l.log)
	w.add(1, 1)
	w.flush()
	if w.n > 0 {
		w.at++
	}
	return w.out[:w.at]
}

// start is the state that the last symbol begins with.
func (t *table) start(symbol uint8) uint32 {
	x := &t.turns[symbol%64]
	n := (x.bits + 1<<15) >> 16
	return uint32(t.states[uint32(int32((n<<16-x.bits)>>n)+x.find)%mostStates])
}

// turn returns the next state for a symbol, and what is written before it: a value of so
// many bits.
func (t *table) turn(state uint32, symbol uint8) (next uint32, value uint64, width uint) {
	x := &t.turns[symbol%64]
	n := (state + x.bits) >> 16
	return uint32(t.states[uint32(int32(state>>n)+x.find)%mostStates]), uint64(state) & (1<<n - 1), uint(n)
}

// covers reports whether the table has all symbols.
func (t *table) covers(used uint64) bool { return used&^t.symbols == 0 }

// writer writes bits from the lowest of the first byte on. There is room for all.
type writer struct {
	out  []byte
	at   int
	bits uint64
	n    uint
}

func (w *writer) add(v uint64, n uint) {
	w.bits |= v << w.n
	w.n += n
}

// flush leaves less than eight bits waiting.
func (w *writer) flush() {
	binary.LittleEndian.PutUint64(w.out[w.at:], w.bits)
	w.at += int(w.n >> 3)
	w.bits >>= w.n &^ 7
	w.n &= 7
}
