package arrowipc

import (
	"errors"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"robotsbatch/io/frontier/tables"
)

// usedDictionary is a dictionary that the columns of a batch use.
type usedDictionary struct {
	id     int64
	column string
	values *array.Data
	// nested: the values have dictionaries of their own.
	nested bool
}

// appendDictionaries appends the dictionaries in a column, inner ones before
// those that use them, and retains them. It numbers them as the library does
// in the schema message: by columns, outer ones before inner ones.
func appendDictionaries(list []usedDictionary, number *int64, column string, d *array.Data) []usedDictionary {
	if _, ok := tables.Storage(d.DataType()).(*arrow.DictionaryType); !ok {
		for _, child := range d.Children() {
			list = appendDictionaries(list, number, column, child.(*array.Data))
		}
		return list
	}
	used := usedDictionary{id: *number, column: column, values: d.Dictionary().(*array.Data)}
	*number++
	before := len(list)
	for _, child := range used.values.Children() {
		list = appendDictionaries(list, number, column, child.(*array.Data))
	}
	used.nested = len(list) > before
	used.values.Retain()
	return append(list, used)
}

// writeDictionary writes the new part of a dictionary and takes over the reference to
// it. A prefix of the last dictionary needs no message. If instead the last one is a
// prefix of this one, a file gets only the added entries; a stream gets a full
// replacement, because not every reader accepts such deltas in streams.
func (s *sink) writeDictionary(d usedDictionary) error {
	last, known := s.last[d.id]
	begin, delta := 0, false
	if known {
		if last == d.values || !d.nested && beginsWith(last, d.values) {
			d.values.Release()
			return nil
		}
		if !s.options.Stream {
			if d.nested || !beginsWith(d.values, last) {
				d.values.Release()
				return errors.New("its dictionary differs from that of the batches before, which a file cannot have: write a stream (.arrows)")
			}
			begin, delta = last.Len(), true
		}
		last.Release()
	}
	s.last[d.id] = d.values
	m, err := s.encodeDictionary(d, begin, delta)
	if err != nil {
		return err
	}
	s.dictionaries = append(s.dictionaries, m.at(s.pos))
	return s.writeMessage(m)
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

// encodeDictionary returns the message of a dictionary from entry begin on.
// The library encodes the values as a record of one column; this function wraps it in a
// dictionary's metadata.
func (s *sink) encodeDictionary(d usedDictionary, begin int, delta bool) (message, error) {
	values := tables.Slice(d.values, begin, d.values.Len(), s.options.mem)
	defer values.Release()
	schema := arrow.NewSchema([]arrow.Field{{Name: d.column, Type: values.DataType(), Nullable: true}}, nil)
	record, err := s.encodeRecord(schema, []*array.Data{values}, s.codec, nil)
	if err != nil {
		return message{}, err
	}
	h, err := parseHeader(record.meta())
	if err != nil {
		return message{}, err
	}
	meta := &dictionaryMeta{id: d.id, delta: delta}
	if meta.batch, err = h.batch(); err != nil {
		return message{}, err
	}
	return newMessage(dictionaryMessage(meta, int64(len(record.body))), record.body), nil
}
