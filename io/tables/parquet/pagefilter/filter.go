package pagefilter

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"robotsbatch/io/store/compress"
	"robotsbatch/io/store/compress/snappycut"
	"robotsbatch/io/store/compress/zstdcut"
	"robotsbatch/io/tables"
	"robotsbatch/io/tables/parquet/columns"
	"robotsbatch/io/tables/parquet/encoding"
	"robotsbatch/io/tables/parquet/layout"
)

// A page whose values have more than twice pieceSize bytes, or that has more than twice pieceEntries
// entries, is written as several pieces: then the large one is not in memory a second time. Each piece gets about
// pieceSize bytes of values, and at most about pieceEntries entries. A page whose compressed body is cut is one piece,
// and so must not have more than mostLevels definition levels.
const (
	pieceSize    = 1 << 20
	pieceEntries = 1 << 18
	mostLevels   = 16 * pieceEntries
)

// Column is what filtering a page needs to know of its column.
type Column struct {
	Leaf  layout.Leaf
	Type  layout.Type
	Width int // bytes of a value in PLAIN, 0 for byte arrays
	Codec layout.Codec
	// Compress appends src to dst, compressed with the column's codec; nil if that is
	// Uncompressed.
	Compress func(dst, src []byte) []byte
	// Order compares values for the bounds of pages. It is [columns.NoOrder] if pages need no bounds.
	Order columns.Order
	// Dictionary is that of the chunk, nil if there is none.
	Dictionary *Dictionary
	// Refusals counts the zstd frames that were not cut; nil if nobody asks.
	Refusals *zstdcut.Refusals
}

// Part says which rows of a row group are in a page.
type Part struct {
	// Selection says which rows of the row group are kept.
	Selection *Selection
	// First is the index of the first row that begins in the page, and N how many do.
	First, N int
	// Continues says that the page begins in the middle of row First-1.
	Continues bool
}

// Count returns how many rows of the part are kept, and how many it has. A row that began in the page
// before counts in both. Rows that a damaged page says it has beyond the row group are not kept.
func (p *Part) Count() (kept, all int) {
	low := p.First
	if p.Continues {
		low--
	}
	high := min(p.First+p.N, p.Selection.n)
	return p.Selection.Count(low, high), p.First + p.N - low
}

// Source is a page from which rows are left out.
type Source struct {
	*Column
	Page  *layout.Page
	Plain []byte // the page's body decompressed
	// Rereads says that Page.Body, the compressed body, may be cut: the filter reads it while it writes the new page.
	Rereads bool
	Part
}

// Filter leaves rows out of pages. One goroutine may use it at a time.
type Filter struct {
	repetition, definition []byte        // the page's levels; definition is empty if no entry is null
	entries, values        tables.Rows   // the kept entries of a piece of the page, and their values; nulls have none
	plain                  []byte        // the body of the new page, decompressed
	packed                 []byte        // scratch: plain compressed, or levels of the new page before they are encoded
	page                   encoding.Page // the values of the page

	ranges []zstdcut.Range
	cutter zstdcut.Cutter

	pages []layout.Written // the new pages
}

// Begin must be called before the first page of each chunk: pages in DELTA_BYTE_ARRAY build on the page
// before in the same chunk.
func (f *Filter) Begin() { f.page.Begin() }

