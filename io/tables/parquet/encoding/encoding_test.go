package encoding

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"robotsbatch/io/store/must"
	"robotsbatch/io/tables/parquet/layout"
)

// plainPage has values as PLAIN writes them.
func plainPage(values ...string) []byte {
	var page []byte
	for _, v := range values {
		page = append(binary.LittleEndian.AppendUint32(page, uint32(len(v))), v...)
	}
	return page
}

// numbers is DELTA_BINARY_PACKED of up to 33 small numbers, in one miniblock of
// eight bits each, as it may be written: the differences are not the least ones.
func numbers(values ...int64) []byte {
	page := []byte{128, 1, 4, byte(len(values))}
	if len(values) == 0 {
		return append(page, 0)
	}
	page = binary.AppendVarint(page, values[0])
	if len(values) == 1 {
		return page
	}
	page = append(binary.AppendVarint(page, -100), 8, 0, 0, 0)
	for i := range 32 {
		difference := byte(0)
		if i+1 < len(values) {
			difference = byte(values[i+1] - values[i] + 100)
		}
		page = append(page, difference)
	}
	return page
}

var three = []string{"https://a.example/", "", "https://a.example/b"}

// pages are three values in each encoding.
func pages(t testing.TB) map[layout.Encoding][]byte {
	return map[layout.Encoding][]byte{
		layout.Plain:                plainPage(three...),
		layout.RLEDictionary:        {2, 0b11, 0b00_10_01_00, 0}, // two bits each: 0, 1, 2
		layout.DeltaLengthByteArray: append(numbers(18, 0, 19), strings.Join(three, "")...),
		layout.DeltaByteArray:       append(append(numbers(0, 0, 0), numbers(18, 0, 19)...), strings.Join(three, "")...),
	}
}

func dictionary(t testing.TB) *Values {
	return must.Get(NewDictionary(&layout.Page{Values: 3}, plainPage(three...), 0))(t)
}

// open opens a page of byte arrays.
func open(t testing.TB, encoding layout.Encoding, page []byte, present int) (Decoder, error) {
	return New(&Body{Encoding: encoding, Type: layout.ByteArray, Values: page, Present: present, Dictionary: dictionary(t)})
}

func TestStrings(t *testing.T) {
	for encoding, page := range pages(t) {
		for _, size := range []int{1, 2, 3} {
			d, err := open(t, encoding, page, 3)
			must.Need(t, err == nil, "encoding %d: %v", encoding, err)
			got := Values{Data: []byte("before"), Begins: []int32{6}}
			for at := 0; at < 3; at += size {
				if err := d.Next(&got, min(size, 3-at), 1000); err != nil {
					t.Fatalf("encoding %d: %v", encoding, err)
				}
			}
			must.Be(t, string(got.Data) == "before"+strings.Join(three, "") && slices.Equal(got.Begins, []int32{6, 24, 24, 43}),
				"encoding %d: %q, begins %d", encoding, got.Data, got.Begins)
			err = d.Done()
			must.Be(t, err == nil, "encoding %d: %v", encoding, err)
			if err := d.Next(&got, 1, 1000); err == nil && encoding != layout.RLEDictionary { // whose last group is filled up
				t.Errorf("encoding %d: a value behind the last", encoding)
			}
		}
	}
}

