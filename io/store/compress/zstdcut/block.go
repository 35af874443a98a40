package zstdcut

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// Kinds of blocks and of literals, by the format's numbers.
const (
	rawBlock, rleBlock, packedBlock = 0, 1, 2

	rawLiterals, rleLiterals, packedLiterals, treelessLiterals = 0, 1, 2, 3
)

// Modes of a stream: where its table is.
const (
	modePredefined = iota
	modeRLE        // one symbol, which follows
	modeDescribed  // a description follows
	modeRepeat     // the table of the block before
)

const (
	// blockHead is the size of a block's header in bytes, and lastBlock the flag of the
	// last one.
	blockHead = 3
	lastBlock = 1
	// mostBlock is the most bytes of a block, compressed and decompressed.
	mostBlock = 128 << 10
	// longCount is the least number of sequences that takes three bytes.
	longCount = 0x7F00
)

// sequence is a number of literals, then a match: bytes that are copied from offset bytes
// back.
type sequence struct {
	literals, match uint32
	offset          uint32
}

// state is what a block takes from the blocks before it.
type state struct {
	tables  [streams]*table // nil for none
	huffman int             // the number of the block with the literals' tree; 0 for none
	recent  [3]uint32       // the last offsets, which have short codes
}

// block is a compressed block.
type block struct {
	literals  []byte // the section of literals, as it lies
	kind      int    // of the literals
	size      int    // how many literals there are
	sequences []sequence
	padded    []byte        // memory for the sequences' bits
	defines   [streams]bool // streams that do not repeat the table of the block before
	total     int           // bytes that the block holds
	reach     int           // where the match that goes farthest back begins: 0 is the block's first byte
}

// parse reads the block with a number, and changes s to the state after it. It returns false
// if the block is damaged.
func (b *block) parse(data []byte, number int, s *state, tables *shelf) bool {
	n, ok := b.parseLiterals(data)
	if !ok {
		return false
	}
	switch {
	case b.kind == packedLiterals:
		s.huffman = number
	case b.kind == treelessLiterals && s.huffman == 0:
		return false
	}
	b.literals, data = data[:n], data[n:]
	b.sequences, b.total, b.reach = b.sequences[:0], 0, 0
	b.defines = [streams]bool{}
	count, data, ok := readCount(data)
	if !ok {
		return false
	}
	if count == 0 {
		b.total = b.size
		return len(data) == 0
	}
	if len(data) == 0 || data[0]&3 != 0 {
		return false
	}
	modes := data[0]
	data = data[1:]
	for k := range streams {
		if data, ok = b.parseTable(data, k, modes>>(6-2*k)&3, s, tables); !ok {
			return false
		}
	}
	return b.parseSequences(data, count, s)
}

// parseTable sets the table of a stream, and returns what follows its description.
func (b *block) parseTable(data []byte, k stream, mode byte, s *state, tables *shelf) (rest []byte, ok bool) {
	b.defines[k] = mode != modeRepeat
	switch mode {
	case modePredefined:
		s.tables[k] = standard[k]
	case modeRLE:
		if len(data) == 0 || int(data[0]) >= mostSymbols[k] {
			return nil, false
		}
		s.tables[k], data = tables.take().one(data[0], k), data[1:]
	case modeDescribed:
		t := tables.take()
		if data, ok = t.read(data, k); !ok {
			return nil, false
		}
		s.tables[k] = t
	case modeRepeat:
		return data, s.tables[k] != nil
	}
	return data, true
}

// parseLiterals reads the header of the literals, and returns the size of their section in
// bytes, the header included.
func (b *block) parseLiterals(data []byte) (n int, ok bool) {
	if len(data) == 0 {
		return 0, false
	}
	var head [8]byte
	copy(head[:], data)
	v := binary.LittleEndian.Uint64(head[:])
	b.kind = int(v & 3)
	format := v >> 2 & 3
	if b.kind == rawLiterals || b.kind == rleLiterals {
		switch format {
		case 0, 2:
			b.size, n = int(v>>3&31), 1
		case 1:
			b.size, n = int(v>>4&0xFFF), 2
		case 3:
			b.size, n = int(v>>4&0xFFFFF), 3
		}
		if b.kind == rawLiterals {
			n += b.size
		} else {
			n++
		}
	} else {
		width := [4]uint{10, 10, 14, 18}[format]
		b.size = int(v >> 4 & (1<<width - 1))
		n = [4]int{3, 3, 4, 5}[format] + int(v>>(4+width)&(1<<width-1))
	}
	return n, n <= len(data) && b.size <= mostBlock
}

