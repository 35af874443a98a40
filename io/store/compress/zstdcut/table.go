package zstdcut

import "math/bits"

// symbolType is one of the three kinds of symbols of which sequences are made.
type symbolType int

const (
	literalLengths symbolType = iota
	offsets
	matchLengths
	symbolTypes
)

// Limits and default distributions of each symbol type (RFC 8878 §3.1.1.3.2).
var (
	maxAccuracyLog = [symbolTypes]uint{9, 8, 9}
	maxSymbols     = [symbolTypes]int{36, 32, 53}
	predefined     = [symbolTypes]struct {
		accuracyLog uint
		norm        []int16
	}{
		{6, []int16{4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1}},
		{5, []int16{1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1}},
		{6, []int16{1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1}},
	}
	predefinedTables = [symbolTypes]*decTable{newPredefined(literalLengths), newPredefined(offsets), newPredefined(matchLengths)}
)

// codeTable has for each code of a symbol type its least value, and the number of bits that are added to it.
type codeTable struct {
	baseline [64]uint32 // 0 after the last code
	addBits  [64]uint8
}

// codes are the codes as which lengths and Offset_Values are written (RFC 8878 §3.1.1.3.2.1.1).
var codes = [symbolTypes]codeTable{
	literalLengths: newCodes(0, 16, []uint8{1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}),
	offsets: newCodes(1, 0, []uint8{
		0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
	}),
	matchLengths: newCodes(minMatch, 32, []uint8{1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}),
}

// newCodes returns the codes of values from least on: direct codes of one value each, and then a code for each
// element of addBits, which is its number of additional bits.
func newCodes(least uint32, direct int, addBits []uint8) (c codeTable) {
	for i := range direct {
		c.baseline[i] = least
		least++
	}
	for i, n := range addBits {
		c.baseline[direct+i], c.addBits[direct+i] = least, n
		least += 1 << n
	}
	return c
}

// llCode returns the code of a literal length. From 64 on, each power of two has a code: 1<<6 has 25.
func llCode(litLen uint32) uint8 {
	switch {
	case litLen < 16:
		return uint8(litLen)
	case litLen >= 64:
		return uint8(bits.Len32(litLen)) - 1 + 19
	}
	return llCodes[litLen]
}

// mlCode returns the code of a match length, less minMatch. From 128 on, each power of two has
// a code: 1<<7 has 43.
func mlCode(n uint32) uint8 {
	if n >= 128 {
		return uint8(bits.Len32(n)) - 1 + 36
	}
	return mlCodes[n]
}

// llCodes and mlCodes are the codes of smaller lengths.
var llCodes, mlCodes = codes[literalLengths].small(64), codes[matchLengths].small(128)

// small returns the codes of the n least values. There are more codes than these need.
func (c *codeTable) small(n int) []uint8 {
	list, code := make([]uint8, n), uint8(0)
	for i := range list {
		if c.baseline[code+1]-c.baseline[0] <= uint32(i) {
			code++
		}
		list[i] = code
	}
	return list
}

// maxTableSize is the largest number of states of a table.
const maxTableSize = 1 << 9

// decSymbol is a decoder's state: its symbol's value is baseline plus addBits bits, and the next
// state is newState plus nbBits bits.
type decSymbol struct {
	baseline        uint32
	newState        uint16
	addBits, nbBits uint8
}

// symbolTransform says how an encoder writes a symbol in a state:
//
//	n    = (state + deltaNbBits) >> 16                       bits are written: the lowest n of state
//	next = encTable.states[(state >> n) + deltaFindState]    is the next state
type symbolTransform struct {
	deltaNbBits    uint32
	deltaFindState int32
}

// distribution is the number of states of each symbol; -1 for "less than 1" probability.
type distribution [64]int16

// decTable decodes the symbols of a symbol type by finite state entropy (RFC 8878 §4.1). It does
// not change as long as a history refers to it.
type decTable struct {
	accuracyLog uint                    // there are 1<<accuracyLog states
	states      [maxTableSize]decSymbol // the first 1<<accuracyLog, as of encTable.states
}

// encTable encodes the symbols of a symbol type by finite state entropy.
type encTable struct {
	accuracyLog uint
	description []byte // FSE_Table_Description, or the symbol of an RLE table
	rle         bool   // there is one symbol, which takes no bits
	transforms  [64]symbolTransform
	states      [maxTableSize]uint16
	memory      [128]byte // of the description
}

// newPredefined returns the table of a symbol type's default distribution.
func newPredefined(k symbolType) *decTable {
	t := &decTable{accuracyLog: predefined[k].accuracyLog}
	var norm distribution
	copy(norm[:], predefined[k].norm)
	if !t.build(k, &norm) {
		panic("a predefined table is wrong")
	}
	return t
}

