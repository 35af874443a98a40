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

// stringsOf is a list of n strings.
type stringsOf struct {
	n  int
	at func(i int) string
}

// lists returns a column of lists of strings. list returns that of a row, if it has one.
func (g gatherer) lists(rows int, list func(row int) (stringsOf, bool)) (*array.Data, error) {
	count, bytes := int64(0), int64(0)
	for row := range rows {
		l, _ := list(row)
		count += int64(l.n)
		for i := range l.n {
			bytes += int64(len(l.at(i)))
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
		l, ok := list(row)
		if !ok {
			valid[row] = -1
		}
		for i := range l.n {
			at += copy(to[at:], l.at(i))
			n++
			stringEnds[n] = int32(at)
		}
		ends[row+1] = int32(n)
	}
	validity, nulls := g.present(valid)
	values := newData(arrow.BinaryTypes.String, n, buffers(nil, endBuffer, data), nil, 0)
	return newData(stringList, rows, buffers(validity, listBuffer), []arrow.ArrayData{values}, nulls), nil
}

// agents returns a column of lists of agents, null where there is no verdict.
func (g gatherer) agents(column batch.VerdictColumn, v *batch.Verdicts, runs []run) (*array.Data, error) {
	if len(v.DeniedOf) < v.Rows {
		return nil, fmt.Errorf("column %q: the verdicts are not combined", column.Name)
	}
	rows := make([]int32, 0, countRows(runs))
	for _, r := range runs {
		rows = append(rows, v.DeniedOf[r.low:r.high]...)
	}
	data, err := g.lists(len(rows), func(row int) (list stringsOf, ok bool) {
		if rows[row] < 0 {
			return list, false
		}
		agents := v.Denied[rows[row]]
		return stringsOf{n: len(agents), at: func(i int) string { return column.Names[agents[i]] }}, true
	})
	if err != nil {
		err = columnError(column.Name, err)
	}
	return data, err
}
