package ipc

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/zeebo/xxh3"

	"robotsbatch/io/store/budget"
	"robotsbatch/io/store/compress"
	"robotsbatch/io/tables"
	"robotsbatch/io/tables/arrow/layout"
)

var errReplaced = errors.New("its dictionary differs from that of the batches before, which a file cannot have: write a stream (.arrows)")

// dictionaryWriter writes the dictionaries of an output. Which ones are needed depends on what was written before.
type dictionaryWriter struct {
	out       *output
	codec     int8             // the number of the compression
	isStream  bool             // not a file
	memory    int64            // the most bytes that the numbers of a dictionary's values may take
	allocator memory.Allocator // where values are gathered

	// By the dictionaries' numbers, if no rows are left out:
	last   map[int64]*array.Data  // as they were encoded last
	copied map[int64]xxh3.Uint128 // hashes of those that were copied into a file

	// If rows may be left out:
	kept map[int64]*keptValues
	used []usedDictionary // by the last record batch
}

// release releases all values that are retained.
func (s *dictionaryWriter) release() {
	for _, d := range s.last {
		d.Release()
	}
	clear(s.last)
	for _, k := range s.kept {
		k.values.Release()
	}
	clear(s.kept)
}

// appendDictionaries appends the dictionaries in array d of a column to list, inner ones before
// those that use them, and retains them. *ids are the numbers of the schema's dictionaries from the
// column's first on, outer ones before inner ones. It removes the column's from *ids.
func appendDictionaries(list []usedDictionary, ids *[]int64, column string, d *array.Data) []usedDictionary {
	if _, ok := tables.Storage(d.DataType()).(*arrow.DictionaryType); !ok {
		for _, child := range d.Children() {
			list = appendDictionaries(list, ids, column, child.(*array.Data))
		}
		return list
	}
	used := usedDictionary{id: (*ids)[0], column: column, values: d.Dictionary().(*array.Data)}
	*ids = (*ids)[1:]
	before := len(list)
	for _, child := range used.values.Children() {
		list = appendDictionaries(list, ids, column, child.(*array.Data))
	}
	used.nested = len(list) > before
	used.values.Retain()
	return append(list, used)
}

// write writes what readers do not know yet of dictionary d, if no rows are left out. They need nothing if the values
// that d.id had last begin with those of d. If d's values begin with the last ones, a file gets only those after them; a
// stream gets all, because not every reader accepts deltas in streams. Neither holds if d has inner dictionaries: readers
// resolved those when they read d.
func (s *dictionaryWriter) write(d usedDictionary) error {
	last, known := s.last[d.id]
	begin, delta := 0, false // the first entry that is written
	if known {
		if last == d.values || !d.nested && beginsWith(last, d.values) {
			return nil
		}
		if !s.isStream {
			if d.nested || !beginsWith(d.values, last) {
				return errReplaced
			}
			begin, delta = last.Len(), true
		}
		last.Release()
	}
	d.values.Retain()
	s.last[d.id] = d.values
	values := tables.Maker{Memory: s.allocator}.Gather(d.values, tables.Rows(nil).Add(begin, d.values.Len()))
	m, err := s.encode(d, nil, values, delta)
	if err != nil {
		return err
	}
	return s.out.writeDictionary(&m)
}

// beginsWith reports whether the values of a begin with those of b.
func beginsWith(a, b *array.Data) bool {
	n := int64(b.Len())
	if int64(a.Len()) < n {
		return false
	}
	left, right := array.MakeFromData(a), array.MakeFromData(b)
	defer left.Release()
	defer right.Release()
	return array.SliceEqual(left, 0, n, right, 0, n)
}

