package tableio

import (
	"math"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"robotsbatch/batch"
	"robotsbatch/io/tables"
)

// verdictColumn returns a verdict column of the share's rows, made by m. The caller releases it.
func (s *Share) verdictColumn(m tables.Maker, column batch.VerdictColumn) (*array.Data, error) {
	if column.Kind == batch.Allowed {
		agent := &s.verdicts.Agents[column.Agent]
		return m.Bits(agent.Allowed, agent.Valid, s.rows), nil
	}
	values, err := s.verdicts.Values(&column)
	if err != nil {
		return nil, err
	}
	index := make([]int32, 0, s.rows.Count()) // the index of each row's value in values
	for _, r := range s.rows {
		index = values.AppendNumbers(index, r.Low, r.High)
	}
	data, err := s.output.makeColumn(m, &column, &values, index)
	if err != nil {
		err = columnError(column.Name, err)
	}
	return data, err
}

// valueTypes are the Arrow types of verdict columns.
var valueTypes = [...]arrow.DataType{
	batch.BoolType:  arrow.FixedWidthTypes.Boolean,
	batch.Int32Type: arrow.PrimitiveTypes.Int32,
	batch.Int64Type: arrow.PrimitiveTypes.Int64,
	batch.FloatType: arrow.PrimitiveTypes.Float64,
	batch.TimeType:  arrow.FixedWidthTypes.Timestamp_ms,
	batch.TextType:  arrow.BinaryTypes.String,
	batch.ListType:  tables.TextList,
}

// makeColumn returns a verdict column, which the caller releases: row i has value index[i], or null if that is negative.
// The values are in the field of v for the column's type.
func (o *Output) makeColumn(m tables.Maker, column *batch.VerdictColumn, v *batch.Values, index []int32) (*array.Data, error) {
	switch dt := valueTypes[column.Kind.Type]; column.Kind.Type {
	case batch.BoolType:
		return m.Booleans(index), nil
	case batch.Int32Type: // a forged rule pack may have numbers of lines up to MaxUint32
		return tables.Fixed(m, dt, v.Ints, index, func(n int64) int32 { return int32(min(n, math.MaxInt32)) }), nil
	case batch.Int64Type:
		return tables.Fixed(m, dt, v.Ints, index, func(n int64) int64 { return n }), nil
	case batch.TimeType: // in milliseconds
		return tables.Fixed(m, dt, v.Ints, index, func(seconds int64) int64 { return 1000 * seconds }), nil
	case batch.FloatType:
		return tables.Fixed(m, dt, v.Floats, index, func(x float64) float64 { return x }), nil
	case batch.TextType:
		return m.Texts(v.Texts, index)
	default:
		if o.coded && column.Kind.Agents {
			return m.CodedLists(column.Names, len(v.Lists), func(list int32) []int32 { return v.Lists[list].Numbers }, index)
		}
		return m.Lists(len(v.Lists), func(list int32) []string { return textsOf(&v.Lists[list]) }, index)
	}
}

// textsOf returns the texts of a list.
func textsOf(l *batch.List) []string {
	texts := make([]string, l.Len())
	for i := range texts {
		texts[i] = l.At(i)
	}
	return texts
}
