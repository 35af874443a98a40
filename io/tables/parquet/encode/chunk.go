package encode

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"sort"

	"robotsbatch/io/tables/parquet/columns"
	"robotsbatch/io/tables/parquet/layout"
)

const (
	// pageSize is about how many bytes of values a page has.
	pageSize = 1 << 20
	// pageEntries is the most entries of a page, but for those of its last row.
	pageEntries = 1 << 18
)

// chunk describes a column chunk, whose pages lie one after the other. Offsets count from its first byte.
type chunk struct {
	size, uncompressed int64 // bytes of its pages with their headers, as they lie and decompressed

	entries, nulls int64
	dictionary     int64                 // bytes of its dictionary's page, 0 for none
	places         []layout.PageLocation // of its data pages
	low, high      []byte                // the least and the greatest value, nil if not known
}

// chunkEncoder appends the pages of one chunk to out, one after the other.
type chunkEncoder struct {
	*Encoder
	node  *columns.Node
	chunk chunk // describes the pages so far
	rows  int64 // of the data pages so far

	begin  int    // where the chunk begins in out
	out    []byte // ends with the chunk's pages so far
	plain  []byte // scratch: a page's body, before it is compressed
	packed []byte // scratch: a page's body, compressed
	err    error  // the first, after which pages are missing in out
}

// encodeChunk appends the pages of leaf l of node n to dst, and returns them with their description.
func (e *Encoder) encodeChunk(dst []byte, n *columns.Node, l *columns.Leaf) ([]byte, chunk, error) {
	c := chunkEncoder{Encoder: e, node: n, begin: len(dst), out: dst}
	c.chunk.entries, c.chunk.nulls = int64(l.N), int64(l.N-l.Values(n.Width()))
	var distinct *columns.Leaf // has each value of l at least once
	switch {
	case l.Bits != nil:
		distinct = c.bitPages(l)
	case l.Lists != nil:
		distinct = c.listPages(l)
	default:
		distinct = c.valuePages(l)
	}
	c.chunk.low, c.chunk.high = extremes(n, distinct)
	c.chunk.size = int64(len(c.out) - c.begin)
	return c.out, c.chunk, c.err
}

// valuePages appends the pages of a leaf that has neither Bits nor Lists, with a dictionary if values repeat. It
// returns a leaf that has each of the values at least once.
func (c *chunkEncoder) valuePages(l *columns.Leaf) *columns.Leaf {
	d := newDictionary(l, c.node.Width())
	if d == nil {
		c.dataPages(l, nil)
		return l
	}
	c.dictionaryPage(d)
	c.dataPages(l, d)
	return &d.entries
}

// dictionaryPage appends the page of a dictionary.
func (c *chunkEncoder) dictionaryPage(d *dictionary) {
	c.plain = appendPlain(c.plain[:0], c.node, &d.entries, 0, d.n)
	c.page(layout.DictionaryPage, d.n, layout.Plain)
	c.chunk.dictionary = int64(len(c.out) - c.begin)
}

// dataPages appends data pages of a leaf's entries. Their values are indices into d, or plain if d is nil.
func (c *chunkEncoder) dataPages(l *columns.Leaf, d *dictionary) {
	width := c.node.Width()
	if d != nil {
		width = 4 // of an index, before it is packed
	}
	for entry, value := 0, 0; entry < l.N; {
		endEntry, endValue := pageEnd(c.node, l, width, entry, value)
		repetitions := slice(l.Repetitions, entry, endEntry)
		c.beginBody(repetitions, slice(l.Definitions, entry, endEntry), endEntry-entry)
		encoding := layout.Plain
		if d != nil {
			encoding = layout.RLEDictionary
			c.plain = d.appendIndices(c.plain, d.indices[value:endValue])
		} else {
			c.plain = appendPlain(c.plain, c.node, l, value, endValue)
		}
		rows := endEntry - entry
		if repetitions != nil {
			rows = bytes.Count(repetitions, []byte{0}) // an entry with 0 begins a row
		}
		c.dataPage(endEntry-entry, rows, encoding)
		entry, value = endEntry, endValue
	}
}

