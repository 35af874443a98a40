package zstdcut

import (
	"encoding/binary"
	"errors"
	"math/bits"
	"slices"

	"github.com/klauspost/compress/huff0"
)

// writeBlock appends a block of c.written and c.literals, which are what is kept of the block
// that begins at byte at. same says that the literals are those of the old block, which are
// then copied packed. Range k is the first kept range that has a part of the block. What does
// not get smaller is appended as a raw block.
func (c *Cutter) writeBlock(dst []byte, at, k int, same bool) []byte {
	b := &c.block
	begin, last, out := len(dst), c.last, c.out
	dst = c.appendHead(dst, packedBlock, 0)
	if same && (b.kind != treelessLiterals || c.out.huffman == c.in.huffman) {
		dst = append(dst, b.literals...)
		if b.kind == packedLiterals {
			c.out.huffman = c.in.huffman
		}
	} else {
		if same {
			c.extractLiterals(at)
		}
		dst = c.packLiterals(dst, c.literals)
	}
	dst = c.packSequences(dst)
	size, plain := len(dst)-begin-blockHead, 0
	for i := k; i < len(c.kept) && c.kept[i].Low < at+b.total; i++ {
		plain += min(at+b.total, c.kept[i].High) - max(at, c.kept[i].Low)
	}
	if size < plain {
		putHead(dst[begin:], packedBlock, size)
		return dst
	}
	dst, c.last, c.out = dst[:begin], last, out
	if plain == 0 {
		return dst
	}
	c.content = c.content[:0]
	c.eachKept(at, at+b.total, func(low, high int) { c.content = append(c.content, c.plain[low:high]...) })
	return c.appendRaw(dst, c.content)
}

// extractLiterals sets c.literals to those of the old block, which begins at byte at.
func (c *Cutter) extractLiterals(at int) {
	c.literals = c.literals[:0]
	end := at + c.block.total
	for _, s := range c.block.sequences {
		c.literals = append(c.literals, c.plain[at:at+int(s.literals)]...)
		at += int(s.literals + s.match)
	}
	c.literals = append(c.literals, c.plain[at:end]...)
}

const (
	// leastPacked is the least number of literals that are packed: fewer hardly pay for
	// the description of their tree.
	leastPacked = 32
	// leastStreams is the least number of literals that are packed in four streams.
	leastStreams = 1 << 10
)

