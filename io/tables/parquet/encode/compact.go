package encode

import (
	"encoding/binary"
	"math/bits"

	"github.com/apache/arrow/go/v15/arrow/bitutil"

	"robotsbatch/io/tables/parquet/columns"
	"robotsbatch/io/tables/parquet/layout"
)

// bitPages appends the data pages of a leaf with Bits, without a byte for each row. It returns a leaf that has false and
// true once each, if rows have them.
func (c *chunkEncoder) bitPages(l *columns.Leaf) *columns.Leaf {
	values, ones := 0, 0
	for row := 0; row < l.N; row += pageEntries {
		n := min(pageEntries, l.N-row)
		page := columns.Bits{Values: l.Bits.Values[row>>3:]}
		if l.Bits.Valid != nil {
			page.Valid = l.Bits.Valid[row>>3:]
		}
		count := page.Count(n)
		c.beginBody(nil, nil, n)
		if count < n { // some are null: other levels
			c.plain = appendBitLevels(c.plain[:0], page.Valid, n)
		}
		begin := len(c.plain)
		c.plain = appendPresent(c.plain, &page, n)
		values += count
		ones += bitutil.CountSetBits(c.plain, 8*begin, count)
		c.dataPage(n, n, layout.Plain)
	}
	var distinct columns.Leaf
	if ones < values {
		distinct.Fixed = append(distinct.Fixed, 0)
	}
	if ones > 0 {
		distinct.Fixed = append(distinct.Fixed, 1)
	}
	return &distinct
}

// appendBitLevels appends n levels of one bit, after the number of their bytes, in the hybrid of RLE: whole bytes
// of equal levels as runs, and others as they are.
func appendBitLevels(dst, levels []byte, n int) []byte {
	begin := len(dst)
	dst = append(dst, 0, 0, 0, 0) // the number of bytes, set below
	levels, whole := levels[:(n+7)>>3], n>>3
	isRun := func(i int) bool { return i < whole && (levels[i] == 0 || levels[i] == 0xFF) }
	for i := 0; i < len(levels); {
		from := i
		for isRun(i) && levels[i] == levels[from] {
			i++
		}
		if i > from {
			dst = append(binary.AppendUvarint(dst, uint64(8*(i-from))<<1), levels[from]&1) // levels, and 0: a run
			continue
		}
		for i < len(levels) && !isRun(i) {
			i++
		}
		dst = binary.AppendUvarint(dst, uint64(i-from)<<1|1) // bytes, and 1: packed
		dst = append(dst, levels[from:i]...)
	}
	binary.LittleEndian.PutUint32(dst[begin:], uint32(len(dst)-begin-4))
	return dst
}

// appendPresent appends the values of n rows as bits, without those of null rows. It does not list runs of rows:
// with nulls at random, these would take more memory than all else, and more time.
func appendPresent(dst []byte, b *columns.Bits, n int) []byte {
	word, have := uint64(0), 0 // bits that wait for their byte to be full, and their number, less than 8
	for i := range (n + 7) >> 3 {
		valid, values := byte(0xFF), uint64(b.Values[i])
		if b.Valid != nil {
			valid = b.Valid[i]
		}
		if rest := n - 8*i; rest < 8 {
			valid &= 1<<rest - 1
		}
		if valid == 0xFF {
			word |= values << have
			have += 8
		}
		for ; valid != 0xFF && valid != 0; valid &= valid - 1 { // each set bit
			word |= values >> bits.TrailingZeros8(valid) & 1 << have
			have++
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

// listPages appends the pages of a leaf with Lists, and expands only one page at a time. There is always a dictionary,
// whatever its size. listPages returns its entries, the distinct texts that rows have.
func (c *chunkEncoder) listPages(l *columns.Leaf) *columns.Leaf {
	d, lists := listDictionary(l)
	encoding := layout.Plain // without values
	if d.n > 0 {
		encoding = layout.RLEDictionary
		c.dictionaryPage(d)
	}
	var page columns.Leaf
	for row := 0; row < len(lists.Of); {
		var next int
		next, d.indices = lists.Page(c.node, &page, d.indices[:0], row, pageEntries)
		c.beginBody(page.Repetitions, page.Definitions, page.N)
		if d.n > 0 {
			c.plain = d.appendIndices(c.plain, d.indices)
		}
		c.dataPage(page.N, next-row, encoding)
		row = next
	}
	return &d.entries
}

// listDictionary returns a dictionary of the texts that rows have, in the order in which they first come. It has no
// indices of rows: the returned lists have indices into it as their codes.
func listDictionary(l *columns.Leaf) (*dictionary, *columns.Lists) {
	d := &dictionary{entries: columns.Leaf{Offsets: []int32{0}}}
	coded := &columns.Lists{Of: l.Lists.Of, Ends: l.Lists.Ends, Codes: make([]int32, len(l.Lists.Codes))}
	entries := make([]int32, len(l.Offsets)-1) // 1 + the entry of each of the leaf's texts, 0 for none
	known := make([]bool, len(coded.Ends)-1)   // lists whose codes are set
	for _, list := range coded.Of {
		if list < 0 || known[list] {
			continue
		}
		known[list] = true
		for i := coded.Ends[list]; i < coded.Ends[list+1]; i++ {
			text := l.Lists.Codes[i]
			if entries[text] == 0 {
				d.addEntry(l.Value(int(text), 0), 0) // of no fixed width
				entries[text] = int32(d.n)
			}
			coded.Codes[i] = entries[text] - 1
		}
	}
	return d, coded
}
