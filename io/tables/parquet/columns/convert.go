package columns

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/bitutil"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"robotsbatch/io/tables/parquet/layout"
)

// convert returns the buffers of a leaf's array except its validity: the leaf's values in Arrow's type, each
// in its slot, by p. They may share the leaf's memory. It is an error if l has not as many values as p has slots for.
func (c *Column) convert(l *Leaf, p *spread) ([]*memory.Buffer, error) {
	n := c.Leaves[0]
	width := n.Width()
	if err := p.check(l.Values(width)); err != nil {
		return nil, err
	}
	switch dt := c.Field.Type.(type) {
	case *arrow.BooleanType:
		bits := make([]byte, bitutil.BytesForBits(int64(p.n)))
		p.each(func(slot, value int) { bits[slot>>3] |= l.Fixed[value] << (slot & 7) })
		return []*memory.Buffer{memory.NewBufferBytes(bits)}, nil
	case arrow.BinaryDataType:
		return []*memory.Buffer{offsetBuffer(spreadOffsets(l.Offsets, p), dt), memory.NewBufferBytes(l.Data)}, nil
	case arrow.DecimalType:
		return decimals(l, n, dt.Layout().Buffers[1].ByteWidth, p)
	case *arrow.TimestampType:
		if n.Type == layout.Int96 {
			return int96(l, p)
		}
	case *arrow.Int8Type:
		return narrow(l, p, 1, math.MinInt8, math.MaxInt8)
	case *arrow.Uint8Type:
		return narrow(l, p, 1, 0, math.MaxUint8)
	case *arrow.Int16Type:
		return narrow(l, p, 2, math.MinInt16, math.MaxInt16)
	case *arrow.Uint16Type:
		return narrow(l, p, 2, 0, math.MaxUint16)
	}
	return p.fixed(l.Fixed, width, width), nil
}

// fixed returns a buffer with newWidth bytes for each slot: the first bytes of its value, which has oldWidth bytes, or
// zeros. It is values itself if nothing changes.
func (p *spread) fixed(values []byte, oldWidth, newWidth int) []*memory.Buffer {
	if p.bits == nil && oldWidth == newWidth {
		return []*memory.Buffer{memory.NewBufferBytes(values)}
	}
	out := make([]byte, p.n*newWidth)
	p.each(func(slot, value int) { copy(out[slot*newWidth:][:newWidth], values[value*oldWidth:]) })
	return []*memory.Buffer{memory.NewBufferBytes(out)}
}

// narrow returns a buffer of integers of width bytes, made of integers of four bytes. One outside of least to
// most, the range of the new type, is an error.
func narrow(l *Leaf, p *spread, width int, least, most int32) ([]*memory.Buffer, error) {
	for at := 0; at < len(l.Fixed); at += 4 {
		if v := int32(binary.LittleEndian.Uint32(l.Fixed[at:])); v < least || v > most {
			return nil, fmt.Errorf("damaged: a value of %d in a column of integers from %d to %d", v, least, most)
		}
	}
	return p.fixed(l.Fixed, 4, width), nil // the lowest bytes of a number come first
}

// spreadOffsets returns the offsets of the slots' texts, given those of the values'. A slot without a value
// has an empty text.
func spreadOffsets(offsets []int32, p *spread) []int32 {
	if p.bits == nil && len(offsets) > 0 { // all slots have a value
		return offsets
	}
	out := make([]int32, p.n+1)
	if len(offsets) == 0 { // none has
		return out
	}
	for slot, value := 0, 0; slot < p.n; slot++ {
		value += int(p.bits[slot>>3] >> (slot & 7) & 1)
		out[slot+1] = offsets[value]
	}
	return out
}

var errDigits = errors.New("damaged: a decimal has more digits than its precision")

// decimals returns a buffer of decimals of width bytes, the lowest first. Parquet stores them as integers, or
// as bytes of any length, the highest first.
func decimals(l *Leaf, n *Node, width int, p *spread) (_ []*memory.Buffer, err error) {
	out := make([]byte, p.n*width)
	var lowFirst []byte
	p.each(func(slot, value int) {
		to := out[slot*width : (slot+1)*width]
		from := l.Value(value, n.Width())
		if len(from) == 0 {
			err = errors.New("damaged: a decimal without bytes")
			return
		}
		if n.Type != layout.Int32 && n.Type != layout.Int64 {
			lowFirst = append(lowFirst[:0], from...)
			slices.Reverse(lowFirst)
			from = lowFirst
		}
		sign := byte(int8(from[len(from)-1]) >> 7) // 0 or 0xff
		for i := copy(to, from); i < width; i++ {
			to[i] = sign
		}
		for _, high := range from[min(width, len(from)):] { // bytes that have no room
			if high != sign || to[width-1]>>7 != sign&1 { // they must only repeat the sign, which is to's highest bit as well
				err = errDigits
			}
		}
	})
	return []*memory.Buffer{memory.NewBufferBytes(out)}, err
}

// int96 returns a buffer of timestamps in nanoseconds since 1970. Parquet's INT96 has the nanoseconds of the
// day in 8 bytes, and the Julian day in 4.
func int96(l *Leaf, p *spread) (_ []*memory.Buffer, err error) {
	const (
		epoch = 2_440_588 // the Julian day of 1970-01-01
		day   = 86_400_000_000_000
	)
	out := make([]byte, p.n*8)
	p.each(func(slot, value int) {
		v := l.Fixed[value*12:]
		nanoseconds, days := int64(binary.LittleEndian.Uint64(v)), int64(int32(binary.LittleEndian.Uint32(v[8:])))-epoch
		tooFar := days > math.MaxInt64/day-1 || days < math.MinInt64/day+1 // 1: nanoseconds may be those of a whole day
		if notInDay := nanoseconds < -day || nanoseconds > day; tooFar || notInDay {
			err = errors.New("a timestamp of it (INT96) is outside of the years 1678 to 2262, which is what nanoseconds in 64 bits hold")
		}
		binary.LittleEndian.PutUint64(out[slot*8:], uint64(days*day+nanoseconds))
	})
	return []*memory.Buffer{memory.NewBufferBytes(out)}, err
}
