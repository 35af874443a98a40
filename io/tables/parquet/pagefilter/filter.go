package pagefilter

import (
	"bytes"
	"errors"
	"math"
	"slices"

	"robotsbatch/io/store/compress"
	"robotsbatch/io/store/compress/zstdcut"
	"robotsbatch/io/tables/parquet/columns"
	"robotsbatch/io/tables/parquet/encoding"
	"robotsbatch/io/tables/parquet/layout"
)

// cutSize is about how many bytes of values each new page gets if a page of more than twice
// as many is written as several: then the large one is not in memory a second time.
const cutSize = 1 << 20

// cutEntries is about how many entries such a page has at most.
const cutEntries = 1 << 18

// Column is what filtering a page needs to know of its column.
type Column struct {
	Leaf  layout.Leaf
	Type  layout.Type
	Width int // bytes of a value in PLAIN, 0 for byte arrays
	Codec layout.Codec
	// Compress appends src to dst, compressed with the column's codec; nil if that is
	// Uncompressed.
	Compress func(dst, src []byte) []byte
	// Order is that of the bounds of pages, [columns.NoOrder] if they are not needed.
	Order columns.Order
	// Dictionary is that of the chunk, nil if there is none.
	Dictionary *Dictionary
	// Refusals counts the zstd frames that were not cut; nil if nobody asks.
	Refusals *zstdcut.Refusals
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

// Filter leaves rows out of pages. One goroutine may use it at a time.
type Filter struct {
	repetition, definition []byte
	entries, values        []run
	plain                  []byte
	packed                 []byte
	page                   encoding.Page

	ranges []zstdcut.Range
	cutter zstdcut.Cutter

	pages []layout.Written
}

// Begin must be called before the first page of each chunk.
func (f *Filter) Begin() { f.page.Begin() }

// Memory returns how many bytes it takes to filter a page, besides the page itself and its
// body decompressed: its levels, what decoding it takes, runs, and the new page before and
// after it is compressed.
func (c *Column) Memory(p *layout.Page) int64 {
	n, plain := int64(p.Values), int64(p.Uncompressed)
	most := min(n, cutEntries*5/4) // entries of a piece
	if c.Leaf.MaxRepetition > 0 || p.Kind == layout.DictionaryPage {
		most = n
	} else {
		plain = min(plain, max(4*cutSize, plain/max(1, n)*2))
	}
	const runs = 2 * 16 // of entries and of values
	size := 2*plain + runs*(most/2+1)*9/4
	if p.Kind == layout.DictionaryPage {
		size += 4*n + 5*n
	} else {
		size += encoding.Needs(c.Type, c.Width, p, n, most)
	}
	if c.Leaf.MaxDefinition > 0 {
		size += n
	}
	if c.Leaf.MaxRepetition > 0 {
		size += n
	}
	return size + smallMemory
}

// smallMemory is what any page takes.
const smallMemory = 32 << 10

// Rereads reports whether filtering a page reads its body again after it was decompressed.
func (c *Column) Rereads(p *layout.Page) bool {
	return c.Codec.Is(compress.Zstd) && p.Encoding == layout.Plain && c.Type != layout.Boolean
}

// Page appends to dst the kept rows of a page, as one page or several. plain is the
// page's body decompressed. The returned pages are valid until the next call. dst may be the
// memory of p, unless p is read again ([Column.Rereads]) or plain is a part of that memory.
func (f *Filter) Page(dst []byte, c *Column, p *layout.Page, plain []byte, part Part) ([]byte, []layout.Written, error) {
	f.pages = f.pages[:0]
	defer f.shrink()
	content, present, err := f.open(c, p, plain, part)
	if err != nil {
		return dst, nil, err
	}
	if f.mayCutFrame(c, p, plain, part) {
		cut := false
		err := f.pieces(c, p, part, present, false, func() error {
			dst, cut = f.cutFrame(dst, c, p, plain, content.Values, &f.page)
			return nil
		})
		if err != nil || cut {
			return dst, f.pages, err
		}
	}
	large := len(content.Values) > 2*cutSize || p.Values > 2*cutEntries
	err = f.pieces(c, p, part, present, large, func() error {
		dst, err = f.write(dst, c, p, &f.page)
		return err
	})
	return dst, f.pages, err
}

// open decodes a page, and returns how many of its values are present.
func (f *Filter) open(c *Column, p *layout.Page, plain []byte, part Part) (content layout.Content, present int, err error) {
	if content, err = p.Split(plain, c.Leaf); err != nil {
		return content, 0, err
	}
	if present, err = f.readLevels(c, p, &content); err != nil {
		return content, 0, err
	}
	if part.First+part.N > part.Rows.n || c.Leaf.MaxRepetition == 0 && part.N != p.Values {
		return content, 0, errPartRows
	}
	var entries *encoding.Values
	if c.Dictionary != nil {
		entries = c.Dictionary.entries
	}
	return content, present, f.page.Open(encoding.Body{
		Encoding: p.Encoding, Type: c.Type, Width: c.Width, Values: content.Values, Present: present, Dictionary: entries,
	})
}

// pieces calls do for each piece of a page, with the kept entries and values of the piece in
// f.entries and f.values. A large page without repetition levels has pieces of about cutSize bytes,
// so that not all its runs are in memory at once; any other page is one piece. A piece of which
// nothing is kept is left out.
func (f *Filter) pieces(c *Column, p *layout.Page, part Part, present int, large bool, do func() error) (err error) {
	f.entries, f.values = f.entries[:0], f.values[:0]
	if len(f.repetition) > 0 {
		if f.entries, err = f.entryRuns(f.entries, p.Values, part); err != nil || len(f.entries) == 0 {
			return err
		}
		f.stepValues(c, f.entries, 0, p.Values, 0)
		return do()
	}
	kept, size := 0, 0
	for at, end, value := 0, 0, 0; at < p.Values; at = end {
		end = p.Values
		if large {
			for end = min(at+cutEntries/4, end); end-at > 1 && f.page.SizeOf(value, min(value+end-at, present)) > cutSize; {
				end = at + (end-at)/2
			}
		}
		before, first := len(f.entries), len(f.values)
		f.entries = part.Rows.appendRuns(f.entries, part.First+at, part.First+end)
		for i := before; i < len(f.entries); i++ {
			r := &f.entries[i]
			*r = run{Low: r.Low + at, High: r.High + at}
			kept += r.High - r.Low
		}
		value = f.stepValues(c, f.entries[before:], at, end, value)
		for _, r := range f.values[first:] {
			size += f.page.SizeOf(r.Low, r.High)
		}
		if large && (kept >= cutEntries || size >= cutSize) || end == p.Values && kept > 0 {
			if err := do(); err != nil {
				return err
			}
			f.entries, f.values, kept, size = f.entries[:0], f.values[:0], 0, 0
		}
	}
	return nil
}

// stepValues appends the values of runs of entries to f.values. The runs lie between the
// entries at and end, and value is the number of the first value of these. It returns that of
// the first value after them.
func (f *Filter) stepValues(c *Column, entries []run, at, end, value int) int {
	if len(f.definition) == 0 {
		f.values = append(f.values, entries...)
		return end
	}
	most := byte(c.Leaf.MaxDefinition)
	for _, r := range entries {
		value += countByte(f.definition[at:r.Low], most)
		low := value
		value += countByte(f.definition[r.Low:r.High], most)
		at = r.High
		f.values = appendRun(f.values, low, value)
	}
	return value + countByte(f.definition[at:end], most)
}

// appendRun appends a run of values, or extends the last one by it.
func appendRun(dst []run, low, high int) []run {
	if n := len(dst); n > 0 && dst[n-1].High == low {
		dst[n-1].High = high
	} else if low < high {
		dst = append(dst, run{Low: low, High: high})
	}
	return dst
}

// mostScratch is the most bytes that each buffer of a filter keeps for the next page.
const mostScratch = 4 << 20

// shrink drops large buffers: nobody counts what a filter keeps.
func (f *Filter) shrink() {
	large := max(cap(f.repetition), cap(f.definition), 16*cap(f.entries), 16*cap(f.values), cap(f.plain), cap(f.packed), slices.Max(f.page.Memory()))
	if large > mostScratch {
		f.repetition, f.definition, f.entries, f.values, f.plain, f.packed = nil, nil, nil, nil, nil, nil
		f.page.Release()
	}
}

// readLevels sets f.repetition and f.definition to a page's levels, and returns how many of
// its entries have a value. f.definition is empty if all have one.
func (f *Filter) readLevels(c *Column, p *layout.Page, content *layout.Content) (present int, err error) {
	f.repetition, f.definition = f.repetition[:0], f.definition[:0]
	if c.Leaf.MaxRepetition > 0 {
		if f.repetition, err = content.Repetition.AppendBytes(f.repetition, p.Values, byte(c.Leaf.MaxRepetition)); err != nil {
			return 0, err
		}
	}
	most := c.Leaf.MaxDefinition
	if most == 0 {
		return p.Values, nil
	}
	present, err = layout.CountLevels(content.Definition, p.Values, most, uint32(most))
	if err == nil && present < p.Values {
		f.definition, err = content.Definition.AppendBytes(f.definition, p.Values, byte(most))
	}
	return present, err
}

var errPartRows = errors.New("damaged: a page does not have the rows that it says")

// entryRuns appends the runs of kept entries of a page with repetition levels.
func (f *Filter) entryRuns(dst []run, n int, part Part) ([]run, error) {
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
				dst = append(dst, run{Low: begin, High: i})
			}
			stays, begin = now, i
		}
	}
	if stays {
		dst = append(dst, run{Low: begin, High: n})
	}
	return dst, nil
}

