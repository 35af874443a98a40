package columns

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	stdstrings "strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"robotsbatch/io/store/must"
	"robotsbatch/io/tables"
	"robotsbatch/io/tables/parquet/layout"
)

// entry is what a leaf has of one value, null or empty list.
type entry struct {
	repetition, definition byte
	value                  any
}

// reference appends the entries of a value, as JSON has it, to those of the leaves
// below a node: the format's description word for word.
func reference(leaves [][]entry, n *Node, value any, repetition, definition byte) {
	if n.Repetition == layout.Optional {
		if value == nil {
			ends(leaves, n, repetition, definition)
			return
		}
		definition++
	}
	switch {
	case n.Type != layout.NoType:
		leaves[n.Leaf] = append(leaves[n.Leaf], entry{repetition, definition, value})
	case n.Meaning.Kind == List || n.Meaning.Kind == Map:
		repeated := n.Children[0]
		list := value.([]any)
		if len(list) == 0 {
			ends(leaves, n, repetition, definition)
		}
		for i, element := range list {
			if i > 0 {
				repetition = repeated.MaxRepetition
			}
			if n.Meaning.Kind == List {
				reference(leaves, repeated.Children[0], element, repetition, definition+1)
				continue
			}
			for _, child := range repeated.Children {
				reference(leaves, child, element.(map[string]any)[child.Name], repetition, definition+1)
			}
		}
	default:
		for _, child := range n.Children {
			reference(leaves, child, value.(map[string]any)[child.Name], repetition, definition)
		}
	}
}

// ends appends to all leaves below a node that there is no value.
func ends(leaves [][]entry, n *Node, repetition, definition byte) {
	for _, leaf := range Leaves(nil, []*Node{n}) {
		leaves[leaf.Leaf] = append(leaves[leaf.Leaf], entry{repetition, definition, nil})
	}
}

// entriesOf returns the entries of a leaf of 32-bit integers.
func entriesOf(n *Node, l *Leaf) (list []entry) {
	values := l.Fixed
	for i := range l.N {
		e := entry{definition: n.MaxDefinition}
		if l.Definitions != nil {
			e.definition = l.Definitions[i]
		}
		if l.Repetitions != nil {
			e.repetition = l.Repetitions[i]
		}
		if e.definition == n.MaxDefinition {
			e.value = float64(int32(binary.LittleEndian.Uint32(values)))
			values = values[4:]
		}
		list = append(list, e)
	}
	return list
}

// nested returns all types of up to a depth of lists, structs and maps, nullable and not.
func nested(depth int) (list []arrow.Field) {
	for _, nullable := range []bool{false, true} {
		list = append(list, arrow.Field{Type: arrow.PrimitiveTypes.Int32, Nullable: nullable})
		if depth == 0 {
			continue
		}
		for _, child := range nested(depth - 1) {
			element, a := child, child
			element.Name, a.Name = "element", "a"
			values := arrow.MapOf(arrow.PrimitiveTypes.Int32, child.Type)
			values.SetItemNullable(child.Nullable)
			for _, dt := range []arrow.DataType{
				arrow.ListOfField(element), arrow.LargeListOfField(element), arrow.FixedSizeListOfField(2, element),
				arrow.StructOf(a, arrow.Field{Name: "b", Type: arrow.PrimitiveTypes.Int32}), values,
			} {
				list = append(list, arrow.Field{Type: dt, Nullable: nullable})
			}
		}
	}
	return list
}

// values returns values of a type as JSON has them: of lists, those of none, one and
// two elements that differ.
func values(f arrow.Field) (list []any) {
	if f.Nullable {
		list = append(list, nil)
	}
	lists := func(elements []any, sizes ...int) {
		for i := range elements {
			for _, size := range sizes {
				list = append(list, append([]any{}, elements[i], elements[(i+1)%len(elements)])[:size])
			}
		}
	}
	switch dt := f.Type.(type) {
	case *arrow.StructType:
		for i, v := range values(dt.Field(0)) {
			list = append(list, map[string]any{"a": v, "b": float64(i)})
		}
	case *arrow.MapType:
		var pairs []any
		for i, v := range values(dt.ItemField()) {
			pairs = append(pairs, map[string]any{"key": float64(i), "value": v})
		}
		lists(pairs, 0, 1, 2)
	case *arrow.FixedSizeListType:
		lists(values(dt.ElemField()), 2)
	case arrow.ListLikeType:
		lists(values(dt.ElemField()), 0, 1, 2)
	default:
		list = append(list, float64(7), float64(8))
	}
	return list[:min(len(list), 30)]
}

