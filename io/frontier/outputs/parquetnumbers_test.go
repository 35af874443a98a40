package outputs_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
)

// numberedFile is a file with the positions of its numbers.
type numberedFile struct {
	data   []byte
	footer []number // relative to begin
	begin  int
	pages  []parquetPage
}

// parquetPage is a page's header, and its body after that.
type parquetPage struct {
	header           []number // relative to begin
	begin, body, end int
}

// number is an integer in Thrift's compact protocol.
type number struct {
	path    string // field numbers, outermost first
	at, end int
	value   int64
	boolean bool // it is the type in the low half of a field's header
}

func parseParquet(data []byte) (*numberedFile, error) {
	length := int(binary.LittleEndian.Uint32(data[len(data)-8:]))
	f := &numberedFile{data: data, begin: len(data) - 8 - length}
	w := numberWalk{data: data[f.begin : len(data)-8]}
	w.structure("")
	if f.footer = w.numbers; w.failed || w.at != length {
		return nil, errors.New("the footer cannot be read")
	}
	return f, f.findPages()
}

// findPages finds the pages, one after the other from the start of the file.
func (f *numberedFile) findPages() error {
	for at := 4; at < f.begin; {
		w := numberWalk{data: f.data[at:f.begin]}
		w.structure("")
		size := int64(-1)
		for _, n := range w.numbers {
			if n.path == "3" {
				size = n.value
			}
		}
		if w.failed || size < 0 {
			return fmt.Errorf("no page at %d", at)
		}
		p := parquetPage{header: w.numbers, begin: at, body: at + w.at, end: at + w.at + int(size)}
		f.pages = append(f.pages, p)
		at = p.end
	}
	return nil
}

// change changes a number of the footer or of a page header, or the first bytes of a page:
// counts, sizes, offsets and encodings that a reader may trust wrongly. If a number becomes
// longer, the rest of the file moves, and the offsets in the footer are adjusted.
func (f *numberedFile) change(rng *rand.Rand) (data []byte, what string) {
	page := &f.pages[rng.IntN(len(f.pages))]
	switch kind := rng.IntN(10); {
	case kind < 4:
		n := f.footer[rng.IntN(len(f.footer))]
		v := n.other(rng)
		footer := rewrite(f.data[f.begin:len(f.data)-8], f.footer, func(m number) int64 {
			if m.at == n.at {
				return v
			}
			return m.value
		})
		return f.withFooter(bytes.Clone(f.data[:f.begin]), footer), fmt.Sprintf("footer field %s from %d to %d", n.path, n.value, v)
	case kind < 8:
		n := page.header[rng.IntN(len(page.header))]
		v := n.other(rng)
		header := rewrite(f.data[page.begin:page.body], page.header, func(m number) int64 {
			if m.at == n.at {
				return v
			}
			return m.value
		})
		return f.withHeader(page, header), fmt.Sprintf("field %s of the page at %d from %d to %d", n.path, page.begin, n.value, v)
	}
	data = bytes.Clone(f.data)
	if page.body == page.end {
		return data, "nothing"
	}
	at := page.body + rng.IntN(min(24, page.end-page.body))
	size := min(1+rng.IntN(9), page.end-at)
	for i := range size { // the largest number that fits
		data[at+i] = 0xFF
	}
	data[at+size-1] = byte(rng.IntN(128))
	return data, fmt.Sprintf("%d bytes at %d", size, at)
}

// other returns another value for a number.
func (n number) other(rng *rand.Rand) int64 {
	if n.boolean {
		return 3 - n.value
	}
	values := []int64{
		n.value + 1, n.value - 1, 2 * n.value, n.value / 2, n.value ^ 1<<rng.IntN(40), 0, 1, -1, int64(rng.IntN(20)),
		math.MaxInt32, math.MaxInt32 + 1, math.MinInt32, math.MaxUint32, 1e9, 1e12, 1 << 62, math.MinInt64, int64(rng.Uint32()),
	}
	for {
		if v := values[rng.IntN(len(values))]; v != n.value {
			return v
		}
	}
}

