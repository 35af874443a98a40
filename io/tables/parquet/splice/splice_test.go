package splice

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"robotsbatch/io/store/must"
	"robotsbatch/io/tables/parquet/layout"
)

// Booleans, as their fields and elements have them.
const rawTrue, rawFalse = 1, 2

// Short names for fields.

func i32(id int16, v int64) layout.Raw   { return layout.IntField(id, layout.RawI32, v) }
func i64(id int16, v int64) layout.Raw   { return layout.IntField(id, layout.RawI64, v) }
func text(id int16, v string) layout.Raw { return layout.TextField(id, []byte(v)) }

func nested(id int16, fields ...layout.Raw) layout.Raw {
	return layout.Raw{ID: id, Kind: layout.RawStruct, Value: layout.AppendRaw(nil, fields)}
}

func structs(id int16, list ...[]byte) layout.Raw {
	return layout.ListField(id, layout.RawStruct, list)
}

func texts(id int16, list ...string) layout.Raw {
	var values [][]byte
	for _, v := range list {
		values = append(values, text(0, v).Value)
	}
	return layout.ListField(id, layout.RawBinary, values)
}

func numbers(id int16, kind byte, list ...int64) layout.Raw {
	var values [][]byte
	for _, v := range list {
		values = append(values, layout.IntField(0, kind, v).Value)
	}
	return layout.ListField(id, kind, values)
}

// made is a file with two columns, x and y, in two row groups of three pages each. What
// is not pages of x is there as well: a bloom filter, indexes, and fields 99 that nobody
// knows.
type made struct {
	data   []byte
	pages  [2][2]layout.Range
	bloom  [2]layout.Range
	maker  string
	sorted []int64 // columns by which rows are sorted
}

const pageBytes, inGroup = 20, 30

func (m *made) add(text string) layout.Range {
	r := layout.Range{Offset: int64(len(m.data)), Length: int64(len(text))}
	m.data = append(m.data, text...)
	return r
}

func makeFile(m made) *made {
	m.data = []byte(layout.Magic)
	var groups [][]byte
	for g := range 2 {
		var chunks [][]byte
		for c := range 2 {
			body := ""
			for page := range 3 {
				body += fmt.Sprintf("%-20s", fmt.Sprintf("page %d of %d, %d", page, g, c))
			}
			m.pages[g][c] = m.add(body)
		}
		m.bloom[g] = m.add("\x15\x0a\x00bloom")
		for c := range 2 {
			chunks = append(chunks, m.chunk(g, c))
		}
		var sorting [][]byte
		for _, column := range m.sorted {
			sorting = append(sorting, layout.AppendRaw(nil, []layout.Raw{i32(1, column), {ID: 2, Kind: rawFalse}, {ID: 3, Kind: rawFalse}}))
		}
		fields := []layout.Raw{structs(1, chunks...), i64(2, 2*3*pageBytes), i64(3, inGroup)}
		if sorting != nil {
			fields = append(fields, structs(4, sorting...))
		}
		fields = append(fields, i64(5, m.pages[g][0].Offset), i64(6, 2*3*pageBytes), layout.IntField(7, layout.RawI16, int64(g)), i64(99, 5))
		groups = append(groups, layout.AppendRaw(nil, fields))
	}
	element := func(fields ...layout.Raw) []byte { return layout.AppendRaw(nil, fields) }
	order := layout.AppendRaw(nil, []layout.Raw{nested(1)})
	footer := layout.AppendRaw(nil, []layout.Raw{
		i32(1, 2),
		structs(2, element(text(4, "schema"), i32(5, 2)), element(i32(1, 1), i32(3, 1), text(4, "x")), element(i32(1, 2), i32(3, 1), text(4, "y"))),
		i64(3, 2*inGroup), structs(4, groups...),
		structs(5, layout.AppendRaw(nil, []layout.Raw{text(1, "key"), text(2, "value")})),
		text(6, m.maker), structs(7, order, order), i64(99, 6),
	})
	m.data = append(m.data, footer...)
	m.data = append(binary.LittleEndian.AppendUint32(m.data, uint32(len(footer))), layout.Magic...)
	return &m
}

