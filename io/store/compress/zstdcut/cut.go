package zstdcut

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sort"
	"sync/atomic"

	"github.com/klauspost/compress/huff0"
	"github.com/klauspost/compress/zstd"
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

// Refusals counts how often Cut returned each of its errors. It is safe for concurrent use.
type Refusals [len(cutErrors)]atomic.Int64

var cutErrors = [...]error{ErrDamaged, ErrDictionary, ErrUnsupported}

// Count counts an error of Cut. Nil Refusals count nothing.
func (r *Refusals) Count(err error) {
	if r != nil {
		r[slices.Index(cutErrors[:], err)].Add(1)
	}
}

// Notes returns a line for people about each error that came.
func (r *Refusals) Notes() (notes []string) {
	for i := range r {
		if n := r[i].Load(); n > 0 {
			notes = append(notes, fmt.Sprintf("rows were left out by compressing again, which takes longer than cutting, %d times: %v", n, cutErrors[i]))
		}
	}
	return notes
}

// Range is a part of what a frame holds, from byte Low to byte High-1.
type Range struct{ Low, High int }

// Cutter cuts frames. One goroutine may use it at a time.
type Cutter struct {
	kept   []Range
	starts []int  // where each kept range begins in the new frame's content
	plain  []byte // the content of the frame that is read

	in, out   history // of the frame that is read, and of the new one
	blocks    int     // compressed blocks so far
	block     block
	literals  []byte // of the new block
	sequences []sequence
	codes     []seqCodes
	huffman   huff0.Scratch
	own       [symbolTypes]encTable // of the new block
	content   []byte                // of the new block, if it becomes a raw one
	last      int                   // where in dst the header of the last new block is, -1 for none
}

// seqCodes are the codes of a sequence, and its Offset_Value.
type seqCodes struct {
	codes       [symbolTypes]uint8
	offsetValue uint32
}

// Worth reports whether to cut a frame, rather than to compress again what is kept. The frame has size bytes of
// content, of which kept bytes are kept, in a number of ranges. If more than an eighth is cut, compressing the rest again makes fewer bytes. If
// ranges are shorter than 4 KiB on average, cutting takes longer than compressing, whatever the
// number of sequences. A frame of less than 64 KiB is soon compressed.
func Worth(size, kept, ranges int) bool {
	const least, mostCut, shortest = 64 << 10, 8, 4 << 10
	return size >= least && size-kept <= size/mostCut && ranges <= size/shortest
}

// Cut appends to dst a frame whose content is head and then the kept ranges of plain, the content of frame. The
// ranges are in order and do not touch. With an error, which is one of this package's, it returns dst as it was.
func (c *Cutter) Cut(dst, frame, plain, head []byte, kept []Range) ([]byte, error) {
	h, err := readFrameHeader(frame)
	switch {
	case err != nil:
		return dst, err
	case len(head)+len(plain) > math.MaxInt32:
		return dst, ErrUnsupported
	case h.HasFCS && h.FrameContentSize != uint64(len(plain)):
		return dst, ErrDamaged
	}
	size := c.reset(len(head), plain, kept)
	begin := len(dst)
	dst = appendFrameHeader(dst, frame, h.SingleSegment, size)
	for len(head) > 0 { // no block may be larger than the window
		n := min(len(head), minWindowSize)
		dst = c.appendRaw(dst, head[:n])
		head = head[n:]
	}
	if dst, err = c.cutBlocks(dst, frame[h.HeaderSize:], h.HasCheckSum); err != nil {
		return dst[:begin], err
	}
	if c.last < 0 { // a frame has at least one block
		dst = c.appendRaw(dst, nil)
	}
	dst[c.last] |= lastBlockFlag
	return dst, nil
}

const (
	magicNumber   = 0xFD2FB528 // Magic_Number
	minWindowSize = 1 << 10    // the least Window_Size

	// Of the Frame_Header_Descriptor (RFC 8878 §3.1.1.1.1):
	contentSize4      = 2 << 6 // Frame_Content_Size has four bytes
	singleSegmentFlag = 1 << 5
)

// readFrameHeader reads the Frame_Header (RFC 8878 §3.1.1.1) of a frame that may be cut. An error is one
// of this package's.
func readFrameHeader(frame []byte) (h zstd.Header, err error) {
	switch err := h.Decode(frame); {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return h, ErrDamaged
	case err != nil || h.Skippable:
		return h, ErrUnsupported
	case h.DictionaryID != 0:
		return h, ErrDictionary
	}
	return h, nil
}

// appendFrameHeader appends the header of a frame for n bytes of content, without a checksum. The frame is a single
// segment, as old is, or has the window of old.
func appendFrameHeader(dst, old []byte, singleSegment bool, n int) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, magicNumber)
	if singleSegment {
		dst = append(dst, contentSize4|singleSegmentFlag)
	} else {
		dst = append(dst, contentSize4, old[5]) // the Window_Descriptor
	}
	return binary.LittleEndian.AppendUint32(dst, uint32(n))
}

// reset prepares the cutter for a frame, and returns the size of the new frame's content: headSize bytes, and the
// kept ranges of plain.
func (c *Cutter) reset(headSize int, plain []byte, kept []Range) (size int) {
	c.plain, c.kept, c.last, c.blocks = plain, kept, -1, 0
	c.starts = c.starts[:0]
	at := headSize
	for _, r := range kept {
		c.starts = append(c.starts, at)
		at += r.High - r.Low
	}
	c.in = history{repeatOffsets: [3]uint32{1, 4, 8}} // as at the start of every frame (RFC 8878 §3.1.1.5)
	c.out = c.in
	return at
}

