package arrowipc

import (
	"errors"
	"fmt"
	"io"
	"math/bits"
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
// Workers share it: apart from its cache of decoded dictionaries it is immutable, and a
// later dictionary makes a new decoder.
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
	dictionaries []*dictionary
	limit        int64
	mem          memory.Allocator
	pool         *budget.Buffers // of inflated bodies: the library copies every buffer of one

	refs atomic.Int64

	// Dictionaries are decoded once, by one reader for all workers.
	mu      sync.Mutex
	reader  *ipc.Reader
	queue   *messages
	checker *tables.Checker
	err     error
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
	d := &decoder{schemaMessage: wide, columns: columns, limit: limit, mem: mem, pool: budget.NewBuffers(limit / 2)}
	d.refs.Store(1)
	reader, _, err := d.open()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnsupported, err)
	}
	defer releaseReader(reader)
	d.schema = reader.Schema()
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
	next = &decoder{schema: d.schema, schemaMessage: d.schemaMessage, columns: d.columns, values: d.values, shapes: d.shapes, limit: d.limit, mem: d.mem, pool: d.pool}
	next.refs.Store(1)
	limit := d.limit
	for _, old := range d.dictionaries {
		if old.id != meta.id || meta.delta {
			next.dictionaries = append(next.dictionaries, old)
			limit -= old.total
		}
	}
	total, err := meta.batch.checkBody(body, limit)
	if err != nil {
		return fail(err)
	}
	next.dictionaries = append(next.dictionaries, &dictionary{meta, body, total})
	if next.size() > d.limit {
		return fail(option.Errorf("the dictionaries take more than %d bytes as read and again decoded: raise %s", d.limit, option.Memory))
	}
	return next, known && !meta.delta, nil
}

// has reports whether the dictionary is in force.
func (d *decoder) has(id int64) bool {
	for _, dictionary := range d.dictionaries {
		if dictionary.id == id {
			return true
		}
	}
	return false
}

// size returns how many bytes the dictionaries take.
func (d *decoder) size() int64 {
	var size int64
	for _, dictionary := range d.dictionaries {
		size += int64(len(dictionary.body)) + dictionary.total
	}
	return size
}

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
			return 0, fmt.Errorf("dictionary %d did not come before it", id)
		}
	}
	return b.checkBody(body, d.limit)
}

// record decodes a checked record batch; total is its decoded size in bytes.
func (d *decoder) record(b *batchMeta, body []byte, total int64) (rec arrow.Record, err error) {
	defer panics.Recover(&err, panics.As("damaged"))
	if b.codec != codecNone || b.narrow != nil {
		if b, body, err = inflate(b, body, total, d.pool.Get(int(total))); err != nil {
			return nil, err
		}
		defer d.pool.Put(body)
	}
	message := newIPCMessage(recordMessage(b, int64(len(body))), body)
	if len(d.values) == 0 {
		reader, queue, err := d.open()
		if err != nil {
			return nil, err
		}
		defer releaseReader(reader)
		return read(reader, queue, message, new(tables.Checker))
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.reader == nil && d.err == nil {
		d.reader, d.queue, d.err = d.open()
		d.checker = new(tables.Checker)
	}
	if d.err != nil {
		return nil, d.err
	}
	return read(d.reader, d.queue, message, d.checker)
}

// open returns a reader with the schema read, and its queue with the dictionaries.
func (d *decoder) open() (*ipc.Reader, *messages, error) {
	queue := &messages{newIPCMessage(d.schemaMessage, nil)}
	for _, dictionary := range d.dictionaries {
		plain := *dictionary.dictionaryMeta
		batch, body, err := inflate(plain.batch, dictionary.body, dictionary.total, nil)
		if err != nil {
			return nil, nil, fmt.Errorf("dictionary %d: %w", plain.id, err)
		}
		plain.batch = batch
		*queue = append(*queue, newIPCMessage(dictionaryMessage(&plain, int64(len(body))), body))
	}
	reader, err := ipc.NewReaderFromMessageReader(queue, ipc.WithAllocator(d.mem), ipc.WithEnsureNativeEndian(false))
	if err != nil {
		return nil, nil, err
	}
	return reader, queue, nil
}

// read decodes the record batch message with reader and checks the record.
func read(reader *ipc.Reader, queue *messages, message *ipc.Message, c *tables.Checker) (arrow.Record, error) {
	*queue = append(*queue, message)
	rec, err := reader.Read()
	if err != nil {
		*queue = nil
		if err == io.EOF {
			err = errors.New("damaged: no record batch")
		}
		return nil, err
	}
	for i, column := range rec.Columns() {
		if err := c.Check(column.Data().(*array.Data)); err != nil {
			return nil, fmt.Errorf("column %q: %w", rec.ColumnName(i), err)
		}
	}
	rec.Retain()
	return rec, nil
}

func (d *decoder) retain() { d.refs.Add(1) }

// release frees the dictionaries when their last user is done.
func (d *decoder) release() {
	if d.refs.Add(-1) > 0 {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.reader != nil {
		releaseReader(d.reader)
		d.reader = nil
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
