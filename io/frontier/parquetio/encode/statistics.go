package encode

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"

	"robotsbatch/io/frontier/parquetio/columns"
)

// maxStatistic is the most bytes that a value has in the statistics.
const maxStatistic = 256

// extremes returns the least and the greatest of a leaf's values as PLAIN stores
// them, nil where there is none or the format knows no order.
func extremes(n *columns.Node, l *columns.Leaf) (low, high []byte) {
	if !ordered(n) {
		return nil, nil
	}
	width := n.Width()
	count := l.Values(width)
	if l.Fixed == nil && width > 0 || l.Offsets == nil && width == 0 {
		return nil, nil
	}
	if l.Definitions == nil && width > 0 { // a dictionary's entries have no levels, and no count
		count = len(l.Fixed) / width
	} else if width == 0 {
		count = len(l.Offsets) - 1
	}
	switch n.Type {
	case columns.Int32:
		if unsigned(n) {
			return number(l, count, 4, binary.LittleEndian.Uint32)
		}
		return number(l, count, 4, func(b []byte) int32 { return int32(binary.LittleEndian.Uint32(b)) })
	case columns.Int64:
		if unsigned(n) {
			return number(l, count, 8, binary.LittleEndian.Uint64)
		}
		return number(l, count, 8, func(b []byte) int64 { return int64(binary.LittleEndian.Uint64(b)) })
	case columns.Float:
		low, high := number(l, count, 4, func(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) })
		return zeros(low, high, 4)
	case columns.Double:
		low, high := number(l, count, 8, func(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) })
		return zeros(low, high, 8)
	case columns.Boolean:
		return booleans(l.Fixed[:count])
	case columns.ByteArray:
		return texts(l, count)
	}
	return nil, nil
}

// ordered reports whether values are ordered as what they are stored as.
func ordered(n *columns.Node) bool {
	return n.Meaning.Kind != columns.Other && (n.Meaning.Kind != columns.Decimal || n.Type != columns.ByteArray)
}

func unsigned(n *columns.Node) bool { return n.Meaning.Kind == columns.Integer && !n.Meaning.Signed }

// number returns the extremes of numbers; those that are not equal to themselves
// are left out.
func number[T cmp.Ordered](l *columns.Leaf, count, width int, get func([]byte) T) (low, high []byte) {
	var least, greatest T
	for i := range count {
		b := l.Fixed[i*width : (i+1)*width]
		v := get(b)
		if v != v {
			continue
		}
		if low == nil || v < least {
			low, least = b, v
		}
		if high == nil || v > greatest {
			high, greatest = b, v
		}
	}
	return bytes.Clone(low), bytes.Clone(high)
}

// booleans returns the extremes of bytes that are 0 or 1.
func booleans(values []byte) (low, high []byte) {
	if len(values) == 0 {
		return nil, nil
	}
	low, high = []byte{1}, []byte{0}
	if bytes.IndexByte(values, 0) >= 0 {
		low[0] = 0
	}
	if bytes.IndexByte(values, 1) >= 0 {
		high[0] = 1
	}
	return low, high
}

// zeros makes the least zero negative and the greatest positive: a reader may take
// them as different.
func zeros(low, high []byte, width int) ([]byte, []byte) {
	if low != nil && isZero(low) {
		low[width-1] = 0x80
	}
	if high != nil && isZero(high) {
		high[width-1] = 0
	}
	return low, high
}

func isZero(b []byte) bool {
	for _, v := range b[:len(b)-1] {
		if v != 0 {
			return false
		}
	}
	return b[len(b)-1]&0x7f == 0
}

// texts returns the extremes of byte arrays, as bytes are ordered.
func texts(l *columns.Leaf, count int) (low, high []byte) {
	for i := range count {
		v := value(l, i, 0)
		if low == nil || bytes.Compare(v, low) < 0 {
			low = v
		}
		if high == nil || bytes.Compare(v, high) > 0 {
			high = v
		}
	}
	if len(low) > maxStatistic || len(high) > maxStatistic {
		return nil, nil
	}
	return bytes.Clone(low), bytes.Clone(high)
}
