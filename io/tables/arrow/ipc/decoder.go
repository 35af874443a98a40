package ipc

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"sync"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"robotsbatch/io/store/panics"
	"robotsbatch/io/tables"
	"robotsbatch/io/tables/arrow/layout"
)

// decoder decodes record batch messages with one schema and one set of dictionaries.
// Workers share it, so it does not change: after a later dictionary, the reader has a new one.
type decoder struct {
	schema       *arrow.Schema
	columns      []layout.Shape
	values       map[int64]valueType     // of each dictionary
	dictionaries map[int64][]*dictionary // the parts of each dictionary in force
	raw, total   int64                   // bytes of all these, as read and decoded
	limit        int64                   // most bytes of the dictionaries, as read and decoded together, and of a record batch
	exact        bool                    // decimals of 32 and 64 bits become bytes
	decoded      *decodedDictionaries    // shared with other decoders
}

// valueType is the type of a dictionary's values, and the shape that they have in the input.
type valueType struct {
	arrow.DataType
	shape *layout.Shape
}

// checkedRecord is a record batch that a decoder has checked and will decode.
type checkedRecord struct {
	decoder *decoder
	meta    *layout.BatchMeta // of the decoded columns
	body    []byte            // their buffers
	total   int64             // bytes decoded
}

// memory returns the number of bytes that the record batch takes as read and decoded together. The two share their
// memory unless buffers are compressed or decimals are widened.
func (r *checkedRecord) memory() int64 {
	if r.meta.NeedsInflation() {
		return int64(len(r.body)) + r.total
	}
	return int64(len(r.body))
}

// decodedDictionaries has the dictionaries that were decoded, by their numbers. All workers share it, and so do all
// decoders until a dictionary is replaced: until then dictionaries only grow.
type decodedDictionaries struct {
	mu    sync.Mutex
	known map[int64]decodedDictionary // nil before the first
}

// decodedDictionary has the values of the first parts of a dictionary. A part is a dictionary batch: the first part has
// replaced what was there before, and the others extend it.
type decodedDictionary struct {
	values *array.Data
	parts  int // number of parts
}

// dictionary is a dictionary batch as it was read, a part of a dictionary.
type dictionary struct {
	*layout.DictionaryMeta
	body  []byte
	total int64 // bytes decoded
}

// newDecoder returns a decoder of those columns of a schema that have the indices columns, without dictionaries yet.
// limit and exact are as in decoder; unless exact, decimals of 32 and 64 bits become those of 128.
func newDecoder(s *layout.Schema, columns []int, limit int64, exact bool) (*decoder, error) {
	d := &decoder{
		values: make(map[int64]valueType), dictionaries: make(map[int64][]*dictionary),
		limit: limit, exact: exact, decoded: new(decodedDictionaries),
	}
	var fields []arrow.Field
	for _, i := range columns {
		field, err := s.Arrow.Field(i), error(nil)
		if exact && !s.Columns[i].Unknown { // s.Arrow has decimals of 128 bits
			field, err = layout.FieldOf(s.Header.Table.Flat.Table(s.Fields[i]), exact)
		}
		if err == nil && !s.Columns[i].Unknown {
			err = d.addValues(field.Type, &s.Columns[i])
		}
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", field.Name, err)
		}
		d.columns, fields = append(d.columns, s.Columns[i]), append(fields, field)
	}
	metadata := s.Arrow.Metadata()
	d.schema = arrow.NewSchema(fields, &metadata)
	return d, nil
}

