package pagefilter

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"unicode/utf8"

	"robotsbatch/io/frontier/parquetio/encoding"
	"robotsbatch/io/frontier/parquetio/layout"
)

// Order says how the values of a column are compared in statistics.
type Order uint8

// The orders. Integers have 4 or 8 bytes.
const (
	NoOrder     Order = iota // none that readers agree on
	Signed                   // integers
	Unsigned                 // integers without sign, and booleans, of a byte
	Floating                 // floats and doubles, without NaN
	ByBytes                  // byte for byte
	SignedBytes              // integers of one width whose first byte is the highest
)

// Compare compares two values as PLAIN stores them, byte arrays without their length.
func (o Order) Compare(a, b []byte) int {
	switch o {
	case Signed:
		if len(a) == 4 {
			return cmp.Compare(int32(binary.LittleEndian.Uint32(a)), int32(binary.LittleEndian.Uint32(b)))
		}
		return cmp.Compare(int64(binary.LittleEndian.Uint64(a)), int64(binary.LittleEndian.Uint64(b)))
	case Unsigned:
		switch len(a) {
		case 1:
			return cmp.Compare(a[0], b[0])
		case 4:
			return cmp.Compare(binary.LittleEndian.Uint32(a), binary.LittleEndian.Uint32(b))
		}
		return cmp.Compare(binary.LittleEndian.Uint64(a), binary.LittleEndian.Uint64(b))
	case Floating:
		return cmp.Compare(float(a), float(b))
	case SignedBytes:
		if len(a) > 0 && a[0]^b[0] >= 0x80 {
			return cmp.Compare(b[0], a[0])
		}
	}
	return bytes.Compare(a, b)
}

func float(b []byte) float64 {
	if len(b) == 4 {
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(b))
}

// bounds returns the bounds of runs of values. They are copies.
func (o Order) bounds(v *encoding.Page, runs []run) (b layout.Bounds) {
	if o == NoOrder {
		return b
	}
	var scratch [16]byte
	for _, r := range runs {
		for i := r.Low; i < r.High; i++ {
			value := v.Value(scratch[:0], i)
			switch {
			case o == Floating && math.IsNaN(float(value)):
			case b.Low == nil:
				b = layout.Bounds{Low: append([]byte{}, value...), High: append([]byte{}, value...)}
			case o.Compare(value, b.Low) < 0:
				b.Low = append(b.Low[:0], value...)
			case o.Compare(value, b.High) > 0:
				b.High = append(b.High[:0], value...)
			}
		}
	}
	return o.short(b)
}

// mostBound is the most bytes that a bound has.
const mostBound = 64

// short returns bounds that readers understand. Long ones are cut, the greatest before a
// letter that can be raised, so that texts remain UTF-8. Zeros have the sign that
// bounds both.
func (o Order) short(b layout.Bounds) layout.Bounds {
	switch {
	case b.Low == nil:
	case o == Floating:
		last := len(b.Low) - 1
		if float(b.Low) == 0 {
			b.Low[last] = 0x80
		}
		if float(b.High) == 0 {
			b.High[last] = 0
		}
	case o == ByBytes:
		if len(b.Low) > mostBound {
			b.Low = b.Low[:mostBound:mostBound]
			for n := mostBound; n > mostBound-utf8.UTFMax && !utf8.Valid(b.Low); n-- {
				b.Low = b.Low[:n-1]
			}
		}
		if len(b.High) > mostBound {
			b.High = raise(b.High[:mostBound:mostBound])
		}
	}
	if b.High == nil {
		return layout.Bounds{}
	}
	return b
}

// raise returns a text that is greater than all that begin with high; nil if there is none.
func raise(high []byte) []byte {
	for n := len(high); n > 0; n-- {
		if c := high[n-1]; c < 'z' {
			high = high[:n]
			high[n-1]++
			return high
		}
	}
	return nil
}
