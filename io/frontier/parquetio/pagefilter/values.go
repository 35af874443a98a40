package pagefilter

import (
	"encoding/binary"
	"errors"
	"fmt"

	"robotsbatch/io/frontier/parquetio/encoding"
	"robotsbatch/io/frontier/parquetio/layout"
)

var (
	errCount = errors.New("damaged: its values are not as many as it says")
	errShort = errors.New("damaged: its values reach beyond it")
)

// values are those of a page.
type values interface {
	// size is about how many bytes the values from low to high-1 have.
	size(low, high int) int
	// value returns a value as PLAIN stores it, byte arrays without their length. It
	// appends to dst what the page does not have as it is.
	value(dst []byte, i int) []byte
	// append appends runs of values in the page's encoding.
	append(dst []byte, runs []run) ([]byte, error)
}

// placed are values that lie behind one another.
type placed interface {
	// place is where a value begins, and one more would.
	place(i int) int
}

// decoders are the memory of those.
type decoders struct {
	fixed    fixed
	texts    texts
	indices  indices
	booleans booleans
	integers integers
	lengths  lengths
	prefixes prefixes
	split    split
}

// decode returns the present values of a page.
func (f *Filter) decode(c *Column, e layout.Encoding, data []byte, present int) (values, error) {
	d := &f.decoder
	if e != layout.DeltaByteArray {
		f.last = nil
	}
	switch {
	case e == layout.PlainDictionary || e == layout.RLEDictionary:
		if c.Dictionary == nil {
			return nil, errors.New("damaged: it needs a dictionary, and there is none")
		}
		d.indices.dictionary = c.Dictionary
		return &d.indices, d.indices.decode(data, present, len(c.Dictionary.numbers))
	case c.Type == layout.Boolean && (e == layout.Plain || e == layout.RLE):
		return &d.booleans, d.booleans.decode(e, data, present)
	case e == layout.Plain && c.Type == layout.ByteArray:
		return &d.texts, d.texts.decode(data, present)
	case e == layout.Plain || e == layout.ByteStreamSplit:
		data, err := layout.CutPadding(data, present*c.Width)
		if err != nil {
			return nil, err
		}
		if e == layout.Plain {
			d.fixed = fixed{data, c.Width}
			return &d.fixed, nil
		}
		d.split = split{data: data, width: c.Width, n: present}
		return &d.split, nil
	case e == layout.DeltaBinaryPacked && (c.Type == layout.Int32 || c.Type == layout.Int64):
		return &d.integers, d.integers.decode(data, present, c.Width)
	case e == layout.DeltaLengthByteArray && c.Type == layout.ByteArray:
		return &d.lengths, d.lengths.decode(data, present)
	case e == layout.DeltaByteArray && (c.Type == layout.ByteArray || c.Type == layout.FixedLenByteArray):
		strings, err := encoding.NewStrings(e, data, present, nil, f.last)
		if err != nil {
			return nil, err
		}
		f.last = strings
		return &d.prefixes, d.prefixes.decode(strings, present)
	}
	return nil, fmt.Errorf("damaged: values of its type are never written in encoding %d", e)
}

// fixed are values of one width in PLAIN.
type fixed struct {
	data  []byte
	width int
}

func (v *fixed) size(low, high int) int { return (high - low) * v.width }

func (v *fixed) value(_ []byte, i int) []byte { return v.data[i*v.width : (i+1)*v.width] }

func (v *fixed) place(i int) int { return i * v.width }

func (v *fixed) append(dst []byte, runs []run) ([]byte, error) {
	for _, r := range runs {
		dst = append(dst, v.data[r.low*v.width:r.high*v.width]...)
	}
	return dst, nil
}

// texts are byte arrays in PLAIN: each behind its length, in four bytes.
type texts struct {
	data   []byte
	begins []uint32 // of each value with its length, and where one more would begin
}

func (v *texts) decode(data []byte, present int) error {
	if err := v.find(data, present); err != nil {
		return err
	}
	return layout.CheckPadding(data[v.begins[present]:])
}

// find finds where the values lie that data begins with.
func (v *texts) find(data []byte, present int) error {
	if int64(present)*4 > int64(len(data)) {
		return errShort
	}
	v.data = data
	v.begins = append(grow(v.begins, present+1), 0)
	at := 0
	for range present {
		if at+4 > len(data) {
			return errShort
		}
		n := int(binary.LittleEndian.Uint32(data[at:]))
		if at += 4; n > len(data)-at {
			return errShort
		}
		at += n
		v.begins = append(v.begins, uint32(at))
	}
	return nil
}