// addValues adds the types and shapes of the dictionaries in a column of type dt and shape s. Several columns may
// have the same dictionary, but must agree on its values.
func (d *decoder) addValues(dt arrow.DataType, s *layout.Shape) error {
	dt = tables.Storage(dt)
	if s.Encoded {
		dt = dt.(*arrow.DictionaryType).ValueType
		other, known := d.values[s.ID]
		if known && (!arrow.TypeEqual(other.DataType, dt) || !reflect.DeepEqual(other.shape, s.Values)) {
			return fmt.Errorf("damaged metadata: dictionary %d has values of two types", s.ID)
		}
		d.values[s.ID] = valueType{dt, s.Values}
		return d.addValues(dt, s.Values)
	}
	if nested, is := dt.(arrow.NestedType); is {
		for i, field := range nested.Fields() {
			if err := d.addValues(field.Type, &s.Children[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// withDictionary returns a decoder for the record batches after a dictionary batch with this metadata and body. replaces
// says that the batch replaces a dictionary.
func (d *decoder) withDictionary(meta *layout.DictionaryMeta, body []byte) (_ *decoder, replaces bool, err error) {
	fail := func(err error) (*decoder, bool, error) {
		return nil, false, fmt.Errorf("dictionary %d: %w", meta.ID, err)
	}
	values, ok := d.values[meta.ID]
	if !ok {
		return fail(errors.New("it is not in the schema"))
	}
	if err := d.checkMeta(meta.Batch, []layout.Shape{*values.shape}); err != nil {
		return fail(err)
	}
	parts := d.dictionaries[meta.ID]
	if meta.Delta && parts == nil {
		return fail(errors.New("it is extended before it is there"))
	}
	next := *d
	next.dictionaries = maps.Clone(d.dictionaries)
	if replaces = parts != nil && !meta.Delta; replaces {
		next.decoded = new(decodedDictionaries) // others may have this one inside, so that all are decoded again
		for _, old := range parts {
			next.raw, next.total = next.raw-int64(len(old.body)), next.total-old.total
		}
		parts = nil
	}
	total, err := meta.Batch.CheckBody(body, d.limit-next.total)
	if err != nil {
		return fail(err)
	}
	// Only the newest decoder is ever extended, so that decoders can share the list's memory.
	next.dictionaries[meta.ID] = append(parts, &dictionary{meta, body, total})
	next.raw, next.total = next.raw+int64(len(body)), next.total+total
	if next.size() > d.limit {
		return fail(tables.TooLarge("the dictionaries take more than %d bytes as read and again decoded", d.limit))
	}
	return &next, replaces, nil
}

// size returns the number of bytes that the dictionaries take, as read and decoded together.
func (d *decoder) size() int64 { return d.raw + d.total }

// checkMeta checks the metadata of a record batch of these columns, and says in it which decimals
// are widened.
func (d *decoder) checkMeta(b *layout.BatchMeta, columns []layout.Shape) error {
	err := b.CheckLayout(columns)
	if err == nil {
		err = b.CheckNodes(d.limit)
	}
	if err != nil || d.exact {
		return err
	}
	return b.FindNarrow(columns)
}

// checkRecord checks a record batch's metadata, that all of its buffers lie in the body, and that the decoder has its
// dictionaries.
func (d *decoder) checkRecord(b *layout.BatchMeta, body []byte) (r checkedRecord, err error) {
	if err := d.checkMeta(b, d.columns); err != nil {
		return r, err
	}
	for id := range d.values {
		if d.dictionaries[id] == nil {
			return r, missingError(id)
		}
	}
	total, err := b.CheckBody(body, d.limit)
	return checkedRecord{decoder: d, meta: b, body: body, total: total}, err
}

// plainRecord decodes a record batch whose metadata was checked and whose body is not compressed. The record shares the
// body's memory.
func (d *decoder) plainRecord(b *layout.BatchMeta, body []byte) (rec arrow.Record, err error) {
	defer panics.Recover(&err, panics.As("damaged"))
	var checker tables.Checker
	a := arrays{at: layout.Cursor{Batch: b}, body: body, dictionary: func(id int64) (*array.Data, error) {
		d.decoded.mu.Lock()
		defer d.decoded.mu.Unlock()
		values, err := d.dictionary(id)
		checker.Trust(values)
		return values, err
	}}
	columns := make([]*array.Data, len(d.columns))
	for i := range columns {
		field := d.schema.Field(i)
		if columns[i], err = a.next(field.Type, &d.columns[i]); err == nil {
			err = checker.Check(columns[i])
		}
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", field.Name, err)
		}
	}
	return tables.NewRecord(d.schema, columns, b.Rows), nil
}

// dictionary returns the checked values of a dictionary in force. Each part is decoded once: a call decodes the parts
// that were added since the last one. The caller holds d.decoded.mu.
func (d *decoder) dictionary(id int64) (*array.Data, error) {
	parts := d.dictionaries[id]
	if parts == nil {
		return nil, missingError(id)
	}
	known := d.decoded.known[id]
	if known.parts > len(parts) { // an older record batch is decoded after a newer one: it knows only the first values
		rows := int64(0)
		for _, part := range parts {
			rows += part.Batch.Rows
		}
		values := array.NewSliceData(known.values, 0, rows).(*array.Data)
		return values, new(tables.Checker).Check(values)
	}
	if known.parts == len(parts) {
		return known.values, nil
	}
	values, err := d.joinParts(known, parts)
	if err != nil {
		return nil, fmt.Errorf("dictionary %d: %w", id, err)
	}
	if d.decoded.known == nil {
		d.decoded.known = make(map[int64]decodedDictionary)
	}
	d.decoded.known[id] = decodedDictionary{values, len(parts)}
	return values, nil
}

// joinParts returns the checked values of all parts of a dictionary. known has those of the first ones.
func (d *decoder) joinParts(known decodedDictionary, parts []*dictionary) (*array.Data, error) {
	var list []*array.Data
	if known.parts > 0 {
		known.values.Retain()
		list = append(list, known.values)
	}
	for _, part := range parts[known.parts:] {
		values, err := d.decodePart(part)
		if err != nil {
			return nil, err
		}
		list = append(list, values)
	}
	values, err := tables.Concatenate(list[0].DataType(), list, memory.NewGoAllocator())
	if err == nil && len(list) > 1 { // one that is alone was checked
		err = new(tables.Checker).Check(values)
	}
	return values, err
}

// decodePart returns the checked values of a dictionary batch. The caller holds d.decoded.mu.
func (d *decoder) decodePart(part *dictionary) (*array.Data, error) {
	b, body, err := layout.Inflate(part.Batch, part.body, part.total)
	if err != nil {
		return nil, err
	}
	a := arrays{at: layout.Cursor{Batch: b}, body: body, dictionary: d.dictionary}
	dt := d.values[part.ID]
	values, err := a.next(dt.DataType, dt.shape)
	if err == nil {
		err = new(tables.Checker).Check(values)
	}
	return values, err
}

// arrays builds arrays of a checked and inflated body, whose memory they share.
type arrays struct {
	at         layout.Cursor
	body       []byte
	dictionary func(id int64) (*array.Data, error) // returns a dictionary's values
}

// next returns the next array, of type dt and shape s, with its children. It is not checked.
func (a *arrays) next(dt arrow.DataType, s *layout.Shape) (*array.Data, error) {
	node, buffers, err := a.ownBuffers(s)
	if err != nil {
		return nil, err
	}
	if s.Encoded {
		values, err := a.dictionary(s.ID)
		if err != nil {
			return nil, err
		}
		return array.NewDataWithDictionary(dt, int(node.Length), buffers, int(node.Nulls), 0, values), nil
	}
	children := make([]arrow.ArrayData, len(s.Children))
	if nested, is := tables.Storage(dt).(arrow.NestedType); is {
		for i, field := range nested.Fields() {
			child, err := a.next(field.Type, &s.Children[i])
			if err != nil {
				return nil, err
			}
			children[i] = child
		}
	}
	return array.NewData(dt, int(node.Length), buffers, children, int(node.Nulls), 0), nil
}

// ownBuffers returns the node of the next array, and its buffers without its children's. They are those that the
// library's arrays have: nil stands for a validity bitmap that an array lacks.
func (a *arrays) ownBuffers(s *layout.Shape) (node layout.FieldNode, buffers []*memory.Buffer, err error) {
	from, b := a.at, a.at.Batch
	if err := a.at.Own(s); err != nil {
		return node, nil, err
	}
	node = b.Nodes[from.Nodes]
	if !s.HasValidity() {
		buffers = append(buffers, nil)
	}
	for _, buffer := range b.Buffers[from.Buffers:a.at.Buffers] {
		if isValidity := len(buffers) == 0; isValidity && node.Nulls == 0 {
			buffers = append(buffers, nil)
			continue
		}
		buffers = append(buffers, memory.NewBufferBytes(a.buffer(buffer)))
	}
	// Before V5 a union in a file had a validity bitmap. The library's have none, but the slot for it, which is nil above
	// and in which that bitmap may stand, as it has no nulls. An encoded union has the buffers of its indices.
	if s.Kind == layout.TypeUnion && !s.Encoded {
		if b.Version < layout.MetadataV5 {
			if node.Nulls != 0 {
				return node, nil, fmt.Errorf("%w: a union of before Arrow 1.0 with nulls", layout.ErrUnsupported)
			}
			buffers = buffers[1:]
		}
		node.Nulls = 0 // a union has none of its own
	}
	return node, buffers, nil
}

// buffer returns the bytes of a buffer, nil if it is empty. They are aligned to 8: if they are not in the body, it
// returns a copy.
func (a *arrays) buffer(s layout.Span) []byte {
	if s.Length == 0 {
		return nil
	}
	bytes := a.body[s.Offset : s.Offset+s.Length : s.Offset+s.Length]
	if reflect.ValueOf(bytes).Pointer()%8 != 0 {
		bytes = append(make([]byte, 0, (s.Length+7)&^7), bytes...)
	}
	return bytes
}

// missingError is the number of a dictionary that a record batch uses, but that did not come before it.
type missingError int64

// Error implements error.
func (e missingError) Error() string {
	return fmt.Sprintf("dictionary %d did not come before it", int64(e))
}

// usedDictionaries returns the dictionaries in force, decoded. Dictionaries inside others come before these, and one that
// several columns use comes several times.
func (d *decoder) usedDictionaries() (list []usedDictionary, err error) {
	d.decoded.mu.Lock()
	defer d.decoded.mu.Unlock()
	for i := range d.columns {
		if list, err = d.appendUsed(list, d.schema.Field(i).Name, &d.columns[i]); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// appendUsed appends the dictionaries in a column of shape s to list, those inside others first. The caller holds
// d.decoded.mu.
func (d *decoder) appendUsed(list []usedDictionary, column string, s *layout.Shape) (_ []usedDictionary, err error) {
	inner, before := s.Children, len(list)
	if s.Encoded {
		inner = s.Values.Children
	}
	for i := range inner {
		if list, err = d.appendUsed(list, column, &inner[i]); err != nil {
			return nil, err
		}
	}
	if !s.Encoded {
		return list, nil
	}
	used := usedDictionary{id: s.ID, column: column, nested: len(list) > before}
	used.values, err = d.dictionary(s.ID)
	return append(list, used), err
}

// usedDictionary is a dictionary that the columns of a record batch use.
type usedDictionary struct {
	id     int64
	column string // a column that uses it
	values *array.Data
	nested bool // the values have dictionaries of their own
}
