package pagefilter

import (
	"bytes"
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
	for _, r := range runs {
		for i := r.Low; i < r.High; i++ {
			o.Extend(&b, v.Value(i))
		}
	}
	if o == columns.ByBytes {
		b = shortBounds(b)
	}
	return o.Detach(b)
}

// mostBound is the most bytes of a bound of byte arrays.
const mostBound = 64

// shortBounds returns the bounds with at most mostBound bytes each, or none if there is no such upper bound.
// The lower one is cut between characters, and the upper one after an ASCII character that can be raised, so that
// texts remain UTF-8.
func shortBounds(b layout.Bounds) layout.Bounds {
	if len(b.Low) > mostBound {
		b.Low = b.Low[:mostBound:mostBound]
		for n := mostBound; n > mostBound-utf8.UTFMax && !utf8.Valid(b.Low); n-- {
			b.Low = b.Low[:n-1]
		}
	}
	if len(b.High) > mostBound {
		b.High = raise(bytes.Clone(b.High[:mostBound]))
	}
	if b.High == nil {
		return layout.Bounds{}
	}
	return b
}

// raise returns a text that is greater than all texts that begin with high: high up to its last byte below
// 'z', raised by one there. It writes into high. It returns nil if high has no such byte.
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
