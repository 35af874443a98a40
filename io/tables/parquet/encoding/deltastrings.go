package encoding

import (
	"slices"

	"robotsbatch/io/tables"
	"robotsbatch/io/tables/parquet/layout"
)

// deltaStrings are values in DELTA_BYTE_ARRAY: first for each the number of bytes that it shares with the value
// before, then for each the number of its other bytes, then these bytes.
type deltaStrings struct {
	prefixes, suffixes delta
	width              int    // bytes of each value, 0 for byte arrays
	bytes              []byte // of the values to come
	last               []byte // the value that was read last
	scratch            []int64
}

// openDeltaStrings returns a decoder of values in DELTA_BYTE_ARRAY. By the format, the first value of a page
// shares nothing with the one before. Some writers (Java's before 1.8, Arrow's for Go) let it share with the
// last value of the page before, so that is kept.
func openDeltaStrings(b *Body) (_ Decoder, err error) {
	d := &deltaStrings{width: b.Width}
	if previous, ok := b.Before.(*deltaStrings); ok {
		d.last = previous.last
	}
	if d.prefixes, d.bytes, err = newLengths(b.Values, b.Present); err != nil {
		return d, err
	}
	d.suffixes, d.bytes, err = newLengths(d.bytes, b.Present)
	return d, err
}

// Next implements [Decoder]. It checks all lengths before it takes memory for the values.
func (d *deltaStrings) Next(dst *Values, n int, limit int64) error {
	d.scratch = slices.Grow(d.scratch[:0], 2*n)[:2*n]
	prefixes, suffixes := d.scratch[:n], d.scratch[n:]
	if err := d.prefixes.Read(prefixes); err != nil {
		return err
	}
	if err := d.suffixes.Read(suffixes); err != nil {
		return err
	}
	// Bytes of the value before, bytes of values to come, and where the value before ends in dst.Data.
	last, left, end := int64(len(d.last)), int64(len(d.bytes)), int64(len(dst.Data))
	for i, prefix := range prefixes {
		suffix := suffixes[i]
		if prefix < 0 || prefix > last || suffix < 0 || suffix > left {
			return errShort
		}
		left -= suffix
		if last = prefix + suffix; d.width > 0 && last != int64(d.width) {
			return errCount
		}
		end += last
		if err := checkLimit(end, limit); err != nil {
			return err
		}
	}
	from, previous := len(dst.Data), d.last
	dst.Data = slices.Grow(dst.Data, int(end)-from)[:end]
	for i, prefix := range prefixes {
		value := dst.Data[from : from+int(prefix+suffixes[i])]
		copy(value, previous[:prefix])
		d.bytes = d.bytes[copy(value[prefix:], d.bytes):]
		previous, from = value, from+len(value)
		if d.width == 0 {
			dst.Begins = append(dst.Begins, int32(from))
		}
	}
	d.last = append(d.last[:0], previous...)
	return nil
}

// Done implements [Decoder]: the bytes after those of the last value may only be padding.
func (d *deltaStrings) Done() error { return layout.CheckPadding(d.bytes) }

// writeDeltaStrings appends runs of values of p in DELTA_BYTE_ARRAY, each as what differs from the kept value before.
func writeDeltaStrings(p *Page, dst []byte, runs []tables.Run) ([]byte, error) {
	p.numbers, p.more = p.numbers[:0], p.more[:0]
	var last []byte
	for _, r := range runs {
		for i := r.Low; i < r.High; i++ {
			value, n := p.Values.Value(i), 0
			for n < len(last) && n < len(value) && last[n] == value[n] {
				n++
			}
			p.numbers, p.more = append(p.numbers, int64(n)), append(p.more, int64(len(value)-n))
			last = value
		}
	}
	dst = AppendDeltas(AppendDeltas(dst, p.numbers, 4), p.more, 4) // lengths are 32-bit integers
	at := 0
	for _, r := range runs {
		for i := r.Low; i < r.High; i++ {
			dst = append(dst, p.Values.Value(i)[p.numbers[at]:]...)
			at++
		}
	}
	return dst, nil
}
