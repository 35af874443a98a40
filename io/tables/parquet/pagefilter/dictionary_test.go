package pagefilter

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"robotsbatch/io/store/must"
	"robotsbatch/io/tables/parquet/layout"
	"robotsbatch/io/tables/parquet/layout/layouttest"
)

// A dictionary that is trimmed has the entries that are used, in their order, none twice,
// and at least one.
func TestDictionary(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	for _, s := range shapes() {
		if !s.dictionary() {
			continue
		}
		for _, every := range []int{1, 2, 7, 1000} {
			p := encodePages(rng, s, s.entries(rng, 600, 12))
			if len(p.dictionary) == 0 {
				continue
			}
			rows, want := p.keep(func(row int) bool { return row%every == every-1 })
			out, err := p.trim(&Filter{}, p.column(), rows)
			must.Need(t, err == nil, "%v: %v", s, err)
			values := make([][]byte, len(p.dictionary))
			for value, i := range p.dictionary {
				values[i] = []byte(value)
			}
			stays := make([]bool, len(values))
			for _, e := range want {
				if e.definition == p.node().MaxDefinition {
					stays[p.dictionary[string(e.value)]] = true
				}
			}
			var entries [][]byte
			for i, value := range values {
				if stays[i] {
					entries = append(entries, value)
				}
			}
			if len(entries) == 0 {
				entries = [][]byte{make([]byte, len(values[0]))}
				if s.physical == layout.ByteArray {
					entries[0] = nil
				}
			}
			page := must.Get(layouttest.NextPage(out, &p.chunk, testLimit))(t)
			plain, err := page.Open(func(n int) []byte { return make([]byte, n) }, s.codec)
			must.Be(t, err == nil && page.Values == len(entries) && bytes.Equal(plain, appendPlain(nil, s.physical, entries)),
				"%v, one row in %d: %d entries, want %d, or others: %v", s, every, page.Values, len(entries), err)
		}
	}
}

// Forged dictionaries and indices are errors, and no reason to take memory.
func TestDictionaryForged(t *testing.T) {
	texts := appendPlain(nil, layout.ByteArray, [][]byte{[]byte("a"), []byte("bc"), nil})
	dictionary := func(values int, plain []byte) *layout.Page {
		return &layout.Page{Kind: layout.DictionaryPage, Values: values, Uncompressed: len(plain), Body: plain}
	}
	s := shape{layout.ByteArray, 0, layout.RLEDictionary, layout.Uncompressed, false}
	for _, test := range []struct {
		name    string
		page    *layout.Page
		indices []int32
		change  func(*Column)
		want    string // of an error; "none" for a page that is no dictionary
	}{
		{"sound", dictionary(3, texts), []int32{2, 0, 0, 2}, nil, ""},
		{"more bytes than entries", dictionary(3, append(bytes.Clone(texts), "more"...)), []int32{2, 0, 0, 2}, nil, ""},
		{"an index out of range", dictionary(3, texts), []int32{2, 0, 3, 2}, nil, "index 3"},
		{"an index of 31 bits", dictionary(3, texts), []int32{2, 0, 1<<31 - 1, 2}, nil, "index 2147483647"},
		{"an empty dictionary", dictionary(0, nil), []int32{0}, nil, "index 0"},
		{"a huge count", dictionary(1<<31-1, texts), []int32{0}, nil, "none"},
		{"a count that is a little too large", dictionary(4, append(bytes.Clone(texts), 0, 0)), []int32{0, 1, 2, 3}, nil, "reach beyond"},
		{"a text that reaches beyond", dictionary(3, append(bytes.Clone(texts[:len(texts)-4]), 9, 0, 0, 0)), []int32{0, 1, 2, 0}, nil, "reach beyond"},
		{"numbers that are too few", dictionary(4, texts), []int32{0}, func(c *Column) { c.Type, c.Width = layout.Int64, 8 }, "none"},
		{"an encoding of deltas", &layout.Page{Kind: layout.DictionaryPage, Values: 3, Uncompressed: 99, Encoding: layout.DeltaByteArray}, []int32{0}, nil, "none"},
		{"booleans", dictionary(3, texts), []int32{0}, func(c *Column) { c.Type = layout.Boolean }, "none"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := s.column()
			if test.change != nil {
				test.change(c)
			}
			var err error
			if c.Dictionary, err = NewDictionary(c, test.page); err == nil && test.want == "none" {
				err = c.Dictionary.Read(c, test.page, test.page.Body)
			}
			if err != nil || test.want == "none" {
				must.Be(t, err != nil && test.want != "" && (test.want == "none" || strings.Contains(err.Error(), test.want)), "%v", err)
				return
			}
			rows := NewSelection(len(test.indices))
			rows.Keep(0, rows.Len())
			head := layout.Page{Kind: layout.DataPage, Values: rows.Len(), Encoding: s.encoding}
			data, _ := head.AppendPage(nil, layout.AppendHybrid([]byte{31}, test.indices, 31), new([]byte), nil)
			page, err := layouttest.NextPage(data, &layout.Chunk{Type: s.physical}, testLimit)
			must.Do(t, err)
			var f Filter
			part := Part{Selection: rows, N: rows.Len()}
			var out []byte
			if err = c.Dictionary.Add(&f, Source{c, &page, page.Body, true, part}); err == nil {
				err = c.Dictionary.Read(c, test.page, test.page.Body)
			}
			if err == nil {
				if _, _, err = f.Dictionary(nil, Source{Column: c, Page: test.page, Plain: test.page.Body, Rereads: true}); err == nil {
					out, _, err = f.Page(nil, Source{c, &page, page.Body, true, part})
				}
			}
			must.Be(t, (err == nil) == (test.want == "") && (err == nil || strings.Contains(err.Error(), test.want)), "%v", err)
			indices := []byte{1, 3, 0b1001}
			must.Be(t, err != nil || bytes.HasSuffix(out, indices), "indices %x", out)
			// What changed since it was read first is not written.
			c.Dictionary.numbers, c.Dictionary.used = []int32{0, 1, -1, -1}, 2
			if _, _, err = f.Page(nil, Source{c, &page, page.Body, true, part}); test.want == "" && !strings.Contains(fmt.Sprint(err), "it has other indices") {
				t.Errorf("changed indices: %v", err)
			}
		})
	}
}
