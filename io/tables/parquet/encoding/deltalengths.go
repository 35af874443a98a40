package encoding

import (
	"slices"

	"robotsbatch/io/tables"
	"robotsbatch/io/tables/parquet/layout"
)

// deltaLengths are byte arrays in DELTA_LENGTH_BYTE_ARRAY: all lengths, and then all bytes.
type deltaLengths struct {
	lengths delta
	bytes   []byte  // of the values to come
	scratch []int64 // memory for lengths
}

// openDeltaLengths returns a decoder of byte arrays after their lengths.
func openDeltaLengths(b *Body) (Decoder, error) {
	lengths, rest, err := newLengths(b.Values, b.Present)
	return &deltaLengths{lengths: lengths, bytes: rest}, err
}

// newLengths returns a reader of the lengths with which values begins, and the bytes after them. There must be
// present lengths. A page without values may lack even their header.
func newLengths(values []byte, present int) (lengths delta, rest []byte, err error) {
	if present == 0 && layout.CheckPadding(values) == nil {
		return lengths, nil, nil
	}
	if lengths, err = newDelta(values); err != nil {
		return lengths, nil, err
	}
	if lengths.Left != int64(present) {
		return lengths, nil, errCount
	}
	rest, err = lengths.rest()
	return lengths, rest, err
}

// Next implements [Decoder].
func (d *deltaLengths) Next(dst *Values, n int, limit int64) error {
	d.scratch = slices.Grow(d.scratch[:0], n)[:n]
	if err := d.lengths.Read(d.scratch); err != nil {
		return err
	}
	total, from, ends := int64(0), int64(len(dst.Data)), dst.growEnds(n)
	for i, length := range d.scratch {
		if length < 0 || length > int64(len(d.bytes))-total {
			return errShort
		}
		total += length
		ends[i] = int32(from + total) // checked below
	}
	if err := checkLimit(from+total, limit); err != nil {
		return err
	}
	dst.Data = append(dst.Data, d.bytes[:total]...)
	d.bytes = d.bytes[total:]
	return nil
}

// Done implements [Decoder]: the bytes after those of the last value may only be padding.
func (d *deltaLengths) Done() error { return layout.CheckPadding(d.bytes) }

// writeDeltaLengths appends runs of byte arrays of p in DELTA_LENGTH_BYTE_ARRAY: all lengths, then all bytes.
func writeDeltaLengths(p *Page, dst []byte, runs []tables.Run) ([]byte, error) {
	p.numbers = p.numbers[:0]
	for _, r := range runs {
		for i := r.Low; i < r.High; i++ {
			p.numbers = append(p.numbers, int64(p.Begins[i+1]-p.Begins[i]))
		}
	}
	return p.appendRuns(AppendDeltas(dst, p.numbers, 4), runs), nil // lengths are 32-bit integers
}
