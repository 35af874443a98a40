package arrowipc

import (
	"encoding/binary"
	"slices"
)

// The library knows only decimals of 128 and 256 bits. Those of 32 and 64 bits are
// decoded as decimals of 128, from widened values. Where they must be written unchanged,
// they are decoded as fixed-size bytes.

// smallDecimal returns the bits of the last decimal of 32 or 64 bits in the type, 0 if
// there is none.
func (s *shape) smallDecimal() int {
	bits := s.decimal
	for i := range s.children {
		if inner := s.children[i].smallDecimal(); inner > 0 {
			bits = inner
		}
	}
	if s.values != nil {
		bits = max(bits, s.values.smallDecimal())
	}
	return bits
}

// sameDecimals reports whether the decimals in two shapes of one type have the same widths.
func sameDecimals(x, y shape) bool {
	if x.values != nil && y.values != nil {
		return sameDecimals(*x.values, *y.values)
	}
	return x.decimal == y.decimal && slices.EqualFunc(x.children, y.children, sameDecimals)
}

// findNarrow finds the buffers of a record batch whose decimals must be widened.
func (b *batchMeta) findNarrow(columns []shape) error {
	if !slices.ContainsFunc(columns, func(s shape) bool { return s.smallDecimal() > 0 }) {
		return nil
	}
	narrow := make([]uint8, len(b.buffers))
	at := cursor{batch: b, visit: func(s *shape, _ fieldNode, buffer int) {
		if s.decimal > 0 {
			narrow[buffer] = uint8(s.decimal)
		}
	}}
	for i := range columns {
		if err := at.next(&columns[i]); err != nil {
			return err
		}
	}
	b.narrow = narrow
	return nil
}

// widened returns the factor by which buffer i grows when its decimals are widened.
func (b *batchMeta) widened(i int) int64 {
	if b.narrow == nil || b.narrow[i] == 0 {
		return 1
	}
	return 128 / int64(b.narrow[i])
}

// widenValues widens the decimals in the last size bytes of dst to 128 bits, and writes
// them from the beginning of dst on. It never overwrites a value that it has not read
// yet.
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
