package encode

import (
	"encoding/binary"
	"math/bits"

	"robotsbatch/io/tables/parquet/columns"
	"robotsbatch/io/tables/parquet/layout"
)

// bits appends the data pages of booleans whose leaf has bits: no row gets a byte.
func (p *pages) bits(n *columns.Node, l *columns.Leaf) {
	for row := 0; row < l.N; row += pageEntries {
		high := min(row+pageEntries, l.N)
		page := columns.Bits{Values: l.Bits.Values[row>>3 : (high+7)>>3]}
		if l.Bits.Valid != nil {
			page.Valid = l.Bits.Valid[row>>3 : (high+7)>>3]
		}
		p.plain = p.plain[:0]
		if page.Count(high-row) == high-row {
			if n.MaxDefinition > 0 {
				p.plain = layout.AppendLevels(p.plain, nil, high-row, n.MaxDefinition, n.MaxDefinition, true)
			}
			p.plain = appendFirst(p.plain, page.Values, high-row)
		} else {
			p.plain = appendPresent(appendBitLevels(p.plain, page.Valid, high-row), &page, high-row)
		}
		p.dataPage(high-row, int64(row), layout.Plain)
	}
}

// appendFirst appends the first n bits, and zeros up to a byte.
func appendFirst(dst, from []byte, n int) []byte {
	dst = append(dst, from[:(n+7)>>3]...)
	if n&7 > 0 {
		dst[len(dst)-1] &= 1<<(n&7) - 1
	}
	return dst
}

// appendBitLevels appends n levels of one bit after their length: bytes of equal levels as
// runs, and others as they are.
func appendBitLevels(dst, levels []byte, n int) []byte {
	begin := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	levels, whole := levels[:(n+7)>>3], n>>3
	for i := 0; i < len(levels); {
		from := i
		for i < whole && levels[i] == levels[from] && (levels[i] == 0 || levels[i] == 0xFF) {
			i++
		}
		if i > from {
			dst = append(binary.AppendUvarint(dst, uint64(8*(i-from))<<1), levels[from]&1)
			continue
		}
		for i < len(levels) && (i >= whole || levels[i] != 0 && levels[i] != 0xFF) {
			i++
		}
		dst = binary.AppendUvarint(dst, uint64(i-from)<<1|1)
		dst = append(dst, levels[from:i]...)
	}
	binary.LittleEndian.PutUint32(dst[begin:], uint32(len(dst)-begin-4))
	return dst
}

// appendPresent appends the values of n rows as bits, without those of null rows.
func appendPresent(dst []byte, b *columns.Bits, n int) []byte {
	word, have := uint64(0), 0 // bits that wait, fewer than 8
	for i := range (n + 7) >> 3 {
		valid, values := b.Valid[i], uint64(b.Values[i])
		if n-8*i < 8 {
			valid &= 1<<(n-8*i) - 1
		}
		if valid == 0xFF {
			word |= values << have
			have += 8
		} else {
			for ; valid != 0; valid &= valid - 1 {
				word |= values >> bits.TrailingZeros8(valid) & 1 << have
				have++
			}
		}
		if have >= 8 {
			dst = append(dst, byte(word))
			word, have = word>>8, have-8
		}
	}
	if have > 0 {
		dst = append(dst, byte(word))
	}
	return dst
}

// bitExtremes is extremes for n rows of booleans, 0 or 1.
func bitExtremes(b *columns.Bits, n int) (low, high []byte) {
	zeros, ones := byte(0), byte(0)
	for i := 0; i < (n+7)>>3 && (zeros == 0 || ones == 0); i++ {
		valid := byte(0xFF)
		if b.Valid != nil {
			valid = b.Valid[i]
		}
		if n-8*i < 8 {
			valid &= 1<<(n-8*i) - 1
		}
		zeros |= valid &^ b.Values[i]
		ones |= valid & b.Values[i]
	}
	if zeros|ones == 0 {
		return nil, nil
	}
	low, high = []byte{1}, []byte{0}
	if zeros != 0 {
		low[0] = 0
	}
	if ones != 0 {
		high[0] = 1
	}
	return low, high
}

// lists appends the pages of lists of texts, of which only one is expanded at a time. There is always a
// dictionary, whatever its size: it returns that, all texts that rows have.
func (p *pages) lists(n *columns.Node, l *columns.Leaf) *columns.Leaf {
	d, x := listDictionary(l)
	encoding := layout.Plain // without values
	if d.n > 0 {
		encoding = layout.RLEDictionary
		p.dictionary(n, d)
	}
	var page columns.Leaf
	var codes []int32
	for row := 0; row < len(x.Of); {
		next := 0
		next, codes = x.Page(n, &page, codes[:0], row, pageEntries)
		p.plain = layout.AppendLevels(p.plain[:0], page.Repetitions, page.N, 0, n.MaxRepetition, true)
		p.plain = layout.AppendLevels(p.plain, page.Definitions, page.N, n.MaxDefinition, n.MaxDefinition, true)
		if d.n > 0 {
			p.plain = d.appendIndices(p.plain, codes)
		}
		p.dataPage(page.N, int64(row), encoding)
		row = next
	}
	return &d.entries
}

// listDictionary returns a dictionary of the texts of the rows' lists, in the order in which they
// first come, and the lists as indices into it.
func listDictionary(l *columns.Leaf) (*dictionary, *columns.Lists) {
	d := &dictionary{entries: columns.Leaf{Offsets: []int32{0}}}
	x := &columns.Lists{Of: l.Lists.Of, Ends: l.Lists.Ends, Codes: make([]int32, len(l.Lists.Codes))}
	numbers := make([]int32, len(l.Offsets)-1) // 1 + that of an entry, 0 for none
	known := make([]bool, len(x.Ends)-1)
	for _, list := range x.Of {
		if list < 0 || known[list] {
			continue
		}
		known[list] = true
		for i := x.Ends[list]; i < x.Ends[list+1]; i++ {
			code := l.Lists.Codes[i]
			if numbers[code] == 0 {
				d.n++
				numbers[code] = int32(d.n)
				d.entries.Data = append(d.entries.Data, l.Value(int(code), 0)...)
				d.entries.Offsets = append(d.entries.Offsets, int32(len(d.entries.Data)))
			}
			x.Codes[i] = numbers[code] - 1
		}
	}
	return d, x
}
