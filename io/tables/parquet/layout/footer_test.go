package layout

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/metadata"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"robotsbatch/io/frontier/tableio/tablestest"
	"robotsbatch/io/store/budget"
	"robotsbatch/io/store/must"
)

// sampleFile is a small file with columns of many types, of two row groups.
func sampleFile(t testing.TB) []byte {
	t.Helper()
	var names []string
	var arrays []arrow.Array
	for _, c := range tablestest.Columns(t) {
		switch c.Name {
		case "int8", "uint16", "uint32", "int64", "date32", "timestamp", "time64", "decimal(10, 0)", "utf8", "binary", "fixed_size_binary", "list of strings", "struct", "map", "bool":
			names, arrays = append(names, c.Name), append(arrays, c.Array)
		}
	}
	record := tablestest.NewRecord(names, arrays...)
	var out bytes.Buffer
	w := must.Get(pqarrow.NewFileWriter(record.Schema(), &out, parquet.NewWriterProperties(parquet.WithMaxRowGroupLength(7)), pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema())))(t)
	must.Do(t, w.Write(record))
	must.Do(t, w.Close())
	return out.Bytes()
}

// The footer says what the library reads in it.
func TestFooter(t *testing.T) {
	data := sampleFile(t)
	got := must.Get(ReadFooter(bytes.NewReader(data), int64(len(data)), 1<<20))(t)
	r := must.Get(file.NewParquetReader(bytes.NewReader(data)))(t)
	want := r.MetaData()
	if got.Rows != want.NumRows || len(got.Groups) != len(want.RowGroups) || len(got.Leaves) != want.Schema.NumColumns() || len(got.Schema) != len(want.FileMetaData.Schema) {
		t.Fatalf("%d rows, %d groups, %d columns, %d elements", got.Rows, len(got.Groups), len(got.Leaves), len(got.Schema))
	}
	for i, leaf := range got.Leaves {
		column := want.Schema.Column(i)
		must.Be(t, got.Path(i) == column.Path() && leaf.MaxDefinition == int(column.MaxDefinitionLevel()) && leaf.MaxRepetition == int(column.MaxRepetitionLevel()),
			"column %d: %s with levels %d and %d, want %s", i, got.Path(i), leaf.MaxDefinition, leaf.MaxRepetition, column)
	}
	for i, e := range got.Schema {
		w := want.FileMetaData.Schema[i]
		var want Logical
		if l := w.GetLogicalType(); l != nil {
			switch want.Kind = e.Logical.Kind; {
			case l.IsSetDECIMAL():
				want = Logical{Kind: logicalDecimal, Scale: l.DECIMAL.Scale, Precision: l.DECIMAL.Precision}
			case l.IsSetINTEGER():
				want = Logical{Kind: logicalInteger, Bits: l.INTEGER.BitWidth, Signed: l.INTEGER.IsSigned}
			case l.IsSetTIMESTAMP():
				want = Logical{Kind: logicalTimestamp, UTC: l.TIMESTAMP.IsAdjustedToUTC, Unit: 2}
			case l.IsSetTIME():
				want = Logical{Kind: logicalTime, UTC: l.TIME.IsAdjustedToUTC, Unit: 3}
			}
		}
		if e.Name != w.Name || w.IsSetType() && int32(e.Type) != int32(w.GetType()) || e.Children != w.GetNumChildren() || i > 0 && int32(e.Repetition) != int32(w.GetRepetitionType()) || e.Logical != want {
			t.Errorf("element %d: %+v, want %v", i, e, w)
		}
	}
	for i := range got.Groups {
		checkGroup(t, &got.Groups[i], want, i)
	}
	must.Be(t, len(got.Metadata) == 1 && got.Metadata[0].Key == "ARROW:schema" && got.Metadata[0].Value == *want.KeyValueMetadata().FindValue("ARROW:schema"),
		"metadata %v", got.Metadata)
}

