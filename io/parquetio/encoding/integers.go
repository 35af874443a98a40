package encoding

import (
	"encoding/binary"
	"errors"
	"fmt"

	"robotsbatch/io/parquetio/layout"
)

var errCount = errors.New("damaged: its values are not as many as it says")

// Integers decodes the integers of a page.
type Integers struct {
	width int // bytes of a value

	plain   []byte         // Plain, and ByteStreamSplit
	streams int            // of ByteStreamSplit: how many values there were; 0 for Plain
	delta   *layout.Delta  // DeltaBinaryPacked
	indices *layout.Hybrid // into entries
	entries []int64
	scratch []uint32
	present int
}

// NewIntegers decodes the present values of a page of INT32 (width 4) or INT64
// (width 8) values in that encoding. The entries are the dictionary's, or nil.
func NewIntegers(encoding layout.Encoding, values []byte, width, present int, entries []int64) (*Integers, error) {
	d := &Integers{width: width, present: present}
	switch encoding {
	case layout.Plain, layout.ByteStreamSplit:
		if int64(present)*int64(width) != int64(len(values)) {
			return nil, errCount
		}
		if d.plain = values; encoding == layout.ByteStreamSplit {
			d.streams = present
		}
		return d, nil
	case layout.PlainDictionary, layout.RLEDictionary:
		if entries == nil {
			return nil, errors.New("damaged: it needs a dictionary, and there is none")
		}
		indices, err := newIndices(values, present)
		d.indices, d.entries = &indices, entries
		return d, err
	case layout.DeltaBinaryPacked:
		delta, rest, err := newLengths(values, present)
		if err == nil {
			err = doneWith(rest)
		}
		d.delta = &delta
		return d, err
	}
	return nil, fmt.Errorf("encoding %d of integers is not read", encoding)
}

// Entries reads a dictionary page of so many integers.
func Entries(page []byte, width, entries int) ([]int64, error) {
	d, err := NewIntegers(layout.Plain, page, width, entries, nil)
	if err != nil {
		return nil, err
	}
	list := make([]int64, entries)
	return list, d.Read(list)
}

// Read decodes the next len(dst) values.
func (d *Integers) Read(dst []int64) error {
	if len(dst) > d.present {
		return errCount
	}
	d.present -= len(dst)
	switch {
	case d.delta != nil:
		return d.delta.Read(dst)
	case d.indices != nil:
		indices := resize(&d.scratch, len(dst))
		if err := d.indices.Read(indices); err != nil {
			return err
		}
		for i, index := range indices {
			if int(index) >= len(d.entries) {
				return fmt.Errorf("damaged: index %d into a dictionary of %d values", index, len(d.entries))
			}
			dst[i] = d.entries[index]
		}
		return nil
	case d.streams > 0:
		from := d.streams - d.present - len(dst)
		for i := range dst {
			dst[i] = d.split(from + i)
		}
	case d.width == 4:
		for i := range dst {
			dst[i] = int64(int32(binary.LittleEndian.Uint32(d.plain[4*i:])))
		}
		d.plain = d.plain[4*len(dst):]
	default:
		for i := range dst {
			dst[i] = int64(binary.LittleEndian.Uint64(d.plain[8*i:]))
		}
		d.plain = d.plain[8*len(dst):]
	}
	return nil
}

// split returns value i of ByteStreamSplit: byte k of it lies in stream k.
func (d *Integers) split(i int) int64 {
	v := uint64(0)
	for k := range d.width {
		v |= uint64(d.plain[k*d.streams+i]) << (8 * k)
	}
	if d.width == 4 {
		return int64(int32(v))
	}
	return int64(v)
}

// Done returns an error when there is more than the values that were read.
func (d *Integers) Done() error {
	if d.indices != nil {
		return d.indices.Done()
	}
	return nil
}
