package zstdcut

import (
	"math/bits"
	"slices"
)

// stream is one of the three kinds of numbers of sequences.
type stream int

const (
	literalLengths stream = iota
	offsets
	matchLengths
	streams
)

// What the format says of each stream: the most states' bits, the most symbols, and the
// predefined distribution.
var (
	mostLog     = [streams]uint{9, 8, 9}
	mostSymbols = [streams]int{36, 32, 53}
	predefined  = [streams]struct {
		log  uint
		norm []int16
	}{
		{6, []int16{4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1}},
		{5, []int16{1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1}},
		{6, []int16{1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1}},
	}
	standard = [streams]*table{mustTable(literalLengths), mustTable(offsets), mustTable(matchLengths)}
)

// The least number of each code, and how many bits follow it.
var (
	literalBase, literalBits = codes(0, 16, []uint8{1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16})
	matchBase, matchBits     = codes(3, 32, []uint8{1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16})
)

// numbers are those of each stream.
var numbers = func() (list [streams]struct {
	base  [64]uint32
	extra [64]uint8
},
) {
	list[literalLengths].base, list[literalLengths].extra = literalBase, literalBits
	list[matchLengths].base, list[matchLengths].extra = matchBase, matchBits
	for symbol := range uint8(32) {
		list[offsets].base[symbol], list[offsets].extra[symbol] = 1<<symbol, symbol
	}
	return list
}()

// codes returns the codes of lengths: direct ones of one number each, and then such with
// more bits.
func codes(least uint32, direct int, more []uint8) (base [64]uint32, extra [64]uint8) {
	for i := range direct {
		base[i] = least
		least++
	}
	for i, n := range more {
		base[direct+i], extra[direct+i] = least, n
		least += 1 << n
	}
	return base, extra
}

// literalCode and matchCode are the codes of lengths.
func literalCode(n uint32) uint8 {
	switch {
	case n < 16:
		return uint8(n)
	case n >= 64:
		return uint8(bits.Len32(n)) - 1 + 19
	}
	return literalSmall[n]
}

func matchCode(n uint32) uint8 { // n is the length less 3
	if n >= 128 {
		return uint8(bits.Len32(n)) - 1 + 36
	}
	return matchSmall[n]
}

var literalSmall, matchSmall = small(&literalBase, 0, 64), small(&matchBase, 3, 128)

// small is the code of each number below most.
func small(base *[64]uint32, least uint32, most int) []uint8 {
	list, code := make([]uint8, most), uint8(0)
	for n := range list {
		for base[code+1] > 0 && base[code+1]-least <= uint32(n) {
			code++
		}
		list[n] = code
	}
	return list
}

// mostStates is how many states a table may have.
const mostStates = 1 << 9

// step is a state of a decoder: the number that its symbol stands for is base and extra
// bits, and the next state is next and some bits.
type step struct {
	base        uint32
	next        uint16
	extra, bits uint8
}

// turn is how an encoder writes a symbol.
type turn struct {
	bits uint32 // as in FSE's own code: how many bits, and from which state on one less
	find int32
}

// table codes the symbols of a stream. It does not change as long as a state has it.
type table struct {
	log         uint
	norm        [64]int16
	description []byte // as it lies in a block; nil for the predefined one
	single      bool   // there is one symbol, of no bits
	symbols     uint64 // a bit each
	turns       [64]turn
	steps       [mostStates]step // the first 1<<log of them, as of states
	states      [mostStates]uint16
	described   [128]byte // memory of the description
}

// clear makes a table one that has no symbols.
func (t *table) clear() {
	t.log, t.norm, t.description, t.single, t.symbols, t.turns = 0, [64]int16{}, nil, false, 0, [64]turn{}
}

// shelf has tables that no state has any more, for others.
type shelf struct{ used, free []*table }

// sort makes those free that none of the states has.
func (s *shelf) sort(states ...*state) {
	used := s.used[:0]
	for _, t := range s.used {
		if slices.ContainsFunc(states, func(has *state) bool { return slices.Contains(has.tables[:], t) }) {
			used = append(used, t)
		} else {
			s.free = append(s.free, t)
		}
	}
	s.used = used
}

// take returns a table without symbols.
func (s *shelf) take() (t *table) {
	if last := len(s.free) - 1; last >= 0 {
		t, s.free = s.free[last], s.free[:last]
		t.clear()
	} else {
		t = new(table)
	}
	s.used = append(s.used, t)
	return t
}

func mustTable(s stream) *table {
	t := new(table)
	t.log = predefined[s].log
	copy(t.norm[:], predefined[s].norm)
	if !t.build(s) {
		panic("zstdcut: a predefined table is wrong")
	}
	return t
}

// one makes the table that of one symbol.
func (t *table) one(symbol uint8, s stream) *table {
	t.clear()
	t.log, t.single, t.states[0] = 0, true, 0 // as turns are, all zeros
	t.steps[0] = step{base: numbers[s].base[symbol], extra: numbers[s].extra[symbol]}
	t.described[0] = symbol
	t.description = t.described[:1]
	t.norm[symbol], t.symbols = 1, 1<<symbol
	return t
}