// chunk is the ColumnChunk of a column: x has all that there may be, y its pages alone.
func (m *made) chunk(g, c int) []byte {
	at := m.pages[g][c]
	meta := []layout.Raw{
		i32(1, int64(c)+1), numbers(2, layout.RawI32, 0, 3), texts(3, []string{"x", "y"}[c]), i32(4, 0),
		i64(5, inGroup), i64(6, at.Length), i64(7, at.Length), i64(9, at.Offset),
	}
	if c > 0 {
		return layout.AppendRaw(nil, []layout.Raw{i64(2, 0), nested(3, meta...)})
	}
	meta = append(meta,
		nested(12, text(1, "old high"), text(2, "old low"), i64(3, 3), i64(4, 9), text(5, "high"), text(6, "low"), layout.Raw{ID: 7, Kind: rawTrue}),
		structs(13, layout.AppendRaw(nil, []layout.Raw{i32(1, 0), i32(2, 0), i32(3, 3)})),
		i64(14, m.bloom[g].Offset), i32(15, m.bloom[g].Length), nested(16, i64(1, 7)), i64(99, 7))
	var places [][]byte
	for page := range int64(3) {
		places = append(places, layout.AppendRaw(nil, []layout.Raw{i64(1, at.Offset+page*pageBytes), i32(2, pageBytes), i64(3, 10*page)}))
	}
	offsets := m.add(string(layout.AppendRaw(nil, []layout.Raw{structs(1, places...)})))
	column := m.add(string(layout.AppendRaw(nil, []layout.Raw{
		layout.ListField(1, rawTrue, [][]byte{{rawFalse}, {rawTrue}, {rawFalse}}),
		texts(2, "low 0", "", "low 2"), texts(3, "high 0", "", "high 2"), i32(4, 1), numbers(5, layout.RawI64, 1, 10, 2),
	})))
	return layout.AppendRaw(nil, []layout.Raw{
		i64(2, 0), nested(3, meta...),
		i64(4, offsets.Offset), i32(5, offsets.Length), i64(6, column.Offset), i32(7, column.Length), i64(99, 8),
	})
}

func open(t *testing.T, data []byte, fields []int) (*layout.File, *Input) {
	t.Helper()
	file := must.Get(layout.ReadFooter(bytes.NewReader(data), int64(len(data)), 1<<20))(t)
	input := must.Get(Open(bytes.NewReader(data), file, fields))(t)
	return file, input
}

// added is a column that is added, of one page with so many rows.
func added(rows int64) (Columns, []Added) {
	element := layout.AppendRaw(nil, []layout.Raw{i32(1, 1), i32(3, 1), text(4, "added")})
	columns := Columns{
		Elements: [][]byte{element}, Fields: 1, Leaves: 1, Maker: "maker",
		Metadata: func(pairs []layout.KeyValue) ([]layout.KeyValue, error) {
			return append(pairs, layout.KeyValue{Key: "more", Value: "2"}), nil
		},
	}
	return columns, []Added{{
		Data: []byte("added page"),
		OffsetIndex: func(offset int64) []byte {
			place := layout.AppendRaw(nil, []layout.Raw{i64(1, offset), i32(2, 10), i64(3, 0)})
			return layout.AppendRaw(nil, []layout.Raw{structs(1, place)})
		},
		Chunk: func(offset, index int64) layout.Chunk {
			return layout.Chunk{
				Type: layout.Int32, Encodings: []layout.Encoding{layout.Plain}, Path: []string{"added"}, Values: rows, Uncompressed: 10,
				Pages: layout.Range{Length: 10}, DataPage: offset, OffsetIndex: layout.Range{Offset: offset + 10, Length: index},
			}
		},
	}}
}

// write writes a file, and opens it again.
func write(t *testing.T, input *Input, rows int64, groups func(w *Writer, added []Added) error) (out []byte, file *layout.File, again *Input) {
	t.Helper()
	var b bytes.Buffer
	columns, own := added(rows)
	w, err := NewWriter(&b, input, columns)
	if err == nil {
		err = groups(w, own)
	}
	if err == nil {
		err = w.Close()
	}
	must.Do(t, err)
	must.Be(t, w.out.Pos == int64(b.Len()) && !w.Failed(), "it says it wrote %d bytes, of %d", w.out.Pos, b.Len())
	file, again = open(t, b.Bytes(), nil)
	for _, g := range file.Groups {
		for i := range g.Chunks {
			must.Do(t, file.CheckIndexes(bytes.NewReader(b.Bytes()), &g.Chunks[i]))
		}
	}
	return b.Bytes(), file, again
}

func part(data []byte, r layout.Range) string { return string(data[r.Offset : r.Offset+r.Length]) }

