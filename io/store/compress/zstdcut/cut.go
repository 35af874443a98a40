package zstdcut

import (
	"errors"
	"math"
	"slices"
	"sort"

	"github.com/klauspost/compress/huff0"
)

// Errors of [Cutter.Cut]. Whichever it is, the content can be compressed again.
var (
	// ErrDamaged is returned for a frame that is not as RFC 8878 describes it, or does not
	// hold the content that it should.
	ErrDamaged = errors.New("the zstd frame is damaged")
	// ErrDictionary is returned for a frame that needs a dictionary.
	ErrDictionary = errors.New("the zstd frame needs a dictionary")
	// ErrUnsupported is returned for what is not one frame as RFC 8878 describes it (several
	// frames, a skippable one, one of a newer version) and for content of 2 GiB or more.
	ErrUnsupported = errors.New("the zstd frame has a form that is not cut")
)

// Range is a part of what a frame holds, from byte Low to byte High-1.
type Range struct{ Low, High int }

// Cutter cuts frames. One goroutine may use it at a time.
type Cutter struct {
	kept      []Range
	starts    []int // where each kept range begins in what the new frame holds
	cutBefore []int // for each kept range: how many bytes are cut before it
	plain     []byte
	window    int // how far back a match may begin

	in, out  state
	copies   []int32 // for each byte that is cut: where in plain a copy of it stays, -1 for nowhere
	blocks   int     // compressed blocks so far
	block    block
	literals []byte // of the new block
	written  []sequence
	huffman  huff0.Scratch
	tables   shelf
	codes    []codes3
	content  []byte
	last     int // where in dst the header of the last new block lies, -1 for none
}

// codes3 are the three codes of a sequence, and the value of its offset's code.
type codes3 struct {
	symbols [streams]uint8
	value   uint32
}

// Worth reports whether to cut a frame that holds size bytes, of which kept bytes in so many
// ranges are kept. If more than an eighth goes, compressing the rest again gives less; of ranges
// shorter than 4 KiB on average cutting changes nearly every sequence, and takes longer; and a
// frame of less than 64 KiB is soon compressed.
func Worth(size, kept, ranges int) bool {
	const least, mostCut = 64 << 10, 8
	return size >= least && size-kept <= size/mostCut && ranges <= MostRanges(size)
}

// MostRanges is the most ranges of a frame that holds size bytes for which it may be [Worth] cutting.
func MostRanges(size int) int { return size / (4 << 10) }

// Cut appends to dst a frame that holds head and then the kept ranges of plain, which is what
// frame holds. The ranges are in order and do not touch. After an error, which is one of this
// package's, nothing is appended.
func (c *Cutter) Cut(dst, frame, plain, head []byte, kept []Range) ([]byte, error) {
	h, err := readHeader(frame)
	switch {
	case err != nil:
		return dst, err
	case len(head)+len(plain) > math.MaxInt32:
		return dst, ErrUnsupported
	case h.size >= 0 && h.size != int64(len(plain)):
		return dst, ErrDamaged
	}
	c.begin(plain, len(head), kept)
	c.window = h.farthest(len(plain))
	begin := len(dst)
	dst = h.append(dst, c.size(head))
	for len(head) > 0 {
		n := min(len(head), leastWindow)
		dst = c.appendRaw(dst, head[:n])
		head = head[n:]
	}
	if dst, err = c.cutBlocks(dst, frame[h.length:], h.checksum); err != nil {
		return dst[:begin], err
	}
	if c.last < 0 {
		dst = c.appendRaw(dst, nil)
	}
	dst[c.last] |= lastBlock
	return dst, nil
}

// leastWindow is the least window of a frame in bytes: no block may be larger than the window.
const leastWindow = 1 << 10

// begin sets what is known before the first block. head is the size of the new frame's head.
func (c *Cutter) begin(plain []byte, head int, kept []Range) {
	c.plain, c.kept, c.last, c.blocks = plain, kept, -1, 0
	c.starts, c.cutBefore = c.starts[:0], c.cutBefore[:0]
	at, end, cut := head, 0, 0
	for _, r := range kept {
		cut += r.Low - end
		c.starts, c.cutBefore = append(c.starts, at), append(c.cutBefore, cut)
		at += r.High - r.Low
		end = r.High
	}
	cut += len(plain) - end
	c.copies = slices.Grow(c.copies[:0], cut)[:cut]
	for i := range c.copies {
		c.copies[i] = -1
	}
	c.in = state{recent: [3]uint32{1, 4, 8}}
	c.out = c.in
}

// size returns how many bytes the new frame holds.
func (c *Cutter) size(head []byte) int {
	n := len(head)
	for _, r := range c.kept {
		n += r.High - r.Low
	}
	return n
}