// All nested types of up to two levels are shredded as the reference does it, whole and
// sliced, and come back as they were.
func TestNestedTypes(t *testing.T) {
	for i, field := range nested(2) {
		field.Name = "x"
		t.Run(fmt.Sprintf("%d/%s/nullable=%t", i, field.Type, field.Nullable), func(t *testing.T) {
			rows := values(field)
			text := must.Get(json.Marshal(rows))(t)
			whole, _, err := array.FromJSON(memory.DefaultAllocator, field.Type, stdstrings.NewReader(string(text)))
			must.Do(t, err)
			schema := must.Get(FromArrow(arrow.NewSchema([]arrow.Field{field}, nil)))(t)
			for _, low := range []int{0, 1, len(rows)} {
				testNested(t, schema, field.Type, array.NewSlice(whole, int64(low), int64(len(rows))), rows[low:])
			}
		})
	}
}

func testNested(t *testing.T, schema *Schema, dt arrow.DataType, a arrow.Array, rows []any) {
	t.Helper()
	n := schema.Nodes[0]
	shredder := Shredder{Memory: memory.DefaultAllocator}
	leaves := must.Get(shredder.Shred(n, a.Data().(*array.Data)))(t)
	want := make([][]entry, len(schema.Leaves))
	for _, row := range rows {
		reference(want, n, row, 0, 0)
	}
	copies := make([]Leaf, len(leaves))
	for i := range leaves {
		if got := entriesOf(schema.Leaves[i], &leaves[i]); !slices.Equal(got, want[i]) {
			t.Fatalf("leaf %d of %v:\n%v, want\n%v", i, a, got, want[i])
		}
		must.Do(t, copies[i].Append(schema.Leaves[i], &leaves[i]))
	}
	stored := schema.Stored.Field(0)
	column, casts, err := Read(n, &stored)
	if err != nil || len(casts) > 0 {
		t.Fatal(casts, err)
	}
	if !arrow.TypeEqual(column.Field.Type, dt, arrow.CheckMetadata()) || column.Field.Nullable != stored.Nullable {
		t.Fatalf("%s came back as %s", dt, column.Field.Type)
	}
	data := must.Get(column.Assemble(copies))(t)
	must.Equal(t, jsonOf(t, array.MakeFromData(data)), jsonOf(t, a))
}

func jsonOf(t *testing.T, a arrow.Array) string {
	t.Helper()
	text := must.Get(json.Marshal(a))(t)
	return string(text)
}

// What Parquet has no type for comes out as another with its values, and says so.
func TestTypesAndCasts(t *testing.T) {
	zone := func(name string) arrow.DataType { return &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: name} }
	for _, test := range []struct {
		dt, want arrow.DataType // want is nil for the same type
	}{
		{zone(""), nil},
		{zone("UTC"), nil},
		{zone("Europe/Berlin"), nil},
		{&arrow.TimestampType{Unit: arrow.Second}, arrow.FixedWidthTypes.Timestamp_ms.(*arrow.TimestampType)},
		{arrow.FixedWidthTypes.Time32s, arrow.FixedWidthTypes.Time32ms},
		{arrow.FixedWidthTypes.Date64, arrow.FixedWidthTypes.Date32},
		{arrow.FixedWidthTypes.Duration_s, nil},
		{arrow.FixedWidthTypes.Float16, nil},
		{arrow.BinaryTypes.LargeString, nil},
		{arrow.BinaryTypes.StringView, arrow.BinaryTypes.String},
		{arrow.PrimitiveTypes.Uint8, nil},
		{&arrow.Decimal128Type{Precision: 20, Scale: 3}, nil},
		{&arrow.Decimal256Type{Precision: 70, Scale: 3}, nil},
		{arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64), arrow.PrimitiveTypes.Int64},
	} {
		t.Run(test.dt.String(), func(t *testing.T) {
			metadata := arrow.NewMetadata([]string{"note", fieldIDKey}, []string{"kept", "17"})
			schema, err := FromArrow(arrow.NewSchema([]arrow.Field{{Name: "x", Type: test.dt, Nullable: true, Metadata: metadata}}, nil))
			must.Do(t, err)
			stored := schema.Stored.Field(0)
			column, casts, err := Read(schema.Nodes[0], &stored)
			must.Do(t, err)
			casts = append(schema.Casts, casts...)
			want := test.want
			if want == nil {
				want = test.dt
			}
			got := column.Field.Type
			if ts, ok := want.(*arrow.TimestampType); ok && test.want != nil {
				want = &arrow.TimestampType{Unit: ts.Unit}
			}
			must.Be(t, arrow.TypeEqual(got, want) && (test.want != nil) == (len(casts) == 1), "came out as %s with the notes %v", got, casts)
			if id := schema.Nodes[0].FieldID; id != 17 || column.Field.Metadata.FindKey("note") < 0 || column.Field.Metadata.FindKey(fieldIDKey) < 0 {
				t.Errorf("field %d with %v", id, column.Field.Metadata)
			}
		})
	}
}

