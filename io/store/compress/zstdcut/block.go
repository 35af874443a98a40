package zstdcut

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// Block_Type (RFC 8878 §3.1.1.2.2) and Literals_Block_Type (§3.1.1.3.1.1).
const (
	blockTypeRaw, blockTypeRLE, blockTypeCompressed = 0, 1, 2

	literalsBlockRaw, literalsBlockRLE, literalsBlockCompressed, literalsBlockTreeless = 0, 1, 2, 3
)

// Symbol compression modes (RFC 8878 §3.1.1.3.2.1): where the FSE table is.
const (
	compModePredefined = iota
	compModeRLE        // one symbol, which follows
	compModeFSE        // a table description follows
	compModeRepeat     // the table of the last block with sequences
)

const (
	// blockHeaderSize is the size of a Block_Header in bytes, and lastBlockFlag its Last_Block.
	blockHeaderSize = 3
	lastBlockFlag   = 1
	// maxBlockSize is the largest Block_Maximum_Size, of compressed and regenerated blocks.
	maxBlockSize = 128 << 10
	// longSequenceCount is the least Number_of_Sequences that takes three bytes.
	longSequenceCount = 0x7F00
)

// sequence says to copy litLen literals, and then matchLen bytes from offset bytes back.
type sequence struct {
	litLen, matchLen uint32
	offset           uint32
}

// history is what a block may use of the blocks before it.
type history struct {
	tables        [symbolTypes]*decTable // nil for none, and in a new frame for one of its own
	huffmanTree   int                    // number of the block that it comes from; 0 for none
	repeatOffsets [3]uint32
}

// block is a Compressed_Block.
type block struct {
	literalsSection []byte // Literals_Section, header included
	literalsType    int    // Literals_Block_Type
	regeneratedSize int    // Regenerated_Size: the number of literals
	sequences       []sequence
	padded          []byte            // the sequences' bitstream, and eight bytes more
	ownTable        [symbolTypes]bool // the mode is not compModeRepeat
	contentSize     int               // bytes that the block decompresses to
	firstCopied     int               // the first byte that a match copies, counted from the block's first one: 0 or less
}

// parse reads the block from data, and changes h to the history after it. It returns false if the block is
// damaged. number counts the frame's compressed blocks from 1: h.huffmanTree keeps it.
func (b *block) parse(data []byte, number int, h *history) bool {
	n, ok := b.parseLiteralsHeader(data)
	if !ok {
		return false
	}
	switch {
	case b.literalsType == literalsBlockCompressed:
		h.huffmanTree = number
	case b.literalsType == literalsBlockTreeless && h.huffmanTree == 0:
		return false
	}
	b.literalsSection, data = data[:n], data[n:]
	b.sequences, b.contentSize, b.firstCopied = b.sequences[:0], 0, 0
	b.ownTable = [symbolTypes]bool{}
	count, data, ok := readSequenceCount(data)
	if !ok {
		return false
	}
	if count == 0 {
		b.contentSize = b.regeneratedSize
		return len(data) == 0
	}
	if len(data) == 0 || data[0]&3 != 0 { // reserved bits
		return false
	}
	modes := data[0] // two bits for each symbol type, from the top
	data = data[1:]
	for k := range symbolTypes {
		if data, ok = b.parseTable(data, k, modes>>(6-2*k)&3, h); !ok {
			return false
		}
	}
	return b.parseBitstream(data, count, h)
}

// parseTable sets h's FSE table of symbol type k by mode, and returns what follows the table's description in
// data. ok is false if that is damaged, or if there is no table to repeat.
func (b *block) parseTable(data []byte, k symbolType, mode byte, h *history) (rest []byte, ok bool) {
	b.ownTable[k] = mode != compModeRepeat
	switch mode {
	case compModePredefined:
		h.tables[k] = predefinedTables[k]
	case compModeRLE:
		if len(data) == 0 || int(data[0]) >= maxSymbols[k] {
			return nil, false
		}
		h.tables[k], data = newRLE(data[0], k), data[1:]
	case compModeFSE:
		h.tables[k] = new(decTable)
		return h.tables[k].readDescription(data, k)
	case compModeRepeat:
		return data, h.tables[k] != nil
	}
	return data, true
}

