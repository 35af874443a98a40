package layout

import (
	"encoding/binary"
	"slices"
)

// The library knows only decimals of 128 and 256 bits. Those of 32 and 64 bits are
// decoded as decimals of 128, from widened values. Where they must be written unchanged,
// they are decoded as fixed-size bytes.

// SmallDecimal returns the bits of the widest decimal of 32 or 64 bits in the type, or in the values of its
// dictionary; 0 if there is none.
func (s *Shape) SmallDecimal() int {
	bits := s.decimal
	for i := range s.Children {
		bits = max(bits, s.Children[i].SmallDecimal())
	}
	if s.Values != nil {
		bits = max(bits, s.Values.SmallDecimal())
	}
	return bits
}

// SameDecimals reports whether the decimals in two shapes have the same widths. The shapes must be of the same type
// otherwise.
func SameDecimals(x, y Shape) bool {
	if x.Values != nil && y.Values != nil {
		return SameDecimals(*x.Values, *y.Values)
	}
	return x.decimal == y.decimal && slices.EqualFunc(x.Children, y.Children, SameDecimals)
}

// FindNarrow sets b.Narrow if columns, which b has, have decimals that must be widened.
func (b *BatchMeta) FindNarrow(columns []Shape) error {
	if !slices.ContainsFunc(columns, func(s Shape) bool { return s.SmallDecimal() > 0 }) {
		return nil
	}
	narrow := make([]uint8, len(b.Buffers))
	at := Cursor{Batch: b, Visit: func(s *Shape, buffer int) {
		if s.decimal > 0 {
			narrow[buffer] = uint8(s.decimal)
		}
	}}
	b.Narrow = narrow
	return at.NextAll(columns)
}

// widened returns the factor by which buffer i grows when its decimals are widened.
func (b *BatchMeta) widened(i int) int64 {
	if b.Narrow == nil || b.Narrow[i] == 0 {
		return 1
	}
	return 128 / int64(b.Narrow[i])
}

// widenValues fills dst with decimals of 128 bits. They are made of the narrower ones, of bits bits, in the last size bytes
// of dst. No value is overwritten before it is read, because the narrower ones are at the end.
func widenValues(dst []byte, size int, bits uint8) {
	src, width := dst[len(dst)-size:], int(bits/8)
	for i := range size / width {
		var value int64
		if bits == 32 {
			value = int64(int32(binary.LittleEndian.Uint32(src[4*i:])))
		} else {
			value = int64(binary.LittleEndian.Uint64(src[8*i:]))
		}
		binary.LittleEndian.PutUint64(dst[16*i:], uint64(value))
		binary.LittleEndian.PutUint64(dst[16*i+8:], uint64(value>>63))
	}
}