// What a page says of itself is held against its bytes and the limit, whatever
// it has.
func TestHostileStrings(t *testing.T) {
	valid := pages(t)
	for name, test := range map[string]struct {
		encoding layout.Encoding
		page     []byte
		present  int
	}{
		"more plain values than bytes":       {layout.Plain, valid[layout.Plain], 100},
		"a plain value that is too long":     {layout.Plain, []byte("\xff\xff\xff\xff"), 1},
		"plain values without the last":      {layout.Plain, plainPage("abcdefgh"), 2},
		"an index behind the dictionary":     {layout.RLEDictionary, []byte{2, 0b11, 0b00_10_11_00, 0}, 3},
		"indices of 33 bits":                 {layout.RLEDictionary, []byte{33, 2, 0, 0, 0, 0, 0}, 1},
		"no indices":                         {layout.RLEDictionary, nil, 1},
		"fewer indices":                      {layout.RLEDictionary, []byte{2, 2 << 1, 0}, 3},
		"10^12 lengths":                      {layout.DeltaLengthByteArray, []byte("\x80\x01\x04\x80\xa0\x94\xa5\x8d\x1d\x00"), 1 << 30},
		"other lengths than values":          {layout.DeltaLengthByteArray, valid[layout.DeltaLengthByteArray], 2},
		"a negative length":                  {layout.DeltaLengthByteArray, append(numbers(18, -1, 2), "https://a.example/https"...), 3},
		"lengths that overflow":              {layout.DeltaLengthByteArray, append(binary.AppendVarint([]byte{128, 1, 4, 1}, 1<<62), 0), 1},
		"a prefix that is too long":          {layout.DeltaByteArray, append(append(numbers(0, 19, 0), numbers(18, 0, 0)...), "https://a.example/"...), 3},
		"a prefix of the first value":        {layout.DeltaByteArray, append(append(numbers(1, 0, 0), numbers(18, 0, 0)...), "https://a.example/"...), 3},
		"suffixes that are too long":         {layout.DeltaByteArray, append(append(numbers(0, 0, 0), numbers(18, 0, 1)...), "https://a.example/"...), 3},
		"fewer suffixes than prefixes":       {layout.DeltaByteArray, append(append(numbers(0, 0, 0), numbers(18, 0)...), "https://a.example/"...), 3},
		"an encoding that is none of theirs": {layout.ByteStreamSplit, valid[layout.Plain], 3},
		"packed levels":                      {layout.RLE, valid[layout.Plain], 3},
	} {
		d, err := open(t, test.encoding, test.page, test.present)
		if err == nil {
			err = d.Next(&Values{}, min(test.present, 3), 1000)
		}
		must.Fail(t, err, name)
	}
	for encoding, page := range valid {
		d := must.Get(open(t, encoding, page, 3))(t)
		must.Say(t, d.Next(&Values{}, 3, 36), "strings take more than 36 bytes", "encoding", encoding, "more than the limit")
		if encoding == layout.RLEDictionary {
			page = append(bytes.Clone(page), 0x40, 0)
		} else {
			page = append(bytes.Clone(page), "more"...)
		}
		d = must.Get(open(t, encoding, page, 3))(t)
		err := d.Next(&Values{}, 3, 1000)
		must.Be(t, err == nil && d.Done() != nil, "encoding %d: more than its values: no error (%v)", encoding, err)
	}
	for _, padding := range []string{"\x00", "\x00\x00\x00\x00\x00\x00\x00\x00", "\x00\x00\x00\x00\x00\x00\x00\x00\x00", "\x00\x01"} {
		for encoding, page := range valid {
			d, err := open(t, encoding, append(bytes.Clone(page), padding...), 3)
			if err == nil {
				err = d.Next(&Values{}, 3, 1000)
			}
			must.Need(t, err == nil, "encoding %d: %q after its values: %v", encoding, padding, err)
			err, allowed := d.Done(), len(padding) <= 8 && strings.Trim(padding, "\x00") == ""
			must.Be(t, allowed == (err == nil), "encoding %d: %q after its values: %v", encoding, padding, err)
		}
	}
	_, err := New(&Body{Encoding: layout.RLEDictionary, Type: layout.ByteArray, Values: valid[layout.RLEDictionary], Present: 3})
	must.Be(t, err != nil, "indices without a dictionary: no error")
}

func TestHostileDictionary(t *testing.T) {
	for name, test := range map[string]struct {
		page    []byte
		entries int
	}{
		"2^31-1 entries":            {plainPage(three...), 1<<31 - 1},
		"fewer bytes than lengths":  {plainPage(three...), 4},
		"an entry that is too long": {[]byte("\xff\xff\xff\x7fabc"), 1},
	} {
		must.Fail(t, must.Err(NewDictionary(&layout.Page{Values: test.entries}, test.page, 0)), name)
	}
}

// FuzzStrings decodes bytes that may be the values of a page: what comes out is
// a column within its limit, or an error.
func FuzzStrings(f *testing.F) {
	for encoding, page := range pages(f) {
		f.Add(page, uint8(encoding), uint16(3), uint8(2))
	}
	f.Fuzz(func(t *testing.T, page []byte, encoding uint8, present uint16, size uint8) {
		const limit = 1 << 16
		d, err := open(t, layout.Encoding(encoding), page, int(present))
		if err != nil {
			return
		}
		v := Values{Begins: []int32{0}}
		for left := int(present); left > 0; left -= int(size) + 1 {
			if err := d.Next(&v, min(int(size)+1, left), limit); err != nil {
				return
			}
			last := v.Begins[len(v.Begins)-1]
			must.Need(t, int(last) == len(v.Data) && len(v.Data) <= limit && slices.IsSorted(v.Begins), "%d bytes, the last ends at %d", len(v.Data), last)
		}
		must.Need(t, v.Len() == int(present), "%d values of %d", v.Len(), present)
		_ = d.Done()
	})
}

