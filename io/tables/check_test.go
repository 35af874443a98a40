package tables

import (
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"robotsbatch/io/frontier/tableio/tablestest"
	"robotsbatch/io/store/must"
)

// deepCopy returns array data of which change may change the buffers, counted
// from 0 in the order of a walk.
func deepCopy(d *array.Data, at *int, change func(at int, buffer []byte) []byte) *array.Data {
	buffers := make([]*memory.Buffer, len(d.Buffers()))
	for i, buffer := range d.Buffers() {
		if buffer != nil {
			aligned := make([]byte, buffer.Len()) // to eight bytes, as the allocator does
			copy(aligned, buffer.Bytes())
			buffers[i] = memory.NewBufferBytes(change(*at, aligned))
		}
		*at++
	}
	children := make([]arrow.ArrayData, len(d.Children()))
	for i, child := range d.Children() {
		children[i] = deepCopy(child.(*array.Data), at, change)
	}
	data := array.NewData(d.DataType(), d.Len(), buffers, children, d.NullN(), d.Offset())
	if dictionary, _ := d.Dictionary().(*array.Data); dictionary != nil {
		data.SetDictionary(deepCopy(dictionary, at, change))
	}
	return data
}

// What passes the check can be read, sliced and gathered without a panic,
// however a buffer was cut or changed.
func TestCheckedArraysAreSafe(t *testing.T) {
	for _, c := range tablestest.Columns(t) {
		t.Run(c.Name, func(t *testing.T) {
			whole := c.Array.Data().(*array.Data)
			buffers, refused := 0, 0
			deepCopy(whole, &buffers, func(_ int, b []byte) []byte { return b })
			try := func(change func(at int, b []byte) []byte) {
				at := 0
				d := deepCopy(whole, &at, change)
				if new(Checker).Check(d) != nil {
					refused++
					return
				}
				useArray(d)
			}
			for i := range buffers {
				for cut := range 70 {
					try(func(at int, b []byte) []byte {
						if at == i {
							return b[:min(cut, len(b))]
						}
						return b
					})
					for _, value := range []byte{0, 0x7F, 0xFF} {
						try(func(at int, b []byte) []byte {
							if at == i && cut < len(b) {
								b[cut] = value
							}
							return b
						})
					}
				}
			}
			must.Be(t, buffers <= 1 || refused != 0, "nothing was refused")
		})
	}
}

func useArray(d *array.Data) {
	a := array.MakeFromData(d)
	for i := range a.Len() {
		_ = a.ValueStr(i)
	}
	g := Maker{Memory: memory.NewGoAllocator()}
	got := g.Gather(d, Rows{{1, 3}, {5, a.Len()}})
	_ = array.MakeFromData(got).String()
	slice := array.NewSlice(a, 2, 9)
	g.Gather(slice.Data().(*array.Data), Rows{{0, 2}, {4, 7}})
}

