package encoding

import (
	"cmp"
	"encoding/binary"
	"errors"

	"robotsbatch/io/tables"
	"robotsbatch/io/tables/parquet/layout"
)

// Page is the values of a page, from which some are taken. It uses its memory for one page
// after another.
type Page struct {
	Values
	// Indices are the numbers of the values in the dictionary, if the page has those.
	Indices []uint32

	encoding   layout.Encoding
	boolean    bool
	present    int
	dictionary *Values
	bits       int     // of an index
	before     Strings // of DELTA_BYTE_ARRAY: of the page before

	decoded, kept []byte
	numbers, more []int64
	indices       []int32
}

// maxDecoded is the most bytes that the values of a page in DELTA_BYTE_ARRAY may have decoded:
// each may be as long as the one before, for a byte.
const maxDecoded = 64 << 20

// Begin must be called before the first page of each chunk.
func (p *Page) Begin() { p.before = nil }

// Open reads a page. The parameters are those of [NewFixed], with a width of 0 for byte arrays.
func (p *Page) Open(t layout.Type, width int, e layout.Encoding, data []byte, present int, dictionary *Values) (err error) {
	before := p.before
	p.Values = Values{width: width, begins: p.begins[:0]}
	p.boolean, p.encoding, p.present, p.dictionary, p.before = t == layout.Boolean, e, present, nil, nil
	switch {
	case isDictionary(e):
		p.dictionary = dictionary
		return p.openIndices(data)
	case e == layout.Plain && t == layout.ByteArray:
		if err = p.find(data, present); err == nil {
			err = layout.CheckPadding(data[p.begins[present]:])
		}
		return err
	case t == layout.ByteArray, e == layout.DeltaByteArray && t == layout.FixedLenByteArray:
		s, err := NewStrings(e, data, present, nil, before)
		if err == nil {
			err = p.decodeStrings(s, data)
		}
		p.before = s
		return err
	case !p.boolean && (e == layout.Plain || e == layout.ByteStreamSplit):
		p.data, err = layout.CutPadding(data, present*width)
		return err
	}
	f, err := NewFixed(t, width, e, data, present, nil, nil)
	if err != nil {
		return err
	}
	if p.decoded, err = f.Append(grow(p.decoded, present*width), present); err == nil {
		err = f.Done()
	}
	p.data = p.decoded
	return err
}

// openIndices reads all indices into a dictionary.
func (p *Page) openIndices(data []byte) error {
	h, err := newIndices(data, p.present, p.dictionary)
	if err != nil {
		return err
	}
	if p.bits = 0; len(data) > 0 {
		p.bits = int(data[0])
	}
	p.Indices = grow(p.Indices, p.present)[:p.present]
	if err := h.Read(p.Indices); err != nil {
		return err
	}
	for _, index := range p.Indices {
		if int64(index) >= int64(p.dictionary.Len()) {
			return errIndex(index, p.dictionary)
		}
	}
	return h.Done()
}

// decodeStrings reads all byte arrays.
func (p *Page) decodeStrings(s Strings, data []byte) (err error) {
	p.width, p.begins = 0, append(grow(p.begins, p.present+1), 0)[:p.present+1]
	p.data = grow(p.decoded, len(data))
	for at := 1; at <= p.present && err == nil; at += block {
		p.data, err = s.Append(p.data, p.begins[at:min(at+block, p.present+1)], maxDecoded)
	}
	if p.decoded = p.data; err != nil {
		return err
	}
	return s.Done()
}

// SizeOf returns about how many bytes the values from low to high-1 have in the page.
func (p *Page) SizeOf(low, high int) int {
	if p.dictionary != nil {
		return 4 * (high - low)
	}
	return p.Place(high) - p.Place(low)
}

// Value returns a value as PLAIN stores it, byte arrays without their length. It appends to
// dst what the page does not have as it is.
func (p *Page) Value(dst []byte, i int) []byte {
	switch {
	case p.dictionary != nil:
		return p.dictionary.Value(int(p.Indices[i]))
	case p.encoding == layout.ByteStreamSplit:
		for k := range p.width {
			dst = append(dst, p.data[k*p.present+i])
		}
		return dst
	}
	return p.Values.Value(i)
}

