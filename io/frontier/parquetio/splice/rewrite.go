package splice

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"robotsbatch/io/frontier/parquetio/layout"
)

// More numbers of fields that change, in the structures of parquet.thrift.
const (
	metaType, metaEncodings, metaPath, metaCodec  = 1, 2, 3, 4
	metaValues, metaUncompressed, metaCompressed  = 5, 6, 7
	metaStatistics, metaEncodingStats             = 12, 13
	statisticsNulls, statisticsMax, statisticsMin = 3, 5, 6

	indexNullPages, indexMin, indexMax, indexOrder, indexNulls = 1, 2, 3, 4, 5
)

// metaKept are the fields of a column chunk's metadata that a chunk has from which rows were
// left out.
var metaKept = []int16{
	metaType, metaEncodings, metaPath, metaCodec, metaValues, metaUncompressed, metaCompressed,
	metaDataPage, metaStatistics, metaEncodingStats,
}

// Chunk is what is left of a column chunk of an input after rows were left out.
type Chunk struct {
	// Values is how many entries it has, and Nulls how many of those are null.
	Values, Nulls int64
	// Uncompressed is how many bytes it has decompressed, page headers included.
	Uncompressed int64
	// Dictionary is how many bytes its dictionary's page has, 0 for none.
	Dictionary int64
	// Pages are its data pages, in order.
	Pages []Page
	// Compare is the order of its values, nil where there is none.
	Compare func(a, b []byte) int
}

// Add adds a data page.
func (c *Chunk) Add(p Page) {
	c.Pages = append(c.Pages, p)
	c.Values += p.Values
	c.Nulls += p.Nulls
}

// Page is a data page of a Chunk.
type Page struct {
	Size int64
	// Rows is how many rows begin in it.
	Rows int64
	// Values and Nulls are as in Chunk.
	Values, Nulls int64
	Kind          layout.PageKind
	Encoding      layout.Encoding
	// Continues says that it begins in the middle of a row.
	Continues bool
	// Bounds are those of its values, nil where nobody knows them.
	Bounds Bounds
}

// Bounds are the least and the greatest of some values, as statistics have them, or bounds
// of those; nil where there are none.
type Bounds struct{ Low, High []byte }

// Source is a column chunk of an input.
type Source struct {
	// Leaf is its column's number in the file.
	Leaf int
	// NoNulls says that it has no nulls.
	NoNulls bool
	// HasBounds says that its statistics or its column index have bounds.
	HasBounds bool
	// Nulls and Bounds are those of its data pages, by its column index; nil where there
	// is none that says it.
	Nulls  []int64
	Bounds []Bounds
}

// FilterGroup writes what is left of a row group of an input, so many of its rows. filter is called for
// each of the input's columns in order; it writes what is left of its pages. The added
// columns are encoded, and lie behind. Rows stay in their order, so that what the input
// says of how they are sorted stays true.
func (o *Writer) FilterGroup(input *Input, number int, rows int64, added []Added, filter func(column int, write func([]byte) error) (Chunk, error)) error {
	g := input.groups[number]
	begin, uncompressed := o.pos, int64(0)
	o.encoded = true
	chunks := make([]Chunk, len(g.chunks))
	offsets := make([]int64, len(g.chunks))
	for i := range g.chunks {
		offsets[i] = o.pos
		var err error
		if chunks[i], err = filter(i, o.write); err != nil {
			return err
		}
		uncompressed += chunks[i].Uncompressed
	}
	compressed := o.pos - begin
	own, size, err := o.add(g, added)
	if err != nil {
		return err
	}
	all := make([][]byte, 0, len(g.chunks)+len(added))
	for i := range g.chunks {
		raw, err := o.rewrite(input, g.chunks[i], &chunks[i], offsets[i])
		if err != nil {
			return fmt.Errorf("column %q: %w", input.file.Path(g.chunks[i].leaf), err)
		}
		all = append(all, raw)
	}
	o.group(g.fields, append(all, own...), sizes{offset: begin, compressed: compressed + size.compressed, uncompressed: uncompressed + size.uncompressed, rows: rows})
	return nil
}