// TestSkip: values that are skipped are those that would be read, for each type and encoding.
func TestSkip(t *testing.T) {
	numbers := []int64{5, 7, -9, 1 << 20, 5, 5, 0, 3, 12}
	n := len(numbers)
	var fixed []byte
	apart := make([]byte, 8*n) // as BYTE_STREAM_SPLIT writes them
	for i, v := range numbers {
		fixed = binary.LittleEndian.AppendUint64(fixed, uint64(v))
		for k := range 8 {
			apart[k*n+i] = fixed[8*i+k]
		}
	}
	entries := must.Get(NewDictionary(&layout.Page{Values: n}, fixed, 8))(t)
	eight := Values{Data: fixed, Width: 8}
	lengths := AppendDeltas(AppendDeltas(nil, make([]int64, n), 4), slices.Repeat([]int64{8}, n), 4)
	for name, b := range map[string]Body{
		"plain":                {Encoding: layout.Plain, Type: layout.Int64, Width: 8, Values: fixed},
		"split":                {Encoding: layout.ByteStreamSplit, Type: layout.Double, Width: 8, Values: apart},
		"deltas":               {Encoding: layout.DeltaBinaryPacked, Type: layout.Int64, Width: 8, Values: AppendDeltas(nil, numbers, 8)},
		"indices":              {Encoding: layout.RLEDictionary, Type: layout.Int64, Width: 8, Values: layout.AppendHybrid([]byte{4}, []int32{0, 1, 2, 2, 2, 2, 2, 8, 7}, 4), Dictionary: entries},
		"prefixes":             {Encoding: layout.DeltaByteArray, Type: layout.FixedLenByteArray, Width: 8, Values: append(lengths, fixed...)},
		"booleans":             {Encoding: layout.Plain, Type: layout.Boolean, Width: 1, Values: []byte{0b01101001, 1}},
		"runs of booleans":     {Encoding: layout.RLE, Type: layout.Boolean, Width: 1, Values: layout.AppendLevels(nil, []byte{0, 1, 1, 1, 1, 0, 1, 0, 1}, n, 0, 1, true)},
		"texts":                {Encoding: layout.Plain, Type: layout.ByteArray, Values: plainPage("a", "bc", "", "d", "ef", "g", "h", "", "i")},
		"lengths, then texts":  {Encoding: layout.DeltaLengthByteArray, Type: layout.ByteArray, Values: append(AppendDeltas(nil, slices.Repeat([]int64{8}, n), 4), fixed...)},
		"prefixes, then texts": {Encoding: layout.DeltaByteArray, Type: layout.ByteArray, Values: append(lengths[:len(lengths):len(lengths)], fixed...)},
	} {
		b.Present = n
		whole := decode(t, name, b, 0, n)
		must.Need(t, len(whole) == n && (b.Width != 8 || name == "indices" || whole[3] == string(eight.Value(3))), "%s: %q", name, whole)
		for skip := range n + 1 {
			must.EqualSlices(t, decode(t, name, b, skip, n-skip), whole[skip:], name, "after", skip, "values")
		}
	}
}

// decode skips values and returns those after them.
func decode(t *testing.T, name string, b Body, skip, n int) (list []string) {
	t.Helper()
	d, err := New(&b)
	if err == nil {
		err = Skip(d, skip)
	}
	v := Values{Width: b.Width}
	if b.Width == 0 {
		v.Begins = []int32{0}
	}
	if err == nil {
		err = d.Next(&v, n, 1000)
	}
	if err == nil {
		err = d.Done()
	}
	must.Need(t, err == nil, "%s: %v", name, err)
	for i := range v.Len() {
		list = append(list, string(v.Value(i)))
	}
	return list
}

// What is skipped takes no memory: many workers may skip most of a page at once.
func TestSkipTakesNoMemory(t *testing.T) {
	const n = 1 << 20
	numbers := AppendDeltas(nil, make([]int64, n), 8)
	for name, b := range map[string]*Body{
		"deltas":  {Encoding: layout.DeltaBinaryPacked, Type: layout.Int64, Width: 8, Values: numbers, Present: n},
		"lengths": {Encoding: layout.DeltaLengthByteArray, Type: layout.ByteArray, Values: AppendDeltas(nil, make([]int64, n), 4), Present: n},
		"texts":   {Encoding: layout.Plain, Type: layout.ByteArray, Values: append(append([]byte{0, 0, 16, 0}, make([]byte, n)...), 0, 0, 0, 0), Present: 2},
	} {
		d, err := New(b)
		must.Need(t, err == nil, "%s: %v", name, err)
		took := must.Allocated(func() { err = Skip(d, b.Present-1) })
		must.Be(t, err == nil && took <= 256<<10, "%s: %d bytes, %v", name, took, err)
	}
}

