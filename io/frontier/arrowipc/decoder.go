package arrowipc

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math/bits"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"robotsbatch/batch/option"
	"robotsbatch/io/frontier/tables"
	"robotsbatch/io/store/budget"
	"robotsbatch/io/store/panics"
)

// decoder decodes record batch messages with one schema and one set of dictionaries.
// Workers share it: apart from the library's reader it is immutable, and a later dictionary
// makes a new decoder.
//
// The Arrow library panics, or allocates without bounds, on malformed metadata. So all
// that it is given was checked before and, apart from the schema, built anew.
type decoder struct {
	schema        *arrow.Schema
	schemaMessage []byte
	columns       []shape
	// values holds the dictionaries' types by number, and shapes their layouts in the
	// input.
	values       map[int64]arrow.DataType
	shapes       map[int64]*shape
	ids          []int64 // of the dictionaries in the order of the schema
	dictionaries []*dictionary
	lengths      map[int64]int64 // of the dictionaries, by number
	raw, total   int64           // their bytes, as read and decoded
	limit        int64
	mem          memory.Allocator
	flat         bool            // no column has children or a dictionary: see flatColumns
	pool         *budget.Buffers // of inflated bodies: the library copies every buffer of one

	refs    atomic.Int64
	library *library
}

// library is the Arrow library's reader of record batches with dictionaries. Each dictionary
// is decoded once, for all workers and for all decoders with which dictionaries only grow.
type library struct {
	mu      sync.Mutex
	reader  *ipc.Reader
	queue   *messages
	checker tables.Checker
	read    int // how many of the newest decoder's dictionaries it has
	users   int // decoders
}

// dictionary is a dictionary batch as it was read.
type dictionary struct {
	*dictionaryMeta
	body  []byte
	total int64 // bytes decoded
}

// newDecoder reads the schema.
func newDecoder(schemaMessage []byte, limit int64, mem memory.Allocator) (*decoder, error) {
	wide, err := retypeDecimals(schemaMessage, widenType)
	if err != nil {
		return nil, err
	}
	columns, _, err := readShapes(schemaMessage)
	if err != nil {
		return nil, err
	}
	_, ids, err := readShapes(wide) // checks what the library will be given
	if err != nil {
		return nil, err
	}
	d := &decoder{schemaMessage: wide, columns: columns, ids: ids, limit: limit, mem: mem, pool: budget.NewBuffers(limit / 2), lengths: make(map[int64]int64), library: &library{users: 1}}
	d.refs.Store(1)
	reader, _, err := d.open()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnsupported, err)
	}
	defer releaseReader(reader)
	d.schema = reader.Schema()
	d.flat = !slices.ContainsFunc(d.schema.Fields(), func(f arrow.Field) bool { return !isFlat(f.Type) })
	var types []arrow.DataType
	for _, field := range d.schema.Fields() {
		if types, err = dictionaryTypes(types, field.Type); err != nil {
			return nil, fmt.Errorf("column %q: %w", field.Name, err)
		}
	}
	var shapes []*shape
	for i := range columns {
		shapes = columns[i].appendValues(shapes)
	}
	if len(types) != len(ids) || len(shapes) != len(ids) {
		return nil, fmt.Errorf("damaged metadata: %d dictionaries for %d columns of them", len(ids), len(types))
	}
	d.values, d.shapes = make(map[int64]arrow.DataType), make(map[int64]*shape)
	for i, id := range ids {
		d.values[id], d.shapes[id] = types[i], shapes[i]
	}
	return d, nil
}

// readShapes reads the shapes of a schema message's columns and the numbers of its
// dictionaries.
func readShapes(meta []byte) (columns []shape, ids []int64, err error) {
	h, err := parseHeader(meta)
	if err != nil {
		return nil, nil, err
	}
	if ids, err = checkSchema(h.table); err != nil {
		return nil, nil, err
	}
	h.table.tables(1, func(field table) { columns = append(columns, shapeOf(field)) })
	return columns, ids, h.table.f.err
}

// dictionaryTypes appends the value types of the dictionaries in dt, in schema order.
func dictionaryTypes(types []arrow.DataType, dt arrow.DataType) ([]arrow.DataType, error) {
	dt = tables.Storage(dt)
	if encoded, ok := dt.(*arrow.DictionaryType); ok {
		types = append(types, encoded.ValueType)
		dt = encoded.ValueType
	}
	switch dt := dt.(type) {
	case *arrow.FixedSizeBinaryType:
		if dt.ByteWidth < 0 {
			return nil, fmt.Errorf("damaged metadata: values of %d bytes", dt.ByteWidth)
		}
	case arrow.NestedType:
		for _, field := range dt.Fields() {
			var err error
			if types, err = dictionaryTypes(types, field.Type); err != nil {
				return nil, err
			}
		}
	}
	return types, nil
}

