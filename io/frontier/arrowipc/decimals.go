package arrowipc

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
)

// The library knows only decimals of 128 and 256 bits. Those of 32 and 64 bits are
// decoded as decimals of 128: the library gets a changed schema and buffers with
// widened values. Where they must come out unchanged, they are declared as fixed-size
// bytes.

// decimalBits returns the bits of a Decimal table's values.
func decimalBits(dataType table) int {
	return dataType.int32(2, 128)
}

// retypeDecimals returns a copy of a schema message in which retype has changed every
// decimal of 32 or 64 bits; the message itself when there is none.
func retypeDecimals(meta []byte, retype func(meta []byte, field, dataType table, bits int)) ([]byte, error) {
	changed := bytes.Clone(meta)
	h, err := parseHeader(changed)
	if err != nil {
		return nil, err
	}
	if h.kind != kindSchema {
		return nil, fmt.Errorf("the first message is of kind %d, not a schema", h.kind)
	}
	if _, err := checkSchema(h.table); err != nil {
		return nil, err
	}
	found := false
	var visit func(field table)
	visit = func(field table) {
		if dataType, ok := field.table(3); ok && field.uint8(2) == typeDecimal {
			if bits := decimalBits(dataType); bits == 32 || bits == 64 {
				retype(changed, field, dataType, bits)
				found = true
			}
		}
		field.tables(5, visit)
	}
	h.table.tables(1, visit)
	if !found {
		return meta, h.table.f.err
	}
	return changed, h.table.f.err
}

// widenType turns a decimal type into one of 128 bits.
func widenType(meta []byte, _, dataType table, _ int) {
	binary.LittleEndian.PutUint32(meta[dataType.field(2, 4):], 128)
}

// takeForBytes turns a decimal type into fixed-size bytes. The size overwrites the
// precision.
func takeForBytes(meta []byte, field, dataType table, bits int) {
	if precision := dataType.field(0, 4); precision > 0 {
		meta[field.field(2, 1)] = typeFixedSizeBinary
		binary.LittleEndian.PutUint32(meta[precision:], uint32(bits/8))
	}
}

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

// appendValues appends the shapes of the dictionaries in a type, in schema order.
func (s *shape) appendValues(list []*shape) []*shape {
	if s.values != nil {
		return s.values.appendValues(append(list, s.values))
	}
	for i := range s.children {
		list = s.children[i].appendValues(list)
	}
	return list
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