// parseLiteralsHeader reads a Literals_Section_Header (RFC 8878 §3.1.1.3.1.1), and returns the size of the
// Literals_Section in bytes, the header included. ok is false if data ends before that, or if there are more literals
// than a block may have.
func (b *block) parseLiteralsHeader(data []byte) (n int, ok bool) {
	if len(data) == 0 {
		return 0, false
	}
	var head [8]byte
	copy(head[:], data)
	v := binary.LittleEndian.Uint64(head[:])
	b.literalsType = int(v & 3)
	sizeFormat := v >> 2 & 3
	if b.literalsType == literalsBlockRaw || b.literalsType == literalsBlockRLE {
		switch sizeFormat { // Regenerated_Size has 5, 12 or 20 bits
		case 0, 2:
			b.regeneratedSize, n = int(v>>3&31), 1
		case 1:
			b.regeneratedSize, n = int(v>>4&0xFFF), 2
		case 3:
			b.regeneratedSize, n = int(v>>4&0xFFFFF), 3
		}
		if b.literalsType == literalsBlockRaw {
			n += b.regeneratedSize
		} else {
			n++ // the byte that is repeated
		}
	} else { // Regenerated_Size and Compressed_Size have width bits each
		width := [4]uint{10, 10, 14, 18}[sizeFormat]
		b.regeneratedSize = int(v >> 4 & (1<<width - 1))
		n = [4]int{3, 3, 4, 5}[sizeFormat] + int(v>>(4+width)&(1<<width-1))
	}
	return n, n <= len(data) && b.regeneratedSize <= maxBlockSize
}

// readSequenceCount reads Number_of_Sequences. ok is false if data ends before it does.
func readSequenceCount(data []byte) (n int, rest []byte, ok bool) {
	switch {
	case len(data) >= 1 && data[0] < 128:
		return int(data[0]), data[1:], true
	case len(data) >= 2 && data[0] < 255:
		return int(data[0]-128)<<8 + int(data[1]), data[2:], true
	case len(data) >= 3 && data[0] == 255:
		return int(data[1]) + int(data[2])<<8 + longSequenceCount, data[3:], true
	}
	return 0, nil, false
}

// backwardReader reads a bitstream from its end: from the highest set bit of the last byte,
// which only marks the end, down to the lowest bit of the first byte.
type backwardReader struct {
	data []byte // and eight bytes more, so that a read is one load
	left int    // bits
}

// newBackwardReader returns a reader of data, which padded begins with; false if no bit marks its end.
func newBackwardReader(data, padded []byte) (r backwardReader, ok bool) {
	if len(data) == 0 || data[len(data)-1] == 0 {
		return r, false
	}
	n := len(data)
	return backwardReader{padded, 8*(n-1) + bits.Len8(data[n-1]) - 1}, true // all below the mark
}

// read reads n bits, at most 56. If fewer are left it returns 0, and makes left negative.
func (r *backwardReader) read(n uint) uint64 {
	r.left -= int(n)
	if r.left < 0 {
		return 0
	}
	return binary.LittleEndian.Uint64(r.data[r.left>>3:]) >> (r.left & 7) & (1<<n - 1)
}