// beginBody begins the body of a data page: it sets c.plain to the levels of n entries. Repetitions that are nil
// are 0, and definitions that are nil the highest level. As in pages of version 1, their size comes first.
func (c *chunkEncoder) beginBody(repetitions, definitions []byte, n int) {
	const withSize = true
	c.plain = c.plain[:0]
	if most := c.node.MaxRepetition; most > 0 {
		c.plain = layout.AppendLevels(c.plain, repetitions, n, 0, most, withSize)
	}
	if most := c.node.MaxDefinition; most > 0 {
		c.plain = layout.AppendLevels(c.plain, definitions, n, most, most, withSize)
	}
}

// dataPage appends the data page whose body is c.plain. It begins with a row.
func (c *chunkEncoder) dataPage(entries, rows int, encoding layout.Encoding) {
	from := len(c.out)
	c.page(layout.DataPage, entries, encoding)
	c.chunk.places = append(c.chunk.places, layout.PageLocation{Offset: int64(from - c.begin), Size: int64(len(c.out) - from), Row: c.rows})
	c.rows += int64(rows)
}

// slice returns levels low to high-1, nil for nil.
func slice(levels []byte, low, high int) []byte {
	if levels == nil {
		return nil
	}
	return levels[low:high]
}

// pageEnd returns where the page that begins with an entry and a value ends: the entry and the value after its last ones.
// An entry that is null has no value. width is the bytes that a value takes in the page, 0 for byte arrays. A page ends with
// a whole row, so it may be larger than pageSize and pageEntries.
func pageEnd(n *columns.Node, l *columns.Leaf, width, entry, value int) (endEntry, endValue int) {
	most := value + pageEntries // the first value that no longer fits, where no size says otherwise
	if width > 0 {
		most = value + max(1, pageSize/width)
	} else if offsets := l.Offsets; len(offsets) > 0 {
		limit := offsets[value] + min(pageSize, offsets[len(offsets)-1]-offsets[value]) // min: the sum must not overflow
		// As many values as end before limit, but one at least.
		most = min(most, value+max(1, sort.Search(len(offsets)-1-value, func(i int) bool { return offsets[value+1+i] > limit })))
	}
	if l.Definitions == nil && l.Repetitions == nil { // each entry is a row and has a value
		end := min(l.N, most)
		return end, end
	}
	// Without lists, if all that is left fits, there is no need to look at each entry.
	if total := l.Values(n.Width()); l.Repetitions == nil && l.N-entry <= pageEntries && total <= most {
		return l.N, total
	}
	endValue = value
	for endEntry = entry; endEntry < l.N; endEntry++ {
		isFull := endValue >= most || endEntry-entry >= pageEntries
		beginsRow := l.Repetitions == nil || l.Repetitions[endEntry] == 0
		if endEntry > entry && isFull && beginsRow {
			break
		}
		if l.Definitions == nil || l.Definitions[endEntry] == n.MaxDefinition {
			endValue++
		}
	}
	return endEntry, endValue
}

// appendPlain appends values low to high-1 of a leaf in PLAIN.
func appendPlain(dst []byte, n *columns.Node, l *columns.Leaf, low, high int) []byte {
	switch width := n.Width(); {
	case n.Type == layout.Boolean:
		return layout.AppendBits(dst, l.Fixed[low:high])
	case width > 0:
		return append(dst, l.Fixed[low*width:high*width]...)
	}
	for i := low; i < high; i++ {
		v := l.Value(i, 0) // of no fixed width
		dst = append(binary.LittleEndian.AppendUint32(dst, uint32(len(v))), v...)
	}
	return dst
}

// page appends the page whose body is c.plain: its header and the body, compressed. values is the number of
// its entries or, for a dictionary, of its values.
func (c *chunkEncoder) page(kind layout.PageKind, values int, encoding layout.Encoding) {
	if len(c.plain) > math.MaxInt32 {
		c.err = errors.New("a row of it has more than 2 GiB, which no page of Parquet holds: write Arrow")
		return
	}
	p, headerSize := layout.Page{Kind: kind, Values: values, Encoding: encoding}, 0
	c.out, headerSize = p.AppendPage(c.out, c.plain, &c.packed, c.compress)
	c.chunk.uncompressed += int64(headerSize + len(c.plain))
}