// newRLE returns the table of a single symbol.
func newRLE(symbol uint8, k symbolType) *decTable {
	t := new(decTable)
	t.states[0] = decSymbol{baseline: codes[k].baseline[symbol], addBits: codes[k].addBits[symbol]}
	return t
}

// readDescription reads an FSE_Table_Description (RFC 8878 §4.1.1), and returns what follows it. ok is false if
// it is damaged.
func (t *decTable) readDescription(data []byte, k symbolType) (rest []byte, ok bool) {
	r := forwardReader{data: data}
	t.accuracyLog = uint(r.read(4)) + 5 // the least there is
	if t.accuracyLog > maxAccuracyLog[k] {
		return nil, false
	}
	var norm distribution
	left, symbol := 1<<t.accuracyLog, 0 // states without a symbol
	for left > 0 {
		if symbol >= maxSymbols[k] {
			return nil, false
		}
		n := r.readProbability(left)
		norm[symbol] = int16(n)
		symbol++
		if n == 0 {
			symbol += r.readRepeatFlags(maxSymbols[k])
		}
		left -= max(n, -n) // a symbol of "less than 1" probability has one state
	}
	size := int(r.at+7) / 8
	if size > len(data) {
		return nil, false
	}
	return data[size:], t.build(k, &norm)
}

// readProbability reads a symbol's probability: one of the left+2 numbers from -1 to left, the number of states that no
// symbol has yet. They take width bits. As these could hold short numbers more, the lowest short numbers take a bit
// less.
func (r *forwardReader) readProbability(left int) int {
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
		v -= short // the least such v is half+short, and stands for half
	}
	return v - 1
}

// readRepeatFlags returns the number of symbols of probability 0 that follow one: the sum of
// 2-bit flags up to the first that is not 3. It ends when there are more than most.
func (r *forwardReader) readRepeatFlags(most int) (zeros int) {
	for zeros <= most {
		n := int(r.read(2))
		if zeros += n; n < 3 {
			break
		}
	}
	return zeros
}

// normalize makes the table one for n symbols of type k, among which symbol s occurs counts[s] times. The more symbols,
// the more states: they code better, and the description, which grows with them, matters less.
func (t *encTable) normalize(k symbolType, counts *[64]uint32, n int) {
	t.accuracyLog, t.rle = min(maxAccuracyLog[k], max(6, uint(bits.Len(uint(n)))-2)), false
	var norm distribution
	left, used := 1<<t.accuracyLog, 0 // states that no symbol has yet, and symbols that occur
	for symbol, count := range counts {
		if count > 0 {
			share := (uint64(count)<<t.accuracyLog + uint64(n)/2) / uint64(n) // of the states, rounded
			norm[symbol] = int16(max(1, share))
			left -= int(norm[symbol])
			used++
		}
	}
	if used == 1 { // with transforms of zeros a symbol takes no bits, and the state remains 0
		t.accuracyLog, t.rle, t.transforms, t.states[0] = 0, true, [64]symbolTransform{}, 0
		t.memory[0] = uint8(norm.largest())
		t.description = t.memory[:1]
		return
	}
	for ; left < 0; left++ { // rounding gave too many: a state less costs least where there are most
		norm[norm.largest()]--
	}
	norm[norm.largest()] += int16(left) // or too few
	t.writeDescription(&norm)
	t.build(&norm)
}

// largest returns the symbol that has most states.
func (norm *distribution) largest() (symbol int) {
	for s := range norm {
		if norm[s] > norm[symbol] {
			symbol = s
		}
	}
	return symbol
}

// writeDescription sets the description, as readDescription reads it.
func (t *encTable) writeDescription(norm *distribution) {
	w := bitWriter{out: t.memory[:]}
	w.add(uint64(t.accuracyLog-5), 4)
	left := 1 << t.accuracyLog // states without a symbol
	for symbol := 0; left > 0; symbol++ {
		n := int(norm[symbol])
		w.addProbability(n, left)
		left -= n
		if n > 0 {
			continue
		}
		zeros := 0
		for ; norm[symbol+1] == 0; symbol++ { // it ends, because a symbol that has states follows
			zeros++
		}
		for ; zeros >= 3; zeros -= 3 {
			w.add(3, 2)
			w.flush()
		}
		w.add(uint64(zeros), 2)
	}
	t.description = w.close()
}

// addProbability writes the probability n of a symbol as readProbability reads it. left states have no symbol yet.
func (w *bitWriter) addProbability(n, left int) {
	width := uint(bits.Len(uint(left + 1)))
	half := 1 << (width - 1)
	short := 2*half - (left + 2)
	v := n + 1
	if v < short {
		width--
	} else if v >= half {
		v += short
	}
	w.add(uint64(v), width)
	w.flush()
}