// Entries of a dictionary are skipped without a copy: a few bytes of indices may stand for gigabytes.
func TestSkipCopiesNoEntries(t *testing.T) {
	const entry = 1 << 20
	dictionary := &Values{Data: make([]byte, entry), Begins: []int32{0, entry}}
	var err error
	if allocated := testing.AllocsPerRun(1, func() {
		// One run of 4,096 indices of one bit, which are 0.
		d := must.Get(openIndices(&Body{Values: []byte{1, 0x80, 0x40, 0}, Present: 4096, Dictionary: dictionary}))(t)
		err = Skip(d, 4095)
	}); allocated > 3 { // the decoder and its numbers
		t.Errorf("%g allocations", allocated)
	}
	must.Do(t, err)
}

// The memory of a page is computed of numbers that a footer and a header say.
func TestHostileNeeds(t *testing.T) {
	p := layout.Page{Encoding: layout.ByteStreamSplit, Uncompressed: 100}
	got := Needs(layout.FixedLenByteArray, math.MaxInt32, &p, math.MaxInt32, 1)
	must.Be(t, got == 125, "%d bytes for a page of 100", got)
}

// appendDelta appends numbers in DELTA_BINARY_PACKED.
func appendDelta(dst []byte, numbers []int64, block, miniblocks int) []byte {
	dst = binary.AppendUvarint(dst, uint64(block))
	dst = binary.AppendUvarint(dst, uint64(miniblocks))
	dst = binary.AppendUvarint(dst, uint64(len(numbers)))
	if len(numbers) == 0 {
		return append(dst, 0)
	}
	dst = binary.AppendVarint(dst, numbers[0])
	var differences []int64
	for i := 1; i < len(numbers); i++ {
		differences = append(differences, numbers[i]-numbers[i-1])
	}
	for part := range slices.Chunk(differences, block) {
		dst = appendBlock(dst, part, block/miniblocks, miniblocks)
	}
	return dst
}

func appendBlock(dst []byte, differences []int64, size, miniblocks int) []byte {
	least := slices.Min(differences)
	dst = binary.AppendVarint(dst, least)
	var widths, packed []byte
	for part := range slices.Chunk(differences, size) {
		list := make([]uint64, size)
		width := 0
		for i, d := range part {
			list[i] = uint64(d - least)
			for list[i]>>width != 0 && width < 64 {
				width++
			}
		}
		widths, packed = append(widths, byte(width)), layout.AppendPacked(packed, list, width)
	}
	widths = append(widths, make([]byte, miniblocks-len(widths))...)
	return append(append(dst, widths...), packed...)
}

func TestDelta(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for bits := range 65 {
		for _, n := range []int{0, 1, 2, 32, 33, 129, 1000} {
			numbers := make([]int64, n)
			for i := range numbers {
				numbers[i] = int64(rng.Uint64() >> (64 - bits)) // overflows in between
			}
			block, miniblocks := 128<<rng.IntN(3), 1<<rng.IntN(3)
			data := append(appendDelta(nil, numbers, block, miniblocks), "rest"...)
			d, err := newDelta(data)
			must.Need(t, err == nil && d.Left == int64(n), "%d numbers of %d: %v", d.Left, n, err)
			rest, err := d.rest()
			must.Need(t, err == nil && string(rest) == "rest", "%d numbers of %d bits: rest %q: %v", n, bits, rest, err)
			var got []int64
			for len(got) < n {
				part := make([]int64, min(1+rng.IntN(100), n-len(got)))
				must.Do(t, d.Read(part))
				got = append(got, part...)
			}
			must.Need(t, slices.Equal(got, numbers), "%d numbers of %d bits, blocks of %d by %d: other numbers", n, bits, block, miniblocks)
			must.Fail(t, d.Read(make([]int64, 1)), "number behind the last")
		}
	}
}

func TestHostileDelta(t *testing.T) {
	head := func(v ...uint64) string {
		var b []byte
		for _, v := range v {
			b = binary.AppendUvarint(b, v)
		}
		return string(b)
	}
	for name, data := range map[string]string{
		"nothing":                     "",
		"a block of no numbers":       head(0, 1, 5, 0) + "0000000000",
		"a block of 2^62":             head(1<<62, 4, 5, 0) + "0000000000",
		"no miniblocks":               head(128, 0, 5, 0) + "0000000000",
		"miniblocks of eight":         head(128, 16, 5, 0) + "00000000000000000000",
		"10^12 numbers":               head(128, 4, 1e12, 0) + strings.Repeat("\x00", 1000),
		"more blocks than bytes":      head(128, 4, 1e6, 0) + strings.Repeat("\x00", 1000),
		"65 bits":                     head(128, 4, 5, 0) + "\x00\x41\x00\x00\x00" + strings.Repeat("\x00", 1000),
		"a miniblock without numbers": head(128, 4, 5, 0) + "\x00\x20\x00\x00\x00",
	} {
		d, err := newDelta([]byte(data))
		if err == nil {
			err = d.Read(make([]int64, 5))
		}
		must.Fail(t, err, name)
	}
}