// cutBlocks appends the blocks of data, cut. checksum says that a checksum follows them; the
// new frame has none.
func (c *Cutter) cutBlocks(dst, data []byte, checksum bool) ([]byte, error) {
	for at := 0; ; {
		if len(data) < blockHead {
			return dst, ErrDamaged
		}
		head := int(data[0]) | int(data[1])<<8 | int(data[2])<<16
		last, kind, size := head&lastBlock != 0, head>>1&3, head>>3
		stored := size
		if kind == rleBlock {
			stored = 1
		}
		if size > mostBlock || stored > len(data)-blockHead {
			return dst, ErrDamaged
		}
		whole := data[:blockHead+stored]
		data = data[blockHead+stored:]
		var ok bool
		n := size // what the block holds
		switch kind {
		case rawBlock, rleBlock:
			dst, ok = c.cutPlain(dst, whole, at, n, kind)
		case packedBlock:
			dst, n, ok = c.cutPacked(dst, whole, at)
		}
		if at += n; !ok || at > len(c.plain) {
			return dst, ErrDamaged
		}
		if last {
			return dst, c.checkEnd(data, at, checksum)
		}
	}
}

// checkEnd checks what follows the last block, which ends at byte at.
func (c *Cutter) checkEnd(data []byte, at int, checksum bool) error {
	size := 0
	if checksum {
		size = checksumSize
	}
	switch {
	case len(data) > size: // another frame follows
		return ErrUnsupported
	case len(data) < size || at < len(c.plain):
		return ErrDamaged
	}
	return nil
}

// rangeAt returns the index of the kept range with byte at, or else of the next range.
func (c *Cutter) rangeAt(at int) int {
	return sort.Search(len(c.kept), func(i int) bool { return c.kept[i].High > at })
}

// eachKept calls f for each part of the bytes from low to high-1 that is kept.
func (c *Cutter) eachKept(low, high int, f func(low, high int)) {
	for k := c.rangeAt(low); k < len(c.kept) && c.kept[k].Low < high; k++ {
		f(max(low, c.kept[k].Low), min(high, c.kept[k].High))
	}
}

// cutPlain cuts a block of n bytes from byte at on. Its kind is rawBlock or rleBlock, which
// is one byte repeated.
func (c *Cutter) cutPlain(dst, whole []byte, at, n, kind int) ([]byte, bool) {
	if at+n > len(c.plain) {
		return dst, false
	}
	if k := c.rangeAt(at); k < len(c.kept) && c.kept[k].Low <= at && at+n <= c.kept[k].High {
		return c.copyBlock(dst, whole), true
	}
	c.eachKept(at, at+n, func(low, high int) {
		if kind == rleBlock {
			dst = append(c.appendHead(dst, rleBlock, high-low), whole[blockHead])
		} else {
			dst = c.appendRaw(dst, c.plain[low:high])
		}
	})
	return dst, true
}

// appendHead appends a block's header.
func (c *Cutter) appendHead(dst []byte, kind, size int) []byte {
	c.last = len(dst)
	dst = append(dst, 0, 0, 0)
	putHead(dst[c.last:], kind, size)
	return dst
}

// putHead writes a block's header.
func putHead(dst []byte, kind, size int) {
	v := kind<<1 | size<<3
	dst[0], dst[1], dst[2] = byte(v), byte(v>>8), byte(v>>16)
}

// appendRaw appends a block that is not compressed.
func (c *Cutter) appendRaw(dst, content []byte) []byte {
	return append(c.appendHead(dst, rawBlock, len(content)), content...)
}

// copyBlock appends a block as it lies. It is not the last one until Cut says so.
func (c *Cutter) copyBlock(dst, whole []byte) []byte {
	c.last = len(dst)
	dst = append(dst, whole...)
	dst[c.last] &^= lastBlock
	return dst
}

// cutPacked cuts a compressed block from byte at on, and returns how many bytes it holds.
func (c *Cutter) cutPacked(dst, whole []byte, at int) ([]byte, int, bool) {
	c.blocks++
	c.tables.sort(&c.in, &c.out)
	before := c.in
	b := &c.block
	if !b.parse(whole[blockHead:], c.blocks, &c.in, &c.tables) || at+b.total > len(c.plain) {
		return dst, 0, false
	}
	k := c.rangeAt(at)
	if k == len(c.kept) || c.kept[k].Low >= at+b.total { // nothing of it stays
		return dst, b.total, c.skipBlock(at)
	}
	inside := c.kept[k].Low <= at && at+b.total <= c.kept[k].High
	if inside && at+b.reach >= c.kept[k].Low { // and so is all that its matches copy
		if c.canCopy(&before) {
			return c.copyBlock(dst, whole), b.total, true
		}
		c.written = append(c.written[:0], b.sequences...)
		return c.writeBlock(dst, at, k, true), b.total, true
	}
	changed, ok := c.rewrite(at, k)
	if !ok {
		return dst, 0, false
	}
	return c.writeBlock(dst, at, k, !changed), b.total, true
}

// skipBlock notes what the matches of a block copy of which nothing stays. It begins at byte
// at.
func (c *Cutter) skipBlock(at int) bool {
	for _, s := range c.block.sequences {
		at += int(s.literals)
		if int(s.offset) > at {
			return false
		}
		c.noteCopies(at, at+int(s.match), int(s.offset))
		at += int(s.match)
	}
	return true
}

// canCopy reports whether the block may be copied as it lies: what it takes from the blocks
// before is the same in the new frame. If so, it sets out to the state after the block.
func (c *Cutter) canCopy(before *state) bool {
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
		for k := range streams {
			if b.defines[k] {
				c.out.tables[k] = c.in.tables[k]
			}
		}
	}
	if b.kind == packedLiterals {
		c.out.huffman = c.in.huffman
	}
	return true
}