func checkGroup(t *testing.T, got *RowGroup, want *metadata.FileMetaData, i int) {
	t.Helper()
	group := want.RowGroups[i]
	must.Equal(t, got.Rows, group.NumRows, "row group", i, "rows")
	for j, c := range got.Chunks {
		m := group.Columns[j].MetaData
		if int32(c.Type) != int32(m.Type) || int32(c.Codec) != int32(m.Codec) || c.Values != m.NumValues || c.Pages.Length != m.TotalCompressedSize ||
			c.Uncompressed != m.TotalUncompressedSize || !slices.Equal(c.Path, m.PathInSchema) || len(c.Encodings) != len(m.Encodings) {
			t.Errorf("chunk %d of row group %d: %+v, want %v", j, i, c, m)
		}
	}
}

// frame makes a file of nothing but a footer.
func frame(footer string) []byte {
	data := append([]byte(Magic), footer...)
	return append(binary.LittleEndian.AppendUint32(data, uint32(len(footer))), Magic...)
}

func TestHostileFooter(t *testing.T) {
	const (
		column = "\x15\x0c\x25\x02\x18\x01x\x25\x00\x00"          // x: an optional byte array, text
		schema = "\x15\x02\x19\x2c\x48\x01r\x15\x02\x00" + column // version, schema
	)
	for name, test := range map[string]struct{ data, want string }{
		"empty":                       {"", "0 bytes"},
		"other":                       {"not Parquet at all", "not a Parquet file"},
		"encrypted":                   {"PAR1 and a footer PARE", "encrypted"},
		"no end":                      {"PAR1 and nothing after it", "written whole"},
		"a footer that is too long":   {"PAR1\xff\xff\xff\x00PAR1", "damaged"},
		"an empty footer":             {string(frame("")), "damaged"},
		"a long list":                 {string(frame("\x19\xfc\xff\xff\xff\x07")), "damaged"},
		"deep structures":             {string(frame(strings.Repeat("\x1c", 100))), "damaged"},
		"deep lists":                  {string(frame("\x79" + strings.Repeat("\x19", 100))), "damaged"},
		"a field twice":               {string(frame(schema + "\x16\x00\x19\x0c\x05\x06\x00\x00")), "field 3 twice"},
		"a map":                       {string(frame("\x7b\x01")), "damaged"},
		"no schema":                   {string(frame("\x15\x02\x26\x00\x19\x0c\x00")), "lacks field 2"},
		"no number of rows":           {string(frame(schema + "\x29\x0c\x00")), "lacks field 3"},
		"a column without a name":     {string(frame("\x15\x02\x19\x1c\x15\x06\x00\x16\x00\x19\x0c\x00")), "lacks field 4"},
		"a time without a unit":       {string(frame("\x15\x02\x19\x1c\x48\x01r\x6c\x8c\x11\x00\x00\x00\x16\x00\x19\x0c\x00")), "lacks field 2"},
		"a chunk without a codec":     {string(frame(schema + "\x16\x00\x19\x1c\x19\x1c\x26\x00\x1c\x15\x0c\x19\x05\x19\x08\x26\x00\x16\x00\x16\x00\x26\x00\x00\x00\x16\x00\x16\x02\x00\x00")), "lacks field 4"},
		"a schema that is no tree":    {string(frame("\x15\x02\x19\x1c\x48\x01r\x15\x06\x00\x16\x00\x19\x0c\x00")), "not a tree"},
		"100,000 columns":             {string(frame("\x29\xfc\xa0\x8d\x06" + strings.Repeat("\x48\x00\x00", 100_000) + "\x00")), "more than 50000"},
		"row groups of nothing":       {string(frame(schema + "\x16\x00\x19\xfc\xa0\x8d\x06" + strings.Repeat("\x00", 100_000) + "\x00")), "damaged"},
		"a chunk without metadata":    {string(frame(schema + "\x16\x00\x19\x1c\x19\x1c\x26\x00\x00\x16\x00\x16\x00\x00\x00")), "where its data lies"},
		"a row group of another size": {string(frame(schema + "\x16\x00\x19\x1c\x19\x1c\x26\x00\x1c\x15\x0c\x19\x05\x19\x08\x15\x00\x16\x00\x16\x00\x16\x00\x26\x00\x00\x00\x16\x00\x16\x02\x00\x00")), "1 rows"},
	} {
		must.Say(t, must.Err(ReadFooter(strings.NewReader(test.data), int64(len(test.data)), 1<<20)), test.want, name)
	}
	empty := frame(schema + "\x16\x00\x19\x0c\x00")
	f, err := ReadFooter(bytes.NewReader(empty), int64(len(empty)), 1<<20)
	must.Be(t, err == nil && f.Path(0) == "x" && f.Leaves[0].MaxDefinition != 0, "a file without rows: %v", err)
}