// read reads a table's description, and returns what follows it.
func (t *table) read(data []byte, s stream) (rest []byte, ok bool) {
	r := forward{data: data}
	t.log = uint(r.read(4)) + 5
	if t.log > mostLog[s] {
		return nil, false
	}
	remaining, threshold, width := 1<<t.log+1, 1<<t.log, t.log+1
	symbol, zero := 0, false
	for remaining > 1 {
		if zero {
			for {
				n := int(r.read(2))
				if symbol += n; n < 3 {
					break
				}
				if symbol >= mostSymbols[s] {
					return nil, false
				}
			}
		}
		if symbol >= mostSymbols[s] {
			return nil, false
		}
		most := 2*threshold - 1 - remaining
		v := int(r.peek(width))
		if v&(threshold-1) < most {
			v &= threshold - 1
			r.skip(width - 1)
		} else {
			if v &= 2*threshold - 1; v >= threshold {
				v -= most
			}
			r.skip(width)
		}
		v--
		if v < 0 {
			remaining--
		} else {
			remaining -= v
		}
		t.norm[symbol] = int16(v)
		symbol++
		zero = v == 0
		for remaining < threshold {
			width--
			threshold >>= 1
		}
	}
	n := int(r.at+7) / 8
	if remaining != 1 || n > len(data) {
		return nil, false
	}
	t.description = data[:n]
	return data[n:], t.build(s)
}

// fit makes the table one for symbols that come so often, n times together.
func (t *table) fit(s stream, counts *[64]uint32, n int) *table {
	t.log = min(mostLog[s], max(6, uint(bits.Len(uint(n)))-2))
	size := 1 << t.log
	left, most, used := size, 0, 0
	for symbol, count := range counts {
		if count == 0 {
			continue
		}
		norm := max(1, int((uint64(count)<<t.log+uint64(n)/2)/uint64(n)))
		t.norm[symbol] = int16(norm)
		left -= norm
		if used++; norm > int(t.norm[most]) {
			most = symbol
		}
	}
	if used == 1 {
		return t.one(uint8(most), s)
	}
	for left < 0 { // of the one that is lengthened least
		most = 0
		for symbol, norm := range t.norm {
			if norm > t.norm[most] {
				most = symbol
			}
		}
		t.norm[most]--
		left++
	}
	t.norm[most] += int16(left)
	t.describe()
	if !t.build(s) {
		panic("zstdcut: a table of its own is wrong")
	}
	return t
}

// describe sets the description, which readTable reads.
func (t *table) describe() {
	w := writer{out: t.described[:]}
	w.add(uint64(t.log-5), 4)
	remaining, threshold, width := 1<<t.log+1, 1<<t.log, t.log+1
	zero := false
	for symbol := 0; remaining > 1; symbol++ {
		if zero {
			begin := symbol
			for t.norm[symbol] == 0 {
				symbol++
			}
			for ; symbol-begin >= 3; begin += 3 {
				w.add(3, 2)
				w.flush()
			}
			w.add(uint64(symbol-begin), 2)
		}
		count := int(t.norm[symbol])
		most := 2*threshold - 1 - remaining
		remaining -= count
		zero = count == 0
		if count++; count >= threshold {
			count += most
		}
		n := width
		if count < most {
			n--
		}
		w.add(uint64(count), n)
		w.flush()
		for remaining < threshold {
			width--
			threshold >>= 1
		}
	}
	if w.n > 0 {
		w.at++
	}
	t.description = w.out[:w.at]
}

// build makes the states.
func (t *table) build(k stream) bool {
	size, numbers := 1<<t.log, &numbers[k]
	var room [mostStates]uint8
	symbols := room[:size]
	var next [64]uint16
	high := size - 1
	for s, n := range t.norm {
		if n != 0 {
			t.symbols |= 1 << s
		}
		if n == -1 {
			if high < 0 {
				return false
			}
			symbols[high] = uint8(s)
			high--
			next[s] = 1
		} else {
			next[s] = uint16(n)
		}
	}
	at, stride := 0, size>>1+size>>3+3
	for s, n := range t.norm {
		for range n {
			symbols[at] = uint8(s)
			for at = (at + stride) & (size - 1); at > high; {
				at = (at + stride) & (size - 1)
			}
		}
	}
	if at != 0 {
		return false
	}
	var places [64]int
	total := 0
	for s, n := range t.norm {
		places[s] = total
		switch {
		case n == -1 || n == 1:
			t.turns[s] = turn{uint32(t.log)<<16 - 1<<t.log, int32(total - 1)}
			total++
		case n > 1:
			most := uint32(t.log) - uint32(bits.Len16(uint16(n-1))-1)
			t.turns[s] = turn{most<<16 - uint32(n)<<most, int32(total) - int32(n)}
			total += int(n)
		}
	}
	for state, s := range symbols {
		n := next[s]
		next[s]++
		width := uint8(t.log) - uint8(bits.Len16(n)-1)
		t.steps[state] = step{numbers.base[s], n<<width - uint16(size), numbers.extra[s], width}
		t.states[places[s]] = uint16(size + state)
		places[s]++
	}
	return true
}

// forward reads bits from the lowest of the first byte on.
type forward struct {
	data []byte
	at   uint
}

func (r *forward) peek(n uint) (v uint32) {
	for i := uint(0); i < 4; i++ {
		if at := r.at>>3 + i; at < uint(len(r.data)) {
			v |= uint32(r.data[at]) << (8 * i)
		}
	}
	return v >> (r.at & 7) & (1<<n - 1)
}

func (r *forward) skip(n uint) { r.at += n }

func (r *forward) read(n uint) uint32 {
	v := r.peek(n)
	r.skip(n)
	return v
}
