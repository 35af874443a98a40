package zstdcut

import (
	"math/bits"
	"slices"
)

// stream is one of the three streams of numbers in which sequences are written.
type stream int

const (
	literalLengths stream = iota
	offsets
	matchLengths
	streams
)

// What RFC 8878 (§3.1.1.3.2) says of each stream: the most bits of a state, the most symbols,
// and the predefined distribution.
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
	// standard are the tables of the predefined distributions.
	standard = [streams]*table{mustTable(literalLengths), mustTable(offsets), mustTable(matchLengths)}
)

// A length is written as a code and some bits more: base is the least length of each code, and
// bits is the number of bits that follow.
var (
	literalBase, literalBits = codes(0, 16, []uint8{1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16})
	matchBase, matchBits     = codes(leastMatch, 32, []uint8{1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16})
)

// numbers are, for each stream, the least number of each symbol and how many bits follow it.
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

// codes returns the codes of lengths from least on: direct codes of one length each, and then
// a code for each element of more, which is its number of bits.
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

// literalCode returns the code of n literals. From 64 on, each power of two has a code.
func literalCode(n uint32) uint8 {
	switch {
	case n < 16:
		return uint8(n)
	case n >= 64:
		return uint8(bits.Len32(n)) - 1 + 19
	}
	return literalSmall[n]
}

// matchCode returns the code of a match of n + leastMatch bytes. From 128 on, each power of
// two has a code.
func matchCode(n uint32) uint8 {
	if n >= 128 {
		return uint8(bits.Len32(n)) - 1 + 36
	}
	return matchSmall[n]
}

// literalSmall and matchSmall are the codes of smaller lengths.
var literalSmall, matchSmall = small(&literalBase, 0, 64), small(&matchBase, leastMatch, 128)

// small returns the codes of the lengths from least to least+most-1.
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

// mostStates is the number of states that a table may have.
const mostStates = 1 << 9

// step is a state of a decoder. Its symbol stands for base plus a number of extra bits. The
// next state is next plus a number of these bits.
type step struct {
	base        uint32
	next        uint16
	extra, bits uint8
}

// turn is how an encoder writes a symbol, as in FSE's own code: the upper 16 bits of a state
// plus bits is the number of the state's lower bits that are written; what is left of the state,
// plus find, is the index of the next state in table.states.
type turn struct {
	bits uint32
	find int32
}

// table codes the symbols of a stream by finite state entropy (RFC 8878 §4.1). It does not
// change as long as a state refers to it.
type table struct {
	log         uint      // there are 1<<log states
	norm        [64]int16 // how many states each symbol has; -1 for one of low probability
	description []byte    // as it lies in a block; nil for a predefined table
	single      bool      // there is one symbol, which takes no bits
	symbols     uint64    // those that the table has, a bit each
	turns       [64]turn
	steps       [mostStates]step // the first 1<<log, as of states
	states      [mostStates]uint16
	described   [128]byte // memory of the description
}

// clear makes a table one that has no symbols.
func (t *table) clear() {
	t.log, t.norm, t.description, t.single, t.symbols, t.turns = 0, [64]int16{}, nil, false, 0, [64]turn{}
}

// shelf has the tables of a cutter. Those that no state refers to are used again.
type shelf struct{ used, free []*table }

// sort makes those free to which none of the states refers.
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
		panic("a predefined table is wrong")
	}
	return t
}

// one makes the table one that has a single symbol.
func (t *table) one(symbol uint8, s stream) *table {
	t.clear()
	t.log, t.single, t.states[0] = 0, true, 0 // as turns are, all zeros
	t.steps[0] = step{base: numbers[s].base[symbol], extra: numbers[s].extra[symbol]}
	t.described[0] = symbol
	t.description = t.described[:1]
	t.norm[symbol], t.symbols = 1, 1<<symbol
	return t
}