// A footer takes memory in proportion to its bytes, whatever it says.
func TestFooterMemory(t *testing.T) {
	data := frame("\x29\xfc\xc0\x84\x3d" + strings.Repeat("\x48\x00\x00", 600_000) + "\x00")
	var err error
	taken := must.Allocated(func() { _, err = ReadFooter(bytes.NewReader(data), int64(len(data)), 1<<21) })
	must.Be(t, err != nil && taken <= 30<<20, "%d bytes of memory taken: %v", taken, err)
}

// A footer that is too large says how large, so that the user learns which -memory is enough.
func TestFooterTooLarge(t *testing.T) {
	data := []byte(Magic + strings.Repeat("x", 2000) + "\xD0\x07\x00\x00" + Magic)
	_, err := ReadFooter(bytes.NewReader(data), int64(len(data)), 1999)
	large := (*budget.MemoryError)(nil)
	must.Be(t, errors.As(err, &large) && large.Need == 2000 && large.Limit == 1999, "%v", err)
}

// Any byte of a footer may be changed: an error or another footer, but no panic.
func TestFlippedFooter(t *testing.T) {
	data := sampleFile(t)
	length := int(binary.LittleEndian.Uint32(data[len(data)-8:]))
	refused := 0
	for i := len(data) - 8 - length; i < len(data)-8; i++ {
		bad := must.Flipped(data, i, 1<<(i%8))
		if _, err := ReadFooter(bytes.NewReader(bad), int64(len(bad)), 1<<20); err != nil {
			refused++
		}
	}
	must.Be(t, refused != 0, "nothing was refused")
}

// TestBoundsStay: the bounds in a page's header stay when the next pages are read.
func TestBoundsStay(t *testing.T) {
	const n = 3 * aheadSize / 64 // more than is read ahead at once
	number := func(id int16, v int64) Raw { return IntField(id, RawI32, v) }
	bound := func(i int) []byte { return fmt.Appendf(nil, "bound %06d", i) }
	var data []byte
	for i := range n {
		known := AppendRaw(nil, []Raw{TextField(5, bound(i+1)), TextField(6, bound(i))})
		head := AppendRaw(nil, []Raw{number(1, 1), number(2, int64(Plain)), number(3, int64(RLE)), number(4, int64(RLE)), {ID: 5, Kind: RawStruct, Value: known}})
		data = append(AppendRaw(data, []Raw{number(1, int64(DataPage)), number(2, 4), number(3, 4), {ID: 5, Kind: RawStruct, Value: head}}), 1, 2, 3, 4)
	}
	s := NewStream(bytes.NewReader(data), &Chunk{Type: Int32, Pages: Range{Length: int64(len(data))}}, 1<<20)
	var pages []Page
	var buffer []byte
	for s.More() {
		p, err := s.Next()
		if err == nil {
			buffer = slices.Grow(buffer[:0], p.StoredSize())[:p.StoredSize()]
			err = s.Body(&p, buffer)
		}
		must.Do(t, err)
		pages = append(pages, p)
	}
	must.Need(t, len(pages) == n, "%d pages, want %d", len(pages), n)
	for i, p := range pages {
		must.Need(t, bytes.Equal(p.Low, bound(i)) && bytes.Equal(p.High, bound(i+1)), "page %d: %q to %q", i, p.Low, p.High)
	}
}
