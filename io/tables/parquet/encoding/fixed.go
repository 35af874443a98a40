package encoding

import (
	"encoding/binary"
	"fmt"

	"robotsbatch/io/tables/parquet/layout"
)

// Fixed decodes the values of a page that have one width. A boolean has a byte.
type Fixed interface {
	// Append appends the next n values.
	Append(dst []byte, n int) ([]byte, error)
	// Done returns an error when there is more than the values that were read.
	Done() error
}

// block is the number of numbers that are decoded at a time.
const block = 1024

// NewFixed decodes the present values of a page, of that type and width. The other parameters
// are those of [NewStrings].
func NewFixed(t layout.Type, width int, e layout.Encoding, values []byte, present int, dictionary *Values, before Fixed) (f Fixed, err error) {
	integers := t == layout.Int32 || t == layout.Int64
	switch {
	case t == layout.Boolean && e == layout.Plain:
		values, err = layout.CutPadding(values, (present+7)/8)
		return &packed{bits: values}, err
	case t == layout.Boolean && e == layout.RLE && present == 0, integers && e == layout.DeltaBinaryPacked && present == 0:
		return &plain{}, nil
	case t == layout.Boolean && e == layout.RLE:
		b := &booleans{}
		b.Hybrid, err = layout.NewBooleans(values)
		return b, err
	case t == layout.Boolean:
	case e == layout.Plain:
		values, err = layout.CutPadding(values, present*width)
		return &plain{values, width}, err
	case e == layout.ByteStreamSplit:
		values, err = layout.CutPadding(values, present*width)
		return &split{values: values, width: width, n: present}, err
	case isDictionary(e):
		d := &indices{entries: dictionary}
		d.Hybrid, err = newIndices(values, present, dictionary)
		return d, err
	case e == layout.DeltaBinaryPacked && integers:
		d := &deltas{width: width}
		if d.delta, err = newDelta(values); err == nil && d.Left != int64(present) {
			err = errCount
		}
		return d, err
	case e == layout.DeltaByteArray && t == layout.FixedLenByteArray:
		d := &fixedStrings{width: width}
		var last Strings
		if before, ok := before.(*fixedStrings); ok {
			last = before.Strings
		}
		d.Strings, err = newDeltaStrings(values, present, last)
		return d, err
	}
	return nil, fmt.Errorf("damaged: values of its type are never written in encoding %d", e)
}

func isDictionary(e layout.Encoding) bool {
	return e == layout.PlainDictionary || e == layout.RLEDictionary
}

// plain are values one after another (PLAIN).
type plain struct {
	values []byte
	width  int
}

func (p *plain) Append(dst []byte, n int) ([]byte, error) {
	dst = append(dst, p.values[:n*p.width]...)
	p.values = p.values[n*p.width:]
	return dst, nil
}

func (p *plain) Done() error { return nil }

// split are values of which the first bytes come first, then the second ones, and so on
// (BYTE_STREAM_SPLIT).
type split struct {
	values       []byte
	width, n, at int
}

func (s *split) Append(dst []byte, n int) ([]byte, error) {
	for range n {
		for k := range s.width {
			dst = append(dst, s.values[k*s.n+s.at])
		}
		s.at++
	}
	return dst, nil
}

func (s *split) Done() error { return nil }

// packed are booleans in PLAIN, a bit each.
type packed struct {
	bits []byte
	at   int
}

func (p *packed) Append(dst []byte, n int) ([]byte, error) {
	for i := p.at; i < p.at+n; i++ {
		dst = append(dst, p.bits[i>>3]>>(i&7)&1)
	}
	p.at += n
	return dst, nil
}

func (p *packed) Done() error { return nil }

// booleans are booleans in runs (RLE).
type booleans struct{ layout.Hybrid }

func (b *booleans) Append(dst []byte, n int) ([]byte, error) { return b.AppendBytes(dst, n, 1) }

// indices are values of a dictionary.
type indices struct {
	layout.Hybrid
	entries *Values
}

func (d *indices) Append(dst []byte, n int) ([]byte, error) {
	var scratch [block]uint32
	for n > 0 {
		part := scratch[:min(n, block)]
		if err := d.Read(part); err != nil {
			return dst, err
		}
		data, width := d.entries.data, d.entries.width
		for _, index := range part {
			at := int(index) * width
			if at >= len(data) {
				return dst, errIndex(index, d.entries)
			}
			dst = append(dst, data[at:at+width]...)
		}
		n -= len(part)
	}
	return dst, nil
}

// deltas are integers as differences (DELTA_BINARY_PACKED).
type deltas struct {
	delta
	width int
}

func (d *deltas) Append(dst []byte, n int) ([]byte, error) {
	var scratch [block]int64
	for n > 0 {
		part := scratch[:min(n, block)]
		if err := d.Read(part); err != nil {
			return dst, err
		}
		for _, v := range part {
			if d.width == 4 {
				dst = binary.LittleEndian.AppendUint32(dst, uint32(v))
			} else {
				dst = binary.LittleEndian.AppendUint64(dst, uint64(v))
			}
		}
		n -= len(part)
	}
	return dst, nil
}

func (d *deltas) Done() error { return nil }

// fixedStrings are values of one length that are written as if each had its own
// (DELTA_BYTE_ARRAY).
type fixedStrings struct {
	Strings
	width int
}

func (f *fixedStrings) Append(dst []byte, n int) (_ []byte, err error) {
	scratch := make([]int32, min(n, block))
	for n > 0 {
		ends, begin := scratch[:min(n, block)], len(dst)
		if dst, err = f.Strings.Append(dst, ends, int64(begin+len(ends)*f.width)); err != nil {
			return dst, err
		}
		for i, end := range ends {
			if int(end) != begin+(i+1)*f.width {
				return dst, errCount
			}
		}
		n -= len(ends)
	}
	return dst, nil
}