// packLiterals appends a section of literals (RFC 8878 §3.1.1.3.1).
func (c *Cutter) packLiterals(dst, literals []byte) []byte {
	n := len(literals)
	if n < leastPacked {
		return append(literalHead(dst, rawLiterals, n), literals...)
	}
	c.huffman.Reuse = huff0.ReusePolicyNone
	var packed []byte
	var err error
	if n < leastStreams {
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
	// The format says the number of streams and how many bits both sizes have; then the
	// header takes this number of bytes.
	format, width, size := 3, 18, 5
	switch {
	case n < leastStreams:
		format, width, size = 0, 10, 3
	case n < 1<<14:
		format, width, size = 2, 14, 4
	}
	v := uint64(packedLiterals) | uint64(format)<<2 | uint64(n)<<4 | uint64(len(packed))<<(4+width)
	for range size {
		dst = append(dst, byte(v))
		v >>= 8
	}
	return append(dst, packed...)
}

// literalHead appends the header of n literals that are not packed.
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

// packSequences appends a section of c.written (RFC 8878 §3.1.1.3.2).
func (c *Cutter) packSequences(dst []byte) []byte {
	dst = appendCount(dst, len(c.written))
	if len(c.written) == 0 {
		return dst
	}
	used := c.code()
	modes := len(dst)
	dst = append(dst, 0)
	var tables [streams]*table
	for k := range streams {
		t, mode := c.choose(k, used[k])
		if mode == modeRLE || mode == modeDescribed {
			dst = append(dst, t.description...)
		}
		dst[modes] |= mode << (6 - 2*k)
		tables[k] = t
	}
	c.out.tables = tables
	return c.packBits(dst, &tables)
}

// appendCount appends the number of sequences, as readCount reads it.
func appendCount(dst []byte, n int) []byte {
	switch {
	case n < 128:
		return append(dst, byte(n))
	case n < longCount:
		return append(dst, byte(n>>8)+128, byte(n))
	}
	return append(dst, 255, byte(n-longCount), byte((n-longCount)>>8))
}

// code sets c.codes to the codes of the sequences, and returns which symbols each stream uses,
// a bit each.
func (c *Cutter) code() (used [streams]uint64) {
	c.codes = slices.Grow(c.codes[:0], len(c.written))[:len(c.written)]
	symbols := ^uint64(0) // of the old block's table of offsets: others cost a new table
	if t := c.in.tables[offsets]; t != nil {
		symbols = t.symbols
	}
	recent := c.out.recent
	var literals, distances, matches uint64 // arrays would be in memory, not in registers
	for i := range c.written {
		s := &c.written[i]
		value := s.offset + 3
		// Mostly the offset is none of those that have a short code.
		if o := s.offset; o != recent[0] && o != recent[1] && o != recent[2] && (s.literals > 0 || o+1 != recent[0]) {
			recent = [3]uint32{o, recent[0], recent[1]}
		} else {
			c.out.recent = recent
			value = c.out.value(o, s.literals, symbols)
			recent = c.out.recent
		}
		l, o, m := literalCode(s.literals), uint8(bits.Len32(value))-1, matchCode(s.match-leastMatch)
		c.codes[i] = codes3{[streams]uint8{literalLengths: l, offsets: o, matchLengths: m}, value}
		literals, distances, matches = literals|1<<(l%64), distances|1<<(o%64), matches|1<<(m%64)
	}
	c.out.recent = recent
	return [streams]uint64{literalLengths: literals, offsets: distances, matchLengths: matches}
}

// fewSequences is below how many sequences a block uses the predefined tables if it cannot use
// those of the old block: a description of its own would take more than it saves.
const fewSequences = 64

// choose returns the table for the symbols that a stream uses, and its mode: the old block's
// table if it has all symbols, or else one of the new block's own.
func (c *Cutter) choose(k stream, used uint64) (*table, byte) {
	t := c.in.tables[k]
	if t != nil && t.covers(used) {
		switch {
		case c.out.tables[k] == t:
			return t, modeRepeat
		case t.single:
			return t, modeRLE
		case t.description != nil:
			return t, modeDescribed
		}
	}
	if t = standard[k]; len(c.written) < fewSequences && t.covers(used) {
		return t, modePredefined
	}
	var counts [64]uint32
	for i := range c.codes {
		counts[c.codes[i].symbols[k]%64]++
	}
	if t = c.tables.take().fit(k, &counts, len(c.written)); t.single {
		return t, modeRLE
	}
	return t, modeDescribed
}

// packBits appends the sequences' bits, the last sequence first.
func (c *Cutter) packBits(dst []byte, tables *[streams]*table) []byte {
	l, o, m := tables[literalLengths], tables[offsets], tables[matchLengths]
	var ls, os, ms uint32 // the states
	at := len(dst)
	out := slices.Grow(dst, 12*len(c.written)+32) // a sequence has at most 88 bits
	out = out[:cap(out)]
	word, n := uint64(0), uint(0) // n bits that are not in out yet
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
	w.add(1, 1) // the end, from which a decoder reads back
	return w.end()
}

// writer writes bits, the lowest bit of a byte first. out has room for all of them.
type writer struct {
	out  []byte
	at   int
	bits uint64
	n    uint // bits that are not in out yet
}

func (w *writer) add(v uint64, n uint) {
	w.bits |= v << w.n
	w.n += n
}

// flush writes all whole bytes, so that less than eight bits wait.
func (w *writer) flush() {
	binary.LittleEndian.PutUint64(w.out[w.at:], w.bits)
	w.at += int(w.n >> 3)
	w.bits >>= w.n &^ 7
	w.n &= 7
}

// end writes the rest, filled with zeros to a whole byte, and returns all that was written.
func (w *writer) end() []byte {
	w.flush()
	if w.n > 0 {
		w.at++
	}
	return w.out[:w.at]
}