// read reads a table's description (RFC 8878 §4.1.1), and returns what follows it.
func (t *table) read(data []byte, s stream) (rest []byte, ok bool) {
	r := forward{data: data}
	t.log = uint(r.read(4)) + 5
	if t.log > mostLog[s] {
		return nil, false
	}
	left, symbol := 1<<t.log, 0 // states without a symbol
	for left > 0 {
		if symbol >= mostSymbols[s] {
			return nil, false
		}
		n := r.readCount(left)
		t.norm[symbol] = int16(n)
		symbol++
		if n == 0 {
			symbol += r.readZeros(mostSymbols[s])
		}
		left -= max(n, -n) // a symbol of low probability has one state, too
	}
	size := int(r.at+7) / 8
	if size > len(data) {
		return nil, false
	}
	t.description = data[:size]
	return data[size:], t.build(s)
}

// readCount reads how many of the states that are left a symbol has: 0 to left, or -1. There
// are left+2 such numbers, in width bits. If that is no power of two, the lowest of them have
// a bit less.
func (r *forward) readCount(left int) int {
	width := uint(bits.Len(uint(left + 1)))
	half := 1 << (width - 1)
	short := 2*half - (left + 2)
	v := int(r.peek(width))
	if v&(half-1) < short {
		r.skip(width - 1)
		return v&(half-1) - 1
	}
	r.skip(width)
	if v >= half {
		v -= short
	}
	return v - 1
}

// readZeros reads how many symbols after one without a state have none, either: numbers of two
// bits, up to the first that is not 3. It ends when there are more than most.
func (r *forward) readZeros(most int) (zeros int) {
	for zeros <= most {
		n := int(r.read(2))
		if zeros += n; n < 3 {
			break
		}
	}
	return zeros
}

// fit makes the table one for n symbols, of which each occurs counts times. The table has more
// states the more symbols there are, because its description then matters less.
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
	for left < 0 { // take a state from the symbol that has most: that costs least
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
		panic("a table of its own is wrong")
	}
	return t
}

// describe sets the description, as read reads it.
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
	t.description = w.end()
}

// build makes the states from log and norm. It returns false if norm has not exactly as many
// states.
func (t *table) build(k stream) bool {
	var room [mostStates]uint8
	symbols := room[:1<<t.log]
	if !t.spread(symbols) {
		return false
	}
	t.buildTurns()
	size := uint16(len(symbols))
	var next [64]uint16   // of each symbol: the number of its next state, as encoders count
	var places [64]uint16 // where in states that is
	total := uint16(0)
	for s, n := range t.norm {
		next[s], places[s] = uint16(max(n, -n)), total
		total += next[s]
	}
	numbers := &numbers[k]
	for state, s := range symbols {
		n := next[s]
		next[s]++
		width := uint8(t.log) - uint8(bits.Len16(n)-1)
		t.steps[state] = step{numbers.base[s], n<<width - size, numbers.extra[s], width}
		t.states[places[s]] = size + uint16(state)
		places[s]++
	}
	return true
}

// spread sets the symbol of each state (RFC 8878 §4.1.1): symbols of low probability have the
// last states, and the states of others are spread over the rest.
func (t *table) spread(symbols []uint8) bool {
	size := len(symbols)
	high := size - 1 // the last state that is not of low probability
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
	return at == 0
}

// buildTurns makes the turns of all symbols.
func (t *table) buildTurns() {
	total := 0 // states of the symbols before
	for s, n := range t.norm {
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
}

// start returns the state with which an encoder begins, for the last symbol.
func (t *table) start(symbol uint8) uint32 {
	x := &t.turns[symbol%64]
	n := (x.bits + 1<<15) >> 16
	return uint32(t.states[uint32(int32((n<<16-x.bits)>>n)+x.find)%mostStates])
}

// turn returns an encoder's next state for a symbol, and what is written before it: a value of
// width bits.
func (t *table) turn(state uint32, symbol uint8) (next uint32, value uint64, width uint) {
	x := &t.turns[symbol%64]
	n := (state + x.bits) >> 16
	return uint32(t.states[uint32(int32(state>>n)+x.find)%mostStates]), uint64(state) & (1<<n - 1), uint(n)
}

// covers reports whether the table has all symbols of a set, a bit each.
func (t *table) covers(used uint64) bool { return used&^t.symbols == 0 }

// forward reads bits, the lowest bit of a byte first. Behind the end there are zeros.
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
