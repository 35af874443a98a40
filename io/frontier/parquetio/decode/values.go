package decode

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"robotsbatch/io/frontier/parquetio/columns"
	"robotsbatch/io/frontier/parquetio/encoding"
	"robotsbatch/io/frontier/parquetio/layout"
)

var (
	errCount      = errors.New("damaged: its values are not as many as it says")
	errDictionary = errors.New("damaged: it needs a dictionary, and there is none")
)

// values decodes the values of a page part by part.
type values interface {
	// append appends the next n.
	append(l *columns.Leaf, n int) error
	// done returns an error when there is more than what was read.
	done() error
}

// newValues returns the decoder of the current page's values.
func newValues(r *Reader) (values, error) {
	p, width := r.pages, r.node.Width()
	switch {
	case r.node.Type == columns.ByteArray:
		return newByteArrays(r)
	case r.node.Type == columns.Boolean:
		return newBooleans(p)
	}
	switch p.Encoding {
	case layout.Plain:
		values, err := layout.CutPadding(p.Content.Values, p.Present*width)
		return &plain{values, width}, err
	case layout.ByteStreamSplit:
		values, err := layout.CutPadding(p.Content.Values, p.Present*width)
		return &split{values: values, width: width, n: p.Present}, err
	case layout.PlainDictionary, layout.RLEDictionary:
		return newIndices(p, width)
	case layout.DeltaBinaryPacked:
		if r.node.Type == columns.Int32 || r.node.Type == columns.Int64 {
			return newDeltas(p, width)
		}
	case layout.DeltaByteArray:
		if r.node.Type == columns.FixedLenByteArray {
			return newFixedStrings(r, width)
		}
	}
	return nil, fmt.Errorf("damaged: values of its type are never written in encoding %d", p.Encoding)
}

// plain are values one after another.
type plain struct {
	values []byte
	width  int
}

func (p *plain) append(l *columns.Leaf, n int) error {
	l.Fixed = append(l.Fixed, p.values[:n*p.width]...)
	p.values = p.values[n*p.width:]
	return nil
}

func (p *plain) done() error { return nil }

// split are values of which the first bytes come first, then the second ones, and
// so on.
type split struct {
	values       []byte
	width, n, at int
}

func (s *split) append(l *columns.Leaf, n int) error {
	for i := s.at; i < s.at+n; i++ {
		for k := range s.width {
			l.Fixed = append(l.Fixed, s.values[k*s.n+i])
		}
	}
	s.at += n
	return nil
}

func (s *split) done() error { return nil }

// indices are values of a dictionary.
type indices struct {
	indices layout.Hybrid
	entries []byte
	width   int
}

func newIndices(p *layout.Pages, width int) (values, error) {
	switch {
	case p.Dictionary == nil && p.Present > 0:
		return nil, errDictionary
	case int64(p.Entries)*int64(width) > int64(len(p.Dictionary)):
		return nil, errCount
	case p.Present == 0:
		return &indices{}, nil
	case len(p.Content.Values) == 0 || p.Content.Values[0] > 32:
		return nil, errCount
	}
	h := layout.NewHybrid(p.Content.Values[1:], int(p.Content.Values[0]))
	return &indices{indices: h, entries: p.Dictionary[:p.Entries*width], width: width}, nil
}

func (d *indices) append(l *columns.Leaf, n int) error {
	var scratch [1024]uint32
	for n > 0 {
		part := scratch[:min(n, len(scratch))]
		if err := d.indices.Read(part); err != nil {
			return err
		}
		for _, index := range part {
			at := int(index) * d.width
			if at >= len(d.entries) {
				return fmt.Errorf("damaged: index %d into a dictionary of %d values", index, len(d.entries)/d.width)
			}
			l.Fixed = append(l.Fixed, d.entries[at:at+d.width]...)
		}
		n -= len(part)
	}
	return nil
}

func (d *indices) done() error { return d.indices.Done() }

// deltas are differences of integers.
type deltas struct {
	delta encoding.Delta
	width int
}

func newDeltas(p *layout.Pages, width int) (values, error) {
	if p.Present == 0 {
		return &deltas{}, nil
	}
	delta, err := encoding.NewDelta(p.Content.Values)
	if err == nil && delta.Left != int64(p.Present) {
		err = errCount
	}
	return &deltas{delta: delta, width: width}, err
}

