package pagefilter

import (
	"unicode/utf8"

	"robotsbatch/io/tables"
	"robotsbatch/io/tables/parquet/columns"
	"robotsbatch/io/tables/parquet/encoding"
	"robotsbatch/io/tables/parquet/layout"
)

// bounds returns copies of the least and the greatest value in runs of a page's values. Both are nil if o is
// NoOrder, or if there are no values but NaN. Bounds of byte arrays are cut: see shortBounds.
func bounds(o columns.Order, v *encoding.Page, runs tables.Rows) (b layout.Bounds) {
	if o == columns.NoOrder {
		return b
	}
	least, greatest := []byte{}, []byte{} // not nil, as the bounds of empty texts must not be
	for _, r := range runs {
		for i := r.Low; i < r.High; i++ {
			value := v.Value(i)
			isLess, isGreater := o.Outside(&b, value)
			if isLess {
				least = append(least[:0], value...)
				b.Low = least
			}
			if isGreater {
				greatest = append(greatest[:0], value...)
				b.High = greatest
			}
		}
	}
	o.SignZeros(&b)
	if o == columns.ByBytes {
		return shortBounds(b)
	}
	return b
}

// mostBound is the most bytes that a bound has.
const mostBound = 64

// shortBounds returns the bounds with at most mostBound bytes each, or none if there is no such upper bound.
// The lower one is cut between letters, and the upper one after an ASCII letter that can be raised, so that
// texts remain UTF-8.
func shortBounds(b layout.Bounds) layout.Bounds {
	if len(b.Low) > mostBound {
		b.Low = b.Low[:mostBound:mostBound]
		for n := mostBound; n > mostBound-utf8.UTFMax && !utf8.Valid(b.Low); n-- {
			b.Low = b.Low[:n-1]
		}
	}
	if len(b.High) > mostBound {
		b.High = raise(b.High[:mostBound:mostBound])
	}
	if b.High == nil {
		return layout.Bounds{}
	}
	return b
}

// raise returns a text that is greater than all texts that begin with high: high up to its last byte below
// 'z', which is raised by one. It uses the memory of high. It returns nil if high has no such byte.
func raise(high []byte) []byte {
	for n := len(high); n > 0; n-- {
		// Only ASCII is raised, so that the text stays UTF-8. URLs have few bytes above 'z'.
		if high[n-1] < 'z' {
			high = high[:n]
			high[n-1]++
			return high
		}
	}
	return nil
}
