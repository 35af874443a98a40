package pagefilter

import (
	"bytes"
	"errors"
	"fmt"
	"math"

	"robotsbatch/io/frontier/parquetio/encode"
	"robotsbatch/io/frontier/parquetio/encoding"
	"robotsbatch/io/frontier/parquetio/layout"
	"robotsbatch/io/store/compress"
	"robotsbatch/io/store/compress/zstdcut"
)

// cutSize is about how many bytes of values each new page gets if a page of more than twice
// as many is written as several: then the large one is not in memory a second time.
const cutSize = 1 << 20

// Column is what filtering a page needs to know of its column.
type Column struct {
	Leaf  layout.Leaf
	Type  layout.Type
	Width int // bytes of a value in PLAIN, 0 for byte arrays
	Codec layout.Codec
	// Compress appends src to dst, compressed with the column's codec; nil if that is
	// Uncompressed.
	Compress func(dst, src []byte) []byte
	// Order is that of the bounds of pages, NoOrder if they are not needed.
	Order Order
	// Dictionary is that of the chunk, nil if there is none.
	Dictionary *Dictionary
}

// Part says which rows of a row group are in a page.
type Part struct {
	// Rows says which rows of the row group stay.
	Rows *Rows
	// First is the index of the first row that begins in the page, and N how many do.
	First, N int
	// Continues says that the page begins in the middle of row First-1.
	Continues bool
}

// Kept returns how many rows of the part stay, and how many it has. Both count a row that
// goes on from the page before.
func (p *Part) Kept() (kept, all int) {
	low := p.First
	if p.Continues {
		low--
	}
	high := min(p.First+p.N, p.Rows.n)
	return p.Rows.Count(low, high), p.First + p.N - low
}

// Page is a page that was written.
type Page struct {
	Size, Uncompressed  int // with its header
	Values, Rows, Nulls int
	Encoding            layout.Encoding
	Kind                layout.PageKind
	Continues           bool
	// Bounds are those of the kept values, nil if there are none or they have no order.
	Bounds Bounds
}

// Filter leaves rows out of pages. One goroutine may use it at a time.
type Filter struct {
	repetition, definition []byte
	numbers                []uint32
	entries, values        []run
	plain                  []byte
	packed                 []byte
	decoder                decoders

	ranges []zstdcut.Range
	cutter zstdcut.Cutter

	pages []Page
	last  encoding.Strings // of DELTA_BYTE_ARRAY: the page before
}

// Begin must be called before the first page of each chunk.
func (f *Filter) Begin() { f.last = nil }

// Memory returns about how many bytes it takes to filter a page, besides the page itself and
// its body decompressed.
func Memory(p *layout.Page, leaf layout.Leaf) int64 {
	numbers := int64(8) // bytes for each value: its offset, its index, or the integer that it is
	if leaf.MaxDefinition > 0 {
		numbers++ // a level is one byte
	}
	if leaf.MaxRepetition > 0 {
		numbers++
	}
	built := int64(p.Uncompressed)
	if leaf.MaxRepetition == 0 && p.Kind != layout.DictionaryPage {
		built = min(built, 4*cutSize)
	}
	return built + numbers*int64(p.Values)
}

// Rereads reports whether filtering a page reads its body again after it was decompressed.
func (c *Column) Rereads(p *layout.Page) bool {
	return c.Codec.Is(compress.Zstd) && p.Encoding == layout.Plain && c.Type != layout.Boolean
}

// Page appends to dst the rows of a page that stay, as one page or several. plain is the
// page's body decompressed. The returned pages are valid until the next call. dst may be the
// memory of p, unless p is read again ([Column.Rereads]) or plain is a part of that memory.
func (f *Filter) Page(dst []byte, c *Column, p *layout.Page, plain []byte, part Part) ([]byte, []Page, error) {
	f.pages = f.pages[:0]
	content, values, err := f.find(c, p, plain, part)
	if err != nil {
		return dst, nil, err
	}
	if dst, ok := f.cutFrame(dst, c, p, plain, &content, values); ok {
		return dst, f.pages, nil
	}
	pieces := []selection{{f.entries, f.values}}
	if c.Leaf.MaxRepetition == 0 && len(content.Values) > 2*cutSize {
		pieces = f.cut(c, values)
	}
	for i := range pieces {
		if len(pieces[i].entries) == 0 {
			continue
		}
		if dst, err = f.write(dst, c, p, &pieces[i], values); err != nil {
			return dst, nil, err
		}
	}
	return dst, f.pages, nil
}

// find decodes a page, and finds the entries and values that stay.
func (f *Filter) find(c *Column, p *layout.Page, plain []byte, part Part) (content layout.Content, v values, err error) {
	if content, err = p.Split(plain, c.Leaf); err != nil {
		return content, nil, err
	}
	present, err := f.readLevels(c, p, &content)
	if err != nil {
		return content, nil, err
	}
	if v, err = f.decode(c, p.Encoding, content.Values, present); err != nil {
		return content, nil, err
	}
	if f.entries, err = f.entryRuns(f.entries[:0], p.Values, part); err != nil {
		return content, nil, err
	}
	f.values = f.valueRuns(f.values[:0], c, f.entries)
	return content, v, nil
}