func (d *deltas) append(l *columns.Leaf, n int) error {
	var scratch [1024]int64
	for n > 0 {
		part := scratch[:min(n, len(scratch))]
		if err := d.delta.Read(part); err != nil {
			return err
		}
		for _, v := range part {
			if d.width == 4 {
				l.Fixed = binary.LittleEndian.AppendUint32(l.Fixed, uint32(v))
			} else {
				l.Fixed = binary.LittleEndian.AppendUint64(l.Fixed, uint64(v))
			}
		}
		n -= len(part)
	}
	return nil
}

func (d *deltas) done() error { return nil }

// booleans are bits, plain or in runs.
type booleans struct {
	bits   layout.Hybrid
	packed []byte
	at     int
}

func newBooleans(p *layout.Pages) (values, error) {
	v := p.Content.Values
	switch {
	case p.Encoding == layout.Plain:
		packed, err := layout.CutPadding(v, (p.Present+7)/8)
		return &booleans{packed: packed}, err
	case p.Encoding != layout.RLE:
		return nil, fmt.Errorf("encoding %d is none of booleans", p.Encoding)
	case p.Present == 0:
		return &booleans{}, nil
	}
	bits, err := layout.NewBooleans(v)
	return &booleans{bits: bits}, err
}

func (b *booleans) append(l *columns.Leaf, n int) error {
	if b.packed != nil {
		for i := b.at; i < b.at+n; i++ {
			l.Fixed = append(l.Fixed, b.packed[i>>3]>>(i&7)&1)
		}
		b.at += n
		return nil
	}
	var scratch [1024]uint32
	for n > 0 {
		part := scratch[:min(n, len(scratch))]
		if err := b.bits.Read(part); err != nil {
			return err
		}
		for _, v := range part {
			l.Fixed = append(l.Fixed, byte(v&1))
		}
		n -= len(part)
	}
	return nil
}

func (b *booleans) done() error { return b.bits.Done() }

// byteArrays are values that each have their own length.
type byteArrays struct {
	strings encoding.Strings
	limit   int64
}

func newByteArrays(r *Reader) (values, error) {
	p := r.pages
	var dictionary *encoding.Dictionary
	if p.Dictionary != nil {
		if r.dictionary == nil {
			var err error
			if r.dictionary, err = encoding.NewDictionary(p.Dictionary, p.Entries); err != nil {
				return nil, err
			}
		}
		dictionary = r.dictionary
	}
	before, _ := r.values.(*byteArrays)
	var last encoding.Strings
	if before != nil {
		last = before.strings
	}
	strings, err := encoding.NewStrings(p.Encoding, p.Content.Values, p.Present, dictionary, last)
	return &byteArrays{strings, r.limit}, err
}

func (b *byteArrays) append(l *columns.Leaf, n int) (err error) {
	begin := len(l.Offsets)
	for range n {
		l.Offsets = append(l.Offsets, 0)
	}
	l.Data, err = b.strings.Append(l.Data, l.Offsets[begin:], min(b.limit, math.MaxInt32))
	return err
}

func (b *byteArrays) done() error { return b.strings.Done() }

// fixedStrings are values of one length that are written as if each had its own.
type fixedStrings struct {
	strings encoding.Strings
	width   int
}

func newFixedStrings(r *Reader, width int) (values, error) {
	var last encoding.Strings
	if before, ok := r.values.(*fixedStrings); ok {
		last = before.strings
	}
	strings, err := encoding.NewStrings(layout.DeltaByteArray, r.pages.Content.Values, r.pages.Present, nil, last)
	return &fixedStrings{strings: strings, width: width}, err
}

func (f *fixedStrings) append(l *columns.Leaf, n int) (err error) {
	scratch := make([]int32, min(n, 1024))
	for n > 0 {
		ends := scratch[:min(n, len(scratch))]
		begin := len(l.Fixed)
		if l.Fixed, err = f.strings.Append(l.Fixed, ends, int64(begin+len(ends)*f.width)); err != nil {
			return err
		}
		for i, end := range ends {
			if int(end) != begin+(i+1)*f.width {
				return errCount
			}
		}
		n -= len(ends)
	}
	return nil
}

func (f *fixedStrings) done() error { return f.strings.Done() }