// parseBitstream reads count sequences (RFC 8878 §3.1.1.3.2.1.2) by the tables of h, and updates the repeat offsets
// of h. It returns false if the sequences take fewer or more bits than there are, or make too large a block.
func (b *block) parseBitstream(data []byte, count int, h *history) bool {
	b.padded = append(append(b.padded[:0], data...), 0, 0, 0, 0, 0, 0, 0, 0)
	r, ok := newBackwardReader(data, b.padded)
	if !ok {
		return false
	}
	// l, o and m are the tables of literal lengths, offsets and match lengths, and ls, os and ms their
	// states; ll, of and ml are the entries of the tables for these states. A sequence has, from the highest bit
	// on: the additional bits of offset, match length and literal length, and then the bits of the next states of
	// literal lengths, match lengths and offsets.
	l, o, m := h.tables[literalLengths], h.tables[offsets], h.tables[matchLengths]
	ls, os, ms := r.read(l.accuracyLog), r.read(o.accuracyLog), r.read(m.accuracyLog)
	b.sequences = slices.Grow(b.sequences[:0], count)[:count]
	at, literals, first := 0, 0, b.firstCopied
	for i := range b.sequences {
		ll, of, ml := &l.states[ls%maxTableSize], &o.states[os%maxTableSize], &m.states[ms%maxTableSize]
		ofBits, lenBits, stateBits := uint(of.addBits), uint(ll.addBits+ml.addBits), uint(ll.nbBits+ml.nbBits+of.nbBits)
		if i == count-1 { // no state follows
			stateBits = 0
		}
		var offsetBits, lengths, states uint64
		if ofBits+lenBits+stateBits <= 56 { // nearly always: all bits of the sequence in one read, which saves 6 % of a job
			v := r.read(ofBits + lenBits + stateBits)
			states, lengths, offsetBits = v, v>>(stateBits&63), v>>((lenBits+stateBits)&63)
		} else {
			offsetBits, lengths, states = r.read(ofBits), r.read(lenBits), r.read(stateBits)
		}
		os = uint64(of.newState) + states&(1<<(of.nbBits&63)-1)
		states >>= of.nbBits & 63
		ms = uint64(ml.newState) + states&(1<<(ml.nbBits&63)-1)
		states >>= ml.nbBits & 63
		ls = uint64(ll.newState) + states&(1<<(ll.nbBits&63)-1)
		litLen := ll.baseline + uint32(lengths&(1<<(ll.addBits&63)-1))
		matchLen := ml.baseline + uint32(lengths>>(ll.addBits&63)&(1<<(ml.addBits&63)-1))
		offsetValue := of.baseline + uint32(offsetBits)
		offset := h.offset(offsetValue, litLen)
		if offset == 0 {
			return false
		}
		b.sequences[i] = sequence{litLen, matchLen, offset}
		literals += int(litLen)
		at += int(litLen)
		first = min(first, at-int(offset))
		if at += int(matchLen); at > maxBlockSize {
			return false
		}
	}
	b.firstCopied, b.contentSize = first, at+b.regeneratedSize-literals
	return r.left == 0 && literals <= b.regeneratedSize && b.contentSize <= maxBlockSize
}

// offset returns the offset that an Offset_Value stands for (RFC 8878 §3.1.1.5), and updates the
// repeat offsets. It returns 0 for a damaged value.
func (h *history) offset(offsetValue, litLen uint32) uint32 {
	r := &h.repeatOffsets
	if offsetValue > 3 {
		r[0], r[1], r[2] = offsetValue-3, r[0], r[1]
		return r[0]
	}
	// Directly after a match, the first repeat offset would only make that match longer. So values 1 to 3 stand for the
	// second, the third, and the first less 1.
	if litLen == 0 {
		offsetValue++
	}
	switch offsetValue {
	case 2:
		r[0], r[1] = r[1], r[0]
	case 3:
		r[0], r[1], r[2] = r[2], r[0], r[1]
	case 4:
		r[0], r[1], r[2] = r[0]-1, r[0], r[1]
	}
	return r[0]
}

// offsetValue is the inverse of offset: it returns an Offset_Value that stands for offset, and updates the repeat
// offsets.
func (h *history) offsetValue(offset, litLen uint32) uint32 {
	r := h.repeatOffsets
	value := offset + 3 // 1 to 3 are the repeat offsets
	if litLen > 0 {
		switch offset {
		case r[0]:
			value = 1
		case r[1]:
			value = 2
		case r[2]:
			value = 3
		}
	} else {
		switch offset {
		case r[1]:
			value = 1
		case r[2]:
			value = 2
		case r[0] - 1:
			value = 3
		}
	}
	h.offset(value, litLen)
	return value
}