// readLevels sets f.repetition and f.definition to a page's levels, and returns how many of
// its entries have a value. f.definition is empty if all have one.
func (f *Filter) readLevels(c *Column, p *layout.Page, content *layout.Content) (present int, err error) {
	f.repetition, f.definition = f.repetition[:0], f.definition[:0]
	if c.Leaf.MaxRepetition > 0 {
		if f.repetition, err = f.read(f.repetition, content.Repetition, p.Values, c.Leaf.MaxRepetition); err != nil {
			return 0, err
		}
	}
	most := c.Leaf.MaxDefinition
	if most == 0 {
		return p.Values, nil
	}
	present, err = layout.CountLevels(content.Definition, p.Values, most, uint32(most))
	if err == nil && present < p.Values {
		f.definition, err = f.read(f.definition, content.Definition, p.Values, most)
	}
	return present, err
}

// read appends n levels. A level above most is an error.
func (f *Filter) read(dst []byte, from layout.Hybrid, n, most int) ([]byte, error) {
	const block = 4096
	if cap(f.numbers) < block {
		f.numbers = make([]uint32, block)
	}
	for n > 0 {
		part := f.numbers[:min(n, block)]
		if err := from.Read(part); err != nil {
			return dst, err
		}
		for _, v := range part {
			if v > uint32(most) {
				return dst, fmt.Errorf("damaged: a level of %d, where the highest is %d", v, most)
			}
			dst = append(dst, byte(v))
		}
		n -= len(part)
	}
	return dst, nil
}

var errPartRows = errors.New("damaged: a page does not have the rows that it says")

// entryRuns appends the runs of a page's entries that stay.
func (f *Filter) entryRuns(dst []run, n int, part Part) ([]run, error) {
	if part.First+part.N > part.Rows.n {
		return dst, errPartRows
	}
	if len(f.repetition) == 0 {
		if part.N != n {
			return dst, errPartRows
		}
		return part.Rows.appendRuns(dst, part.First, part.First+n), nil
	}
	row := part.First - 1
	if part.Continues != (f.repetition[0] > 0) || part.Continues && row < 0 {
		return dst, errPartRows
	}
	stays, begin := part.Continues && part.Rows.has(row), 0
	for i, level := range f.repetition {
		if level > 0 {
			continue
		}
		if row++; row >= part.First+part.N {
			return dst, errPartRows
		}
		if now := part.Rows.has(row); now != stays {
			if stays {
				dst = append(dst, run{begin, i})
			}
			stays, begin = now, i
		}
	}
	if stays {
		dst = append(dst, run{begin, n})
	}
	return dst, nil
}

// valueRuns appends the runs of values that belong to runs of entries.
func (f *Filter) valueRuns(dst []run, c *Column, entries []run) []run {
	if len(f.definition) == 0 {
		return append(dst, entries...)
	}
	most, value, entry := byte(c.Leaf.MaxDefinition), 0, 0
	for _, r := range entries {
		value += countByte(f.definition[entry:r.low], most)
		low := value
		value += countByte(f.definition[r.low:r.high], most)
		entry = r.high
		if n := len(dst); n > 0 && dst[n-1].high == low {
			dst[n-1].high = value
		} else if low < value {
			dst = append(dst, run{low, value})
		}
	}
	return dst
}

// selection is what a page that is written has of the one that is read.
type selection struct{ entries, values []run }

// cut cuts what stays of a flat column into pieces of about cutSize.
func (f *Filter) cut(c *Column, values values) (pieces []selection) {
	var current selection
	size := 0
	value, entry := 0, 0
	for _, r := range f.entries {
		if len(f.definition) > 0 {
			value += countByte(f.definition[entry:r.low], byte(c.Leaf.MaxDefinition))
		} else {
			value = r.low
		}
		entry = r.high
		begin, first := r.low, value
		for i := r.low; i < r.high; i++ {
			if size >= cutSize {
				current.add(begin, i, first, value)
				pieces = append(pieces, current)
				current, size, begin, first = selection{}, 0, i, value
			}
			if len(f.definition) == 0 || f.definition[i] == byte(c.Leaf.MaxDefinition) {
				size += values.size(value)
				value++
			}
		}
		current.add(begin, r.high, first, value)
	}
	return append(pieces, current)
}

func (p *selection) add(low, high, first, last int) {
	if low < high {
		p.entries = append(p.entries, run{low, high})
	}
	if first < last {
		p.values = append(p.values, run{first, last})
	}
}

// write appends a page.
func (f *Filter) write(dst []byte, c *Column, p *layout.Page, what *selection, values values) ([]byte, error) {
	page, head := f.begin(c, p, what, values)
	var err error
	if f.plain, err = values.append(f.plain, what.values); err != nil {
		return dst, err
	}
	if len(f.plain) > math.MaxInt32 {
		return dst, errors.New("what stays of a page has more than 2 GiB")
	}
	from := len(dst)
	compress := c.Compress
	if p.Stored() {
		compress = nil
	}
	var header int
	dst, header = head.AppendPage(dst, f.plain, &f.packed, compress)
	page.Size, page.Uncompressed = len(dst)-from, header+len(f.plain)
	f.pages = append(f.pages, page)
	return dst, nil
}