func TestCheck(t *testing.T) {
	bytesOf := func(b ...byte) *memory.Buffer { return memory.NewBufferBytes(b) }
	int32s := func(v ...int32) *memory.Buffer { return memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(v)) }
	ints := func(v ...int32) *array.Data {
		return array.NewData(arrow.PrimitiveTypes.Int32, len(v), []*memory.Buffer{nil, int32s(v...)}, nil, 0, 0)
	}
	nested := func(dt arrow.DataType, n int, buffers []*memory.Buffer, children ...*array.Data) *array.Data {
		list := make([]arrow.ArrayData, len(children))
		for i, child := range children {
			list[i] = child
		}
		return array.NewData(dt, n, buffers, list, 0, 0)
	}
	i32 := arrow.PrimitiveTypes.Int32
	fields := []arrow.Field{{Name: "a", Type: i32}}
	codes := []arrow.UnionTypeCode{7}
	runs := arrow.RunEndEncodedOf(i32, i32)
	for _, test := range []struct {
		name   string
		data   *array.Data
		errHas string
	}{
		{"struct", nested(arrow.StructOf(fields...), 2, buffers(nil), ints(1, 2)), ""},
		{"struct with a short field", nested(arrow.StructOf(fields...), 3, buffers(nil), ints(1, 2)), "field 0 has 2 values for 3 rows"},
		{"list", nested(arrow.ListOf(i32), 2, buffers(nil, int32s(0, 1, 2)), ints(1, 2)), ""},
		{"list behind its values", nested(arrow.ListOf(i32), 2, buffers(nil, int32s(0, 1, 3)), ints(1, 2)), "the last offset is 3 of 2"},
		{"list view", nested(arrow.ListViewOf(i32), 2, buffers(nil, int32s(1, 0), int32s(1, 2)), ints(1, 2)), ""},
		{"list view behind its values", nested(arrow.ListViewOf(i32), 2, buffers(nil, int32s(1, 0), int32s(2, 2)), ints(1, 2)), "list 0 lies outside"},
		{"list view of negative size", nested(arrow.ListViewOf(i32), 1, buffers(nil, int32s(1), int32s(-1)), ints(1, 2)), "list 0 lies outside"},
		{"fixed-size list", nested(arrow.FixedSizeListOf(2, i32), 2, buffers(nil), ints(1, 2, 3, 4)), ""},
		{"fixed-size list, too long", nested(arrow.FixedSizeListOf(2, i32), 2, buffers(nil), ints(1, 2, 3)), "too few values"},
		{"sparse union", nested(arrow.SparseUnionOf(fields, codes), 2, buffers(nil, bytesOf(7, 7)), ints(1, 2)), ""},
		{"sparse union of an unknown code", nested(arrow.SparseUnionOf(fields, codes), 2, buffers(nil, bytesOf(7, 6)), ints(1, 2)), "unknown type code 6"},
		{"sparse union of a negative code", nested(arrow.SparseUnionOf(fields, codes), 1, buffers(nil, bytesOf(0x80)), ints(1)), "unknown type code -128"},
		{"sparse union with a short child", nested(arrow.SparseUnionOf(fields, codes), 2, buffers(nil, bytesOf(7, 7)), ints(1)), "1 values for 2 rows"},
		{"dense union", nested(arrow.DenseUnionOf(fields, codes), 2, buffers(nil, bytesOf(7, 7), int32s(1, 0)), ints(1, 2)), ""},
		{"dense union behind its values", nested(arrow.DenseUnionOf(fields, codes), 2, buffers(nil, bytesOf(7, 7), int32s(1, 2)), ints(1, 2)), "value 1 lies outside"},
		{"runs", nested(runs, 5, buffers(nil), ints(2, 5), ints(1, 2)), ""},
		{"runs that fall", nested(runs, 5, buffers(nil), ints(2, 2, 5), ints(1, 2, 3)), "run 1 ends at 2 after 2"},
		{"runs that end early", nested(runs, 6, buffers(nil), ints(2, 5), ints(1, 2)), "do not cover"},
		{"runs without values", nested(runs, 5, buffers(nil), ints(2, 5), ints(1)), "do not cover"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := new(Checker).Check(test.data)
			must.Need(t, (test.errHas != "" || err == nil) && (test.errHas == "" || err != nil && strings.Contains(err.Error(), test.errHas)),
				"error %v, want %q", err, test.errHas)
		})
	}
}

// The library compares the types of list views with the metadata of what is in them,
// which a schema may know and an array not.
func TestNewRecordWithMetadataInside(t *testing.T) {
	inner := arrow.Field{Name: "item", Type: arrow.PrimitiveTypes.Int64, Nullable: true}
	plain := arrow.ListViewOfField(inner)
	inner.Metadata = arrow.NewMetadata([]string{"k"}, []string{"v"})
	schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.ListViewOfField(inner), Nullable: true}}, nil)
	values := tablestest.FromJSON(t, plain, `[[1],null,[2,3]]`)
	must.Need(t, !arrow.TypeEqual(plain, schema.Field(0).Type), "the types are equal: the test shows nothing")
	record := NewRecord(schema, []*array.Data{values.Data().(*array.Data)}, 3)
	defer record.Release()
	got := record.Column(0)
	must.Be(t, got.String() == values.String() && arrow.TypeEqual(got.DataType(), schema.Field(0).Type), "%v of type %s", got, got.DataType())
}