// pyarrow and Polars refuse a file with keys that may be null, even where no map has any.
func TestMapsOfNulls(t *testing.T) {
	for _, key := range []arrow.DataType{arrow.Null, arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, arrow.Null)} {
		_, err := FromArrow(arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.MapOf(key, arrow.BinaryTypes.String)}}, nil))
		must.Mention(t, err, `column "x"`, "the format has no maps with keys of type null")
	}
}

// A timestamp of 96 bits is the nanoseconds of a Julian day.
func TestInt96(t *testing.T) {
	n := &Node{Name: "x", Type: layout.Int96, FieldID: -1}
	SetLevels([]*Node{n})
	column, casts, err := Read(n, nil)
	if err != nil || len(casts) != 1 {
		t.Fatal(casts, err)
	}
	at := func(day uint32, nanoseconds uint64) []byte {
		return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64(nil, nanoseconds), day)
	}
	data, err := column.Assemble([]Leaf{{N: 2, Fixed: slices.Concat(at(2_440_588, 5), at(2_440_587, 86_399_999_999_999))}})
	must.Do(t, err)
	must.EqualSlices(t, array.MakeFromData(data).(*array.Timestamp).TimestampValues(), []arrow.Timestamp{5, -1})
	if _, err := column.Assemble([]Leaf{{N: 1, Fixed: at(5_373_484, 0)}}); err == nil || !stdstrings.Contains(err.Error(), "1678 to 2262") {
		t.Errorf("the year 9999: %v", err)
	}
}

// Memory is allocated for all decimals together, not for each.
func TestDecimalsAllocate(t *testing.T) {
	const rows = 1000
	l := &Leaf{N: rows, Fixed: make([]byte, 9*rows)}
	n := &Node{Type: layout.FixedLenByteArray, Length: 9}
	allocated := testing.AllocsPerRun(5, func() { must.Get(decimals(l, n, 16, &spread{n: rows}))(t) })
	must.Be(t, allocated <= 20, "%v allocations for %d decimals", allocated, rows)
}

// Levels of two leaves of a struct that do not agree are damage.
func TestLevelsDisagree(t *testing.T) {
	field := arrow.Field{Name: "x", Nullable: true, Type: arrow.StructOf(
		arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int32}, arrow.Field{Name: "b", Type: arrow.PrimitiveTypes.Int32})}
	schema := must.Get(FromArrow(arrow.NewSchema([]arrow.Field{field}, nil)))(t)
	column, _, err := Read(schema.Nodes[0], nil)
	must.Do(t, err)
	four := make([]byte, 4)
	if _, err := column.Assemble([]Leaf{{N: 2, Definitions: []byte{0, 1}, Fixed: four}, {N: 2, Definitions: []byte{1, 0}, Fixed: four}}); err == nil {
		t.Error("a struct is null and not null")
	}
}