// rewrite copies a structure with other numbers.
func rewrite(data []byte, numbers []number, value func(number) int64) []byte {
	var out []byte
	at := 0
	for _, n := range numbers {
		out = append(out, data[at:n.at]...)
		if n.boolean {
			out = append(out, data[n.at]&0xF0|byte(value(n)))
		} else {
			out = binary.AppendVarint(out, value(n)) // Thrift's zigzag coding
		}
		at = n.end
	}
	return append(out, data[at:]...)
}

// withFooter appends a footer and the end of the file.
func (f *numberedFile) withFooter(data, footer []byte) []byte {
	data = append(data, footer...)
	return append(binary.LittleEndian.AppendUint32(data, uint32(len(footer))), "PAR1"...)
}

// withHeader replaces the header of a page and moves what follows it.
func (f *numberedFile) withHeader(page *parquetPage, header []byte) []byte {
	more := int64(len(header) - (page.body - page.begin))
	data := append(bytes.Clone(f.data[:page.begin]), header...)
	data = append(data, f.data[page.body:f.begin]...)
	size := make(map[int]bool) // of the chunk that has the page
	last := -1
	for i, n := range f.footer { // the size comes before the offsets
		switch n.path {
		case "4.1.3.7":
			last = i
		case "4.1.3.9", "4.1.3.11":
			if low, high := n.value, n.value+f.footer[last].value; int64(page.begin) >= low && int64(page.begin) < high {
				size[f.footer[last].at] = true
			}
		}
	}
	footer := rewrite(f.data[f.begin:len(f.data)-8], f.footer, func(n number) int64 {
		switch {
		case size[n.at]:
			return n.value + more
		case (n.path == "4.1.3.9" || n.path == "4.1.3.11" || n.path == "4.1.2" || n.path == "4.5") && n.value > int64(page.begin):
			return n.value + more
		}
		return n.value
	})
	return f.withFooter(data, footer)
}

// numberWalk finds the integers and booleans of a structure in Thrift's compact protocol.
type numberWalk struct {
	data    []byte
	at      int
	numbers []number
	failed  bool
}

func (w *numberWalk) byte() byte {
	if w.at >= len(w.data) {
		w.failed = true
		return 0
	}
	w.at++
	return w.data[w.at-1]
}

func (w *numberWalk) uvarint() int {
	v, n := binary.Uvarint(w.data[w.at:])
	if n <= 0 || v > uint64(len(w.data)) {
		w.failed = true
		return 0
	}
	w.at += n
	return int(v)
}

// structure walks over the structure at a path.
func (w *numberWalk) structure(path string) {
	for id := 0; !w.failed; {
		at := w.at
		header := w.byte()
		if header == 0 {
			return
		}
		if id += int(header >> 4); header>>4 == 0 {
			w.failed = true // the library writes no such fields
		}
		field := strings.TrimPrefix(fmt.Sprintf("%s.%d", path, id), ".")
		if kind := header & 15; kind <= 2 {
			w.numbers = append(w.numbers, number{path: field, at: at, end: at + 1, value: int64(kind), boolean: true})
		} else {
			w.value(kind, field)
		}
	}
}

// value walks over a value other than a boolean field.
func (w *numberWalk) value(kind byte, path string) {
	switch kind {
	case 1, 2, 3:
		w.byte()
	case 4, 5, 6:
		v, n := binary.Varint(w.data[w.at:])
		if n <= 0 {
			w.failed = true
			return
		}
		w.numbers = append(w.numbers, number{path: path, at: w.at, end: w.at + n, value: v})
		w.at += n
	case 8:
		w.at += w.uvarint()
	case 9:
		header := w.byte()
		n := int(header >> 4)
		if n == 15 {
			n = w.uvarint()
		}
		for ; n > 0 && !w.failed; n-- {
			w.value(header&15, path)
		}
	case 12:
		w.structure(path)
	default:
		w.failed = true
	}
}