// readCount reads how many sequences there are.
func readCount(data []byte) (n int, rest []byte, ok bool) {
	switch {
	case len(data) >= 1 && data[0] < 128:
		return int(data[0]), data[1:], true
	case len(data) >= 2 && data[0] < 255:
		return int(data[0]-128)<<8 + int(data[1]), data[2:], true
	case len(data) >= 3 && data[0] == 255:
		return int(data[1]) + int(data[2])<<8 + longCount, data[3:], true
	}
	return 0, nil, false
}

// backward reads bits from the end: from the highest bit of the last byte, which is a one that
// only marks the end, down to the lowest bit of the first.
type backward struct {
	data []byte // and eight bytes more, so that a read is one load
	left int    // bits
}

func newBackward(data, padded []byte) (r backward, ok bool) {
	if len(data) == 0 || data[len(data)-1] == 0 {
		return r, false
	}
	n := len(data)
	return backward{padded, 8*n - 9 + bits.Len8(data[n-1])}, true
}

// read reads up to 56 bits. If there are fewer it returns 0, and left is negative.
func (r *backward) read(n uint) uint64 {
	r.left -= int(n)
	if r.left < 0 {
		return 0
	}
	return binary.LittleEndian.Uint64(r.data[r.left>>3:]) >> (r.left & 7) & (1<<n - 1)
}

// parseSequences reads count sequences, the last section of a block. It returns false if the
// bits are not exactly as many as they take, or the block would hold more than it may.
func (b *block) parseSequences(data []byte, count int, s *state) bool {
	b.padded = append(append(b.padded[:0], data...), 0, 0, 0, 0, 0, 0, 0, 0)
	r, ok := newBackward(data, b.padded)
	if !ok {
		return false
	}
	l, o, m := s.tables[literalLengths], s.tables[offsets], s.tables[matchLengths]
	ls, os, ms := r.read(l.log), r.read(o.log), r.read(m.log)
	b.sequences = slices.Grow(b.sequences[:0], count)[:count]
	at, literals, reach := 0, 0, b.reach
	for i := range b.sequences {
		ll, of, ml := &l.steps[ls%mostStates], &o.steps[os%mostStates], &m.steps[ms%mostStates]
		back, more, turn := uint(of.extra), uint(ll.extra+ml.extra), uint(ll.bits+ml.bits+of.bits)
		if i == count-1 {
			turn = 0
		}
		var value, both, states uint64
		if back+more+turn <= 56 { // nearly always
			v := r.read(back + more + turn)
			states, both, value = v, v>>(turn&63), v>>((more+turn)&63)
		} else {
			value, both, states = r.read(back), r.read(more), r.read(turn)
		}
		os = uint64(of.next) + states&(1<<(of.bits&63)-1)
		states >>= of.bits & 63
		ms = uint64(ml.next) + states&(1<<(ml.bits&63)-1)
		states >>= ml.bits & 63
		ls = uint64(ll.next) + states&(1<<(ll.bits&63)-1)
		length := ll.base + uint32(both&(1<<(ll.extra&63)-1))
		match := ml.base + uint32(both>>(ll.extra&63)&(1<<(ml.extra&63)-1))
		number := of.base + uint32(value)
		offset := number - 3
		if number > 3 {
			s.recent = [3]uint32{offset, s.recent[0], s.recent[1]}
		} else if offset = s.take(number, length); offset == 0 {
			return false
		}
		b.sequences[i] = sequence{length, match, offset}
		literals += int(length)
		at += int(length)
		reach = min(reach, at-int(offset))
		if at += int(match); at > mostBlock {
			return false
		}
	}
	b.reach, b.total = reach, at+b.size-literals
	return r.left == 0 && literals <= b.size && b.total <= mostBlock
}

// take returns the offset that the value of an offset's code stands for (RFC 8878 §3.1.1.5),
// and makes it the most recent one. It returns 0 for a damaged value. literals is the number
// of literals of the sequence.
func (s *state) take(value, literals uint32) uint32 {
	r := &s.recent
	if value > 3 {
		r[0], r[1], r[2] = value-3, r[0], r[1]
		return r[0]
	}
	if literals == 0 {
		value++
	}
	switch value {
	case 2:
		r[0], r[1] = r[1], r[0]
	case 3:
		r[0], r[1], r[2] = r[2], r[0], r[1]
	case 4:
		r[0], r[1], r[2] = r[0]-1, r[0], r[1]
	}
	return r[0]
}

// value is the inverse of take: it returns the value for an offset, and makes the offset the
// most recent one. Values up to 3 stand for recent offsets. They are only returned if their
// code is among symbols, a bit each.
func (s *state) value(offset, literals uint32, symbols uint64) uint32 {
	r := s.recent
	value := offset + 3
	if literals > 0 {
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
	if value <= 3 && symbols>>(value>>1)&1 == 0 {
		value = offset + 3
	}
	s.take(value, literals)
	return value
}
