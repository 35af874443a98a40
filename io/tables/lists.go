package tables

import (
	"fmt"
	"math"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"robotsbatch/batch"
)

// stringList is the type of lists of strings.
var stringList = arrow.ListOf(arrow.BinaryTypes.String)

// stringsOf is a list of strings in a column's form, so that a list shared by many rows
// is encoded once.
type stringsOf struct {
	text []byte
	ends []int32 // of each in text
}

// packStrings encodes a list of n strings.
func packStrings(n int, at func(i int) string) *stringsOf {
	s := &stringsOf{ends: make([]int32, n)}
	for i := range n {
		s.text = append(s.text, at(i)...)
		s.ends[i] = int32(len(s.text))
	}
	return s
}

// lists returns a column of lists of strings. list returns a row's list, nil for null.
func (g gatherer) lists(rows int, list func(row int) *stringsOf) (*array.Data, error) {
	count, bytes := int64(0), int64(0)
	for row := range rows {
		if l := list(row); l != nil {
			count += int64(len(l.ends))
			bytes += int64(len(l.text))
		}
	}
	if count >= math.MaxInt32 {
		return nil, errShare
	}
	if err := g.checkSize(bytes + 4*count); err != nil {
		return nil, err
	}
	valid := make([]int32, rows)
	listBuffer, ends := allocate[int32](g, rows+1)
	endBuffer, stringEnds := allocate[int32](g, int(count)+1)
	data := g.alloc(int(bytes))
	to, n, at := data.Bytes(), 0, 0
	for row := range rows {
		if l := list(row); l == nil {
			valid[row] = -1
		} else {
			for i, end := range l.ends {
				stringEnds[n+1+i] = int32(at) + end
			}
			n += len(l.ends)
			at += copy(to[at:], l.text)
		}
		ends[row+1] = int32(n)
	}
	validity, nulls := g.present(valid)
	values := newData(arrow.BinaryTypes.String, n, buffers(nil, endBuffer, data), nil, 0)
	return newData(stringList, rows, buffers(validity, listBuffer), []arrow.ArrayData{values}, nulls), nil
}

// codedList is the type of lists of agents whose names are entries of a dictionary.
var codedList = arrow.ListOf(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String})

// codedAgents returns a column of lists of agents that has their numbers, and their names
// as the dictionary. rows has the number of each row's list, negative for null.
func (g gatherer) codedAgents(column batch.VerdictColumn, v *batch.Verdicts, rows []int32) (*array.Data, error) {
	count := int64(0)
	for _, list := range rows {
		if list >= 0 {
			count += int64(len(v.Denied[list]))
		}
	}
	if count >= math.MaxInt32 {
		return nil, errShare
	}
	if err := g.checkSize(4 * count); err != nil {
		return nil, err
	}
	listBuffer, ends := allocate[int32](g, len(rows)+1)
	buffer := g.alloc(4 * int(count))
	agents, n := arrow.GetData[int32](buffer.Bytes()), 0
	for row, list := range rows {
		if list >= 0 {
			n += copy(agents[n:], v.Denied[list])
		}
		ends[row+1] = int32(n)
	}
	index := make([]int32, len(column.Names))
	for i := range index {
		index[i] = int32(i)
	}
	names, err := g.strings(column.Name, column.Names, index)
	if err != nil {
		return nil, err
	}
	validity, nulls := g.present(rows)
	values := array.NewDataWithDictionary(codedList.Elem(), n, buffers(nil, buffer), 0, 0, names)
	buffer.Release()
	names.Release()
	return newData(codedList, len(rows), buffers(validity, listBuffer), []arrow.ArrayData{values}, nulls), nil
}

// agents returns a column of lists of agents, null if there is no verdict.
func (g gatherer) agents(column batch.VerdictColumn, v *batch.Verdicts, runs []run) (*array.Data, error) {
	if len(v.DeniedOf) < v.Rows {
		return nil, fmt.Errorf("column %q: the verdicts are not combined", column.Name)
	}
	rows := make([]int32, 0, countRows(runs))
	for _, r := range runs {
		rows = append(rows, v.DeniedOf[r.low:r.high]...)
	}
	if g.coded {
		data, err := g.codedAgents(column, v, rows)
		if err != nil {
			err = columnError(column.Name, err)
		}
		return data, err
	}
	packed := make([]*stringsOf, len(v.Denied))
	data, err := g.lists(len(rows), func(row int) *stringsOf {
		number := rows[row]
		if number < 0 {
			return nil
		}
		if packed[number] == nil {
			agents := v.Denied[number]
			packed[number] = packStrings(len(agents), func(i int) string { return column.Names[agents[i]] })
		}
		return packed[number]
	})
	if err != nil {
		err = columnError(column.Name, err)
	}
	return data, err
}
