package tables

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"robotsbatch/io/frontier/tableio/tablestest"
	"robotsbatch/io/store/must"
)

// Rows of slices, of slices of slices, in any number of runs.
func TestGather(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, c := range tablestest.Columns(t) {
		t.Run(c.Name, func(t *testing.T) {
			mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
			defer mem.AssertSize(t, 0)
			for range 100 {
				low := rng.IntN(c.Array.Len())
				high := low + rng.IntN(c.Array.Len()-low+1)
				slice := array.NewSlice(c.Array, int64(low), int64(high))
				middle := rng.IntN(slice.Len() + 1)
				slice = array.NewSlice(slice, int64(middle), int64(slice.Len()))
				var runs Rows
				var rows []int
				for i := range slice.Len() {
					if rng.IntN(3) > 0 {
						runs = runs.Add(i, i+1)
						rows = append(rows, i)
					}
				}
				got := Maker{Memory: mem}.Gather(slice.Data().(*array.Data), runs)
				err := new(Checker).Check(got)
				must.Need(t, err == nil && got.Offset() == 0, "%v of %v gives an array that is not well-formed: %v", runs, slice, err)
				data := WithDictionaries(got, slice.Data().(*array.Data))
				result := array.MakeFromData(data)
				tablestest.SameRows(t, result, slice, rows)
				result.Release()
				data.Release()
				got.Release()
			}
		})
	}
}

// What views and dense unions refer to is copied once, however often rows
// refer to it.
func TestGatherDoesNotMultiply(t *testing.T) {
	const size, rows = 1 << 16, 1000
	big := memory.NewBufferBytes(make([]byte, size))
	views := make([]arrow.ViewHeader, rows)
	offsets, sizes := make([]int32, rows), make([]int32, rows)
	for i := range views {
		views[i].SetBytes(big.Bytes())
		views[i].SetIndexOffset(0, 0)
		sizes[i] = size
	}
	bytesOf := memory.NewBufferBytes
	values := array.NewData(arrow.PrimitiveTypes.Uint8, size, []*memory.Buffer{nil, big}, nil, 0, 0)
	for _, d := range []*array.Data{
		array.NewData(arrow.BinaryTypes.StringView, rows, []*memory.Buffer{nil, bytesOf(arrow.ViewHeaderTraits.CastToBytes(views)), big}, nil, 0, 0),
		array.NewData(arrow.ListViewOf(arrow.PrimitiveTypes.Uint8), rows,
			[]*memory.Buffer{nil, bytesOf(arrow.Int32Traits.CastToBytes(offsets)), bytesOf(arrow.Int32Traits.CastToBytes(sizes))},
			[]arrow.ArrayData{values}, 0, 0),
		array.NewData(arrow.DenseUnionOf([]arrow.Field{{Name: "v", Type: arrow.PrimitiveTypes.Uint8}}, []arrow.UnionTypeCode{0}), rows,
			[]*memory.Buffer{nil, bytesOf(make([]byte, rows)), bytesOf(arrow.Int32Traits.CastToBytes(offsets))},
			[]arrow.ArrayData{values}, 0, 0),
	} {
		must.Do(t, new(Checker).Check(d))
		bytes := must.Allocated(func() { Maker{Memory: memory.NewGoAllocator()}.Gather(d, Rows{{1, rows}}) })
		must.Be(t, bytes <= 4*size, "%s: %d bytes for %d that are there", d.DataType(), bytes, size)
	}
}

func TestSelectedRuns(t *testing.T) {
	for _, test := range []struct {
		bits []byte
		n    int
		want Rows
	}{
		{[]byte{0}, 8, nil},
		{[]byte{0xFF}, 8, Rows{{0, 8}}},
		{[]byte{0xFF, 0xFF}, 11, Rows{{0, 11}}},
		{[]byte{0, 0, 0b100}, 20, Rows{{18, 19}}},
		{[]byte{0, 0, 0b100}, 18, nil},
		{[]byte{0b1000_0001, 0b1}, 9, Rows{{0, 1}, {7, 9}}},
		{[]byte{0b0101_0101}, 7, Rows{{0, 1}, {2, 3}, {4, 5}, {6, 7}}},
		{nil, 0, nil},
	} {
		must.EqualSlices(t, RowsOf(test.bits, test.n), test.want, test.bits, "of", test.n)
	}
}

// Runs of any length at any place are found, and copied, as bit by bit.
func TestBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		from := make([]byte, rng.IntN(40))
		density := rng.IntN(9)
		for i := range from {
			for bit := range 8 {
				if rng.IntN(8) < density {
					from[i] |= 1 << bit
				}
			}
		}
		n := 8 * len(from)
		n -= rng.IntN(min(n, 20) + 1)
		var want Rows
		for i := range n {
			if from[i>>3]>>(i&7)&1 == 1 {
				want = want.Add(i, i+1)
			}
		}
		got := RowsOf(from, n)
		must.Need(t, slices.Equal(got, want), "%08b of %d: %v, want %v", from, n, got, want)
		bits := make([]byte, len(from))
		for i := range bits {
			bits[i] = byte(rng.Uint32())
		}
		copied := make([]byte, (want.Count()+7)/8)
		want.CopyBits(copied, bits)
		at := 0
		for _, r := range want {
			for i := r.Low; i < r.High; i++ {
				if copied[at>>3]>>(at&7)&1 != bits[i>>3]>>(i&7)&1 {
					t.Fatalf("%08b: bit %d of %v is %08b", bits, at, want, copied)
				}
				at++
			}
		}
		must.Need(t, at&7 <= 0 || copied[at>>3]>>(at&7) == 0, "there are bits behind the last of %d in %08b", at, copied)
	}
}

// A null row of a dictionary whose entries are dictionary-encoded stays null.
func TestPlainOfNestedDictionaries(t *testing.T) {
	mem := memory.NewGoAllocator()
	texts := array.NewStringBuilder(mem)
	texts.AppendValues([]string{"a", "b"}, nil)
	array32 := func(indices []int32, valid []bool, entries arrow.Array) arrow.Array {
		b := array.NewInt32Builder(mem)
		b.AppendValues(indices, valid)
		return array.NewDictionaryArray(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: entries.DataType()}, b.NewArray(), entries)
	}
	inner := array32([]int32{0, 1}, nil, texts.NewArray())
	outer := array32([]int32{1, 0, 0}, []bool{true, false, true}, inner)
	plain := array.MakeFromData(Plain(outer.Data().(*array.Data), mem))
	must.Equal(t, plain.String(), `["b" (null) "a"]`)
}
