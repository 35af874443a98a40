// Package tablestest has tables of every type for tests of the formats of tables.
package tablestest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"robotsbatch/batch"
	"robotsbatch/io/store/must"
)

// Each calls do with each piece of a source, up to the end or an error.
func Each(s batch.Source, do func(batch.Piece) error) error {
	for {
		p, err := s.Next(context.Background())
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = do(p)
		}
		if err != nil {
			return err
		}
	}
}

// seeker makes a buffer what the library's file writer writes to.
type seeker struct{ bytes.Buffer }

func (s *seeker) Seek(offset int64, whence int) (int64, error) {
	if offset != 0 || whence != io.SeekCurrent {
		return 0, errors.New("no seeking")
	}
	return int64(s.Len()), nil
}

// WriteArrow has the library write records as a stream, or else as a file.
func WriteArrow(t testing.TB, stream bool, schema *arrow.Schema, records []arrow.Record, options ...ipc.Option) []byte {
	t.Helper()
	var out seeker
	var w interface {
		Write(arrow.Record) error
		Close() error
	}
	options = append(options, ipc.WithSchema(schema))
	if w = ipc.NewWriter(&out, options...); !stream {
		w = must.Get(ipc.NewFileWriter(&out, options...))(t)
	}
	for _, record := range records {
		must.Do(t, w.Write(record))
	}
	must.Do(t, w.Close())
	return out.Bytes()
}

// ReadArrow has the library read a stream or a file. The records are never released.
func ReadArrow(t testing.TB, data []byte) (schema *arrow.Schema, records []arrow.Record) {
	t.Helper()
	if bytes.HasPrefix(data, ipc.Magic) {
		r := must.Get(ipc.NewFileReader(bytes.NewReader(data)))(t)
		for i := range r.NumRecords() {
			records = append(records, must.Get(r.RecordAt(i))(t))
		}
		return r.Schema(), records
	}
	r := must.Get(ipc.NewReader(bytes.NewReader(data)))(t)
	for r.Next() {
		r.Record().Retain()
		records = append(records, r.Record())
	}
	must.Do(t, r.Err())
	return r.Schema(), records
}

// Column is an array of a type that can stand next to the URLs.
type Column struct {
	Name  string
	Array arrow.Array
}

