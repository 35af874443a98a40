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

// TestListsOfAgents compares a column of lists with the rows' lists, for all rows and for
// those that are selected.
func TestListsOfAgents(t *testing.T) {
	columns, err := batch.VerdictColumns(batch.ColumnOptions{Agents: []string{"A", "Bot", ""}, Combined: true, ListOnly: true})
	must.Do(t, err)
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer mem.AssertSize(t, 0)
	o := must.Get(NewOutput(batch.Layout{Keep: batch.KeepNone, Verdicts: columns}, nil, mem))(t)
	field := o.Schema().Field(0)
	must.Be(t, arrow.TypeEqual(field.Type, arrow.ListOf(arrow.BinaryTypes.String)) && field.Nullable, "the column is %v", field)
	v := &batch.Verdicts{
		Rows: 6, SelectedRows: 6, Agents: make([]batch.AgentVerdicts, 1), Members: 3,
		Denied: [][]int32{nil, {0, 2}, {1}}, DeniedOf: []int32{1, -1, 0, 2, 1, 1},
	}
	texts := []string{`["A",""]`, "(null)", "[]", `["Bot"]`, `["A",""]`, `["A",""]`}
	for _, selected := range []byte{0, 0b101101, 0b000010, 0b111111} {
		want := texts
		v.Selected = nil
		if selected != 0 {
			v.Selected, want = []byte{selected}, nil
			for row, text := range texts {
				if selected>>row&1 != 0 {
					want = append(want, text)
				}
			}
		}
		var got []string
		err := o.Shares(&batch.Batch{}, v, func(s *Share) error {
			return look(s, func(column arrow.Array) {
				for row := range column.Len() {
					got = append(got, column.ValueStr(row))
				}
			})
		})
		must.Be(t, err == nil && slices.Equal(got, want), "rows %06b: %s, %v, want %s", selected, fmt.Sprint(got), err, want)
	}
	v.DeniedOf = nil
	must.Fail(t, o.Shares(&batch.Batch{}, v, func(s *Share) error { _, err := s.Record(); return err }), "verdicts without lists are written")
}

// look has do look at the first column of a share.
func look(s *Share, do func(column arrow.Array)) error {
	record, err := s.Record()
	if err == nil {
		do(record.Column(0))
		record.Release()
	}
	return err
}

// The lists of agents of a row group take memory by row and by distinct list, not by the
// names in them, where a format stores names by number.
func TestLongListsOfManyRows(t *testing.T) {
	const agents, pieces, rows = 100, 10, 20_000
	names := make([]string, agents)
	all := make([]int32, agents)
	for i := range names {
		names[i], all[i] = fmt.Sprint("agent", i), int32(i)
	}
	columns := must.Get(batch.VerdictColumns(batch.ColumnOptions{Agents: names, Combined: true, ListOnly: true}))(t)
	lists := [][]int32{nil, all, {2, 98}, {1}}
	for _, coded := range []bool{false, true} {
		mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
		o := must.Get(NewVerdicts(batch.Layout{Verdicts: columns, Memory: 4 << 20}, nil, mem))(t)
		if coded {
			o.CodeAgents()
		}
		a := NewAssembly(pieces)
		for piece := range pieces {
			v := &batch.Verdicts{Rows: rows, SelectedRows: rows, Agents: make([]batch.AgentVerdicts, 1), Members: agents, Denied: lists[:2+piece%3]}
			for row := range rows {
				v.DeniedOf = append(v.DeniedOf, int32(row%(len(v.Denied)+1))-1)
			}
			_, _, err := a.Add(o, piece, &batch.Batch{}, v, nil)
			must.Do(t, err)
		}
		made, err := a.Columns(o)
		if !coded {
			must.Fail(t, err, "names in each row fit the memory")
			continue
		}
		must.Do(t, err)
		column := array.MakeFromData(made[0]).(*array.Dictionary)
		texts := column.Dictionary().(*array.List)
		for row := range pieces * rows {
			denied := lists[:2+row/rows%3]
			if number := row%rows%(len(denied)+1) - 1; number < 0 {
				must.Need(t, column.IsNull(row), "row %d is not null", row)
			} else {
				low, high := texts.ValueOffsets(column.GetValueIndex(row))
				got := texts.ListValues().(*array.Dictionary).Indices().(*array.Int32).Int32Values()[low:high]
				must.Need(t, slices.Equal(got, denied[number]), "row %d has %d, want %d", row, got, denied[number])
			}
		}
		column.Release()
		tables.Release(made)
		mem.AssertSize(t, 0)
	}
}

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
			return look(s, func(column arrow.Array) {
				must.Be(t, s.mem.taken <= limit/8, "%d bytes for a share", s.mem.taken)
				shares++
				for i := range column.Len() {
					got = append(got, column.(*array.String).Value(i))
				}
			})
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
		return look(s, func(column arrow.Array) {
			shares++
			tables.Plain(column.Data().(*array.Data), s.Memory()).Release()
		})
	})
	must.Be(t, err != nil && strings.Contains(err.Error(), "lower batch-rows") && shares >= 2, "%d shares and error %v", shares, err)
}
