package tableio

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"robotsbatch/batch"
	"robotsbatch/io/frontier/tableio/tablestest"
	"robotsbatch/io/store/must"
	"robotsbatch/io/tables"
)

// Rows that take too much memory come in shares, each once and in order.
func TestShares(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var list, want []string
	const rows = 1000
	v := &batch.Verdicts{Rows: rows, Selected: make([]byte, rows/8)}
	for i := range rows {
		list = append(list, fmt.Sprintf("%d %s", i, strings.Repeat("a", rng.IntN(100))))
		if rng.IntN(3) > 0 {
			v.Selected[i>>3] |= 1 << (i & 7)
			v.SelectedRows++
			want = append(want, list[i])
		}
	}
	b := &batch.Batch{URLs: listColumn(list)}
	for _, limit := range []int64{1 << 20, 100_000, 8 * 1024} {
		mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
		o := must.Get(NewOutput(batch.Layout{URLColumn: "url", Memory: limit}, nil, mem))(t)
		var got []string
		shares := 0
		must.Do(t, o.Shares(b, v, func(s *Share) error {
			record, err := s.Record()
			if err != nil {
				return err
			}
			defer record.Release()
			must.Be(t, s.mem.taken <= limit/8, "%d bytes for a share", s.mem.taken)
			shares++
			column := record.Column(0).(*array.String)
			for i := range column.Len() {
				got = append(got, column.Value(i))
			}
			return nil
		}))
		must.Be(t, slices.Equal(got, want) && (shares > 1) == (limit < 1<<20), "with %d bytes, %d rows in %d shares, want %d", limit, len(got), shares, len(want))
		if shares == 1 { // else the garbage collector has what was refused halfway
			mem.AssertSize(t, 0)
		}
	}
}

func listColumn(values []string) batch.Column {
	column := batch.Column{Offsets32: []int32{0}}
	for _, value := range values {
		column.Data = append(column.Data, value...)
		column.Offsets32 = append(column.Offsets32, int32(len(column.Data)))
	}
	return column
}

// A row that is too large by itself is an error, and so are rows that come to too
// much before compression.
func TestSharesOfLargeRows(t *testing.T) {
	o, err := NewOutput(batch.Layout{URLColumn: "url", Memory: 1000}, nil, memory.NewGoAllocator())
	must.Do(t, err)
	columns := func(s *Share) error {
		columns, err := s.Columns()
		tables.Release(columns)
		return err
	}
	b := &batch.Batch{URLs: listColumn([]string{"a", strings.Repeat("b", 1000), "c"})}
	must.Say(t, o.Shares(b, &batch.Verdicts{Rows: 3, SelectedRows: 3}, columns), "raise memory")
	dt := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	const rows = 300
	entry := tablestest.FromJSON(t, dt.ValueType, `["`+strings.Repeat("a", 1<<20)+`"]`)
	indices := array.NewInt8Builder(memory.NewGoAllocator())
	indices.AppendValues(make([]int8, rows), nil)
	record := tablestest.NewRecord([]string{"url"}, array.NewDictionaryArray(dt, indices.NewArray(), entry))
	o = must.Get(NewOutput(batch.Layout{URLColumn: "url", Memory: 32 << 20}, record.Schema(), memory.NewGoAllocator()))(t)
	shares := 0
	err = o.Shares(&batch.Batch{Table: record}, &batch.Verdicts{Rows: rows, SelectedRows: rows}, func(s *Share) error {
		record, err := s.Record()
		if err != nil {
			return err
		}
		defer record.Release()
		shares++
		tables.Plain(record.Column(0).Data().(*array.Data), s.Memory()).Release()
		return nil
	})
	must.Be(t, err != nil && strings.Contains(err.Error(), "lower batch-rows") && shares >= 2, "%d shares and error %v", shares, err)
}
