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

// chunk is a column of a row group as it lies in a file.
type chunk struct {
	size, uncompressed int64 // bytes, compressed and not

	entries    int64
	dictionary int64                 // bytes of its dictionary's page, 0 for none
	places     []layout.PageLocation // from the chunk on
	nulls      int64
	low, high  []byte // the least and the greatest value, nil when that is not known
}

// pages appends the pages of a chunk to out, one after the other.
type pages struct {
	*Encoder
	chunk  *chunk // what is known of it so far
	begin  int    // of the chunk in out
	out    []byte
	plain  []byte // the body of the current page, before it is compressed
	packed []byte // and after
	err    error
}

// chunk appends the pages of a leaf to dst, and describes them. plain says not to try a dictionary.
func (e *Encoder) chunk(dst []byte, n *columns.Node, l *columns.Leaf, plain bool) ([]byte, chunk, error) {
	c := chunk{entries: int64(l.N), nulls: int64(l.N - l.Values(n.Width()))}
	begin := len(dst)
	p := pages{Encoder: e, chunk: &c, begin: begin, out: dst}
	switch {
	case l.Bits != nil:
		p.bits(n, l)
		c.low, c.high = bitExtremes(l.Bits, l.N)
	case l.Lists != nil:
		c.low, c.high = extremes(n, p.lists(n, l))
	default:
		var d *dictionary
		if !plain {
			d = newDictionary(l, n.Width())
		}
		p.dictionary(n, d)
		p.data(n, l, d)
		if d != nil {
			l = &d.entries
		}
		c.low, c.high = extremes(n, l)
	}
	c.size = int64(len(p.out) - begin)
	return p.out, c, p.err
}

// dictionary appends the page of a dictionary, unless that is nil.
func (p *pages) dictionary(n *columns.Node, d *dictionary) {
	if d == nil {
		return
	}
	p.plain = appendPlain(p.plain[:0], n, &d.entries, 0, d.n)
	p.page(layout.DictionaryPage, d.n, layout.Plain)
	p.chunk.dictionary = int64(len(p.out) - p.begin)
}

// data appends the data pages: with indices into a dictionary, unless that is nil.
func (p *pages) data(n *columns.Node, l *columns.Leaf, d *dictionary) {
	width, encoding := n.Width(), layout.Plain
	if d != nil {
		width, encoding = 4, layout.RLEDictionary // of the indices
	}
	row := int64(0)
	for entry, first := 0, 0; entry < l.N; {
		end, last := cut(n, l, width, entry, first)
		p.plain = p.plain[:0]
		if n.MaxRepetition > 0 {
			p.plain = layout.AppendLevels(p.plain, part(l.Repetitions, entry, end), end-entry, 0, n.MaxRepetition, true)
		}
		if n.MaxDefinition > 0 {
			p.plain = layout.AppendLevels(p.plain, part(l.Definitions, entry, end), end-entry, n.MaxDefinition, n.MaxDefinition, true)
		}
		if d != nil {
			p.plain = d.appendIndices(p.plain, d.indices[first:last])
		} else {
			p.plain = appendPlain(p.plain, n, l, first, last)
		}
		p.dataPage(end-entry, row, encoding)
		row += rows(l, entry, end)
		entry, first = end, last
	}
}

// dataPage appends the data page in p.plain, which begins with a row.
func (p *pages) dataPage(entries int, row int64, encoding layout.Encoding) {
	from := len(p.out)
	p.page(layout.DataPage, entries, encoding)
	p.chunk.places = append(p.chunk.places, layout.PageLocation{Offset: int64(from - p.begin), Size: int64(len(p.out) - from), Row: row})
}

// rows returns the number of rows that begin with the entries from low to high-1.
func rows(l *columns.Leaf, low, high int) int64 {
	if l.Repetitions == nil {
		return int64(high - low)
	}
	return int64(bytes.Count(l.Repetitions[low:high], []byte{0}))
}

// part returns levels low to high-1, nil for nil.
func part(levels []byte, low, high int) []byte {
	if levels == nil {
		return nil
	}
	return levels[low:high]
}

// cut returns where the page that begins with an entry ends: after entry end-1, and value last-1. first
// is the page's first value, and width the bytes that a value takes in it, 0 for byte arrays. Rows are
// not cut.
func cut(n *columns.Node, l *columns.Leaf, width, entry, first int) (end, last int) {
	most := first + pageEntries
	if width > 0 {
		most = first + max(1, pageSize/width)
	} else if offsets := l.Offsets; len(offsets) > 0 {
		limit := offsets[first] + min(pageSize, offsets[len(offsets)-1]-offsets[first])
		most = min(most, first+max(1, sort.Search(len(offsets)-1-first, func(i int) bool { return offsets[first+1+i] > limit })))
	}
	if l.Definitions == nil && l.Repetitions == nil {
		end = min(l.N, most)
		return end, end
	}
	if total := l.Values(n.Width()); l.Repetitions == nil && l.N-entry <= pageEntries && total <= most {
		return l.N, total
	}
	last = first
	for end = entry; end < l.N; end++ {
		if end > entry && (last >= most || end-entry >= pageEntries) && (l.Repetitions == nil || l.Repetitions[end] == 0) {
			break
		}
		if l.Definitions == nil || l.Definitions[end] == n.MaxDefinition {
			last++
		}
	}
	return end, last
}

// appendPlain appends the values from first to last-1 in PLAIN.
func appendPlain(dst []byte, n *columns.Node, l *columns.Leaf, first, last int) []byte {
	switch width := n.Width(); {
	case n.Type == layout.Boolean:
		return layout.AppendBits(dst, l.Fixed[first:last])
	case width > 0:
		return append(dst, l.Fixed[first*width:last*width]...)
	}
	for i := first; i < last; i++ {
		v := l.Value(i, 0)
		dst = append(binary.LittleEndian.AppendUint32(dst, uint32(len(v))), v...)
	}
	return dst
}

// page appends the page whose body is p.plain, which has a number of values.
func (p *pages) page(kind layout.PageKind, values int, encoding layout.Encoding) {
	if len(p.plain) > math.MaxInt32 {
		p.err = errors.New("a row of it has more than 2 GiB, which no page of Parquet holds: write Arrow")
		return
	}
	head, header := layout.Page{Kind: kind, Values: values, Encoding: encoding}, 0
	p.out, header = head.AppendPage(p.out, p.plain, &p.packed, p.compress)
	p.chunk.uncompressed += int64(header + len(p.plain))
}
