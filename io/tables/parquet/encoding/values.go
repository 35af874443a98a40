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
	Data  []byte
	Width int // bytes of each; 0 for byte arrays
	// Begins says of byte arrays where each begins in Data, and where the last one ends; nil for other types. A byte
	// array begins with its length, if Data has that.
	Begins []int32
	gap    int32 // bytes of the length before each byte array in Data: 4 as in PLAIN, or 0 for none
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
	return v, v.setByteArrays(plain, entries)
}

// setByteArrays sets v to the n byte arrays in PLAIN with which data begins: each after its length, in four bytes. It
// aliases data.
func (v *Values) setByteArrays(data []byte, n int) error {
	if int64(n)*4 > int64(len(data)) || len(data) > math.MaxInt32 {
		return errShort
	}
	*v = Values{Data: data, Begins: append(grow(v.Begins, n+1), 0), gap: 4}
	at, ok := 0, false
	for range n {
		if at, ok = afterText(data, at); !ok {
			return errShort
		}
		v.Begins = append(v.Begins, int32(at))
	}
	return nil
}

// afterText returns where the byte array ends that begins at data[at] in PLAIN, with its length in four bytes. ok is
// false if it reaches beyond data.
func afterText(data []byte, at int) (end int, ok bool) {
	if at += 4; at > len(data) {
		return 0, false
	}
	size := binary.LittleEndian.Uint32(data[at-4:])
	return at + int(size), uint64(size) <= uint64(len(data)-at)
}

// Len returns the number of values.
func (v *Values) Len() int {
	if v.Width > 0 {
		return len(v.Data) / v.Width
	}
	return len(v.Begins) - 1
}

// Place returns where value i begins in Data, or the end of Data for i = Len. A byte array begins with its length.
func (v *Values) Place(i int) int {
	if v.Width > 0 {
		return i * v.Width
	}
	return int(v.Begins[i])
}

// Value returns a value, without its length. It aliases the data.
func (v *Values) Value(i int) []byte { return v.Data[v.Place(i)+int(v.gap) : v.Place(i+1)] }

// grow returns an empty slice with room for n elements: s if it has that.
func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, 0, n+n/4)
	}
	return s[:0]
}

// growEnds makes room in v.Begins for the ends of n more byte arrays, and returns it. The caller sets them, and appends
// the bytes to v.Data.
func (v *Values) growEnds(n int) []int32 {
	at := len(v.Begins)
	v.Begins = slices.Grow(v.Begins, n)[:at+n]
	return v.Begins[at:]
}
