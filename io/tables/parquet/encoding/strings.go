package encoding

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"robotsbatch/io/tables"
	"robotsbatch/io/tables/parquet/layout"
)

// Strings decodes the byte arrays of a page.
type Strings interface {
	// Append decodes the next len(ends) values. It appends their bytes to data,
	// which may have limit bytes afterwards, and sets ends[i] to where value i
	// ends in it.
	Append(data []byte, ends []int32, limit int64) ([]byte, error)
	// Skip passes over the next n values.
	Skip(n int) error
	// Done returns an error when there is more than the values that were read.
	Done() error
}

var errShort = errors.New("damaged: its values reach beyond it")

// tooLong is the error for values that take more than limit bytes.
func tooLong(limit int64) error {
	if limit >= math.MaxInt32 {
		return &tables.LimitError{What: "its strings take more than 2 GiB in one batch", Help: tables.FewerRows}
	}
	return &tables.LimitError{What: fmt.Sprintf("its strings take more than %d bytes in one batch", limit), Help: tables.MoreMemory | tables.FewerRows}
}

// checkLimit checks the size that data would have.
func checkLimit(size, limit int64) error {
	if limit = min(limit, math.MaxInt32); size > limit {
		return tooLong(limit)
	}
	return nil
}

// NewStrings decodes the present values of a page in that encoding. The
// dictionary is the chunk's, or nil; before is the decoder of the page before,
// or nil, read to its end.
func NewStrings(encoding layout.Encoding, values []byte, present int, dictionary *Values, before Strings) (Strings, error) {
	switch encoding {
	case layout.Plain:
		if int64(present)*4 > int64(len(values)) {
			return nil, errShort
		}
		return &plainStrings{values}, nil
	case layout.PlainDictionary, layout.RLEDictionary:
		indices, err := newIndices(values, present, dictionary)
		return &dictionaryStrings{indices: indices, dictionary: dictionary}, err
	case layout.DeltaLengthByteArray:
		return newDeltaLengths(values, present)
	case layout.DeltaByteArray:
		return newDeltaStrings(values, present, before)
	}
	return nil, fmt.Errorf("encoding %d of byte arrays is not read", encoding)
}

// plainStrings are values that each lie after their length, in four bytes.
type plainStrings struct{ values []byte }

func (p *plainStrings) Append(data []byte, ends []int32, limit int64) ([]byte, error) {
	src, at, end := p.values, 0, len(data)
	for i := range ends {
		if at+4 > len(src) {
			return data, errShort
		}
		n := int(binary.LittleEndian.Uint32(src[at:]))
		at += 4
		if n > len(src)-at {
			return data, errShort
		}
		at += n
		end += n
		ends[i] = int32(end) // checked below
	}
	if err := checkLimit(int64(end), limit); err != nil {
		return data, err
	}
	from := len(data)
	data = slices.Grow(data, end-from)[:end]
	at = 4
	for _, to := range ends {
		n := int(to) - from
		copy(data[from:to], src[at:at+n])
		at += n + 4
		from = int(to)
	}
	p.values = src[at-4:]
	return data, nil
}

func (p *plainStrings) Skip(n int) error {
	at := 0
	for range n {
		if at+4 > len(p.values) {
			return errShort
		}
		at += 4 + int(binary.LittleEndian.Uint32(p.values[at:]))
		if at > len(p.values) {
			return errShort
		}
	}
	p.values = p.values[at:]
	return nil
}

func (p *plainStrings) Done() error { return layout.CheckPadding(p.values) }

// newIndices reads the width in bits of indices into a dictionary, and returns these.
func newIndices(values []byte, present int, dictionary *Values) (h layout.Hybrid, err error) {
	switch {
	case present == 0:
	case dictionary == nil:
		err = errors.New("damaged: it needs a dictionary, and there is none")
	case len(values) == 0 || values[0] > 32:
		err = errShort
	default:
		h = layout.NewHybrid(values[1:], int(values[0]))
	}
	return h, err
}

func errIndex(index uint32, dictionary *Values) error {
	return fmt.Errorf("damaged: index %d into a dictionary of %d values", index, dictionary.Len())
}

// dictionaryStrings are indices into a dictionary.
type dictionaryStrings struct {
	indices    layout.Hybrid
	dictionary *Values
	scratch    []uint32
}

func (d *dictionaryStrings) Append(data []byte, ends []int32, limit int64) ([]byte, error) {
	indices := resize(&d.scratch, len(ends))
	if err := d.indices.Read(indices); err != nil {
		return data, err
	}
	begins := d.dictionary.begins
	end := int64(len(data))
	for i, index := range indices {
		if int(index) >= len(begins)-1 {
			return data, errIndex(index, d.dictionary)
		}
		end += int64(begins[index+1] - begins[index] - 4)
		ends[i] = int32(end) // checked below
	}
	if err := checkLimit(end, limit); err != nil {
		return data, err
	}
	from := len(data)
	data = slices.Grow(data, int(end)-from)[:end]
	for i, index := range indices {
		copy(data[from:ends[i]], d.dictionary.data[begins[index]+4:])
		from = int(ends[i])
	}
	return data, nil
}

func (d *dictionaryStrings) Skip(n int) error { return d.indices.Read(resize(&d.scratch, n)) }

func (d *dictionaryStrings) Done() error { return d.indices.Done() }

// resize returns n elements of a scratch that grows.
func resize[T any](scratch *[]T, n int) []T {
	if cap(*scratch) < n {
		*scratch = make([]T, n, 1<<bits.Len(uint(n)))
	}
	return (*scratch)[:n]
}