// Append appends runs of values in the page's encoding. Indices are replaced by those of
// numbers, which have so many bits, unless that is nil; a negative one is an error.
func (p *Page) Append(dst []byte, runs []tables.Run, numbers []int32, bits int) ([]byte, error) {
	switch {
	case p.dictionary != nil:
		return p.appendIndices(dst, runs, numbers, bits)
	case p.boolean:
		p.kept = p.appendRuns(p.kept[:0], runs)
		if p.encoding == layout.Plain {
			return layout.AppendBits(dst, p.kept), nil
		}
		return layout.AppendLevels(dst, p.kept, len(p.kept), 0, 1, true), nil
	case p.encoding == layout.ByteStreamSplit:
		for k := range p.width {
			stream := p.data[k*p.present : (k+1)*p.present]
			for _, r := range runs {
				dst = append(dst, stream[r.Low:r.High]...)
			}
		}
		return dst, nil
	case p.encoding == layout.DeltaByteArray:
		return p.appendPrefixes(dst, runs), nil
	case p.encoding == layout.DeltaBinaryPacked || p.encoding == layout.DeltaLengthByteArray:
		p.numbers = p.numbers[:0]
		for _, r := range runs {
			for i := r.Low; i < r.High; i++ {
				p.numbers = append(p.numbers, p.number(i))
			}
		}
		dst = AppendDeltas(dst, p.numbers, cmp.Or(p.width, 4))
		if p.encoding == layout.DeltaBinaryPacked {
			return dst, nil
		}
	}
	return p.appendRuns(dst, runs), nil
}

// number returns what deltas are of: a value that is an integer, or the length of another.
func (p *Page) number(i int) int64 {
	switch p.width {
	case 4:
		return int64(int32(binary.LittleEndian.Uint32(p.data[4*i:])))
	case 8:
		return int64(binary.LittleEndian.Uint64(p.data[8*i:]))
	}
	return int64(p.begins[i+1] - p.begins[i])
}

// appendPrefixes appends byte arrays in DELTA_BYTE_ARRAY.
func (p *Page) appendPrefixes(dst []byte, runs []tables.Run) []byte {
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
	return dst
}

// appendRuns appends runs of values as they lie.
func (p *Page) appendRuns(dst []byte, runs []tables.Run) []byte {
	for _, r := range runs {
		dst = append(dst, p.data[p.Place(r.Low):p.Place(r.High)]...)
	}
	return dst
}

var errChanged = errors.New("damaged: its indices are not those that they were when it was read before")

// appendIndices is Append for indices into a dictionary.
func (p *Page) appendIndices(dst []byte, runs []tables.Run, numbers []int32, bits int) ([]byte, error) {
	p.indices = p.indices[:0]
	for _, r := range runs {
		for _, index := range p.Indices[r.Low:r.High] {
			number := int32(index)
			if numbers != nil {
				if number = numbers[index]; number < 0 {
					return dst, errChanged
				}
			}
			p.indices = append(p.indices, number)
		}
	}
	if numbers == nil {
		bits = p.bits
	}
	return layout.AppendHybrid(append(dst, byte(bits)), p.indices, bits), nil
}

// Release drops the page's memory, but for what the next page in DELTA_BYTE_ARRAY needs.
func (p *Page) Release() { *p = Page{before: p.before} }

// Memory returns how many bytes each buffer of the page has.
func (p *Page) Memory() []int {
	return []int{4 * cap(p.begins), 4 * cap(p.Indices), cap(p.decoded), cap(p.kept), 8 * cap(p.numbers), 8 * cap(p.more), 4 * cap(p.indices)}
}

// Needs returns how many bytes the n values of a page take at most, with those of a piece that
// has most: what Memory adds up to.
func Needs(t layout.Type, width int, p *layout.Page, n, most int64) int64 {
	switch e := p.Encoding; {
	case isDictionary(e):
		return 5*n + 4*most*9/4
	case t == layout.Boolean:
		return n*5/4 + most*9/4
	case e == layout.Plain && t == layout.ByteArray:
		return 5 * n
	case e == layout.DeltaBinaryPacked:
		return int64(width)*n*5/4 + 8*most*9/4
	case e == layout.DeltaLengthByteArray:
		return 5*n + 8*most*9/4 + int64(p.Uncompressed)*5/4
	case e == layout.DeltaByteArray:
		return 5*n + 16*most*9/4 + min(maxDecoded, 64*int64(p.Uncompressed))
	}
	return 0
}
