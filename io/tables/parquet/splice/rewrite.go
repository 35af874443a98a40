package splice

import (
	"cmp"
	"math"
	"slices"

	"robotsbatch/io/tables/parquet/layout"
)

// FilteredChunk describes what is left of a column chunk of an input after rows were left out.
type FilteredChunk struct {
	// Values is the number of its entries, and Nulls that of the null ones.
	Values, Nulls int64
	// Uncompressed is the number of bytes that it has decompressed, page headers included.
	Uncompressed int64
	// Dictionary is the number of bytes that its dictionary's page has, 0 for none.
	Dictionary int64
	entries    layout.Encoding // of the dictionary
	// Pages are its data pages, in order.
	Pages []layout.Written
	// Compare is the order of its values; nil if there is none, and then pages have no bounds.
	Compare func(a, b []byte) int
	// Whole says that no page was written, because the chunk is to be copied, with all that the input says of it.
	Whole bool
}

// Add adds the next page that was written.
func (c *FilteredChunk) Add(p layout.Written) {
	c.Uncompressed += int64(p.Uncompressed)
	if p.Kind == layout.DictionaryPage {
		c.Dictionary, c.entries = int64(p.Size), p.Encoding
		return
	}
	c.Pages = append(c.Pages, p)
	c.Values += int64(p.Values)
	c.Nulls += int64(p.Nulls)
}

// ValueFacts is what an input says of the values of a column chunk.
type ValueFacts struct {
	// NoNulls says that it has no nulls.
	NoNulls bool
	// HasBounds says that its statistics or its column index have bounds.
	HasBounds bool
	// Nulls and Bounds are those of its data pages, by its column index; nil where there
	// is none that says it.
	Nulls  []int64
	Bounds []layout.Bounds
}

// FilterGroup writes what is left of an input's row group after rows were left out, and the added chunks after
// it. rows is the number of rows that are kept. For each column of the input in order, filter writes the
// remaining pages by write and describes them, or says that the chunk is copied. Rows keep their order, so what
// the input says of sorting stays true.
func (o *Writer) FilterGroup(input *Input, number int, rows int64, added []Added, filter func(column int, write func([]byte) error) (FilteredChunk, error)) error {
	g, n := input.groups[number], sizes{offset: o.out.Pos, rows: rows}
	chunks := make([]FilteredChunk, len(g.chunks))
	offsets := make([]int64, len(g.chunks))
	for i := range g.chunks {
		offsets[i] = o.out.Pos
		var err error
		if chunks[i], err = filter(i, o.out.Put); err == nil && chunks[i].Whole {
			chunks[i].Uncompressed = g.chunks[i].Uncompressed
			err = o.copy(input.in, g.chunks[i].Pages)
		}
		if err != nil {
			return err
		}
		n.uncompressed += chunks[i].Uncompressed
	}
	n.compressed = o.out.Pos - n.offset
	return o.endGroup(input, g, n, added, func(i int) ([]byte, error) {
		c := g.chunks[i]
		if chunks[i].Whole {
			return o.copyIndexes(input, c, offsets[i]-c.Pages.Offset)
		}
		o.encoded = true
		return o.writeIndexes(c, &chunks[i], offsets[i])
	})
}

// writeIndexes writes the indexes of a filtered chunk, and returns its encoded ColumnChunk. c is the input's chunk, and
// filtered describes the pages that were written, from offset on. The new ColumnChunk has indexes, statistics and counts of
// pages only if the input's has them. Bloom filters and fields that are not known here are left out, because they may
// tell of rows that are left out.
func (o *Writer) writeIndexes(c chunk, filtered *FilteredChunk, offset int64) (_ []byte, err error) {
	x := *c.Chunk
	x.Values, x.Uncompressed, x.DataPage, x.DictionaryPage = filtered.Values, filtered.Uncompressed, offset+filtered.Dictionary, 0
	if filtered.Dictionary > 0 {
		x.DictionaryPage = offset
	}
	x.Pages.Length = filtered.Dictionary
	for i := range filtered.Pages {
		x.Pages.Length += int64(filtered.Pages[i].Size)
	}
	if len(find(c.meta, metaStatistics).Value) > 0 {
		x.Statistics = filtered.statistics()
	}
	if len(find(c.meta, metaEncodingStats).Value) > 0 {
		x.PageCounts = filtered.pageCounts()
	}
	x.OffsetIndex, x.ColumnIndex = layout.Range{}, layout.Range{}
	offsets := offsetIndex(filtered, offset)
	if c.OffsetIndex.Length > 0 && offsets != nil { // readers cannot use a column index without it
		if c.ColumnIndex.Length > 0 {
			if x.ColumnIndex, err = o.putIndex(columnIndex(filtered)); err != nil {
				return nil, err
			}
		}
		if x.OffsetIndex, err = o.putIndex(offsets); err != nil {
			return nil, err
		}
	}
	return layout.Append(nil, &x), nil
}

// putIndex writes an encoded index, and returns where it is: an empty range for nil.
func (o *Writer) putIndex(index []byte) (layout.Range, error) {
	at := layout.Range{Offset: o.out.Pos, Length: int64(len(index))}
	return at, o.out.Put(index)
}

// sorted returns a copy of fields in the order of their IDs, as put needs them.
func sorted(fields []layout.Raw) []layout.Raw {
	fields = slices.Clone(fields)
	slices.SortStableFunc(fields, func(a, b layout.Raw) int { return cmp.Compare(a.ID, b.ID) })
	return fields
}