// begin begins a page: its header, and its levels in f.plain.
func (f *Filter) begin(c *Column, p *layout.Page, what *selection, values values) (Page, encode.PageHeader) {
	page := Page{Encoding: p.Encoding, Kind: p.Kind, Values: length(what.entries), Bounds: c.Order.bounds(values, what.values)}
	page.Nulls = page.Values - length(what.values)
	page.Rows = page.Values
	head := encode.PageHeader{Kind: p.Kind, Values: page.Values, Nulls: page.Nulls, Encoding: int32(p.Encoding)}
	f.plain = f.plain[:0]
	if most := c.Leaf.MaxRepetition; most > 0 {
		kept := f.gather(f.repetition, what.entries)
		page.Rows, page.Continues = countByte(kept, 0), kept[0] > 0
		f.plain = encode.AppendLevels(f.plain, kept, page.Values, 0, byte(most), !head.Version2())
		head.RepetitionBytes = len(f.plain)
	}
	if most := c.Leaf.MaxDefinition; most > 0 {
		var kept []byte
		if len(f.definition) > 0 {
			kept = f.gather(f.definition, what.entries)
		}
		f.plain = encode.AppendLevels(f.plain, kept, page.Values, byte(most), byte(most), !head.Version2())
		head.DefinitionBytes = len(f.plain) - head.RepetitionBytes
	}
	head.Rows = page.Rows
	return page, head
}

// leastCut says what is cut out of a frame at most: 1/leastCut of the page. If more is left
// out, the page gets smaller by compressing the rest again.
const leastCut = 8

// leastRange is the least number of bytes that must stay between two cuts on average. With
// less, cutting changes nearly every sequence and takes longer than compressing.
const leastRange = 4 << 10

// leastFrame is the least number of decompressed bytes of a page whose frame is cut.
// Compressing less again costs little.
const leastFrame = 64 << 10

// MayCut reports whether a page's frame is cut for certain, if it can be, where so many rows,
// or entries of a dictionary, of all are left out: then nothing is compressed.
func (c *Column) MayCut(p *layout.Page, out, all int) bool {
	return c.Rereads(p) && !p.Stored() && p.Uncompressed >= 2*leastFrame && out*2*leastCut <= all && out < p.Uncompressed/leastRange
}

// cutFrame appends what stays of a page of values in PLAIN by cutting the rest out of its
// zstd frame, and returns false where that is not possible or not worth it.
func (f *Filter) cutFrame(dst []byte, c *Column, p *layout.Page, plain []byte, content *layout.Content, values values) ([]byte, bool) {
	place, ok := values.(placed)
	if !ok || !c.Rereads(p) || p.Stored() || len(plain) < leastFrame {
		return dst, false
	}
	frame := p.Body[p.PlainLevels():]
	plain = plain[p.PlainLevels():]
	first, left := len(plain)-len(content.Values), 0
	f.ranges = f.ranges[:0]
	for _, r := range f.values {
		low, high := place.place(r.low)+first, place.place(r.high)+first
		if left += high - low; low < high {
			f.ranges = append(f.ranges, zstdcut.Range{Low: low, High: high})
		}
	}
	if len(content.Values)-left > len(plain)/leastCut || len(f.ranges) > len(plain)/leastRange {
		return dst, false
	}
	page, head := f.begin(c, p, &selection{f.entries, f.values}, values)
	// Of version 2 the levels lie before the frame, else they are in it.
	levels, inside := f.plain, f.plain
	if head.Version2() {
		inside = nil
	} else {
		levels = nil
	}
	from := len(dst)
	// The header comes first, but has the size of what follows: leave room for it.
	dst = append(append(dst, make([]byte, encode.MostHeader)...), levels...)
	if dst, ok = f.cutter.Cut(dst, frame, plain, inside, f.ranges); !ok {
		return dst[:from], false
	}
	header := head.Header(dst[from+encode.MostHeader:], len(f.plain)+left)
	gap := encode.MostHeader - len(header)
	copy(dst[from+gap:], header)
	if from == 0 {
		dst = dst[gap:]
	} else {
		dst = append(dst[:from], dst[from+gap:]...)
	}
	page.Size, page.Uncompressed = len(dst)-from, len(header)+len(f.plain)+left
	f.pages = append(f.pages, page)
	return dst, true
}

// gather returns the levels of runs of entries, valid until the next call.
func (f *Filter) gather(levels []byte, runs []run) []byte {
	kept := f.packed[:0]
	for _, r := range runs {
		kept = append(kept, levels[r.low:r.high]...)
	}
	f.packed = kept
	return kept
}

func length(runs []run) (n int) {
	for _, r := range runs {
		n += r.high - r.low
	}
	return n
}

func countByte(p []byte, v byte) int { return bytes.Count(p, []byte{v}) }
