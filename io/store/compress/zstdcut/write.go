package zstdcut

import (
	"encoding/binary"
	"errors"
	"math/bits"
	"slices"

	"github.com/klauspost/compress/huff0"
)

// writeBlock appends a compressed block of c.sequences and c.literals, or a raw block if that is smaller. They are what
// is kept of c.block, whose content begins at byte at of c.plain. changed says that the literals may differ from the
// old ones; if they do not, the old Literals_Section is copied, unless it needs a Huffman tree that the new frame lacks.
func (c *Cutter) writeBlock(dst []byte, at int, changed bool) []byte {
	b := &c.block
	begin, last, out := len(dst), c.last, c.out // as they are before the block, in case a raw one is smaller
	dst = c.appendBlockHeader(dst, blockTypeCompressed, 0)
	hasTree := b.literalsType != literalsBlockTreeless || c.out.huffmanTree == c.in.huffmanTree // or needs none
	if hasTree && !changed {
		dst = append(dst, b.literalsSection...)
		if b.literalsType == literalsBlockCompressed {
			c.out.huffmanTree = c.in.huffmanTree
		}
	} else {
		dst = c.appendLiterals(dst, c.literals)
	}
	dst = c.appendSequences(dst)
	size, plain := len(dst)-begin-blockHeaderSize, 0
	c.eachKept(at, at+b.contentSize, func(low, high int) { plain += high - low })
	if size < plain {
		putBlockHeader(dst[begin:], blockTypeCompressed, size)
		return dst
	}
	dst, c.last, c.out = dst[:begin], last, out
	if plain == 0 {
		return dst
	}
	c.content = c.content[:0]
	c.eachKept(at, at+b.contentSize, func(low, high int) { c.content = append(c.content, c.plain[low:high]...) })
	return c.appendRaw(dst, c.content)
}

const (
	// minCompressed is the least number of literals that are compressed: fewer hardly pay for
	// their Huffman_Tree_Description.
	minCompressed = 32
	// minStreams4 is the least number of literals that are compressed in four streams.
	minStreams4 = 1 << 10
)

// appendLiterals appends a Literals_Section (RFC 8878 §3.1.1.3.1).
func (c *Cutter) appendLiterals(dst, literals []byte) []byte {
	n := len(literals)
	if n < minCompressed {
		return append(appendLiteralsHeader(dst, literalsBlockRaw, n), literals...)
	}
	c.huffman.Reuse = huff0.ReusePolicyNone
	var compressed []byte
	var err error
	if n < minStreams4 {
		compressed, _, err = huff0.Compress1X(literals, &c.huffman)
	} else {
		compressed, _, err = huff0.Compress4X(literals, &c.huffman)
	}
	switch {
	case errors.Is(err, huff0.ErrUseRLE):
		return append(appendLiteralsHeader(dst, literalsBlockRLE, n), literals[0])
	case err != nil || len(compressed) >= n:
		return append(appendLiteralsHeader(dst, literalsBlockRaw, n), literals...)
	}
	c.out.huffmanTree = -c.blocks // a number that no block of the old frame has
	// Size_Format tells the number of streams, and the width of both sizes in bits. size is
	// that of the header in bytes.
	sizeFormat, width, size := 3, 18, 5
	switch {
	case n < minStreams4:
		sizeFormat, width, size = 0, 10, 3
	case n < 1<<14:
		sizeFormat, width, size = 2, 14, 4
	}
	v := uint64(literalsBlockCompressed) | uint64(sizeFormat)<<2 | uint64(n)<<4 | uint64(len(compressed))<<(4+width)
	for range size {
		dst = append(dst, byte(v))
		v >>= 8
	}
	return append(dst, compressed...)
}

// appendLiteralsHeader appends the Literals_Section_Header of raw or RLE literals.
func appendLiteralsHeader(dst []byte, literalsType, n int) []byte {
	switch {
	case n < 32:
		return append(dst, byte(literalsType|n<<3))
	case n < 1<<12:
		v := literalsType | 1<<2 | n<<4
		return append(dst, byte(v), byte(v>>8))
	}
	v := literalsType | 3<<2 | n<<4
	return append(dst, byte(v), byte(v>>8), byte(v>>16))
}

// appendSequences appends the Sequences_Section of c.sequences (RFC 8878 §3.1.1.3.2).
func (c *Cutter) appendSequences(dst []byte) []byte {
	dst = appendSequenceCount(dst, len(c.sequences))
	if len(c.sequences) == 0 {
		return dst
	}
	counts := c.setCodes()
	modes := len(dst)
	dst = append(dst, 0)
	for k := range symbolTypes {
		t, mode := &c.own[k], byte(compModeFSE)
		if t.normalize(k, &counts[k], len(c.sequences)); t.rle {
			mode = compModeRLE
		}
		dst[modes] |= mode << (6 - 2*k)
		dst = append(dst, t.description...)
		c.out.tables[k] = nil // one of the new frame's own
	}
	return c.appendBitstream(dst)
}

