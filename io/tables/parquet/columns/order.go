package columns

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"

	"robotsbatch/io/tables/parquet/layout"
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

// Compare compares two values as PLAIN stores them, byte arrays without their length. It returns -1, 0 or 1.
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
		if len(a) > 0 && a[0]^b[0] >= 0x80 { // one is negative: its first bit is 1, and it is lower
			return cmp.Compare(b[0], a[0])
		}
	}
	return bytes.Compare(a, b)
}

// float returns a value of 4 or 8 bytes.
func float(b []byte) float64 {
	if len(b) == 4 {
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(b))
}

// Extend makes v one of the bounds if it lies outside of them, or both if there are none. NaN never becomes one. The
// bounds alias v.
func (o Order) Extend(b *layout.Bounds, v []byte) {
	switch {
	case o == Floating && math.IsNaN(float(v)):
	case b.Low == nil:
		b.Low, b.High = v, v
	case o.Compare(v, b.Low) < 0:
		b.Low = v
	case o.Compare(v, b.High) > 0:
		b.High = v
	}
}

// Detach returns copies of the bounds that Extend found. A lower bound of zero becomes -0 and an upper one +0, because
// a reader may take -0 as less than +0. The sign is the highest bit of the last byte.
func (o Order) Detach(b layout.Bounds) layout.Bounds {
	b = layout.Bounds{Low: bytes.Clone(b.Low), High: bytes.Clone(b.High)}
	if o == Floating && b.Low != nil {
		if float(b.Low) == 0 {
			b.Low[len(b.Low)-1] = 0x80
		}
		if float(b.High) == 0 {
			b.High[len(b.High)-1] = 0
		}
	}
	return b
}

// Order returns the order of a leaf's values in statistics, NoOrder if the format has none or readers differ.
func (n *Node) Order() Order {
	kind := n.Meaning.Kind
	switch {
	case kind == Other:
	case n.Type == layout.Boolean, (n.Type == layout.Int32 || n.Type == layout.Int64) && kind == Integer && !n.Meaning.Signed:
		return Unsigned
	case n.Type == layout.Int32 || n.Type == layout.Int64:
		return Signed
	case n.Type == layout.Float || n.Type == layout.Double:
		return Floating
	case n.Type == layout.FixedLenByteArray && kind == Decimal:
		return SignedBytes
	case n.Type == layout.ByteArray && kind != Decimal, n.Type == layout.FixedLenByteArray && (kind == NoKind || kind == UUID):
		return ByBytes
	}
	return NoOrder
}
