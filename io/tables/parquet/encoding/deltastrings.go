package encoding

import (
	"slices"

	"robotsbatch/io/tables"
	"robotsbatch/io/tables/parquet/layout"
)

// deltaStrings are values of which each begins as the one before does: how many
// bytes they share, and what follows (DELTA_BYTE_ARRAY).
type deltaStrings struct {
	prefixes, suffixes delta
	width              int // of each, 0 where they differ
	bytes              []byte
	last               []byte // the last value
	scratch            []int64
}

// openDeltaStrings begins a page. Its first value shares nothing, but in files of
// some writers (Java's before 1.8, Arrow's for Go) it goes on from the page
// before. No other file can mean anything by that.
func openDeltaStrings(b *Body) (_ Decoder, err error) {
	d := &deltaStrings{width: b.Width}
	if before, ok := b.Before.(*deltaStrings); ok {
		d.last = before.last
	}
	if d.prefixes, d.bytes, err = newLengths(b.Values, b.Present); err != nil {
		return d, err
	}
	d.suffixes, d.bytes, err = newLengths(d.bytes, b.Present)
	return d, err
}

// Next implements [Decoder]. It checks all lengths before it takes memory for the values.
func (d *deltaStrings) Next(dst *Values, n int, limit int64) error {
	both := resize(&d.scratch, 2*n)
	prefixes, suffixes := both[:n], both[n:]
	if err := d.prefixes.Read(prefixes); err != nil {
		return err
	}
	if err := d.suffixes.Read(suffixes); err != nil {
		return err
	}
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
		if end += last; checkLimit(end, limit) != nil {
			return checkLimit(end, limit)
		}
	}
	from, before := len(dst.Data), d.last
	dst.Data = slices.Grow(dst.Data, int(end)-from)[:end]
	for i, prefix := range prefixes {
		value := dst.Data[from : from+int(prefix+suffixes[i])]
		copy(value, before[:prefix])
		d.bytes = d.bytes[copy(value[prefix:], d.bytes):]
		before, from = value, from+len(value)
		if d.width == 0 {
			dst.Begins = append(dst.Begins, int32(from))
		}
	}
	d.last = append(d.last[:0], before...)
	return nil
}

func (d *deltaStrings) Done() error { return layout.CheckPadding(d.bytes) }

// writeDeltaStrings writes runs of values of p: how many bytes each shares with the one before, which may
// have been another in p; how many follow; and these.
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
	dst = AppendDeltas(AppendDeltas(dst, p.numbers, 4), p.more, 4)
	at := 0
	for _, r := range runs {
		for i := r.Low; i < r.High; i++ {
			dst = append(dst, p.Values.Value(i)[p.numbers[at]:]...)
			at++
		}
	}
	return dst, nil
}