func (v *texts) size(low, high int) int { return int(v.begins[high] - v.begins[low]) }

func (v *texts) value(_ []byte, i int) []byte { return v.data[v.begins[i]+4 : v.begins[i+1]] }

func (v *texts) place(i int) int { return int(v.begins[i]) }

func (v *texts) append(dst []byte, runs []run) ([]byte, error) {
	for _, r := range runs {
		dst = append(dst, v.data[v.begins[r.low]:v.begins[r.high]]...)
	}
	return dst, nil
}

// indices are those of a dictionary's entries.
type indices struct {
	width      int
	dictionary *Dictionary
	indices    []uint32
	kept       []int32
}

func (v *indices) decode(data []byte, present, entries int) error {
	v.indices = grow(v.indices, present)[:present]
	if present == 0 {
		v.width = 0
		if len(data) > 0 {
			v.width = int(data[0])
		}
		return nil
	}
	if len(data) == 0 || data[0] > 32 {
		return errCount
	}
	v.width = int(data[0])
	h := layout.NewHybrid(data[1:], v.width)
	if err := h.Read(v.indices); err != nil {
		return err
	}
	for _, index := range v.indices {
		if int64(index) >= int64(entries) {
			return fmt.Errorf("damaged: index %d into a dictionary of %d values", index, entries)
		}
	}
	return h.Done()
}

func (v *indices) size(low, high int) int { return 4 * (high - low) }

func (v *indices) value(dst []byte, i int) []byte {
	return v.dictionary.entries.value(dst, int(v.indices[i]))
}

func (v *indices) append(dst []byte, runs []run) ([]byte, error) {
	v.kept = v.kept[:0]
	for _, r := range runs {
		for _, index := range v.indices[r.low:r.high] {
			v.kept = append(v.kept, int32(index))
		}
	}
	width := v.width
	if !v.dictionary.Full() {
		if err := v.dictionary.renumber(v.kept); err != nil {
			return dst, err
		}
		width = v.dictionary.width()
	}
	return layout.AppendHybrid(append(dst, byte(width)), v.kept, width), nil
}

// booleans are bits, plain or in runs, as bytes here.
type booleans struct {
	encoding layout.Encoding
	values   []byte
	kept     []byte
	numbers  []uint32
}

func (v *booleans) decode(e layout.Encoding, data []byte, present int) error {
	v.encoding = e
	v.values = grow(v.values, present)[:present]
	if e == layout.Plain {
		packed, err := layout.CutPadding(data, (present+7)/8)
		if err != nil {
			return err
		}
		for i := range v.values {
			v.values[i] = packed[i>>3] >> (i & 7) & 1
		}
		return nil
	}
	if present == 0 {
		return nil
	}
	h, err := layout.NewBooleans(data)
	if err != nil {
		return err
	}
	v.numbers = grow(v.numbers, present)[:present]
	if err := h.Read(v.numbers); err != nil {
		return err
	}
	for i, b := range v.numbers {
		v.values[i] = byte(b)
	}
	return h.Done()
}

func (v *booleans) size(low, high int) int { return high - low }

func (v *booleans) value(_ []byte, i int) []byte { return v.values[i : i+1] }

func (v *booleans) append(dst []byte, runs []run) ([]byte, error) {
	v.kept = v.kept[:0]
	for _, r := range runs {
		v.kept = append(v.kept, v.values[r.low:r.high]...)
	}
	if v.encoding == layout.Plain {
		return layout.AppendBits(dst, v.kept), nil
	}
	return layout.AppendLevels(dst, v.kept, len(v.kept), 0, 1, true), nil
}

// integers are in DELTA_BINARY_PACKED.
type integers struct {
	width        int
	values, kept []int64
}

func (v *integers) decode(data []byte, present, width int) error {
	v.width = width
	v.values = grow(v.values, present)[:present]
	return readDeltas(v.values, data)
}

// readDeltas reads all the numbers that there are.
func readDeltas(dst []int64, data []byte) error {
	if len(dst) == 0 {
		return nil
	}
	d, err := encoding.NewDelta(data)
	if err == nil && d.Left != int64(len(dst)) {
		err = errCount
	}
	if err != nil {
		return err
	}
	return d.Read(dst)
}

func (v *integers) size(low, high int) int { return (high - low) * v.width }

func (v *integers) value(dst []byte, i int) []byte {
	if v.width == 4 {
		return binary.LittleEndian.AppendUint32(dst, uint32(v.values[i]))
	}
	return binary.LittleEndian.AppendUint64(dst, uint64(v.values[i]))
}