// with returns a decoder for the record batches after a dictionary batch, and whether
// that batch replaces a dictionary.
func (d *decoder) with(meta *dictionaryMeta, body []byte) (next *decoder, replaces bool, err error) {
	fail := func(err error) (*decoder, bool, error) {
		return nil, false, fmt.Errorf("dictionary %d: %w", meta.id, err)
	}
	valueType, ok := d.values[meta.id]
	if !ok {
		return fail(errors.New("it is not in the schema"))
	}
	// The library reads dictionaries as the old version, which differs only for unions.
	meta.batch.version = metadataV4
	if err := meta.batch.checkLayout([]arrow.DataType{valueType}, d.limit); err != nil {
		return fail(err)
	}
	if err := meta.batch.findNarrow([]shape{*d.shapes[meta.id]}); err != nil {
		return fail(err)
	}
	known := d.has(meta.id)
	if meta.delta && !known {
		return fail(errors.New("it is extended before it is there"))
	}
	next = &decoder{
		schema: d.schema, schemaMessage: d.schemaMessage, columns: d.columns, values: d.values, shapes: d.shapes, ids: d.ids,
		dictionaries: d.dictionaries, lengths: maps.Clone(d.lengths), raw: d.raw, total: d.total, limit: d.limit, mem: d.mem, flat: d.flat, pool: d.pool, library: d.library,
	}
	next.refs.Store(1)
	if replaces = known && !meta.delta; replaces {
		next.library = new(library)
		next.dictionaries = slices.DeleteFunc(slices.Clone(d.dictionaries), func(old *dictionary) bool {
			if old.id == meta.id {
				next.raw, next.total = next.raw-int64(len(old.body)), next.total-old.total
			}
			return old.id == meta.id
		})
		next.lengths[meta.id] = 0
	}
	total, err := meta.batch.checkBody(body, d.limit-next.total)
	if err != nil {
		return fail(err)
	}
	// Only the newest decoder gets more, so that the list can be shared.
	next.dictionaries = append(next.dictionaries, &dictionary{meta, body, total})
	next.raw, next.total = next.raw+int64(len(body)), next.total+total
	next.lengths[meta.id] += meta.batch.rows
	if next.size() > d.limit {
		return fail(option.Errorf("the dictionaries take more than %d bytes as read and again decoded: raise %s", d.limit, option.Memory))
	}
	next.library.mu.Lock()
	defer next.library.mu.Unlock()
	next.library.users++
	return next, replaces, nil
}

// has reports whether the dictionary is in force.
func (d *decoder) has(id int64) bool {
	_, is := d.lengths[id]
	return is
}

// size returns how many bytes the dictionaries take.
func (d *decoder) size() int64 { return d.raw + d.total }

// check checks a record batch's metadata and returns its decoded size in bytes.
func (d *decoder) check(b *batchMeta, body []byte) (int64, error) {
	types := make([]arrow.DataType, d.schema.NumFields())
	for i := range types {
		types[i] = d.schema.Field(i).Type
	}
	if err := b.checkLayout(types, d.limit); err != nil {
		return 0, err
	}
	if err := b.findNarrow(d.columns); err != nil {
		return 0, err
	}
	for id := range d.values {
		if !d.has(id) {
			return 0, missingError(id)
		}
	}
	return b.checkBody(body, d.limit)
}

// record decodes a checked record batch; total is its decoded size in bytes.
func (d *decoder) record(b *batchMeta, body []byte, total int64) (rec arrow.Record, err error) {
	defer panics.Recover(&err, panics.As("damaged"))
	out := d.room(b, total)
	if b, body, err = inflate(b, body, total, out); err != nil {
		return nil, err
	}
	defer d.pool.Put(out)
	return d.plainRecord(b, body)
}

// room returns memory of the pool for an inflated body; nil if the body becomes the record's.
func (d *decoder) room(b *batchMeta, total int64) []byte {
	if d.flat || !b.packed() {
		return nil
	}
	return d.pool.Get(inflatedSize(b, total))
}