// build makes the states from accuracyLog and norm, for symbols of type k. It returns false if the states in norm are
// not exactly 1<<accuracyLog.
func (t *decTable) build(k symbolType, norm *distribution) bool {
	var room [maxTableSize]uint8
	symbols := room[:1<<t.accuracyLog]
	if !norm.spread(symbols) {
		return false
	}
	var next [64]uint16 // of each symbol: the number of its next state, counted from its number of states (RFC 8878 §4.1.1)
	for s, n := range norm {
		next[s] = uint16(max(n, -n))
	}
	for state, s := range symbols {
		n := next[s]
		next[s]++
		nbBits := uint8(t.accuracyLog) - uint8(bits.Len16(n)-1)
		t.states[state] = decSymbol{codes[k].baseline[s], n<<nbBits - uint16(len(symbols)), codes[k].addBits[s], nbBits}
	}
	return true
}

// spread sets the symbol of each state (RFC 8878 §4.1.1): symbols of "less than 1" probability
// have the last states, and the states of others are spread over the rest. It returns false if these
// do not fill it.
func (norm *distribution) spread(symbols []uint8) bool {
	size := len(symbols)
	high := size - 1 // the last state that is left for other symbols
	for s, n := range norm {
		if n == -1 {
			if high < 0 {
				return false
			}
			symbols[high] = uint8(s)
			high--
		}
	}
	at, stride := 0, size>>1+size>>3+3 // as the RFC has it; it meets each state once
	for s, n := range norm {
		for range n {
			symbols[at] = uint8(s)
			for at = (at + stride) & (size - 1); at > high; {
				at = (at + stride) & (size - 1)
			}
		}
	}
	return at == 0 // it meets this state again once it has met all others
}

// build makes the states and transforms from accuracyLog and norm, which has no symbol of "less than 1"
// probability and exactly that number of states.
func (t *encTable) build(norm *distribution) {
	var room [maxTableSize]uint8
	symbols := room[:1<<t.accuracyLog]
	if !norm.spread(symbols) {
		panic("a normalized table is wrong")
	}
	var places [64]uint16 // where in states the next one of each symbol is
	total := 0            // states of the symbols before
	for s, n := range norm {
		places[s] = uint16(total)
		if n > 0 {
			// From the state n<<most on, most bits are written; the sum in deltaNbBits carries there.
			most := uint32(t.accuracyLog) - uint32(bits.Len16(uint16(max(1, n-1)))-1)
			t.transforms[s] = symbolTransform{most<<16 - uint32(n)<<most, int32(total) - int32(n)}
			total += int(n)
		}
	}
	for state, s := range symbols {
		t.states[places[s]] = uint16(len(symbols) + state)
		places[s]++
	}
}

// initState returns the state with which an encoder begins, for the last symbol: the one that nextState
// gives for the least state of which it writes n bits. Nothing is written for it.
func (t *encTable) initState(symbol uint8) uint32 {
	x := &t.transforms[symbol%64]
	n := (x.deltaNbBits + 1<<15) >> 16 // deltaNbBits is less than n<<16 by the least such state
	return uint32(t.states[uint32(int32((n<<16-x.deltaNbBits)>>n)+x.deltaFindState)%maxTableSize])
}

// nextState returns an encoder's next state for a symbol, and what is written before it: a value
// of nbBits bits.
func (t *encTable) nextState(state uint32, symbol uint8) (next uint32, value uint64, nbBits uint) {
	x := &t.transforms[symbol%64]
	n := (state + x.deltaNbBits) >> 16
	return uint32(t.states[uint32(int32(state>>n)+x.deltaFindState)%maxTableSize]), uint64(state) & (1<<n - 1), uint(n)
}

// forwardReader reads bits, the lowest bit of a byte first. After the end there are zeros.
type forwardReader struct {
	data []byte
	at   uint // in bits
}

// peek returns the next n bits, at most 25, and does not pass over them.
func (r *forwardReader) peek(n uint) (v uint32) {
	for i := uint(0); i < 4; i++ {
		if at := r.at>>3 + i; at < uint(len(r.data)) {
			v |= uint32(r.data[at]) << (8 * i)
		}
	}
	return v >> (r.at & 7) & (1<<n - 1)
}

// skip passes over n bits.
func (r *forwardReader) skip(n uint) { r.at += n }

// read returns the next n bits and passes over them.
func (r *forwardReader) read(n uint) uint32 {
	v := r.peek(n)
	r.skip(n)
	return v
}
