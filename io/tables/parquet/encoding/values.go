package encoding

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"robotsbatch/io/tables/parquet/layout"
)

// Values are values that lie one after another in memory: of a page in PLAIN, of a
// dictionary, or decoded.
type Values struct {
	Data   []byte
	Width  int     // bytes of each; 0 for byte arrays
	Begins []int32 // of byte arrays: where each begins, its length included, and the end; else nil
	gap    int32   // bytes of the length before each byte array: 4 as in PLAIN, or 0
}

// NewDictionary returns the entries of the page of a dictionary, with which plain, its decompressed body,
// begins. They alias plain. width is the bytes of an entry in PLAIN, 0 for byte arrays. Bytes after the
// entries are ignored: Arrow's C++ writer leaves room there for values that it was given twice.
func NewDictionary(p *layout.Page, plain []byte, width int) (*Values, error) {
	entries := p.Values
	if p.Encoding != layout.Plain && p.Encoding != layout.PlainDictionary {
		return nil, fmt.Errorf("damaged: a dictionary in encoding %d", p.Encoding)
	}
	if int64(entries)*int64(cmp.Or(width, 4)) > int64(len(plain)) { // 4: the length of a byte array
		return nil, fmt.Errorf("damaged: a dictionary of %d values in %d bytes", entries, len(plain))
	}
	if width > 0 {
		return &Values{Data: plain[:entries*width], Width: width}, nil
	}
	v := &Values{}
	return v, v.find(plain, entries)
}

// find sets v to the n byte arrays in PLAIN with which data begins: each after its length, in four bytes. It
// aliases data.
func (v *Values) find(data []byte, n int) error {
	if int64(n)*4 > int64(len(data)) || len(data) > math.MaxInt32 {
		return errShort
	}
	*v = Values{Data: data, Begins: append(grow(v.Begins, n+1), 0), gap: 4}
	at := 0
	for range n {
		if at+4 > len(data) {
			return errShort
		}
		size := binary.LittleEndian.Uint32(data[at:])
		if at += 4; uint64(size) > uint64(len(data)-at) {
			return errShort
		}
		at += int(size)
		v.Begins = append(v.Begins, int32(at))
	}
	return nil
}

// Len returns the number of values.
func (v *Values) Len() int {
	if v.Width > 0 {
		return len(v.Data) / v.Width
	}
	return len(v.Begins) - 1
}

// Place returns where value i begins in the data, byte arrays with their length. For i = Len it is the end.
func (v *Values) Place(i int) int {
	if v.Width > 0 {
		return i * v.Width
	}
	return int(v.Begins[i])
}

// Size returns how many bytes the data has.
func (v *Values) Size() int { return len(v.Data) }

// Value returns a value, without its length. It aliases the data.
func (v *Values) Value(i int) []byte { return v.Data[v.Place(i)+int(v.gap) : v.Place(i+1)] }

// grow returns an empty slice with room for n elements: s if it has that.
func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, 0, n+n/4)
	}
	return s[:0]
}

// ends appends n byte arrays. The caller sets their ends in the returned slice, as offsets in v.Data, and
// appends their bytes there.
func (v *Values) ends(n int) []int32 {
	at := len(v.Begins)
	v.Begins = slices.Grow(v.Begins, n)[:at+n]
	return v.Begins[at:]
}