// plainRecord decodes a record batch whose body is inflated. The record may share the body's
// memory.
func (d *decoder) plainRecord(b *batchMeta, body []byte) (rec arrow.Record, err error) {
	defer panics.Recover(&err, panics.As("damaged"))
	if d.flat {
		if columns := flatColumns(d.schema, b, body); columns != nil {
			defer tables.Release(columns)
			return checked(tables.NewRecord(d.schema, columns, b.rows), new(tables.Checker))
		}
	}
	message := newIPCMessage(recordMessage(b, int64(len(body))), body)
	if len(d.values) == 0 {
		reader, queue, err := d.open()
		if err != nil {
			return nil, err
		}
		defer releaseReader(reader)
		rec, err := readRecord(reader, queue, message)
		if err != nil {
			return nil, err
		}
		return checked(rec, new(tables.Checker))
	}
	l := d.library
	l.mu.Lock()
	defer l.mu.Unlock()
	whole := false
	defer func() {
		if !whole { // an older record batch may be decoded yet, without what is broken
			l.close()
		}
	}()
	if l.reader == nil {
		if l.reader, l.queue, err = d.open(); err != nil {
			return nil, err
		}
	}
	for ; l.read < len(d.dictionaries); l.read++ {
		if err := l.queue.addDictionary(d.dictionaries[l.read]); err != nil {
			return nil, err
		}
	}
	rec, err = readRecord(l.reader, l.queue, message)
	if err != nil {
		return nil, err
	}
	if l.read > len(d.dictionaries) {
		rec = d.shorten(rec)
	}
	rec, err = checked(rec, &l.checker)
	whole = err == nil
	return rec, err
}

// isFlat reports whether arrays of a type have a validity bitmap, values and perhaps offsets, and
// nothing else.
func isFlat(dt arrow.DataType) bool {
	switch dt.(type) {
	case arrow.BinaryViewDataType:
		return false
	case arrow.FixedWidthDataType, arrow.BinaryDataType:
		return len(dt.Layout().Buffers) > 1 && !dt.Layout().HasDict && dt.ID() != arrow.EXTENSION && dt.ID() != arrow.FIXED_SIZE_LIST
	}
	return false
}

// flatColumns returns the columns of a checked body of flat types, which share its memory: the
// library copies every buffer. It returns nil if a buffer is not aligned.
func flatColumns(schema *arrow.Schema, b *batchMeta, body []byte) []*array.Data {
	columns := make([]*array.Data, schema.NumFields())
	at, begin := 0, reflect.ValueOf(body).Pointer()
	for i, field := range schema.Fields() {
		buffers := make([]*memory.Buffer, len(field.Type.Layout().Buffers))
		for j := range buffers {
			s := b.buffers[at]
			at++
			switch {
			case j == 0 && b.nodes[i].nulls == 0:
			case s.length == 0:
				buffers[j] = memory.NewBufferBytes(nil)
			case (begin+uintptr(s.offset))%8 != 0:
				return nil
			default:
				buffers[j] = memory.NewBufferBytes(body[s.offset : s.offset+s.length : s.offset+s.length])
			}
		}
		columns[i] = array.NewData(field.Type, int(b.rows), buffers, nil, int(b.nodes[i].nulls), 0)
	}
	return columns
}

// missingError says that a dictionary did not come before its record batch.
type missingError int64

func (e missingError) Error() string {
	return fmt.Sprintf("dictionary %d did not come before it", int64(e))
}

// dictionaryValues returns the decoded dictionaries that are in force, inner ones before those that
// use them.
func (d *decoder) dictionaryValues() (list []usedDictionary, err error) {
	for _, id := range d.ids {
		if !d.has(id) {
			return nil, missingError(id)
		}
	}
	b, err := emptyBatch(d.columns)
	if err != nil {
		return nil, err
	}
	none, err := d.record(b, nil, 0)
	if err != nil {
		return nil, err
	}
	defer none.Release()
	ids := d.ids
	for i, column := range none.Columns() {
		list = appendDictionaries(list, &ids, none.ColumnName(i), column.Data().(*array.Data))
	}
	return list, nil
}

// close forgets what was read.
func (l *library) close() {
	if l.reader != nil {
		releaseReader(l.reader)
	}
	l.reader, l.queue, l.read = nil, nil, 0
}