// write appends a page.
func (f *Filter) write(dst []byte, c *Column, p *layout.Page, values *encoding.Page) ([]byte, error) {
	page, head := f.begin(c, p, values)
	var err error
	var numbers []int32
	bits := 0
	if d := c.Dictionary; d != nil && !d.Full() {
		numbers, bits = d.numbers, d.width()
	}
	if f.plain, err = values.Append(f.plain, f.values, numbers, bits); err != nil {
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
func (f *Filter) begin(c *Column, p *layout.Page, values *encoding.Page) (layout.Written, layout.Page) {
	page := layout.Written{Encoding: p.Encoding, Kind: p.Kind, Values: length(f.entries), Bounds: bounds(c.Order, values, f.values)}
	page.Nulls = page.Values - length(f.values)
	page.Rows = page.Values
	version2 := p.Kind == layout.DataPageV2
	head := layout.Page{Kind: p.Kind, Values: page.Values, Nulls: page.Nulls, Encoding: p.Encoding}
	f.plain = f.plain[:0]
	if most := c.Leaf.MaxRepetition; most > 0 {
		kept := f.gather(f.repetition, f.entries)
		page.Rows, page.Continues = countByte(kept, 0), kept[0] > 0
		f.plain = layout.AppendLevels(f.plain, kept, page.Values, 0, byte(most), !version2)
		head.RepetitionBytes = int64(len(f.plain))
	}
	if most := c.Leaf.MaxDefinition; most > 0 {
		var kept []byte
		if len(f.definition) > 0 {
			kept = f.gather(f.definition, f.entries)
		}
		f.plain = layout.AppendLevels(f.plain, kept, page.Values, byte(most), byte(most), !version2)
		head.DefinitionBytes = int64(len(f.plain)) - head.RepetitionBytes
	}
	head.Rows = page.Rows
	return page, head
}

// MayCut reports whether a page's frame is cut for certain, if it can be, where so many rows,
// or entries of a dictionary, of all are left out: then nothing is compressed.
func (c *Column) MayCut(p *layout.Page, out, all int) bool {
	half := p.Uncompressed / 2
	return c.Rereads(p) && !p.Stored() && zstdcut.Worth(half, half-int(float64(p.Uncompressed)*float64(out)/float64(all)), out/2+1)
}

// mayCutFrame reports whether runs of so many rows may be cut out of the page's frame.
func (f *Filter) mayCutFrame(c *Column, p *layout.Page, plain []byte, part Part) bool {
	most := zstdcut.MostRanges(len(plain))
	if !c.Rereads(p) || p.Stored() || !zstdcut.Worth(len(plain), len(plain), 0) {
		return false
	}
	return len(f.repetition) > 0 || part.Rows.countRuns(part.First, part.First+part.N, most) <= most
}

// cutFrame appends what is kept of a page of values in PLAIN by cutting the rest out of its
// zstd frame, and returns false where that is not possible or not worth it.
func (f *Filter) cutFrame(dst []byte, c *Column, p *layout.Page, plain, body []byte, values *encoding.Page) ([]byte, bool) {
	if !c.Rereads(p) || p.Stored() {
		return dst, false
	}
	frame := p.Body[p.PlainLevels():]
	plain = plain[p.PlainLevels():]
	first, left := len(plain)-len(body), 0
	f.ranges = f.ranges[:0]
	for _, r := range f.values {
		low, high := values.Place(r.Low)+first, values.Place(r.High)+first
		if left += high - low; low < high {
			f.ranges = append(f.ranges, zstdcut.Range{Low: low, High: high})
		}
	}
	if !zstdcut.Worth(len(plain), len(plain)-len(body)+left, len(f.ranges)) {
		return dst, false
	}
	page, head := f.begin(c, p, values)
	// Of version 2 the levels lie before the frame, else they are in it.
	levels, inside := f.plain, f.plain
	if p.Kind == layout.DataPageV2 {
		inside = nil
	} else {
		levels = nil
	}
	from := len(dst)
	// The header comes first, but has the size of what follows: leave room for it.
	dst = append(append(dst, make([]byte, layout.MostHeader)...), levels...)
	var err error
	if dst, err = f.cutter.Cut(dst, frame, plain, inside, f.ranges); err != nil {
		c.Refusals.Count(err)
		return dst[:from], false
	}
	header := head.AppendHeader(make([]byte, 0, layout.MostHeader), dst[from+layout.MostHeader:], len(f.plain)+left, true)
	gap := layout.MostHeader - len(header)
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
		kept = append(kept, levels[r.Low:r.High]...)
	}
	f.packed = kept
	return kept
}

func length(runs []run) (n int) {
	for _, r := range runs {
		n += r.High - r.Low
	}
	return n
}

func countByte(p []byte, v byte) int { return bytes.Count(p, []byte{v}) }