// A dictionary without entries may be of any type: all its rows are null.
func TestPlainEmptyDictionary(t *testing.T) {
	for _, dt := range []arrow.DataType{arrow.BinaryTypes.StringView, arrow.BinaryTypes.String, arrow.StructOf(arrow.Field{Name: "x", Type: arrow.BinaryTypes.BinaryView})} {
		b := array.NewBuilder(memory.DefaultAllocator, dt)
		d := tablestest.FromJSON(t, arrow.PrimitiveTypes.Int32, `[null,null]`).Data()
		coded := array.NewDataWithDictionary(&arrow.DictionaryType{IndexType: d.DataType(), ValueType: dt}, 2, d.Buffers(), 2, 0, b.NewArray().Data().(*array.Data))
		plain := array.MakeFromData(Plain(coded, memory.DefaultAllocator))
		must.Be(t, plain.Len() == 2 && plain.NullN() == 2 && arrow.TypeEqual(plain.DataType(), dt), "%s: %v", dt, plain)
	}
}

// Rows of a dictionary of runs may be more than the type of the runs' ends can count.
func TestPlainDictionaryOfRuns(t *testing.T) {
	const rows = 40_000
	mem := memory.NewGoAllocator()
	ends, values, indices := array.NewInt16Builder(mem), array.NewStringBuilder(mem), array.NewInt32Builder(mem)
	ends.AppendValues([]int16{1, 2}, nil)
	values.AppendValues([]string{"a", "b"}, nil)
	for row := range rows {
		indices.Append(int32(row % 2))
	}
	runs := array.NewRunEndEncodedArray(ends.NewArray(), values.NewArray(), 2, 0)
	defer runs.Release()
	dt := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: runs.DataType()}
	d := indices.NewArray().Data().(*array.Data)
	coded := array.NewDataWithDictionary(dt, rows, d.Buffers(), 0, 0, runs.Data().(*array.Data))
	defer coded.Release()
	plain := array.MakeFromData(Plain(coded, mem)).(*array.String)
	for row := range rows {
		got, want := plain.Value(row), string("ab"[row%2])
		must.Need(t, got == want, "row %d: %q, want %q", row, got, want)
	}
}

// A buffer of no values may be smaller than one of them.
func TestMoveNothing(t *testing.T) {
	small := make([]byte, 0, 1)
	kept, err := Valid(nil).MoveViews(small, 1)
	must.Be(t, err == nil && len(kept) == 1 && len(kept[0]) == 0, "views: %v, %v", kept, err)
	if kept, err := Valid(nil).MoveLists(small, small, 8); err != nil || len(kept) > 0 {
		t.Errorf("lists: %v, %v", kept, err)
	}
}

// A field of a struct is null where the struct or the field is, in any run of rows.
func TestFieldOf(t *testing.T) {
	const rows = 40
	dt := arrow.StructOf(arrow.Field{Name: "x", Type: arrow.PrimitiveTypes.Int64, Nullable: true})
	b := array.NewStructBuilder(memory.DefaultAllocator, dt)
	defer b.Release()
	for i := range rows {
		if i%3 == 0 {
			b.AppendNull()
			continue
		}
		b.Append(true)
		if x := b.FieldBuilder(0).(*array.Int64Builder); i%5 == 0 {
			x.AppendNull()
		} else {
			x.Append(int64(i))
		}
	}
	whole := b.NewArray()
	defer whole.Release()
	for low := range rows {
		for high := low; high <= rows; high++ {
			outer := array.NewSlice(whole, int64(low), int64(high))
			x := array.NewInt64Data(FieldOf(outer.Data().(*array.Data), 0))
			for i := low; i < high; i++ {
				if null := i%3 == 0 || i%5 == 0; x.IsNull(i-low) != null || !null && x.Value(i-low) != int64(i) {
					t.Fatalf("rows %d to %d: row %d is null: %t", low, high-1, i, x.IsNull(i-low))
				}
			}
			outer.Release()
		}
	}
}
