package splice

import (
	"cmp"
	"math"
	"slices"

	"robotsbatch/io/tables/parquet/layout"
)

// More numbers of fields that change, in the structures of parquet.thrift.
const (
	metaType, metaEncodings, metaPath, metaCodec = 1, 2, 3, 4
	metaValues, metaUncompressed, metaCompressed = 5, 6, 7
	metaStatistics, metaEncodingStats            = 12, 13
)

// metaKept are the fields of a ColumnMetaData that remain if rows are left out of the chunk. All others, such as
// bloom filters and fields that are not known here, may tell of these rows.
var metaKept = []int16{
	metaType, metaEncodings, metaPath, metaCodec, metaValues, metaUncompressed, metaCompressed,
	metaDataPage, metaStatistics, metaEncodingStats,
}

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
			chunks[i].Uncompressed = integer(g.chunks[i].meta, metaUncompressed)
			err = o.copy(input.in, g.chunks[i].pages)
		}
		if err != nil {
			return err
		}
		n.uncompressed += chunks[i].Uncompressed
	}
	n.compressed = o.out.Pos - n.offset
	return o.endGroup(input, g, n, added, func(i int) ([]byte, error) {
		if c := g.chunks[i]; chunks[i].Whole {
			return o.copyIndexes(input, c, offsets[i]-c.pages.Offset)
		}
		o.encoded = true
		return o.rewriteMeta(g.chunks[i], &chunks[i], offsets[i])
	})
}

// rewriteMeta writes the indexes of a filtered chunk, and returns its encoded ColumnChunk. c is the input's chunk,
// and now describes the pages that were written, from offset on.
func (o *Writer) rewriteMeta(c chunk, now *FilteredChunk, offset int64) (_ []byte, err error) {
	fields, meta := sorted(c.fields), sorted(c.meta)
	size := now.Dictionary
	for i := range now.Pages {
		size += int64(now.Pages[i].Size)
	}
	put(&meta, layout.IntField(metaValues, layout.RawI64, now.Values))
	put(&meta, layout.IntField(metaUncompressed, layout.RawI64, now.Uncompressed))
	put(&meta, layout.IntField(metaCompressed, layout.RawI64, size))
	put(&meta, layout.IntField(metaDataPage, layout.RawI64, offset+now.Dictionary))
	meta = slices.DeleteFunc(meta, func(f layout.Raw) bool { return !slices.Contains(metaKept, f.ID) })
	if now.Dictionary > 0 {
		put(&meta, layout.IntField(metaDictionaryPage, layout.RawI64, offset))
	}
	replace(fields, layout.IntField(chunkOffset, find(fields, chunkOffset).Kind, 0)) // deprecated: 0 says nothing
	if statistics := find(meta, metaStatistics); len(statistics.Value) > 0 {
		replace(meta, layout.Raw{ID: metaStatistics, Kind: layout.RawStruct, Value: layout.Append(nil, now.statistics())})
	}
	if len(find(meta, metaEncodingStats).Value) > 0 {
		replace(meta, encodingStats(now))
	}
	if fields, err = o.writeIndexes(fields, c, now, offset); err != nil {
		return nil, err
	}
	replace(fields, layout.Raw{ID: chunkMeta, Kind: layout.RawStruct, Value: layout.AppendRaw(nil, meta)})
	return layout.AppendRaw(nil, fields), nil
}

// writeIndexes writes the indexes that c, the input of a filtered chunk, has, as far as they can be made for the new
// pages. It returns fields, those of the ColumnChunk, with the places of the new indexes instead of the input's.
// now and offset are as in rewriteMeta.
func (o *Writer) writeIndexes(fields []layout.Raw, c chunk, now *FilteredChunk, offset int64) ([]layout.Raw, error) {
	isIndex := func(f layout.Raw) bool { return f.ID >= chunkOffsetIndex && f.ID <= chunkIndexSize }
	fields = slices.DeleteFunc(fields, isIndex)
	if c.columnIndex.Length > 0 {
		if index := columnIndex(now); index != nil {
			put(&fields, layout.IntField(chunkColumnIndex, layout.RawI64, o.out.Pos))
			put(&fields, layout.IntField(chunkIndexSize, layout.RawI32, int64(len(index))))
			if err := o.out.Put(index); err != nil {
				return nil, err
			}
		}
	}
	index := offsetIndex(now, offset)
	if c.offsetIndex.Length == 0 || index == nil { // readers cannot use a column index without it
		return slices.DeleteFunc(fields, isIndex), nil
	}
	put(&fields, layout.IntField(chunkOffsetIndex, layout.RawI64, o.out.Pos))
	put(&fields, layout.IntField(chunkOffsetIndexSize, layout.RawI32, int64(len(index))))
	return fields, o.out.Put(index)
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

// encodingStats returns the field of a ColumnMetaData with the number of pages of each kind and encoding.
func encodingStats(now *FilteredChunk) layout.Raw {
	var counts []layout.PageCount
	if now.Dictionary > 0 {
		counts = append(counts, layout.PageCount{Kind: layout.DictionaryPage, Encoding: now.entries, Count: 1})
	}
	for _, p := range now.Pages {
		at := slices.IndexFunc(counts, func(c layout.PageCount) bool { return c.Kind == p.Kind && c.Encoding == p.Encoding })
		if at < 0 {
			at = len(counts)
			counts = append(counts, layout.PageCount{Kind: p.Kind, Encoding: p.Encoding})
		}
		counts[at].Count++
	}
	list := make([][]byte, len(counts))
	for i := range counts {
		list[i] = layout.Append(nil, &counts[i])
	}
	return layout.ListField(metaEncodingStats, layout.RawStruct, list)
}

// offsetIndex returns the encoded OffsetIndex of a chunk whose pages begin at offset. It is nil if the format has
// none for it, because a page begins in the middle of a row or is too large.
func offsetIndex(now *FilteredChunk, offset int64) []byte {
	x, at, row := &layout.OffsetIndex{}, offset+now.Dictionary, int64(0)
	for _, p := range now.Pages {
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
func columnIndex(now *FilteredChunk) []byte {
	x := &layout.ColumnIndex{Order: now.boundaryOrder(), Nulls: []int64{}}
	for _, p := range now.Pages {
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
	err := input.file.ReadIndex(input.in, c.columnIndex, &index)
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