// encode returns the message of dictionary d with these of its values, which it releases: a record of one column, with
// a dictionary's metadata. delta says that they follow those that were written before. If renumbered has the values'
// shape, the message lacks indices into inner dictionaries, which are renumbered later; if it is nil, it lacks none.
func (s *dictionaryWriter) encode(d usedDictionary, renumbered []layout.Shape, values *array.Data, delta bool) (message, error) {
	defer values.Release()
	m, err := encodeRecord(renumbered, []*array.Data{values}, s.codec, nil)
	if err != nil {
		return message{}, err
	}
	meta := &layout.DictionaryMeta{ID: d.id, Delta: delta, Batch: m.batch}
	m.metadata = func(bodyLength int64) []byte { return layout.DictionaryMessage(meta, bodyLength) }
	m.seal()
	return m, nil
}

// copy writes a dictionary message as it was read. A file must not have a dictionary
// twice, so an identical one is left out there, and another one is an error.
func (s *dictionaryWriter) copy(d copiedDictionary) error {
	if !s.isStream && !d.delta {
		var h xxh3.Hasher
		_, _ = h.Write(d.Meta()) // never an error
		if _, err := io.Copy(&h, io.NewSectionReader(d.Body, 0, d.BodyLength)); err != nil {
			return layout.Cut(err)
		}
		last, known := s.copied[d.id]
		switch {
		case known && last == h.Sum128():
			return nil
		case known:
			return errors.New("it differs from that of the batches before, which a file cannot have: write a stream (.arrows)")
		}
		s.copied[d.id] = h.Sum128()
	}
	m := copyBody(d.Frame)
	m.head = layout.NewHead(d.Meta())
	return s.out.writeDictionary(&m)
}

// If rows are left out, a dictionary of the output has those values alone that kept rows use, in
// the order of their first use. Which these are is known when a record batch is written, so its
// indices are renumbered then. A file has its dictionaries after all record batches, because a
// dictionary that grows is not read by everybody; in a stream each record batch has its own,
// which replaces the one before.

// keptValues are those values of a dictionary that the output has.
type keptValues struct {
	usedDictionary               // of the input
	numbers        []int32       // 1 + the new number of each value of the input; 0 if no row uses it
	kept           []int         // the input's numbers of the values that are used, by their new numbers
	shape          *layout.Shape // of the values; known once indices into them were renumbered
	written        xxh3.Uint128  // a hash of the message that was written last
}

// complete makes a record batch whole, before it is written: it renumbers its indices. used are the dictionaries of
// the input that it uses, all of them. In a stream, complete then writes those of the output.
func (s *dictionaryWriter) complete(m *message, used []usedDictionary) error {
	for _, d := range used {
		if err := s.setDictionary(d); err != nil {
			return fmt.Errorf("column %q: %w", d.column, err)
		}
	}
	s.used = used
	if err := s.addIndices(m); err != nil {
		return err
	}
	if s.isStream {
		return s.writeKept()
	}
	return nil
}

// setDictionary makes d the dictionary of the input into which indices of the next record batch refer.
// In a stream, its values are numbered from 0 again. In a file the numbers go on, so d must begin with
// the dictionary that it replaces.
func (s *dictionaryWriter) setDictionary(d usedDictionary) error {
	k := s.kept[d.id]
	if k == nil {
		k = &keptValues{usedDictionary: d}
		d.values.Retain()
		s.kept[d.id] = k
	}
	const most = 16 // bytes that numbers and kept take for a value
	n, limit := d.values.Len(), s.memory
	if int64(n) > limit/most {
		return &budget.MemoryError{What: "a dictionary", Need: most * int64(n), Limit: limit}
	}
	if s.isStream {
		for _, number := range k.kept {
			k.numbers[number] = 0
		}
		k.kept = k.kept[:0]
	}
	if k.values != d.values {
		if !s.isStream && (d.nested || !beginsWith(d.values, k.values)) {
			return errReplaced
		}
		d.values.Retain()
		k.values.Release()
		k.usedDictionary = d
	}
	if n <= len(k.numbers) { // those after n are 0
		k.numbers = k.numbers[:n]
	} else {
		k.numbers = append(k.numbers, make([]int32, n-len(k.numbers))...)
	}
	return nil
}