// cutBlocks appends the blocks of data, cut. checksum says that a checksum follows them; the
// new frame has none.
func (c *Cutter) cutBlocks(dst, data []byte, checksum bool) ([]byte, error) {
	for at := 0; ; {
		if len(data) < blockHeaderSize {
			return dst, ErrDamaged
		}
		header := int(data[0]) | int(data[1])<<8 | int(data[2])<<16
		last, blockType, size := header&lastBlockFlag != 0, header>>1&3, header>>3 // 1, 2 and 21 bits
		stored := size
		if blockType == blockTypeRLE {
			stored = 1
		}
		if size > maxBlockSize || stored > len(data)-blockHeaderSize {
			return dst, ErrDamaged
		}
		whole := data[:blockHeaderSize+stored]
		data = data[blockHeaderSize+stored:]
		ok := false // as it remains for the reserved type
		n := size   // what the block decompresses to
		switch blockType {
		case blockTypeRaw, blockTypeRLE:
			dst, ok = c.cutRaw(dst, whole, at, n, blockType)
		case blockTypeCompressed:
			dst, n, ok = c.cutCompressed(dst, whole, at)
		}
		if at += n; !ok || at > len(c.plain) {
			return dst, ErrDamaged
		}
		if last {
			if checksum {
				data = data[min(4, len(data)):] // its size
			}
			switch {
			case len(data) > 0: // another frame
				return dst, ErrUnsupported
			case at < len(c.plain):
				return dst, ErrDamaged
			}
			return dst, nil
		}
	}
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

// cutRaw appends what is kept of a raw or RLE block, whose n bytes of content begin at byte at of c.plain. whole is
// the block with its header. cutRaw returns false if the content would end after c.plain.
func (c *Cutter) cutRaw(dst, whole []byte, at, n, blockType int) ([]byte, bool) {
	if at+n > len(c.plain) {
		return dst, false
	}
	c.eachKept(at, at+n, func(low, high int) {
		if blockType == blockTypeRLE {
			dst = append(c.appendBlockHeader(dst, blockTypeRLE, high-low), whole[blockHeaderSize])
		} else {
			dst = c.appendRaw(dst, c.plain[low:high])
		}
	})
	return dst, true
}

// appendBlockHeader appends a Block_Header, whose place c.last keeps.
func (c *Cutter) appendBlockHeader(dst []byte, blockType, size int) []byte {
	c.last = len(dst)
	dst = append(dst, 0, 0, 0)
	putBlockHeader(dst[c.last:], blockType, size)
	return dst
}

// putBlockHeader writes a Block_Header (RFC 8878 §3.1.1.2).
func putBlockHeader(dst []byte, blockType, size int) {
	v := blockType<<1 | size<<3
	dst[0], dst[1], dst[2] = byte(v), byte(v>>8), byte(v>>16)
}

// appendRaw appends a raw block.
func (c *Cutter) appendRaw(dst, content []byte) []byte {
	return append(c.appendBlockHeader(dst, blockTypeRaw, len(content)), content...)
}

// copyBlock appends a block as it lies. It is not the last one until Cut says so.
func (c *Cutter) copyBlock(dst, whole []byte) []byte {
	c.last = len(dst)
	dst = append(dst, whole...)
	dst[c.last] &^= lastBlockFlag
	return dst
}

// cutCompressed appends what is kept of a compressed block, whose content begins at byte at of c.plain: the block
// as it lies, if that is possible, or else a new one. size is that of the old block's content. ok is false if the
// block is damaged. whole is the block with its header.
func (c *Cutter) cutCompressed(dst, whole []byte, at int) (_ []byte, size int, ok bool) {
	c.blocks++
	before := c.in
	b := &c.block
	ok = b.parse(whole[blockHeaderSize:], c.blocks, &c.in)
	if inPlain := ok && at+b.firstCopied >= 0 && at+b.contentSize <= len(c.plain); !inPlain {
		return dst, 0, false
	}
	k, end := c.rangeAt(at), at+b.contentSize
	if k == len(c.kept) || c.kept[k].Low >= end { // none of it is kept
		return dst, b.contentSize, true
	}
	// firstCopied is at most 0, so this range has the block as well as all that its matches copy.
	isKeptWhole := c.kept[k].Low <= at+b.firstCopied && end <= c.kept[k].High
	if isKeptWhole && c.canCopy(&before) { // without copying, a job would take 17 % longer
		return c.copyBlock(dst, whole), b.contentSize, true
	}
	changed := c.rewrite(at, k)
	return c.writeBlock(dst, at, changed), b.contentSize, true
}

// canCopy reports whether the block has the same meaning in the new frame: what it uses of the blocks before it is
// the same in c.out as in before, the old frame's history. If so, canCopy sets c.out to the history after the block.
func (c *Cutter) canCopy(before *history) bool {
	b := &c.block
	if b.literalsType == literalsBlockTreeless && c.out.huffmanTree != before.huffmanTree {
		return false
	}
	if len(b.sequences) > 0 {
		if c.out.repeatOffsets != before.repeatOffsets {
			return false
		}
		for k := range symbolTypes {
			if !b.ownTable[k] && c.out.tables[k] != before.tables[k] {
				return false
			}
		}
		c.out.repeatOffsets, c.out.tables = c.in.repeatOffsets, c.in.tables // those that are not own are the same already
	}
	if b.literalsType == literalsBlockCompressed {
		c.out.huffmanTree = c.in.huffmanTree
	}
	return true
}