// Row groups are copied in any order, and as often as one likes: their bytes stay, and
// what says where they lie moves.
func TestCopyGroup(t *testing.T) {
	m := makeFile(made{maker: "other"})
	_, input := open(t, m.data, nil)
	order := []int{1, 0, 1}
	out, file, again := write(t, input, inGroup, func(w *Writer, own []Added) error {
		for _, g := range order {
			if err := w.CopyGroup(input, g, own); err != nil {
				return err
			}
		}
		return nil
	})
	must.Need(t, len(file.Groups) == len(order) && file.Rows == int64(len(order)*inGroup), "%d row groups of %d rows", len(file.Groups), file.Rows)
	for i, g := range order {
		for c := range 2 {
			must.Equal(t, part(out, file.Groups[i].Chunks[c].Pages), part(m.data, m.pages[g][c]), "row group", i, "pages")
		}
		must.Equal(t, part(out, file.Groups[i].Chunks[2].Pages), "added page", "row group", i, "added")
		x := again.groups[i].chunks[0]
		must.Equal(t, part(out, x.bloom), part(m.data, m.bloom[g]), "row group", i, "bloom filter")
		index, _, err := layout.ReadRaw([]byte(part(out, x.OffsetIndex)))
		must.Do(t, err)
		_, places, _ := find(index, 1).Elements()
		for page, raw := range places {
			place, _, _ := layout.ReadRaw(raw)
			must.Equal(t, integer(place, 1), x.Pages.Offset+int64(page)*pageBytes, "row group", i, "page", page, "lies at", x.Pages.Offset)
		}
		must.Be(t, integer(x.fields, 99) == 8 && integer(x.meta, 99) == 7 && integer(again.groups[i].fields, 99) == 5 && integer(again.footer, 99) == 6,
			"fields that are not known are gone")
		must.Equal(t, integer(again.groups[i].fields, groupOrdinal), int64(i), "row group", i, "it is number")
	}
	must.Equal(t, string(find(again.footer, fileCreatedBy).Text()), "other", "created by", "where nothing was encoded")
	must.DeepEqual(t, file.Metadata, []layout.KeyValue{{Key: "key", Value: "value"}, {Key: "more", Value: "2"}}, "metadata")
}

// filtered writes row group 0 with these pages of x, and one of y.
func filtered(t *testing.T, m *made, rows int64, x FilteredChunk) (out []byte, file *layout.File, again *Input) {
	t.Helper()
	_, input := open(t, m.data, nil)
	return write(t, input, rows, func(w *Writer, own []Added) error {
		return w.FilterGroup(input, 0, rows, own, func(column int, write func([]byte) error) (FilteredChunk, error) {
			c := x
			if column > 0 {
				c = FilteredChunk{Uncompressed: 5}
				c.Add(layout.Written{Size: 5, Rows: int(rows), Values: int(rows)})
			}
			size := c.Dictionary
			for _, p := range c.Pages {
				size += int64(p.Size)
			}
			return c, write(bytes.Repeat([]byte{'x'}, int(size)))
		})
	})
}

func boundsOf(low, high string) layout.Bounds {
	return layout.Bounds{Low: []byte(low), High: []byte(high)}
}

// What a filtered chunk says of itself comes from its pages, and nothing from the rows that
// it had before.
func TestFilterGroup(t *testing.T) {
	x := FilteredChunk{Uncompressed: 77}
	x.Compare = bytes.Compare
	x.Add(layout.Written{Size: 4, Encoding: layout.PlainDictionary, Kind: layout.DictionaryPage})
	x.Add(layout.Written{Size: 7, Rows: 9, Values: 9, Nulls: 1, Encoding: layout.RLEDictionary, Bounds: boundsOf("b", "h")})
	x.Add(layout.Written{Size: 8, Rows: 3, Values: 3, Nulls: 0, Encoding: layout.Plain, Kind: layout.DataPageV2, Bounds: boundsOf("c", "k")})
	x.Add(layout.Written{Size: 9, Rows: 2, Values: 2, Nulls: 2, Encoding: layout.Plain, Kind: layout.DataPageV2})
	out, file, again := filtered(t, makeFile(made{maker: "other"}), 14, x)
	c := again.groups[0].chunks[0]
	g := again.groups[0].fields
	for _, test := range []struct {
		what      string
		got, want int64
	}{
		{"rows of the file", file.Rows, 14},
		{"rows", integer(g, groupRows), 14},
		{"bytes", integer(g, groupBytes), 77 + 5 + 10},
		{"compressed", integer(g, groupCompressed), 4 + 7 + 8 + 9 + 5 + 10}, // without indexes
		{"values", c.Values, 14},
		{"uncompressed", c.Uncompressed, 77},
		{"size", c.Pages.Length, 28},
		{"dictionary", c.DictionaryPage, 4},
		{"data", c.DataPage, 8},
		{"sizes that nobody counted", int64(len(find(c.meta, 16).Value)), 0},
		{"a field that may tell of its values", int64(len(find(c.meta, 99).Value)), 0},
		{"a bloom filter", c.bloom.Length, 0},
	} {
		must.Equal(t, test.got, test.want, test.what)
	}
	statistics, _, _ := layout.ReadRaw(find(c.meta, metaStatistics).Value)
	want := []layout.Raw{i64(3, 3), text(5, "k"), text(6, "b")}
	must.DeepEqual(t, statistics, want)
	counts := x.pageCounts()
	_, list, _ := find(c.meta, metaEncodingStats).Elements()
	must.Need(t, len(counts) == 3 && len(list) == 3, "%d kinds of pages", len(list))
	for i := range counts {
		must.Be(t, bytes.Equal(list[i], layout.Append(nil, &counts[i])), "encodings %x", list[i])
	}
	must.Equal(t, counts[0], layout.PageCount{Kind: layout.DictionaryPage, Encoding: layout.PlainDictionary, Count: 1}, "the dictionary's page")
	s := again.ValueFacts(0, 0)
	if !reflect.DeepEqual(s.Bounds, []layout.Bounds{boundsOf("b", "h"), boundsOf("c", "k"), {}}) || !reflect.DeepEqual(s.Nulls, []int64{1, 0, 2}) || s.NoNulls || x.boundaryOrder() != 1 {
		t.Errorf("its source is %+v", s)
	}
	must.Equal(t, part(out, c.OffsetIndex), string(offsetIndex(&x, 4)), "offset index")
	for _, old := range []string{"bloom", "low", "high"} {
		must.Be(t, !bytes.Contains(out, []byte(old)), "%q is still there", old)
	}
	must.Equal(t, string(find(again.footer, fileCreatedBy).Text()), "maker", "created by")
}