// rewrite writes what a chunk has besides its pages, and returns its ColumnChunk
// structure.
func (o *Writer) rewrite(input *Input, c chunk, now *Chunk, offset int64) ([]byte, error) {
	fields, meta := sorted(c.fields), sorted(c.meta)
	size := now.Dictionary
	for i := range now.Pages {
		size += now.Pages[i].Size
	}
	put(&meta, layout.IntField(metaValues, layout.RawI64, now.Values))
	put(&meta, layout.IntField(metaUncompressed, layout.RawI64, now.Uncompressed))
	put(&meta, layout.IntField(metaCompressed, layout.RawI64, size))
	put(&meta, layout.IntField(metaDataPage, layout.RawI64, offset+now.Dictionary))
	// Bloom filters and all else that may tell of rows that are left out goes.
	meta = slices.DeleteFunc(meta, func(f layout.Raw) bool { return !slices.Contains(metaKept, f.ID) })
	if now.Dictionary > 0 {
		put(&meta, layout.IntField(metaDictionaryPage, layout.RawI64, offset))
	}
	set(fields, layout.IntField(chunkOffset, find(fields, chunkOffset).Kind, 0))
	if statistics := find(meta, metaStatistics); len(statistics.Value) > 0 {
		set(meta, layout.Raw{ID: metaStatistics, Kind: layout.RawStruct, Value: now.statistics()})
	}
	if len(find(meta, metaEncodingStats).Value) > 0 {
		set(meta, encodingStats(now))
	}
	fields = slices.DeleteFunc(fields, func(f layout.Raw) bool { return f.ID >= chunkOffsetIndex && f.ID <= chunkIndexSize })
	if c.columnIndex.Length > 0 {
		if index := columnIndex(now); index != nil {
			put(&fields, layout.IntField(chunkColumnIndex, layout.RawI64, o.pos))
			put(&fields, layout.IntField(chunkIndexSize, layout.RawI32, int64(len(index))))
			if err := o.write(index); err != nil {
				return nil, err
			}
		}
	}
	if index := offsetIndex(now, offset); c.offsetIndex.Length > 0 && index != nil {
		put(&fields, layout.IntField(chunkOffsetIndex, layout.RawI64, o.pos))
		put(&fields, layout.IntField(chunkOffsetIndexSize, layout.RawI32, int64(len(index))))
		if err := o.write(index); err != nil {
			return nil, err
		}
	} else {
		fields = slices.DeleteFunc(fields, func(f layout.Raw) bool { return f.ID >= chunkOffsetIndex && f.ID <= chunkIndexSize })
	}
	set(fields, layout.Raw{ID: chunkMeta, Kind: layout.RawStruct, Value: layout.AppendRaw(nil, meta)})
	return layout.AppendRaw(nil, fields), nil
}

// sorted is a copy of fields in the order of their numbers.
func sorted(fields []layout.Raw) []layout.Raw {
	fields = slices.Clone(fields)
	slices.SortStableFunc(fields, func(a, b layout.Raw) int { return cmp.Compare(a.ID, b.ID) })
	return fields
}

// put sets a field, which need not be there.
func put(fields *[]layout.Raw, value layout.Raw) {
	at, there := slices.BinarySearchFunc(*fields, value.ID, func(f layout.Raw, id int16) int { return cmp.Compare(f.ID, id) })
	if there {
		(*fields)[at] = value
		return
	}
	*fields = slices.Insert(*fields, at, value)
}

// statistics returns the Statistics of a chunk: its nulls, and the bounds of its pages if
// they are known of all.
func (c *Chunk) statistics() []byte {
	fields := []layout.Raw{layout.IntField(statisticsNulls, layout.RawI64, c.Nulls)}
	var all Bounds
	for i := range c.Pages {
		p := &c.Pages[i]
		switch b := p.Bounds; {
		case p.Nulls == p.Values:
		case b.Low == nil || c.Compare == nil:
			return layout.AppendRaw(nil, fields)
		default:
			if all.Low == nil || c.Compare(b.Low, all.Low) < 0 {
				all.Low = b.Low
			}
			if all.High == nil || c.Compare(b.High, all.High) > 0 {
				all.High = b.High
			}
		}
	}
	if all.Low != nil {
		fields = append(fields, layout.TextField(statisticsMax, all.High), layout.TextField(statisticsMin, all.Low))
	}
	return layout.AppendRaw(nil, fields)
}

// encodingStats is the field that says how many pages of each kind and encoding there are.
func encodingStats(now *Chunk) layout.Raw {
	type key struct {
		kind     layout.PageKind
		encoding layout.Encoding
	}
	var order []key
	counts := make(map[key]int64)
	add := func(k key) {
		if counts[k] == 0 {
			order = append(order, k)
		}
		counts[k]++
	}
	if now.Dictionary > 0 {
		add(key{layout.DictionaryPage, layout.Plain})
	}
	for i := range now.Pages {
		add(key{now.Pages[i].Kind, now.Pages[i].Encoding})
	}
	list := make([][]byte, len(order))
	for i, k := range order {
		list[i] = layout.AppendRaw(nil, []layout.Raw{
			layout.IntField(1, layout.RawI32, int64(k.kind)),
			layout.IntField(2, layout.RawI32, int64(k.encoding)),
			layout.IntField(3, layout.RawI32, counts[k]),
		})
	}
	return layout.ListField(metaEncodingStats, layout.RawStruct, list)
}

