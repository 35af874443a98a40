package tableio

import (
	"math"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"robotsbatch/batch"
)

// verdictColumn returns a verdict column of the output rows.
func (g gatherer) verdictColumn(column batch.VerdictColumn, v *batch.Verdicts, runs []run) (*array.Data, error) {
	if column.Kind == batch.Allowed {
		return g.verdicts(&v.Agents[column.Agent], runs), nil
	}
	values, err := v.Values(&column)
	if err != nil {
		return nil, err
	}
	index := make([]int32, 0, countRows(runs))
	for _, r := range runs {
		index = values.AppendNumbers(index, r.low, r.high)
	}
	data, err := g.values(&column, &values, index)
	if err != nil {
		err = columnError(column.Name, err)
	}
	return data, err
}

// valueTypes are the types of columns.
var valueTypes = [...]arrow.DataType{
	batch.BoolType:  arrow.FixedWidthTypes.Boolean,
	batch.Int32Type: arrow.PrimitiveTypes.Int32,
	batch.Int64Type: arrow.PrimitiveTypes.Int64,
	batch.FloatType: arrow.PrimitiveTypes.Float64,
	batch.TimeType:  arrow.FixedWidthTypes.Timestamp_ms,
	batch.TextType:  arrow.BinaryTypes.String,
	batch.ListType:  stringList,
}

// values returns a column of the values of index, null where it is negative.
func (g gatherer) values(column *batch.VerdictColumn, v *batch.Values, index []int32) (*array.Data, error) {
	switch dt := valueTypes[column.Kind.Type]; column.Kind.Type {
	case batch.BoolType:
		return g.booleans(index), nil
	case batch.Int32Type:
		return fixed(g, dt, v.Ints, index, func(n int64) int32 { return int32(min(n, math.MaxInt32)) }), nil
	case batch.Int64Type:
		return fixed(g, dt, v.Ints, index, func(n int64) int64 { return n }), nil
	case batch.TimeType:
		return fixed(g, dt, v.Ints, index, func(seconds int64) int64 { return 1000 * seconds }), nil
	case batch.FloatType:
		return fixed(g, dt, v.Floats, index, func(x float64) float64 { return x }), nil
	case batch.TextType:
		return g.strings(v.Texts, index)
	default:
		if g.coded && column.Kind.Agents {
			return g.codedAgents(column.Names, v.Lists, index)
		}
		return g.lists(v.Lists, index)
	}
}

// booleans returns a column of index: 0 for false, 1 for true.
func (g gatherer) booleans(index []int32) *array.Data {
	valid, nulls := g.present(index)
	buffer, bits := allocate[uint8](g, (len(index)+7)/8)
	for i, value := range index {
		if value > 0 {
			bits[i>>3] |= 1 << (i & 7)
		}
	}
	return newData(arrow.FixedWidthTypes.Boolean, len(index), buffers(valid, buffer), nil, nulls)
}

// fixed returns a column of type dt.
func fixed[F int64 | float64, T int32 | int64 | float64](g gatherer, dt arrow.DataType, values []F, index []int32, convert func(F) T) *array.Data {
	valid, nulls := g.present(index)
	buffer, to := allocate[T](g, len(index))
	for row, of := range index {
		if of >= 0 {
			to[row] = convert(values[of])
		}
	}
	return newData(dt, len(index), buffers(valid, buffer), nil, nulls)
}

// verdicts returns a boolean column, null where there is no verdict.
func (g gatherer) verdicts(agent *batch.AgentVerdicts, runs []run) *array.Data {
	n := countRows(runs)
	valid, nulls := g.validBits(agent.Valid, runs, n)
	return newData(arrow.FixedWidthTypes.Boolean, n, buffers(valid, g.bits(agent.Allowed, runs, n)), nil, nulls)
}

// present returns a validity bitmap: rows with a negative index are null. It is nil
// when no row is.
func (g gatherer) present(index []int32) (*memory.Buffer, int) {
	buffer, bits := allocate[uint8](g, (len(index)+7)/8)
	nulls := 0
	for i, rule := range index {
		if rule < 0 {
			nulls++
			continue
		}
		bits[i>>3] |= 1 << (i & 7)
	}
	if nulls == 0 {
		buffer.Release()
		return nil, 0
	}
	return buffer, nulls
}

// checkSize refuses a utf8 column that exceeds its limit of memory, or the 31 bits of
// its offsets.
func (g gatherer) checkSize(bytes int64) error {
	if bytes > min(g.most, math.MaxInt32) {
		return errShare
	}
	return nil
}

// strings returns a utf8 column of the texts of index, null where it is
// negative.
func (g gatherer) strings(texts []string, index []int32) (*array.Data, error) {
	total := int64(0)
	for _, i := range index {
		if i >= 0 {
			total += int64(len(texts[i]))
		}
	}
	if err := g.checkSize(total); err != nil {
		return nil, err
	}
	valid, nulls := g.present(index)
	offsetBuffer, offsets := allocate[int32](g, len(index)+1)
	data := g.alloc(int(total))
	to, at := data.Bytes(), 0
	for row, i := range index {
		if i >= 0 {
			at += copy(to[at:], texts[i])
		}
		offsets[row+1] = int32(at)
	}
	return newData(arrow.BinaryTypes.String, len(index), buffers(valid, offsetBuffer, data), nil, nulls), nil
}

// urls returns a utf8 column of URLs.
func (g gatherer) urls(urls *batch.Column, runs []run) (*array.Data, error) {
	total, nulls := int64(0), 0
	for _, r := range runs {
		for i := r.low; i < r.high; i++ {
			if urls.Null(i) {
				nulls++
			} else {
				total += int64(len(urls.Value(i)))
			}
		}
	}
	if err := g.checkSize(total); err != nil {
		return nil, err
	}
	n := countRows(runs)
	var valid *memory.Buffer
	if nulls > 0 {
		valid = g.bits(urls.Validity, shift(runs, urls.ValidityOffset), n)
	}
	offsetBuffer, offsets := allocate[int32](g, n+1)
	data := g.alloc(int(total))
	to, at, row := data.Bytes(), 0, 1
	for _, r := range runs {
		for i := r.low; i < r.high; i++ {
			if !urls.Null(i) {
				at += copy(to[at:], urls.Value(i))
			}
			offsets[row] = int32(at)
			row++
		}
	}
	return newData(arrow.BinaryTypes.String, n, buffers(valid, offsetBuffer, data), nil, nulls), nil
}