// appendSequenceCount appends Number_of_Sequences, as readSequenceCount reads it.
func appendSequenceCount(dst []byte, n int) []byte {
	switch {
	case n < 128:
		return append(dst, byte(n))
	case n < longSequenceCount:
		return append(dst, byte(n>>8)+128, byte(n))
	}
	return append(dst, 255, byte(n-longSequenceCount), byte((n-longSequenceCount)>>8))
}

// setCodes sets c.codes to the codes of the sequences, and returns how often each symbol type has each code.
func (c *Cutter) setCodes() (counts [symbolTypes][64]uint32) {
	c.codes = slices.Grow(c.codes[:0], len(c.sequences))[:len(c.sequences)]
	for i := range c.sequences {
		s := &c.sequences[i]
		value := c.out.offsetValue(s.offset, s.litLen)
		ll, of, ml := llCode(s.litLen), uint8(bits.Len32(value))-1, mlCode(s.matchLen-minMatch)
		c.codes[i] = seqCodes{[symbolTypes]uint8{literalLengths: ll, offsets: of, matchLengths: ml}, value}
		counts[literalLengths][ll%64]++
		counts[offsets][of%64]++
		counts[matchLengths][ml%64]++
	}
	return counts
}

// appendBitstream appends the sequences' bitstream, the last sequence first (RFC 8878
// §3.1.1.3.2.1.2).
func (c *Cutter) appendBitstream(dst []byte) []byte {
	// l, o and m are the tables of literal lengths, offsets and match lengths, and ls, os and ms their states; ll, of and
	// ml are the codes of a sequence.
	l, o, m := &c.own[literalLengths], &c.own[offsets], &c.own[matchLengths]
	lengths, matches := &codes[literalLengths], &codes[matchLengths]
	var ls, os, ms uint32
	at := len(dst)
	out := slices.Grow(dst, 12*len(c.sequences)+32) // a sequence has at most 88 bits
	w := bitWriter{out: out[:cap(out)], at: at}
	for i := len(c.sequences) - 1; i >= 0; i-- {
		x, s := &c.codes[i], &c.sequences[i]
		ll, of, ml := x.codes[literalLengths]%64, x.codes[offsets]%64, x.codes[matchLengths]%64
		if i == len(c.sequences)-1 {
			ls, os, ms = l.initState(ll), o.initState(of), m.initState(ml)
		} else {
			var lw, ow, mw uint   // widths in bits
			var lv, ov, mv uint64 // of these values
			os, ov, ow = o.nextState(os, of)
			ms, mv, mw = m.nextState(ms, ml)
			ls, lv, lw = l.nextState(ls, ll)
			w.add(ov|mv<<ow|lv<<(ow+mw), ow+mw+lw)
		}
		// This fits 64 bits: up to 7 wait, the states have 26, and the extra bits of both lengths are
		// 31 and not 16 + 16, as a block has no more than 128 KiB.
		w.add(uint64(s.litLen-lengths.baseline[ll]), uint(lengths.addBits[ll]))
		w.add(uint64(s.matchLen-matches.baseline[ml]), uint(matches.addBits[ml]))
		if w.n+uint(of) > 64 {
			w.flush()
		}
		w.add(uint64(x.offsetValue)&(1<<of-1), uint(of))
		w.flush()
	}
	w.add(uint64(ms)&(1<<m.accuracyLog-1), m.accuracyLog)
	w.add(uint64(os)&(1<<o.accuracyLog-1), o.accuracyLog)
	w.add(uint64(ls)&(1<<l.accuracyLog-1), l.accuracyLog)
	w.add(1, 1) // the end, from which a decoder reads back
	return w.close()
}

// bitWriter writes bits, the lowest bit of a byte first. out has room for all of them.
type bitWriter struct {
	out  []byte
	at   int
	bits uint64
	n    uint // bits that are not in out yet
}

// add adds the n bits of v, which has no others. Fewer than 64 may wait until flush.
func (w *bitWriter) add(v uint64, n uint) {
	w.bits |= v << w.n
	w.n += n
}

// flush writes all whole bytes, so that fewer than eight bits wait. It always stores eight bytes: the next call
// overwrites those that are not whole yet.
func (w *bitWriter) flush() {
	binary.LittleEndian.PutUint64(w.out[w.at:], w.bits)
	w.at += int(w.n >> 3)
	w.bits >>= w.n &^ 7
	w.n &= 7
}

// close writes the rest, filled with zeros to a whole byte, and returns all that was written.
func (w *bitWriter) close() []byte {
	w.flush()
	if w.n > 0 {
		w.at++
	}
	return w.out[:w.at]
}
