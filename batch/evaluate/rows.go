package evaluate

import (
	"robotsbatch/batch"
	"robotsbatch/matcher/urls"
)

// rows are the URLs of a block. They have the numbers that they have in the batch, from first
// on: row i has the URL data[offsets[i-first]:offsets[i-first+1]].
type rows[O int32 | int64] struct {
	data    []byte
	offsets []O
	first   int
	nulls   *batch.Column // tells which rows are null; nil for none
}

// url returns a row's URL without blanks around it.
func (r *rows[O]) url(row int) []byte {
	return urls.Trim(r.data[r.offsets[row-r.first]:r.offsets[row-r.first+1]])
}

func (r *rows[O]) null(row int) bool { return r.nulls != nil && r.nulls.Null(row) }

// values are the URLs of a block of a dictionary column, one a row, as a plain
// column has them. A null row has none.
type values struct {
	data    []byte
	offsets []int64
}

// valuesSize is the number of bytes of URLs at which a block ends: a long value may be repeated
// in every row.
const valuesSize = 1 << 20

// copy sets d to the URLs of rows [low, high), or of the first of them if these reach valuesSize
// bytes. It returns the row after the last that it copied.
func (d *values) copy(c *batch.Column, low, high int) int {
	d.data, d.offsets = d.data[:0], append(d.offsets[:0], 0)
	for row := low; row < high; row++ {
		if !c.Null(row) {
			d.data = append(d.data, c.Value(row)...)
		}
		d.offsets = append(d.offsets, int64(len(d.data)))
		if len(d.data) >= valuesSize {
			return row + 1
		}
	}
	return high
}

// forget drops memory that is much larger than most blocks need.
func (d *values) forget() {
	if cap(d.data) > 4*valuesSize {
		d.data = nil
	}
}