// Where an index cannot be true, there is none.
func TestFilterGroupIndexes(t *testing.T) {
	for _, test := range []struct {
		name            string
		page            layout.Written
		columns, places bool
	}{
		{"known", layout.Written{Size: 1, Rows: 2, Values: 2, Nulls: 1, Bounds: boundsOf("a", "b")}, true, true},
		{"it begins in the middle of a row", layout.Written{Size: 1, Rows: 2, Values: 2, Continues: true, Bounds: boundsOf("a", "b")}, false, false},
		{"values whose bounds nobody knows", layout.Written{Size: 1, Rows: 2, Values: 2}, false, true},
		{"nothing but nulls", layout.Written{Size: 1, Rows: 2, Values: 2, Nulls: 2}, true, true},
	} {
		x := FilteredChunk{Compare: bytes.Compare}
		x.Add(test.page)
		_, _, again := filtered(t, makeFile(made{maker: "other"}), 2, x)
		c := again.groups[0].chunks[0]
		must.Be(t, (c.ColumnIndex.Length > 0) == test.columns && (c.OffsetIndex.Length > 0) == test.places,
			"%s: column index %d, offset index %d bytes", test.name, c.ColumnIndex.Length, c.OffsetIndex.Length)
	}
	var nulls FilteredChunk
	nulls.Add(layout.Written{Size: 1, Rows: 2, Values: 2, Nulls: 2})
	_, _, again := filtered(t, makeFile(made{maker: "parquet-cpp version 1.2"}), 2, nulls)
	statistics, _, _ := layout.ReadRaw(find(again.groups[0].chunks[0].meta, metaStatistics).Value)
	must.DeepEqual(t, statistics, []layout.Raw{i64(3, 2)}, "nothing but nulls")
	must.Equal(t, string(find(again.footer, fileCreatedBy).Text()), "parquet-cpp version 1.2", "created by", "whom readers know what they do")
}

// The order of pages is what their bounds say.
func TestBoundaryOrder(t *testing.T) {
	for _, test := range []struct {
		pages []layout.Bounds
		want  int32
	}{
		{[]layout.Bounds{boundsOf("a", "b"), {}, boundsOf("a", "c")}, 1},
		{[]layout.Bounds{boundsOf("b", "c"), boundsOf("a", "c"), {}}, 2},
		{[]layout.Bounds{boundsOf("a", "c"), boundsOf("b", "b")}, 0},
	} {
		x := FilteredChunk{Compare: bytes.Compare}
		for _, b := range test.pages {
			x.Add(layout.Written{Values: 1, Bounds: b})
		}
		must.Equal(t, x.boundaryOrder(), test.want, test.pages, "order")
	}
}