// Memory returns the most bytes that filtering a page takes, if no value is far longer than the page's others: for its
// levels, decoded values, runs of kept entries and values, and the new page before and after it is compressed. The page
// itself and its decompressed body are not counted.
func (c *Column) Memory(p *layout.Page) int64 {
	n, plain := int64(p.Values), int64(p.Uncompressed)
	most := min(n, pieceEntries*5/4) // entries of a piece: it may get a step of a quarter too many
	// Pages of lists and dictionaries are one piece: see eachPiece.
	if c.Leaf.MaxRepetition > 0 || p.Kind == layout.DictionaryPage {
		most = n
	} else { // of a piece, which has up to pieceSize bytes and one more value. How long that is, only the mean can tell
		plain = min(plain, max(4*pieceSize, plain/max(1, n)*2))
	}
	// At worst every second entry is kept, each in a run of its own. 9/4 is for growth: append copies a slice to one
	// that is a quarter larger, and both are in memory while it does.
	const run = 2 * 16 // bytes of a run of entries and one of values
	size := 2*plain + run*(most/2+1)*9/4
	if p.Kind == layout.DictionaryPage {
		size += 5 * n // where texts begin; see also DictionaryMemory
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

// Cuts reports whether a page may be filtered by cutting its compressed body, a zstd frame or Snappy block
// (cutBody). Only values in PLAIN are cut: their bytes are copied unchanged.
func (c *Column) Cuts(p *layout.Page) bool {
	return (c.Codec.Is(compress.Zstd) || c.Codec.Is(compress.Snappy)) && p.Encoding == layout.Plain && c.Type != layout.Boolean
}

// Page appends to dst the kept rows of a page, as one page or several, and describes these; the descriptions are valid
// until the next call. dst may be the memory of s.Page, unless s.Rereads is set or s.Plain is a part of that memory.
func (f *Filter) Page(dst []byte, s Source) ([]byte, []layout.Written, error) {
	f.pages = f.pages[:0]
	defer f.shrink()
	values, present, err := f.open(&s)
	if err != nil {
		return dst, nil, err
	}
	if f.mayCutBody(&s) {
		const split = false // one new page has all values
		cut := false
		err := f.eachPiece(&s, present, split, func() error {
			dst, cut = f.cutBody(dst, &s, len(s.Plain)-len(values), &f.page)
			return nil
		})
		if err != nil || cut {
			return dst, f.pages, err
		}
		// The body was not worth cutting: the values are recompressed.
	}
	split := len(values) > 2*pieceSize || s.Page.Values > 2*pieceEntries
	err = f.eachPiece(&s, present, split, func() error {
		dst, err = f.write(dst, &s, &f.page)
		return err
	})
	return dst, f.pages, err
}

// open decodes a page into f.page, and its levels into f. It returns the bytes of the values, with which
// s.Plain ends, and how many values are not null. It refuses a page with other rows than s.Part says.
func (f *Filter) open(s *Source) (values []byte, present int, err error) {
	content, err := s.Page.Split(s.Plain, s.Leaf)
	if err != nil {
		return nil, 0, err
	}
	if present, err = f.readLevels(s, &content); err != nil {
		return nil, 0, err
	}
	if s.First+s.N > s.Selection.n || s.Leaf.MaxRepetition == 0 && s.N != s.Page.Values { // without lists each entry is a row
		return nil, 0, errPartRows
	}
	var entries *encoding.Values
	if s.Dictionary != nil {
		entries = s.Dictionary.entries
	}
	return content.Values, present, f.page.Open(encoding.Body{
		Encoding: s.Page.Encoding, Type: s.Type, Width: s.Width, Values: content.Values, Present: present, Dictionary: entries,
	})
}

// eachPiece calls do for each piece of a page that has kept entries. f.entries has these, and f.values their values. With
// split, a page without repetition levels has pieces of about pieceSize bytes, so that not all runs are in memory at
// once. Any other page is one piece. present is the number of the page's values that are not null.
func (f *Filter) eachPiece(s *Source, present int, split bool, do func() error) (err error) {
	f.entries, f.values = f.entries[:0], f.values[:0]
	n := s.Page.Values
	if len(f.repetition) > 0 {
		if f.entries, err = f.appendListEntries(f.entries, s); err != nil || len(f.entries) == 0 {
			return err
		}
		f.appendValues(s, f.entries, 0, n, 0)
		return do()
	}
	kept, size := 0, 0 // entries of the piece, and bytes of its values
	// A piece has one step or several. A step is the entries [at, end), each a row. value is the index of its
	// first value that is not null.
	for at, end, value := 0, 0, 0; at < n; at = end {
		end = n
		if split { // a step is halved until its values fit a piece, even if none is null
			end = min(at+pieceEntries/4, n)
			for end-at > 1 && f.page.SizeOf(value, min(value+end-at, present)) > pieceSize {
				end = at + (end-at)/2
			}
		}
		entriesBefore, valuesBefore := len(f.entries), len(f.values)
		f.entries = s.Selection.bits.AppendRuns(f.entries, s.First+at, s.First+end, s.First)
		kept += f.entries[entriesBefore:].Count()
		value = f.appendValues(s, f.entries[entriesBefore:], at, end, value)
		for _, r := range f.values[valuesBefore:] {
			size += f.page.SizeOf(r.Low, r.High)
		}
		isFull := split && (kept >= pieceEntries || size >= pieceSize)
		if isLast := end == n && kept > 0; isFull || isLast {
			if err := do(); err != nil {
				return err
			}
			f.entries, f.values, kept, size = f.entries[:0], f.values[:0], 0, 0
		}
	}
	return nil
}

// appendValues appends to f.values the values of kept, runs of entries from at to end-1. value is the index of
// entry at's value, or of the next one if at is null. It returns the index of the first value from end on.
func (f *Filter) appendValues(s *Source, kept tables.Rows, at, end, value int) int {
	if len(f.definition) == 0 {
		f.values = append(f.values, kept...)
		return end
	}
	most := byte(s.Leaf.MaxDefinition)
	for _, r := range kept {
		value += countByte(f.definition[at:r.Low], most)
		low := value
		value += countByte(f.definition[r.Low:r.High], most)
		at = r.High
		f.values = f.values.Add(low, value)
	}
	return value + countByte(f.definition[at:end], most)
}

// mostScratch is the most bytes that each buffer of a filter keeps for the next page.
const mostScratch = 4 << 20

// shrink drops the filter's buffers if one is large: the memory that it keeps for the next page is not
// reserved.
func (f *Filter) shrink() {
	runs := 16 * max(cap(f.entries), cap(f.values)) // 16 bytes each
	if max(cap(f.repetition), cap(f.definition), runs, cap(f.plain), cap(f.packed), slices.Max(f.page.Memory())) > mostScratch {
		f.repetition, f.definition, f.entries, f.values, f.plain, f.packed = nil, nil, nil, nil, nil, nil
		f.page.Release()
	}
}

// readLevels sets f.repetition and f.definition to a page's levels, a byte each, and returns how many
// entries have a value. f.definition stays empty if all have one.
func (f *Filter) readLevels(s *Source, content *layout.Content) (present int, err error) {
	f.repetition, f.definition = f.repetition[:0], f.definition[:0]
	n := s.Page.Values
	if most := s.Leaf.MaxRepetition; most > 0 {
		if f.repetition, err = content.Repetition.AppendBytes(f.repetition, n, byte(most)); err != nil {
			return 0, err
		}
	}
	most := s.Leaf.MaxDefinition
	if most == 0 {
		return n, nil
	}
	present, err = layout.CountLevels(content.Definition, n, most, uint32(most))
	if err == nil && present < n {
		f.definition, err = content.Definition.AppendBytes(f.definition, n, byte(most))
	}
	return present, err
}

var errPartRows = errors.New("damaged: a page does not have the rows that it says")

// appendListEntries appends to dst runs of the kept entries of a page with repetition levels. Each entry of
// level 0 begins a row. Entries before the first of these belong to the last row of the page before.
func (f *Filter) appendListEntries(dst tables.Rows, s *Source) (tables.Rows, error) {
	row := s.First - 1 // the row of the current entry
	if beginsInRow := f.repetition[0] > 0; beginsInRow != s.Continues || beginsInRow && row < 0 {
		return dst, errPartRows
	}
	keeping, begin := s.Continues && s.Selection.has(row), 0 // the entries from begin on are all kept, or none is
	for i, level := range f.repetition {
		if level > 0 {
			continue
		}
		if row++; row >= s.First+s.N {
			return dst, errPartRows
		}
		if keep := s.Selection.has(row); keep != keeping {
			if keeping {
				dst = append(dst, tables.Run{Low: begin, High: i})
			}
			keeping, begin = keep, i
		}
	}
	if keeping {
		dst = append(dst, tables.Run{Low: begin, High: len(f.repetition)})
	}
	return dst, nil
}

// write appends a page with the entries f.entries and their values f.values, in the encoding of s.Page.
// values is the page, or dictionary, that has them.
func (f *Filter) write(dst []byte, s *Source, values *encoding.Page) ([]byte, error) {
	page, head := f.beginPage(s, values) // f.plain has the levels now
	newIndex, bitWidth := s.Dictionary.renumbering()
	var err error
	if f.plain, err = values.Append(f.plain, f.values, newIndex, bitWidth); err != nil {
		return dst, err
	}
	if len(f.plain) > math.MaxInt32 {
		return dst, errors.New("what stays of a page has more than 2 GiB")
	}
	from := len(dst)
	compress := s.Compress
	if s.Page.Stored() { // as the old page
		compress = nil
	}
	var headerSize int
	dst, headerSize = head.AppendPage(dst, f.plain, &f.packed, compress)
	page.Size, page.Uncompressed = len(dst)-from, headerSize+len(f.plain)
	f.pages = append(f.pages, page)
	return dst, nil
}

// beginPage begins a page with the entries f.entries and their values f.values: it sets f.plain to their
// levels. It returns what is known of the page so far, without sizes, and its header.
func (f *Filter) beginPage(s *Source, values *encoding.Page) (layout.Written, layout.Page) {
	p := s.Page
	page := layout.Written{Encoding: p.Encoding, Kind: p.Kind, Values: f.entries.Count(), Bounds: bounds(s.Order, values, f.values)}
	page.Nulls = page.Values - f.values.Count()
	page.Rows = page.Values                // changed below for lists
	counted := p.Kind != layout.DataPageV2 // version 2 has the levels' sizes in the page's header
	head := layout.Page{Kind: p.Kind, Values: page.Values, Nulls: page.Nulls, Encoding: p.Encoding}
	f.plain = f.plain[:0]
	if most := s.Leaf.MaxRepetition; most > 0 {
		kept := f.gather(f.repetition)
		page.Rows, page.Continues = countByte(kept, 0), kept[0] > 0
		f.plain = layout.AppendLevels(f.plain, kept, page.Values, 0, byte(most), counted)
		head.RepetitionBytes = int64(len(f.plain))
	}
	if most := s.Leaf.MaxDefinition; most > 0 {
		var kept []byte // nil: all levels are most
		if len(f.definition) > 0 {
			kept = f.gather(f.definition)
		}
		f.plain = layout.AppendLevels(f.plain, kept, page.Values, byte(most), byte(most), counted)
		head.DefinitionBytes = int64(len(f.plain)) - head.RepetitionBytes
	}
	head.Rows = page.Rows
	return page, head
}

// worthCutting reports whether to cut a page's compressed body instead of compressing again. Of its size bytes
// decompressed, kept bytes in a number of ranges are kept.
func (c *Column) worthCutting(p *layout.Page, size, kept, ranges int) bool {
	switch {
	case !c.Cuts(p) || p.Stored():
		return false
	case c.Codec.Is(compress.Snappy):
		return snappycut.Worth(size, kept, ranges)
	}
	return zstdcut.Worth(size, kept, ranges)
}

// mayCutBody reports whether to try to cut the page's compressed body. Many runs of kept rows are not worth it, however
// much is kept: of a page of lists, cutBody counts them, because a row may have any number of values. More than
// mostLevels levels would take too much memory, except in a page of lists, for which Memory counts all.
func (f *Filter) mayCutBody(s *Source) bool {
	n, runs := len(s.Plain), 0
	if len(f.repetition) == 0 {
		runs = s.Selection.bits.CountRuns(s.First, s.First+s.N)
	}
	return s.Rereads && (len(f.repetition) > 0 || len(f.definition) <= mostLevels) && s.worthCutting(s.Page, n, n, runs)
}

// cutBody appends a page with f.entries and f.values, made by cutting the other values out of the compressed
// body of s. values are all values of s. They are in PLAIN, and begin at offset valuesAt of s.Plain. cutBody returns
// false and appends nothing if the body cannot be cut or compressing again is better.
func (f *Filter) cutBody(dst []byte, s *Source, valuesAt int, values *encoding.Page) ([]byte, bool) {
	p := s.Page
	if !s.Rereads || !s.worthCutting(p, len(s.Plain), len(s.Plain), 0) { // not even if all were kept, whatever the ranges
		return dst, false
	}
	outside := p.PlainLevels() // bytes of levels before the compressed part
	body, plain := p.Body[outside:], s.Plain[outside:]
	valuesAt -= outside // now in plain
	keptBytes := 0      // of the values
	f.ranges = f.ranges[:0]
	for _, r := range f.values {
		low, high := values.Place(r.Low)+valuesAt, values.Place(r.High)+valuesAt
		if keptBytes += high - low; low < high { // not a value of no bytes
			f.ranges = append(f.ranges, zstdcut.Range{Low: low, High: high})
		}
	}
	if !s.worthCutting(p, len(plain), valuesAt+keptBytes, len(f.ranges)) {
		return dst, false
	}
	page, head := f.beginPage(s, values)
	before, inside := []byte(nil), f.plain // the new levels, before the compressed part or in it
	if p.Kind == layout.DataPageV2 {
		before, inside = f.plain, nil
	}
	from := len(dst)
	// The header comes first, but has the size of what follows: leave room for it. A body apart takes up to
	// 1.4 times the processor time and the memory.
	dst = append(append(dst, make([]byte, layout.MostHeader)...), before...)
	if s.Codec.Is(compress.Snappy) {
		var ok bool
		most := len(body) + len(body)/16 + binary.MaxVarintLen32 + len(inside) // for which there is memory
		if dst, ok = snappycut.Cut(dst, body, plain, inside, f.ranges, most); !ok {
			return dst[:from], false
		}
	} else {
		var err error
		if dst, err = f.cutter.Cut(dst, body, plain, inside, f.ranges); err != nil {
			s.Refusals.Count(err)
			return dst[:from], false
		}
	}
	const compressed = true
	plainSize := len(f.plain) + keptBytes
	header := head.AppendHeader(make([]byte, 0, layout.MostHeader), dst[from+layout.MostHeader:], plainSize, compressed)
	dst = fillRoom(dst, from, header)
	page.Size, page.Uncompressed = len(dst)-from, len(header)+plainSize
	f.pages = append(f.pages, page)
	return dst, true
}

// fillRoom puts a header at the end of the layout.MostHeader bytes that are reserved for it from offset from on, and
// removes those of them that it does not need. The result aliases dst.
func fillRoom(dst []byte, from int, header []byte) []byte {
	gap := layout.MostHeader - len(header)
	copy(dst[from+gap:], header)
	if from == 0 { // without moving what follows
		return dst[gap:]
	}
	return append(dst[:from], dst[from+gap:]...)
}

// gather returns the levels of the entries f.entries, valid until the next call.
func (f *Filter) gather(levels []byte) []byte {
	kept := f.packed[:0]
	for _, r := range f.entries {
		kept = append(kept, levels[r.Low:r.High]...)
	}
	f.packed = kept
	return kept
}

// countByte returns how many bytes of p equal v.
func countByte(p []byte, v byte) int { return bytes.Count(p, []byte{v}) }
