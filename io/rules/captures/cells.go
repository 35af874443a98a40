package captures

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"robotsbatch/batch"
	"robotsbatch/io/frontier/tableio"
	"robotsbatch/io/tables"
)

// maxBatch is the most bytes of strings that may be copied from a column of a batch.
const maxBatch = 1 << 30

// cells has the values of a column in a batch, by row. Of text, number, time and boolean, only the
// one of the column's type is set.
type cells struct {
	array   arrow.Array
	null    func(row int) bool
	text    *batch.Column
	number  func(row int) float64 // not defined for NaN, which is null
	time    func(row int) time.Time
	boolean func(row int) bool
}

// isNumber reports whether a type is one of whole numbers, or of floats, which pandas makes of
// a column of whole numbers where one is missing.
func isNumber(dt arrow.DataType) bool { return arrow.IsInteger(dt.ID()) || arrow.IsFloating(dt.ID()) }

func isTime(dt arrow.DataType) bool { return isNumber(dt) || dt.ID() == arrow.TIMESTAMP }

func isFlag(dt arrow.DataType) bool { return isNumber(dt) || dt.ID() == arrow.BOOL }

// isText reports whether the values of a type are strings or bytes, directly or by a
// dictionary.
func isText(dt arrow.DataType) bool {
	if dictionary, ok := dt.(*arrow.DictionaryType); ok {
		dt = tables.Storage(dictionary.ValueType)
	}
	return arrow.IsBaseBinary(dt.ID()) || dt.ID() == arrow.STRING_VIEW || dt.ID() == arrow.BINARY_VIEW
}

// openCells returns the values of a column, whose type NewTable has accepted.
func openCells(a arrow.Array) (*cells, error) {
	if extension, ok := a.(array.ExtensionArray); ok {
		a = extension.Storage()
	}
	c := &cells{array: a, null: a.IsNull}
	data, ok := a.Data().(*array.Data)
	if !ok {
		return nil, fmt.Errorf("%T cannot be read", a.Data())
	}
	switch a := a.(type) {
	case *array.Null:
		c.null = func(int) bool { return true }
	case *array.Boolean:
		c.boolean = a.Value
	case *array.Timestamp:
		unit := a.DataType().(*arrow.TimestampType).Unit
		c.time = func(row int) time.Time { return a.Value(row).ToTime(unit) }
	default:
		if isNumber(a.DataType()) {
			return c, c.setNumbers(data)
		}
		column, err := tableio.URLs(data, maxBatch)
		if err != nil {
			return nil, err
		}
		c.text, c.null = &column, column.Null // not IsNull: the value in a dictionary may be null
	}
	return c, nil
}

// setNumbers makes c the cells of a column of numbers. NaN is null.
func (c *cells) setNumbers(d *array.Data) error {
	numbers, err := tables.NumbersOf(d)
	c.number = func(row int) float64 {
		switch {
		case numbers.Floats != nil:
			return numbers.Floats[row]
		case numbers.Unsigned:
			return float64(uint64(numbers.Ints[row]))
		}
		return float64(numbers.Ints[row])
	}
	null := c.null
	c.null = func(row int) bool { return null(row) || math.IsNaN(c.number(row)) }
	return err
}

// tableBatch is a batch of a table.
type tableBatch struct {
	batch  *batch.Batch
	record arrow.Record           // batch.Table
	rows   int                    // their number
	cells  [tableColumns][]*cells // by column: the table's own, and those that an index has in its place
}

// cellsAt returns the first cells of a column that have a value in a row; nil if all are null.
func (b *tableBatch) cellsAt(column, row int) *cells {
	for _, c := range b.cells[column] {
		if !c.null(row) {
			return c
		}
	}
	return nil
}

// bytesAt returns the text of a column in a row, valid as long as the batch. It is nil for null and
// for a word that isNothing knows, and not nil for an empty text.
func (b *tableBatch) bytesAt(column, row int) []byte {
	c := b.cellsAt(column, row)
	if c == nil {
		return nil
	}
	switch text := c.text.Value(row); {
	case len(text) == 0:
		return []byte{}
	case isNothing(text):
		return nil
	default:
		return text
	}
}

// numberAt returns the whole number of a column in a row, which may be written as text; -1 if
// it is null, negative or no number.
func (b *tableBatch) numberAt(column, row int) int64 {
	switch c := b.cellsAt(column, row); {
	case c == nil:
	case c.number != nil && c.number(row) >= 0 && c.number(row) < 1<<53: // from there on floats are not exact
		return int64(c.number(row))
	case c.text != nil:
		if n, err := strconv.ParseInt(string(c.text.Value(row)), 10, 64); err == nil {
			return max(-1, n)
		}
	}
	return -1
}

// release gives the batch back.
func (b *tableBatch) release() {
	if b.batch != nil && b.batch.Release != nil {
		b.batch.Release()
	}
	*b = tableBatch{}
}

// row returns row i, whose texts are valid as long as the batch. The error says why the row
// must be skipped.
func (b *tableBatch) row(i int) (r row, err error) {
	r.url, r.authority, r.body = b.bytesAt(urlColumn, i), b.bytesAt(authorityColumn, i), b.bytesAt(bodyColumn, i)
	r.location, r.file = undash(b.bytesAt(locationColumn, i)), undash(b.bytesAt(fileColumn, i))
	r.offset, r.length = b.numberAt(offsetColumn, i), b.numberAt(lengthColumn, i)
	r.broken = cmp.Or(r.setStatus(b.cellsAt(statusColumn, i), i), r.setFetched(b.cellsAt(fetchedColumn, i), i))
	r.setFailed(b.cellsAt(errorColumn, i), i)
	return r, r.finish()
}