// Writers whose files readers do not treat as others' keep their name.
func TestPeculiar(t *testing.T) {
	for name, want := range map[string]bool{
		"parquet-cpp version 1.3.2": true, "impala version 1.2": true, "impala version 2.9": true, "impala version 3.0": false,
		"parquet-mr": true, "parquet-mr version 1.8.0 (build x)": true, "parquet-mr version 1.10.0": false, "parquet-mr version 1.": false,
		"parquet-cpp-arrow version 26.0.1": false, "DuckDB version v2.0.0": false, "": false,
	} {
		must.Equal(t, peculiar(name), want, name, !want)
	}
}

// Of some columns come these alone, and how rows are sorted ends where a column is gone.
func TestProject(t *testing.T) {
	m := makeFile(made{maker: "other", sorted: []int64{1, 0}})
	for column, sorted := range [][]int64{nil, {0}} {
		_, input := open(t, m.data, []int{column})
		out, file, again := write(t, input, inGroup, func(w *Writer, own []Added) error { return w.CopyGroup(input, 1, own) })
		must.Need(t, len(file.Leaves) == 2 && file.Path(0) == []string{"x", "y"}[column] && file.Path(1) == "added", "columns %v", file.Schema)
		must.Equal(t, part(out, file.Groups[0].Chunks[0].Pages), part(m.data, m.pages[1][column]), "pages")
		must.Equal(t, integer(again.groups[0].fields, groupBytes), 3*pageBytes+10, "it says it", "bytes")
		_, list, _ := find(again.groups[0].fields, groupSorting).Elements()
		var by []int64
		for _, raw := range list {
			fields, _, _ := layout.ReadRaw(raw)
			by = append(by, integer(fields, 1))
		}
		must.DeepEqual(t, by, sorted, "column", column, "sorted by")
		_, orders, _ := find(again.footer, fileOrders).Elements()
		must.Equal(t, len(orders), 2, "orders")
	}
}

// Inputs of another writer or schema do not go into one file.
func TestSame(t *testing.T) {
	_, one := open(t, makeFile(made{maker: "one"}).data, nil)
	_, same := open(t, makeFile(made{maker: "one", sorted: []int64{0}}).data, nil)
	_, other := open(t, makeFile(made{maker: "other"}).data, nil)
	_, fewer := open(t, makeFile(made{maker: "one"}).data, []int{0})
	must.Be(t, one.Difference(same) == "" && strings.Contains(one.Difference(other), "another program") && one.Difference(fewer) != "",
		"%q, %q, %q", one.Difference(same), one.Difference(other), one.Difference(fewer))
}

// A footer that says that two parts overlap, or lie elsewhere, is refused: nothing is
// copied twice, whatever it says.
func TestOpenHostile(t *testing.T) {
	sound := makeFile(made{maker: "other", sorted: []int64{0}})
	end := len(sound.data) - 8 - int(binary.LittleEndian.Uint32(sound.data[len(sound.data)-8:]))
	rng := rand.New(rand.NewPCG(1, 2))
	opened, failed := 0, 0
	for at := end; at < len(sound.data)-8; at++ {
		for range 8 {
			data := must.Flipped(sound.data, at, byte(1+rng.IntN(255)))
			file, err := layout.ReadFooter(bytes.NewReader(data), int64(len(data)), 1<<20)
			if err != nil {
				continue
			}
			input, err := Open(bytes.NewReader(data), file, nil)
			if err != nil {
				failed++
				continue
			}
			opened++
			var b bytes.Buffer
			columns, own := added(1)
			w, err := NewWriter(&b, input, columns)
			for g := 0; err == nil && g < len(file.Groups); g++ {
				if err = w.CopyGroup(input, g, own); err == nil {
					err = w.FilterGroup(input, g, 1, own, func(int, func([]byte) error) (FilteredChunk, error) {
						return FilteredChunk{Pages: make([]layout.Written, 1)}, nil
					})
				}
			}
			if err == nil {
				err = w.Close()
			}
			most := 4*len(sound.data) + 4<<10
			must.Be(t, b.Len() <= most, "byte %d: %d bytes were written of %d, %v", at, b.Len(), len(data), err)
		}
	}
	must.Be(t, opened != 0 && failed != 0, "%d opened, %d failed", opened, failed)
	for name, r := range map[string]layout.Range{
		"overlaps pages": {Offset: sound.pages[0][1].Offset - 1, Length: 5},
		"the magic":      {Offset: 3, Length: 5},
		"behind the end": {Offset: int64(end) - 2, Length: 5},
		"a long one":     {Offset: 4, Length: 1 << 62},
		"a negative one": {Offset: 4, Length: -1},
		"before it":      {Offset: -4, Length: 4},
	} {
		_, input := open(t, sound.data, nil)
		must.Say(t, input.checkRanges([]layout.Range{sound.pages[0][0], sound.pages[0][1], r}), "damaged", name)
	}
}