// addIndices renumbers the indices that the body of a message lacks, appends them to it, and seals the message.
func (s *dictionaryWriter) addIndices(m *message) error {
	if m.indices == nil {
		return nil
	}
	lifted := m.bodySize() - int64(len(m.body))
	for _, indices := range m.indices {
		k := s.kept[indices.shape.ID]
		if k == nil {
			return missingError(indices.shape.ID)
		}
		if err := k.renumber(indices); err != nil {
			return fmt.Errorf("column %q: %w", k.column, err)
		}
		begin := len(m.body)
		m.body = layout.AppendBuffer(m.body, indices.values, m.batch.Codec, compress.Fastest)
		m.batch.Buffers[indices.buffer] = layout.Span{Offset: int64(begin) + lifted, Length: int64(len(m.body) - begin)}
		m.body = append(m.body, padding(len(m.body)-begin)...)
	}
	m.indices = nil
	m.seal()
	return nil
}

// renumber replaces indices into the input's dictionary by those into the output's, which gets each
// value when an index first refers to it. Indices of nulls become 0.
func (k *keptValues) renumber(c inputIndices) error {
	k.shape = c.shape.Values
	width := c.shape.Width
	most := uint64(len(k.numbers))
	if c.shape.Signed {
		most = min(most, 1<<(8*width-1)) // from there on, the bytes are those of negative numbers
	}
	for i := range len(c.values) / width {
		at := c.values[i*width:][:width]
		if c.valid != nil && c.valid[i>>3]>>(i&7)&1 == 0 {
			clear(at)
			continue
		}
		old := unsigned(at)
		if old >= most {
			return fmt.Errorf("damaged: index %d into a dictionary of %d values", old, len(k.numbers))
		}
		if k.numbers[old] == 0 {
			k.kept = append(k.kept, int(old))
			k.numbers[old] = int32(len(k.kept))
		}
		now := uint64(k.numbers[old] - 1)
		for b := range at {
			at[b] = byte(now >> (8 * b))
		}
	}
	return nil
}

// unsigned returns the little-endian number in p, which has up to eight bytes.
func unsigned(p []byte) (n uint64) {
	for i, b := range p {
		n |= uint64(b) << (8 * i)
	}
	return n
}

// writeKept writes the dictionaries of the output, inner ones before those that use them. Which values of an
// inner one are used is known when the indices in all outer ones are renumbered, so it goes through the
// outer ones first.
func (s *dictionaryWriter) writeKept() error {
	users := make(map[int64]int) // of each dictionary: how often it comes in s.used from its beginning to d
	for _, d := range s.used {
		users[d.id]++
	}
	var messages []*message
	for _, d := range slices.Backward(s.used) {
		if users[d.id]--; users[d.id] > 0 { // it comes again, once more of those that use it are renumbered
			continue
		}
		k := s.kept[d.id]
		var rows tables.Rows
		for _, i := range k.kept {
			rows = rows.Add(i, i+1)
		}
		m, err := s.encode(d, []layout.Shape{*k.shape}, tables.Maker{Memory: s.allocator}.Gather(k.values, rows), false)
		if err == nil {
			err = s.addIndices(&m)
		}
		if err != nil {
			return fmt.Errorf("column %q: %w", d.column, err)
		}
		var h xxh3.Hasher
		_, _ = h.Write(m.head) // never an error
		_, _ = h.Write(m.body)
		// Readers have one that did not change, unless inner ones did: they are resolved when it is read.
		if sum := h.Sum128(); sum != k.written || k.nested {
			k.written = sum
			messages = append(messages, &m)
		}
	}
	for _, m := range slices.Backward(messages) {
		if err := s.out.writeDictionary(m); err != nil {
			return err
		}
	}
	return nil
}
