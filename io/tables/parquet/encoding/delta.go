package encoding

import (
	"errors"
	"math"
	"slices"

	"robotsbatch/io/tables/parquet/layout"
)

var errCount = errors.New("damaged: its values are not as many as it says")

// deltaLengths are the values' lengths and then their bytes
// (DELTA_LENGTH_BYTE_ARRAY).
type deltaLengths struct {
	lengths delta
	bytes   []byte
	scratch []int64
}

func newDeltaLengths(values []byte, present int) (*deltaLengths, error) {
	lengths, rest, err := newLengths(values, present)
	return &deltaLengths{lengths: lengths, bytes: rest}, err
}

// newLengths reads the header of present lengths and returns what lies after
// them.
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

func (d *deltaLengths) Append(data []byte, ends []int32, limit int64) ([]byte, error) {
	lengths := resize(&d.scratch, len(ends))
	if err := d.lengths.Read(lengths); err != nil {
		return data, err
	}
	total := int64(0)
	for i, n := range lengths {
		if n < 0 || n > int64(len(d.bytes))-total {
			return data, errShort
		}
		total += n
		ends[i] = int32(int64(len(data)) + total) // checked below
	}
	if err := checkLimit(int64(len(data))+total, limit); err != nil {
		return data, err
	}
	data = append(data, d.bytes[:total]...)
	d.bytes = d.bytes[total:]
	return data, nil
}

func (d *deltaLengths) Skip(n int) error {
	lengths := resize(&d.scratch, n)
	if err := d.lengths.Read(lengths); err != nil {
		return err
	}
	for _, n := range lengths {
		if n < 0 || n > int64(len(d.bytes)) {
			return errShort
		}
		d.bytes = d.bytes[n:]
	}
	return nil
}

func (d *deltaLengths) Done() error { return layout.CheckPadding(d.bytes) }

// deltaStrings are values of which each begins as the one before does: how many
// bytes they share, and what follows (DELTA_BYTE_ARRAY).
type deltaStrings struct {
	prefixes, suffixes delta
	bytes              []byte
	last               []byte // the last value
	scratch            []int64
}

// newDeltaStrings begins a page. Its first value shares nothing, but in files of
// some writers (Java's before 1.8, Arrow's for Go) it goes on from the page
// before. No other file can mean anything by that.
func newDeltaStrings(values []byte, present int, before Strings) (d *deltaStrings, err error) {
	d = &deltaStrings{}
	if b, ok := before.(*deltaStrings); ok {
		d.last = b.last
	}
	if d.prefixes, d.bytes, err = newLengths(values, present); err != nil {
		return d, err
	}
	d.suffixes, d.bytes, err = newLengths(d.bytes, present)
	return d, err
}

func (d *deltaStrings) Append(data []byte, ends []int32, limit int64) ([]byte, error) {
	both := resize(&d.scratch, 2*len(ends))
	prefixes, suffixes := both[:len(ends)], both[len(ends):]
	if err := d.prefixes.Read(prefixes); err != nil {
		return data, err
	}
	if err := d.suffixes.Read(suffixes); err != nil {
		return data, err
	}
	last, left, end := int64(len(d.last)), int64(len(d.bytes)), int64(len(data))
	for i, prefix := range prefixes {
		suffix := suffixes[i]
		if prefix < 0 || prefix > last || suffix < 0 || suffix > left {
			return data, errShort
		}
		left -= suffix
		last = prefix + suffix
		if end += last; checkLimit(end, limit) != nil {
			return data, checkLimit(end, limit)
		}
		ends[i] = int32(end)
	}
	from := len(data)
	data = slices.Grow(data, int(end)-from)[:end]
	before := d.last
	for i, prefix := range prefixes {
		value := data[from:ends[i]]
		copy(value, before[:prefix])
		d.bytes = d.bytes[copy(value[prefix:], d.bytes):]
		before, from = value, int(ends[i])
	}
	d.last = append(d.last[:0], before...)
	return data, nil
}

// Skip decodes the values, for the next one may share what they begin with.
func (d *deltaStrings) Skip(n int) error {
	_, err := d.Append(nil, make([]int32, n), math.MaxInt32)
	return err
}

func (d *deltaStrings) Done() error { return layout.CheckPadding(d.bytes) }