// offsetIndex returns the OffsetIndex structure of a chunk at an offset; nil where a page
// begins in the middle of a row, or is too large.
func offsetIndex(now *Chunk, offset int64) []byte {
	locations := make([][]byte, len(now.Pages))
	at, row := offset+now.Dictionary, int64(0)
	for i, p := range now.Pages {
		if p.Continues || p.Size > math.MaxInt32 {
			return nil
		}
		locations[i] = layout.AppendRaw(nil, []layout.Raw{
			layout.IntField(1, layout.RawI64, at),
			layout.IntField(2, layout.RawI32, p.Size),
			layout.IntField(3, layout.RawI64, row),
		})
		row += p.Rows
		at += p.Size
	}
	return layout.AppendRaw(nil, []layout.Raw{layout.ListField(indexLocations, layout.RawStruct, locations)})
}

// columnIndex returns the ColumnIndex structure of a chunk; nil where the bounds of a page are
// not known.
func columnIndex(now *Chunk) []byte {
	var nulls, low, high, counts [][]byte
	empty := []byte{0} // a text of no bytes
	for _, p := range now.Pages {
		counts = append(counts, layout.IntField(0, layout.RawI64, p.Nulls).Value)
		if p.Nulls == p.Values {
			nulls, low, high = append(nulls, []byte{layout.RawTrue}), append(low, empty), append(high, empty)
			continue
		}
		if p.Bounds.Low == nil {
			return nil
		}
		nulls = append(nulls, []byte{layout.RawFalse})
		low, high = append(low, layout.TextField(0, p.Bounds.Low).Value), append(high, layout.TextField(0, p.Bounds.High).Value)
	}
	fields := []layout.Raw{
		layout.ListField(indexNullPages, layout.RawTrue, nulls),
		layout.ListField(indexMin, layout.RawBinary, low),
		layout.ListField(indexMax, layout.RawBinary, high),
		layout.IntField(indexOrder, layout.RawI32, now.boundaryOrder()),
		layout.ListField(indexNulls, layout.RawI64, counts),
	}
	return layout.AppendRaw(nil, fields)
}

// boundaryOrder returns the format's number of the order in which the bounds of pages are.
func (c *Chunk) boundaryOrder() int64 {
	const unordered, ascending, descending = 0, 1, 2
	rises, falls := true, true
	var last Bounds
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

// pageBounds is what a ColumnIndex says of the pages of a chunk.
type pageBounds struct {
	bounds []Bounds
	nulls  []int64
}

var errIndex = errors.New("damaged: its column index does not say the same of all pages")

func readColumnIndex(in io.ReaderAt, r layout.Range) (*pageBounds, error) {
	data := make([]byte, r.Length)
	if err := layout.ReadAt(in, data, r.Offset); err != nil {
		return nil, err
	}
	fields, _, err := layout.ReadRaw(data)
	if err != nil {
		return nil, err
	}
	x := &pageBounds{}
	_, null, err := find(fields, indexNullPages).Elements()
	var low, high [][]byte
	if err == nil {
		_, low, err = find(fields, indexMin).Elements()
	}
	if err == nil {
		_, high, err = find(fields, indexMax).Elements()
	}
	if err != nil {
		return nil, err
	}
	if len(null) != len(low) || len(null) != len(high) {
		return nil, errIndex
	}
	text := func(v []byte) []byte { return layout.Raw{Kind: layout.RawBinary, Value: v}.Text() }
	for i, v := range null {
		var b Bounds
		if len(v) != 1 || v[0] != layout.RawTrue {
			b = Bounds{text(low[i]), text(high[i])}
		}
		x.bounds = append(x.bounds, b)
	}
	if counts := find(fields, indexNulls); len(counts.Value) > 0 {
		kind, list, err := counts.Elements()
		if err != nil || len(list) != len(null) {
			return nil, errIndex
		}
		for _, v := range list {
			x.nulls = append(x.nulls, layout.Raw{Kind: kind, Value: v}.Int())
		}
	}
	return x, nil
}

// Source returns what the input says of a column's chunk.
func (input *Input) Source(number, column int) Source {
	c := input.groups[number].chunks[column]
	s := Source{Leaf: c.leaf}
	if fields, _, err := layout.ReadRaw(find(c.meta, metaStatistics).Value); err == nil {
		nulls := find(fields, statisticsNulls)
		s.NoNulls = len(nulls.Value) > 0 && nulls.Int() == 0
		s.HasBounds = len(find(fields, statisticsMin).Value) > 0
	}
	if c.columnIndex.Length > 0 && c.columnIndex.Length <= maxIndex {
		if x, err := readColumnIndex(input.in, c.columnIndex); err == nil {
			s.Nulls, s.Bounds, s.HasBounds = x.nulls, x.bounds, true
		}
	}
	return s
}