// Columns returns arrays of 12 values of all types that the library reads and
// writes.
func Columns(t testing.TB) []Column {
	var list []Column
	add := func(name string, dt arrow.DataType, text string) {
		list = append(list, Column{name, FromJSON(t, dt, text)})
	}
	const ints = `[1,2,null,4,5,6,7,null,9,10,11,12]`
	const strings = `["a","","ccc",null,"a longer string of letters","f","gg",null,"another one that is long","j","kk","l"]`
	const lists = `[[1,2],[],null,[3],[4,null,6],[7],[8,9],[10],null,[11],[12,13],[14]]`
	for _, dt := range []arrow.DataType{
		arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Uint16,
		arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Uint64,
		arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64, arrow.FixedWidthTypes.Float16,
		arrow.FixedWidthTypes.Duration_s,
		&arrow.Decimal128Type{Precision: 10, Scale: 0}, &arrow.Decimal256Type{Precision: 10, Scale: 0},
	} {
		add(dt.String(), dt, ints)
	}
	add("null", arrow.Null, `[null,null,null,null,null,null,null,null,null,null,null,null]`)
	add("bool", arrow.FixedWidthTypes.Boolean, `[true,false,null,true,true,false,true,null,false,false,true,true]`)
	days := `["1970-01-01","2024-02-29",null,"1999-12-31","2000-01-01","2000-01-02","2000-01-03",null,"2000-01-05","2000-01-06","2000-01-07","2000-01-08"]`
	add("date32", arrow.FixedWidthTypes.Date32, days)
	add("date64", arrow.FixedWidthTypes.Date64, days)
	add("timestamp", &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}, days)
	times := `["00:00:01","12:30:00",null,"23:59:59","00:00:00","01:00:00","02:00:00",null,"03:00:00","04:00:00","05:00:00","06:00:00"]`
	add("time32", arrow.FixedWidthTypes.Time32s, times)
	add("time64", arrow.FixedWidthTypes.Time64ns, times)
	for _, dt := range []arrow.DataType{
		arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString, arrow.BinaryTypes.StringView,
	} {
		add(dt.String(), dt, strings)
	}
	const binary = `["AQ==","","AQI=",null,"AQIDBAUGBwgJCgsMDQ4PEBESExQ=","AQ==","AQ==",null,"AQ==","AQ==","AQ==","AgIC"]`
	for _, dt := range []arrow.DataType{arrow.BinaryTypes.Binary, arrow.BinaryTypes.LargeBinary, arrow.BinaryTypes.BinaryView} {
		add(dt.String(), dt, binary)
	}
	add("fixed_size_binary", &arrow.FixedSizeBinaryType{ByteWidth: 3}, `["AQID","AQID",null,"BAUG","BAUG","AQID","AQID",null,"AQID","AQID","AQID","BAUG"]`)
	for _, dt := range []arrow.DataType{
		arrow.ListOf(arrow.PrimitiveTypes.Int32), arrow.LargeListOf(arrow.PrimitiveTypes.Int16),
		arrow.ListViewOf(arrow.PrimitiveTypes.Int32), arrow.LargeListViewOf(arrow.PrimitiveTypes.Int64),
	} {
		add(dt.String(), dt, lists)
	}
	add("fixed_size_list", arrow.FixedSizeListOf(2, arrow.BinaryTypes.String),
		`[["a","b"],["c",null],null,["d","e"],["f","g"],["h","i"],["j","k"],null,["l","m"],["n","o"],["p","q"],["r","s"]]`)
	add("list of strings", arrow.ListOf(arrow.BinaryTypes.String),
		`[["a","b"],[],null,["d"],["f","a string that is long",null],["h"],["j"],null,["l","m"],["n","o"],["p"],["r","s"]]`)
	add("list of views", arrow.ListOf(arrow.BinaryTypes.StringView),
		`[["a","b"],[],null,["d"],["f","a string that is long",null],["h"],["j"],null,["l","m"],["n","o"],["p"],["another string that is long","s"]]`)
	add("struct", arrow.StructOf(
		arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
		arrow.Field{Name: "b", Type: arrow.ListOf(arrow.BinaryTypes.String), Nullable: true}),
		`[{"a":1,"b":["x"]},{"a":2,"b":null},null,{"a":null,"b":["y","z"]},{"a":5,"b":[]},{"a":6,"b":["w"]},{"a":7,"b":null},null,{"a":9,"b":["v"]},{"a":10,"b":["u"]},{"a":11,"b":["t","s"]},{"a":12,"b":null}]`)
	add("map", arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int32),
		`[[{"key":"a","value":1}],[],null,[{"key":"b","value":null}],[],[{"key":"c","value":1},{"key":"d","value":2}],[],null,[],[],[],[{"key":"z","value":3}]]`)
	unionFields := []arrow.Field{
		{Name: "i", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
		{Name: "s", Type: arrow.BinaryTypes.String, Nullable: true},
	}
	const union = `[[5,1],[9,"b"],[5,null],[9,"dd"],[9,""],[5,6],[5,7],[9,null],[5,9],[9,"j"],[9,"k"],[5,12]]`
	add("sparse union", arrow.SparseUnionOf(unionFields, []arrow.UnionTypeCode{5, 9}), union)
	add("dense union", arrow.DenseUnionOf(unionFields, []arrow.UnionTypeCode{5, 9}), union)
	add("list of dense unions", arrow.ListOf(arrow.DenseUnionOf(unionFields, []arrow.UnionTypeCode{5, 9})),
		`[[[5,1],[9,"b"]],[],null,[[5,null]],[[9,"dd"],[9,""]],[[5,6]],[[5,7],[9,null]],null,[[5,9]],[],[[9,"k"]],[[5,12]]]`)
	for _, ends := range []arrow.DataType{arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64} {
		values := FromJSON(t, arrow.BinaryTypes.String, `["run",null,"of","strings"]`)
		runs := array.NewRunEndEncodedArray(FromJSON(t, ends, `[3,4,9,12]`), values, 12, 0)
		list = append(list, Column{"run ends " + ends.String(), runs})
	}
	add("month interval", arrow.FixedWidthTypes.MonthInterval, `[{"months":1},null,{"months":2},null,null,null,null,null,null,null,null,{"months":9}]`)
	add("interval", arrow.FixedWidthTypes.DayTimeInterval, `[{"days":1,"milliseconds":2},null,{"days":1,"milliseconds":3},null,null,null,null,null,null,null,null,{"days":9,"milliseconds":2}]`)
	add("long interval", arrow.FixedWidthTypes.MonthDayNanoInterval, `[{"months":1,"days":1,"nanoseconds":2},null,null,null,null,null,null,null,null,null,null,{"months":7,"days":1,"nanoseconds":2}]`)
	for _, index := range []arrow.DataType{arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Int64} {
		dt := &arrow.DictionaryType{IndexType: index, ValueType: arrow.BinaryTypes.String}
		add(dt.String(), dt, `["a","b","a",null,"c","c","c","a",null,"d","b","a"]`)
	}
	add("dictionary of numbers", &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint32, ValueType: arrow.PrimitiveTypes.Float64},
		`[1.5,2.5,null,1.5,1.5,1.5,1.5,null,9,9,1.5,2.5]`)
	list = append(list, Column{"list of dictionaries", dictionaryList(t)})
	return list
}