// addDictionary adds a dictionary batch, decompressed.
func (m *messages) addDictionary(d *dictionary) error {
	plain := *d.dictionaryMeta
	batch, body, err := inflate(plain.batch, d.body, d.total, nil)
	if err != nil {
		return fmt.Errorf("dictionary %d: %w", plain.id, err)
	}
	plain.batch = batch
	*m = append(*m, newIPCMessage(dictionaryMessage(&plain, int64(len(body))), body))
	return nil
}

// shorten takes from the dictionaries of a record what later dictionary batches added. It takes
// over the reference to the record.
func (d *decoder) shorten(rec arrow.Record) arrow.Record {
	defer rec.Release()
	ids := d.ids
	columns := make([]arrow.Array, rec.NumCols())
	for i, column := range rec.Columns() {
		data := d.shortenData(column.Data(), &ids)
		columns[i] = array.MakeFromData(data)
		data.Release()
		defer columns[i].Release()
	}
	return array.NewRecord(rec.Schema(), columns, rec.NumRows())
}

// shortenData is shorten for one column. ids are the numbers of the dictionaries that were not
// met yet.
func (d *decoder) shortenData(data arrow.ArrayData, ids *[]int64) arrow.ArrayData {
	withChildren := func(of arrow.ArrayData) arrow.ArrayData {
		children := make([]arrow.ArrayData, len(of.Children()))
		for i, child := range of.Children() {
			children[i] = d.shortenData(child, ids)
			defer children[i].Release()
		}
		return array.NewData(of.DataType(), of.Len(), of.Buffers(), children, of.NullN(), of.Offset())
	}
	if _, is := tables.Storage(data.DataType()).(*arrow.DictionaryType); !is {
		return withChildren(data)
	}
	id := (*ids)[0]
	*ids = (*ids)[1:]
	whole := withChildren(data.Dictionary())
	defer whole.Release()
	short := array.NewSliceData(whole, 0, min(d.lengths[id], int64(whole.Len())))
	defer short.Release()
	return array.NewDataWithDictionary(data.DataType(), data.Len(), data.Buffers(), data.NullN(), data.Offset(), short.(*array.Data))
}

// open returns a reader with the schema read, and its queue.
func (d *decoder) open() (*ipc.Reader, *messages, error) {
	queue := &messages{newIPCMessage(d.schemaMessage, nil)}
	reader, err := ipc.NewReaderFromMessageReader(queue, ipc.WithAllocator(d.mem), ipc.WithEnsureNativeEndian(false))
	if err != nil {
		return nil, nil, err
	}
	return reader, queue, nil
}

// readRecord decodes the record batch message with reader.
func readRecord(reader *ipc.Reader, queue *messages, message *ipc.Message) (arrow.Record, error) {
	*queue = append(*queue, message)
	rec, err := reader.Read()
	if err != nil {
		*queue = nil
		if err == io.EOF {
			err = errors.New("damaged: no record batch")
		}
		return nil, err
	}
	rec.Retain()
	return rec, nil
}

// checked returns a record if it is sound, else it releases it.
func checked(rec arrow.Record, c *tables.Checker) (arrow.Record, error) {
	for i, column := range rec.Columns() {
		if err := c.Check(column.Data().(*array.Data)); err != nil {
			rec.Release()
			return nil, fmt.Errorf("column %q: %w", rec.ColumnName(i), err)
		}
	}
	return rec, nil
}

func (d *decoder) retain() { d.refs.Add(1) }

// release frees the dictionaries when their last user is done.
func (d *decoder) release() {
	if d.refs.Add(-1) > 0 {
		return
	}
	l := d.library
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.users--; l.users == 0 {
		l.close()
	}
}

// releaseReader releases a reader. On processors of 32 bits the garbage collector has to:
// there the library's count of references is not aligned, and using it panics.
func releaseReader(r *ipc.Reader) {
	if bits.UintSize == 64 {
		r.Release()
	}
}

// messages is a queue that an ipc.Reader reads from.
type messages []*ipc.Message

func newIPCMessage(meta, body []byte) *ipc.Message {
	return ipc.NewMessage(memory.NewBufferBytes(meta), memory.NewBufferBytes(body))
}

// Message implements ipc.MessageReader.
func (m *messages) Message() (*ipc.Message, error) {
	if len(*m) == 0 {
		return nil, io.EOF
	}
	first := (*m)[0]
	(*m)[0] = nil
	*m = (*m)[1:]
	return first, nil
}

// Retain implements ipc.MessageReader; the queue has nothing to count.
func (m *messages) Retain() {}

// Release implements ipc.MessageReader.
func (m *messages) Release() {}