// Booleans that are shredded eight rows at a time are what they are one by one.
func TestFlatBooleans(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for range 500 {
		rows, nulls := 1+r.IntN(70), r.IntN(4)
		b := array.NewBooleanBuilder(memory.NewGoAllocator())
		for range rows {
			if null := nulls == 3 || nulls > 0 && r.IntN(8/nulls) == 0; null {
				b.AppendNull()
			} else {
				b.Append(r.IntN(2) == 0)
			}
		}
		values := b.NewArray()
		if r.IntN(2) == 0 && rows > 8 {
			values = array.NewSlice(values, 8, int64(rows))
		}
		d := values.Data().(*array.Data)
		n := &Node{Type: layout.Boolean, Repetition: layout.Optional, MaxDefinition: 1}
		flat := must.Get((&Shredder{Memory: memory.NewGoAllocator()}).Shred(n, d))(t)
		slow := Shredder{Memory: memory.NewGoAllocator()}
		e, err := slow.presence(n, d, entries{n: d.Len(), low: d.Offset()})
		if err == nil {
			err = slow.leaf(n, d, e)
		}
		must.Do(t, err)
		got := flat[0].Plain(n)
		if want := slow.leaves[0]; flat[0].Bits == nil || flat[0].Size() != want.Size() || flat[0].Values(1) != want.Values(1) ||
			got.N != want.N || !slices.Equal(got.Definitions, want.Definitions) || !slices.Equal(got.Fixed, want.Fixed) {
			t.Fatalf("%v: %+v, want %+v", values, got, want)
		}
	}
}

// Numbers of lists of numbers of texts are shredded as lists of these texts are.
func TestCodedLists(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	mem := memory.NewGoAllocator()
	names := []string{"bot0", "bot1", "bot2", "bot3", "bot4", "bot5"}
	leaf := &Node{Type: layout.ByteArray, Repetition: layout.Optional, MaxDefinition: 3, MaxRepetition: 1}
	n := &Node{Type: layout.NoType, Repetition: layout.Optional, MaxDefinition: 1, Meaning: Meaning{Kind: List}, Children: []*Node{
		{Type: layout.NoType, Repetition: layout.Repeated, MaxDefinition: 2, MaxRepetition: 1, Children: []*Node{leaf}},
	}}
	for range 300 {
		distinct := make([][]int32, 1+r.IntN(5))
		for i := range distinct {
			for range r.IntN(5) {
				distinct[i] = append(distinct[i], int32(r.IntN(len(names))))
			}
		}
		plain, index := array.NewListBuilder(mem, arrow.BinaryTypes.String), make([]int32, 2+r.IntN(20))
		for row := range index {
			if r.IntN(4) == 0 {
				plain.AppendNull()
				index[row] = -1
				continue
			}
			index[row] = int32(r.IntN(len(distinct)))
			plain.Append(true)
			for _, name := range distinct[index[row]] {
				plain.ValueBuilder().(*array.StringBuilder).Append(names[name])
			}
		}
		maker := tables.Maker{Memory: mem, Most: math.MaxInt32}
		coded := must.Get(maker.CodedLists(names, len(distinct), func(list int32) []int32 { return distinct[list] }, index))(t)
		low := r.IntN(2)
		var leaves []*Leaf
		for _, column := range []arrow.Array{plain.NewArray(), array.MakeFromData(coded)} {
			shredded := must.Get((&Shredder{Memory: mem}).Shred(n, array.NewSlice(column, int64(low), int64(len(index))).Data().(*array.Data)))(t)
			leaves = append(leaves, &shredded[0])
		}
		want, got := leaves[0], leaves[1].Plain(leaf)
		definitions := want.Definitions
		if definitions == nil {
			definitions = bytes.Repeat([]byte{3}, want.N)
		}
		if leaves[1].Lists == nil || leaves[1].N != want.N || leaves[1].Values(0) != want.Values(0) || got.N != want.N ||
			!slices.Equal(got.Definitions, definitions) || !slices.Equal(got.Repetitions, want.Repetitions) ||
			string(got.Data) != string(want.Data) || len(want.Offsets) > 0 && !slices.Equal(got.Offsets, want.Offsets) ||
			want.Definitions != nil && len(want.Offsets) > 0 && leaves[1].Size() != want.Size() {
			t.Fatalf("%+v, want %+v", got, want)
		}
	}
}