// put replaces the field with value's ID, or inserts it. *fields are in the order of their IDs.
func put(fields *[]layout.Raw, value layout.Raw) {
	at, there := slices.BinarySearchFunc(*fields, value.ID, func(f layout.Raw, id int16) int { return cmp.Compare(f.ID, id) })
	if there {
		(*fields)[at] = value
		return
	}
	*fields = slices.Insert(*fields, at, value)
}

// statistics returns the Statistics of a chunk: its nulls, and the bounds of all its pages, or none if a page
// with values has none.
func (c *FilteredChunk) statistics() *layout.Statistics {
	all := layout.Statistics{Nulls: c.Nulls}
	for i := range c.Pages {
		p := &c.Pages[i]
		switch b := p.Bounds; {
		case p.Nulls == p.Values: // it has no bounds and needs none
		case b.Low == nil || c.Compare == nil:
			return &layout.Statistics{Nulls: c.Nulls}
		default:
			if all.Low == nil || c.Compare(b.Low, all.Low) < 0 {
				all.Low = b.Low
			}
			if all.High == nil || c.Compare(b.High, all.High) > 0 {
				all.High = b.High
			}
		}
	}
	return &all
}

// pageCounts returns the number of pages of each kind and encoding, those of the dictionary first.
func (c *FilteredChunk) pageCounts() (counts []layout.PageCount) {
	if c.Dictionary > 0 {
		counts = append(counts, layout.PageCount{Kind: layout.DictionaryPage, Encoding: c.entries, Count: 1})
	}
	for _, p := range c.Pages {
		at := slices.IndexFunc(counts, func(c layout.PageCount) bool { return c.Kind == p.Kind && c.Encoding == p.Encoding })
		if at < 0 {
			at = len(counts)
			counts = append(counts, layout.PageCount{Kind: p.Kind, Encoding: p.Encoding})
		}
		counts[at].Count++
	}
	return counts
}

// offsetIndex returns the encoded OffsetIndex of a chunk whose pages begin at offset. It is nil if the format has
// none for it, because a page begins in the middle of a row or is too large.
func offsetIndex(filtered *FilteredChunk, offset int64) []byte {
	x, at, row := &layout.OffsetIndex{}, offset+filtered.Dictionary, int64(0)
	for _, p := range filtered.Pages {
		if p.Continues || p.Size > math.MaxInt32 {
			return nil
		}
		x.Pages = append(x.Pages, layout.PageLocation{Offset: at, Size: int64(p.Size), Row: row})
		row += int64(p.Rows)
		at += int64(p.Size)
	}
	return layout.Append(nil, x)
}

// columnIndex returns the encoded ColumnIndex of a chunk; nil if a page with values has no bounds.
func columnIndex(filtered *FilteredChunk) []byte {
	x := &layout.ColumnIndex{Order: filtered.boundaryOrder(), Nulls: []int64{}}
	for _, p := range filtered.Pages {
		isNull := p.Nulls == p.Values
		if !isNull && p.Bounds.Low == nil {
			return nil
		}
		if isNull {
			p.Bounds = layout.Bounds{}
		}
		x.NullPages, x.Nulls = append(x.NullPages, isNull), append(x.Nulls, int64(p.Nulls))
		x.Low, x.High = append(x.Low, p.Bounds.Low), append(x.High, p.Bounds.High)
	}
	return layout.Append(nil, x)
}

// boundaryOrder returns the format's BoundaryOrder of the pages' bounds, ignoring pages without any.
func (c *FilteredChunk) boundaryOrder() int32 {
	const unordered, ascending, descending = 0, 1, 2
	rises, falls := true, true
	var last layout.Bounds
	for i := range c.Pages {
		b := c.Pages[i].Bounds
		if b.Low == nil {
			continue
		}
		if last.Low != nil {
			low, high := c.Compare(last.Low, b.Low), c.Compare(last.High, b.High)
			rises, falls = rises && low <= 0 && high <= 0, falls && low >= 0 && high >= 0
		}
		last = b
	}
	switch {
	case rises:
		return ascending
	case falls:
		return descending
	}
	return unordered
}

// ValueFacts returns what the input says of the values in a chunk of row group number. column is its index among
// the copied leaves. What is damaged is as if it were not there.
func (input *Input) ValueFacts(number, column int) ValueFacts {
	c := input.groups[number].chunks[column]
	facts, statistics := ValueFacts{}, layout.Statistics{Nulls: -1}
	if _, err := layout.Read(find(c.meta, metaStatistics).Value, &statistics); err == nil {
		facts.NoNulls, facts.HasBounds = statistics.Nulls == 0, statistics.Low != nil
	}
	var index layout.ColumnIndex
	err := input.file.ReadIndex(input.in, c.ColumnIndex, &index)
	pages := len(index.NullPages)
	agree := len(index.Low) == pages && len(index.High) == pages && (index.Nulls == nil || len(index.Nulls) == pages)
	if err != nil || pages == 0 || !agree {
		return facts
	}
	facts.Nulls, facts.HasBounds = index.Nulls, true
	for i, isNull := range index.NullPages {
		if isNull {
			index.Low[i], index.High[i] = nil, nil
		}
		facts.Bounds = append(facts.Bounds, layout.Bounds{Low: index.Low[i], High: index.High[i]})
	}
	return facts
}