func (v *integers) append(dst []byte, runs []run) ([]byte, error) {
	v.kept = v.kept[:0]
	for _, r := range runs {
		v.kept = append(v.kept, v.values[r.low:r.high]...)
	}
	return encoding.AppendDeltas(dst, v.kept, v.width), nil
}

// lengths are byte arrays in DELTA_LENGTH_BYTE_ARRAY: all lengths, then the bytes.
type lengths struct {
	bytes []byte
	ends  []int64 // of values; the first one is 0
	kept  []int64
}

func (v *lengths) decode(data []byte, present int) error {
	v.ends = append(grow(v.ends, present+1), 0)[:present+1]
	v.bytes = nil
	if present == 0 {
		return nil
	}
	d, err := encoding.NewDelta(data)
	if err == nil && d.Left != int64(present) {
		err = errCount
	}
	if err == nil {
		v.bytes, err = d.Rest()
	}
	if err == nil {
		err = d.Read(v.ends[1:])
	}
	if err != nil {
		return err
	}
	for i, n := range v.ends[1:] {
		if n < 0 || n > int64(len(v.bytes))-v.ends[i] {
			return errShort
		}
		v.ends[i+1] += v.ends[i]
	}
	return layout.CheckPadding(v.bytes[v.ends[present]:])
}

func (v *lengths) size(low, high int) int { return int(v.ends[high] - v.ends[low]) }

func (v *lengths) value(_ []byte, i int) []byte { return v.bytes[v.ends[i]:v.ends[i+1]] }

func (v *lengths) append(dst []byte, runs []run) ([]byte, error) {
	v.kept = v.kept[:0]
	for _, r := range runs {
		for i := r.low; i < r.high; i++ {
			v.kept = append(v.kept, v.ends[i+1]-v.ends[i])
		}
	}
	dst = encoding.AppendDeltas(dst, v.kept, 4)
	for _, r := range runs {
		dst = append(dst, v.bytes[v.ends[r.low]:v.ends[r.high]]...)
	}
	return dst, nil
}

// prefixes are byte arrays in DELTA_BYTE_ARRAY: how many bytes each has of the one
// before, and those that follow.
type prefixes struct {
	data         []byte
	ends         []int32
	shared, rest []int64
}

// maxPrefixed is the most bytes that the values of a page may have decoded: each may be
// as long as the one before, for a byte.
const maxPrefixed = 64 << 20

func (v *prefixes) decode(strings encoding.Strings, present int) (err error) {
	v.ends = grow(v.ends, present)[:present]
	if v.data, err = strings.Append(v.data[:0], v.ends, maxPrefixed); err != nil {
		return err
	}
	return strings.Done()
}

func (v *prefixes) value(_ []byte, i int) []byte {
	begin := int32(0)
	if i > 0 {
		begin = v.ends[i-1]
	}
	return v.data[begin:v.ends[i]]
}

func (v *prefixes) size(low, high int) int {
	if low == high {
		return 0
	}
	return int(v.ends[high-1]-v.ends[low]) + len(v.value(nil, low))
}

func (v *prefixes) append(dst []byte, runs []run) ([]byte, error) {
	v.shared, v.rest = v.shared[:0], v.rest[:0]
	var last []byte
	for _, r := range runs {
		for i := r.low; i < r.high; i++ {
			value := v.value(nil, i)
			n := 0
			for n < len(last) && n < len(value) && last[n] == value[n] {
				n++
			}
			v.shared, v.rest = append(v.shared, int64(n)), append(v.rest, int64(len(value)-n))
			last = value
		}
	}
	dst = encoding.AppendDeltas(dst, v.shared, 4)
	dst = encoding.AppendDeltas(dst, v.rest, 4)
	at := 0
	for _, r := range runs {
		for i := r.low; i < r.high; i++ {
			dst = append(dst, v.value(nil, i)[v.shared[at]:]...)
			at++
		}
	}
	return dst, nil
}

// split are values in BYTE_STREAM_SPLIT: all first bytes, then all second ones.
type split struct {
	data     []byte
	width, n int
}

func (v *split) size(low, high int) int { return (high - low) * v.width }

func (v *split) value(dst []byte, i int) []byte {
	for k := range v.width {
		dst = append(dst, v.data[k*v.n+i])
	}
	return dst
}

func (v *split) append(dst []byte, runs []run) ([]byte, error) {
	for k := range v.width {
		stream := v.data[k*v.n : (k+1)*v.n]
		for _, r := range runs {
			dst = append(dst, stream[r.low:r.high]...)
		}
	}
	return dst, nil
}

// grow returns an empty slice with room for n.
func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, 0, n+n/4)
	}
	return s[:0]
}