// dictionaryList returns lists of dictionary values, which the library's JSON
// does not make.
func dictionaryList(t testing.TB) arrow.Array {
	dt := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	values := FromJSON(t, dt, `["x","y","x",null,"z","z","x","y","x","x","y","z"]`)
	lists := FromJSON(t, arrow.ListOf(arrow.PrimitiveTypes.Int8), `[[1],[2],[],null,[1,2,3],[4],[5],[6],null,[7,8],[9],[1]]`)
	data := array.NewData(arrow.ListOf(dt), lists.Len(), lists.Data().Buffers(), []arrow.ArrayData{values.Data()}, lists.NullN(), 0)
	return array.NewListData(data)
}

// SameRows fails unless row i of got is row rows[i] of want, whatever the order of dictionaries.
func SameRows(t testing.TB, got, want arrow.Array, rows []int) {
	t.Helper()
	if got.Len() != len(rows) {
		t.Fatalf("%d rows, want %d", got.Len(), len(rows))
	}
	for i, n := 0, 1; i < len(rows); i, n = i+n, 1 {
		for i+n < len(rows) && rows[i+n] == rows[i]+n { // the library compares whole dictionaries each time
			n++
		}
		if array.SliceEqual(got, int64(i), int64(i+n), want, int64(rows[i]), int64(rows[i]+n)) {
			continue
		}
		for ; n > 0; i, n = i+1, n-1 {
			same := array.SliceEqual(got, int64(i), int64(i+1), want, int64(rows[i]), int64(rows[i]+1))
			if !same && strings.Contains(want.DataType().String(), "dictionary") {
				same = got.ValueStr(i) == want.ValueStr(rows[i])
			}
			if !same {
				t.Fatalf("row %d of\n%v\nis not row %d of\n%v", i, got, rows[i], want)
			}
		}
	}
}

// FromJSON returns an array of values in the library's JSON.
func FromJSON(t testing.TB, dt arrow.DataType, text string) arrow.Array {
	t.Helper()
	a, _, err := array.FromJSON(memory.NewGoAllocator(), dt, strings.NewReader(text))
	if err != nil {
		t.Fatalf("%s: %v", dt, err)
	}
	return a
}

// NewRecord returns a record of these columns.
func NewRecord(names []string, columns ...arrow.Array) arrow.Record {
	fields := make([]arrow.Field, len(columns))
	for i, column := range columns {
		fields[i] = arrow.Field{Name: names[i], Type: column.DataType(), Nullable: true}
	}
	return array.NewRecord(arrow.NewSchema(fields, nil), columns, int64(columns[0].Len()))
}

// URLArray returns n URLs, a null among every seven when asked for.
func URLArray(n int, nulls bool) arrow.Array {
	b := array.NewStringBuilder(memory.NewGoAllocator())
	defer b.Release()
	for i := range n {
		if nulls && i%7 == 3 {
			b.AppendNull()
		} else {
			b.Append(fmt.Sprintf("https://example.com/page/%d", i))
		}
	}
	return b.NewArray()
}

// Verdicts returns verdicts for n rows: of three rows the first is
// allowed, the second denied, and the third has no verdict.
func Verdicts(n int) *batch.Verdicts {
	size := (n + 7) / 8
	a := batch.AgentVerdicts{Allowed: make([]byte, size), Valid: make([]byte, size)}
	for i := range n {
		switch i % 3 {
		case 0:
			a.Allowed[i>>3] |= 1 << (i & 7)
			fallthrough
		case 1:
			a.Valid[i>>3] |= 1 << (i & 7)
		default:
			a.Nulls++
		}
	}
	return &batch.Verdicts{Rows: n, Agents: []batch.AgentVerdicts{a}, SelectedRows: n}
}

// Select selects the rows of which keep is true.
func Select(v *batch.Verdicts, keep func(row int) bool) {
	v.Selected, v.SelectedRows = make([]byte, (v.Rows+7)/8), 0
	for i := range v.Rows {
		if keep(i) {
			v.Selected[i>>3] |= 1 << (i & 7)
			v.SelectedRows++
		}
	}
}
