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

// errReplaced is returned for a dictionary that would replace another one in a file.
var errReplaced = errors.New("its dictionary differs from that of the batches before, which a file cannot have: write a stream (.arrows)")

// dictionaryWriter writes the dictionaries of an output. Which ones are needed depends on what was written before.
type dictionaryWriter struct {
	out       *output
	codec     int8             // the number of the compression
	isStream  bool             // not a file
	memory    int64            // the most bytes that the numbers of a dictionary's values may take
	allocator memory.Allocator // where values are gathered

	// By the dictionaries' numbers, if no rows may be left out:
	last   map[int64]*array.Data  // values as they were encoded last
	copied map[int64]xxh3.Uint128 // hashes of messages that were copied into a file

	// If rows may be left out:
	kept map[int64]*keptValues // by the dictionaries' numbers
	used []usedDictionary      // by the last record batch
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

// appendDictionaries appends the dictionaries in array d of a column to list, and retains them. Those
// inside others come before these. *ids has the numbers of the schema's dictionaries, from the
// column's first on, where those inside others come after these. It removes the column's numbers.
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

// write writes dictionary d, if no rows may be left out, unless readers know its values: the values that were written
// last for d.id begin with those of d. If it is d's values that begin with the last ones, a file gets the others alone,
// as a delta; a stream gets all, because not every reader accepts deltas in streams. Dictionaries that have others inside
// are not compared so, because readers resolve those when they read them.
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
	return s.out.write(&m, &s.out.dictionaries)
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
// a dictionary's metadata. delta says that they follow those that were written before. renumbered has the values' shape
// if indices into dictionaries inside d are renumbered later: the message then lacks them. Otherwise it is nil.
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
// twice, so there a message that was copied already is left out, and a different one is an error. Deltas extend a
// dictionary, and are written always.
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
	return s.out.write(&m, &s.out.dictionaries)
}

// If rows may be left out, a dictionary of the output has only the values that kept rows use, in
// the order of their first use. These are known when a record batch is written, so its
// indices are renumbered then. A file has its dictionaries after all record batches, because not
// all readers accept dictionaries that grow. In a stream, each record batch has dictionaries of its
// own, which replace those before.

// keptValues says which values of a dictionary the output has. A value's number is its index in the dictionary.
type keptValues struct {
	usedDictionary               // of the input
	numbers        []int32       // by the number in the input: 1 + the number in the output; 0 if no row uses the value
	kept           []int         // by the number in the output: the number in the input
	shape          *layout.Shape // of the values; nil until indices into them are renumbered
	written        xxh3.Uint128  // a hash of the message that was written last
}

// complete renumbers the indices of a record batch and adds them to it, before it is written. used has all dictionaries
// of the input that it uses. In a stream, complete then writes the output's dictionaries.
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

// setDictionary makes d the dictionary of the input to which the next record batch's indices refer.
// In a stream, the output's numbers begin with 0 again. In a file they go on, so d must begin with
// the dictionary that was there before.
func (s *dictionaryWriter) setDictionary(d usedDictionary) error {
	k := s.kept[d.id]
	if k == nil {
		k = &keptValues{usedDictionary: d}
		d.values.Retain()
		s.kept[d.id] = k
	}
	const size = 16 // bytes that numbers and kept take for a value, at most
	n, limit := d.values.Len(), s.memory
	if int64(n) > limit/size {
		return &budget.MemoryError{What: "a dictionary", Need: size * int64(n), Limit: limit}
	}
	if s.isStream { // the output's dictionary is a new one
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
	if n <= len(k.numbers) { // fewer only in a stream, where all numbers are 0 now: none is lost
		k.numbers = k.numbers[:n]
	} else {
		k.numbers = append(k.numbers, make([]int32, n-len(k.numbers))...)
	}
	return nil
}

// addIndices renumbers the indices that the body of a message lacks, appends them to the body, and seals the message.
func (s *dictionaryWriter) addIndices(m *message) error {
	if m.indices == nil {
		return nil
	}
	lifted := m.bodySize() - int64(len(m.body)) // bytes of lifted parts, all of which come before the indices
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

// renumber replaces indices into the input's dictionary by those into the output's, to which it adds each
// value that an index is the first to refer to. Indices of nulls become 0.
func (k *keptValues) renumber(c inputIndices) error {
	k.shape = c.shape.Values
	width := c.shape.Width
	limit := uint64(len(k.numbers))
	if c.shape.Signed {
		limit = min(limit, 1<<(8*width-1)) // a negative index, read as unsigned, is this or more
	}
	for i := range len(c.values) / width {
		at := c.values[i*width:][:width]
		if c.valid != nil && c.valid[i>>3]>>(i&7)&1 == 0 {
			clear(at)
			continue
		}
		old := unsigned(at)
		if old >= limit {
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

// writeKept writes the dictionaries of the output, those inside others before these. They are encoded in the opposite
// order: the values of a dictionary that are used are known once all indices into it are renumbered, also those in the
// dictionaries that contain it.
func (s *dictionaryWriter) writeKept() error {
	remaining := make(map[int64]int) // how often the loop below still comes to each dictionary
	for _, d := range s.used {
		remaining[d.id]++
	}
	var messages []*message
	for _, d := range slices.Backward(s.used) {
		if remaining[d.id]--; remaining[d.id] > 0 { // the loop may come to others that contain it before it comes to it again
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
		// Readers know one that did not change, but they resolved dictionaries inside it when they read it.
		if sum := h.Sum128(); sum != k.written || k.nested {
			k.written = sum
			messages = append(messages, &m)
		}
	}
	for _, m := range slices.Backward(messages) {
		if err := s.out.write(m, &s.out.dictionaries); err != nil {
			return err
		}
	}
	return nil
}
