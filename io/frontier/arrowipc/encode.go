package arrowipc

import (
	"bytes"
	"encoding/binary"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"robotsbatch/batch"
	"robotsbatch/batch/option"
	"robotsbatch/io/frontier/tables"
	"robotsbatch/io/store/panics"
)

// Encode implements batch.Sink. Unless OneToOne is set, a batch without output rows is
// skipped, and a large one becomes several record batches.
func (s *sink) Encode(b *batch.Batch, v *batch.Verdicts) (batch.Chunk, error) {
	if s.options.From != nil {
		return s.encodePassed(b, v)
	}
	c := &chunk{}
	encode := func(columns []*array.Data) error {
		m, err := s.encodeRecord(s.plain, s.coded, columns, s.codec, b.Grant)
		if err != nil {
			return err
		}
		c.messages = append(c.messages, m)
		if most := s.options.Layout.MemoryLimit(); c.Size() > most {
			return option.Errorf("its rows take more than %d bytes as they are written: raise %s, or lower %s", most, option.Memory, option.BatchRows)
		}
		return nil
	}
	err := s.output.Shares(b, v, func(share *tables.Share) error {
		if s.options.OneToOne && len(c.messages) > 0 {
			return option.Errorf("its rows take more memory as they are written than a batch may: raise %s", option.Memory)
		}
		columns, err := share.Columns()
		if err != nil {
			return err
		}
		defer tables.Release(columns)
		return encode(columns)
	})
	if err == nil && len(c.messages) == 0 && s.options.OneToOne {
		none := noRows(s.plain, s.options.mem)
		defer tables.Release(none)
		err = encode(none)
	}
	if err == nil && len(c.messages) > 0 {
		c.dictionaries, err = s.usedDictionaries(b)
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// noRows returns columns without rows.
func noRows(schema *arrow.Schema, mem memory.Allocator) []*array.Data {
	columns := make([]*array.Data, schema.NumFields())
	for i, field := range schema.Fields() {
		empty := array.MakeArrayOfNull(mem, field.Type, 0)
		columns[i] = empty.Data().(*array.Data)
		columns[i].Retain()
		empty.Release()
	}
	return columns
}

// usedDictionaries returns the dictionaries of the batch's output columns.
func (s *sink) usedDictionaries(b *batch.Batch) (list []usedDictionary, err error) {
	inputs, err := s.output.Inputs(b)
	ids := s.ids
	for i, data := range inputs {
		list = appendDictionaries(list, &ids, s.schema.Field(i).Name, data)
	}
	return list, err
}

// message is a message as it is written.
type message struct {
	head   []byte // marker, length and metadata, padded
	body   []byte
	lifted []lifted // parts of the body that are not in memory

	batch  *batchMeta                    // of a record batch or a dictionary
	codes  []codes                       // that the body lacks until they are numbered
	finish func(bodyLength int64) []byte // returns the metadata
}

// liftedSize is how many bytes of the body are not in memory.
func (m *message) liftedSize() (size int64) {
	for _, l := range m.lifted {
		size += l.size
	}
	return size
}

// end adds the metadata, unless something is to be numbered before.
func (m *message) end() {
	if len(m.codes) == 0 {
		m.seal(m.finish(int64(len(m.body)) + m.liftedSize()))
	}
}

// at returns the footer's block for the message, written at offset pos.
func (m message) at(pos int64) block {
	return block{offset: pos, meta: int32(len(m.head)), body: int64(len(m.body)) + m.liftedSize()}
}

// meta returns the message's metadata.
func (m message) meta() []byte { return m.head[framePrefix:] }

// size is how many bytes of memory it takes.
func (m message) size() (size int64) {
	for _, c := range m.codes {
		size += int64(len(c.values) + len(c.valid))
	}
	return size + int64(len(m.head)+len(m.body))
}

func appendUint32(b []byte, v uint32) []byte { return binary.LittleEndian.AppendUint32(b, v) }

// newMessage returns a message of metadata and body. It fills in the checksum if the
// metadata has room for one.
func newMessage(meta, body []byte) message {
	m := message{body: body}
	m.seal(meta)
	return m
}

// seal adds the metadata, and fills in the checksum if there is room for one. It covers
// what follows the last lifted part.
func (m *message) seal(meta []byte) {
	m.head = newHead(meta)
	sealMetadata(m.head[:framePrefix], m.meta(), messageSlot, m.body[behind(m.lifted):])
}

// capture is an ipc.PayloadWriter that keeps the last payload of one kind with
// compressed buffers, in memory taken from a grant.
type capture struct {
	kind    uint8
	codec   int8
	columns []shape // with indices that are numbered later
	grant   *batch.Grant
	message message
}

// Start implements ipc.PayloadWriter.
func (c *capture) Start() error { return nil }

// Close implements ipc.PayloadWriter.
func (c *capture) Close() error { return nil }

// WritePayload implements ipc.PayloadWriter.
func (c *capture) WritePayload(p ipc.Payload) error {
	buffer := p.Meta()
	defer buffer.Release()
	h, err := parseHeader(buffer.Bytes())
	if err != nil || h.kind != c.kind {
		return err
	}
	if err := c.grant.Take(h.bodyLength); err != nil {
		return err
	}
	if h.kind == kindSchema {
		c.message = newMessage(schemaMessage(bytes.Clone(buffer.Bytes()), h.table.pos), nil)
		return nil
	}
	b, err := h.batch()
	if err != nil {
		return err
	}
	m := message{batch: b}
	m.finish = func(bodyLength int64) []byte { return recordMessage(b, bodyLength) }
	if m.codes, err = codesOf(c.columns, b); err != nil {
		return err
	}
	if c.codec == codecNone && len(m.codes) == 0 {
		body := bytes.NewBuffer(make([]byte, 0, h.bodyLength))
		if err := p.SerializeBody(body); err != nil {
			return err
		}
		m.body = body.Bytes()
	} else {
		var body segments
		if err := p.SerializeBody(&body); err != nil {
			return err
		}
		if err := m.deflate(h.bodyLength, &body, c.codec); err != nil {
			return err
		}
	}
	m.end()
	c.message = m
	return c.grant.Take(m.size() + int64(cap(m.body)-len(m.body)) - h.bodyLength)
}

// encodeSchema returns the schema message.
func (s *sink) encodeSchema() (message, error) {
	return s.capture(&capture{kind: kindSchema, codec: codecNone}, s.schema, func(w *ipc.Writer) error { return w.Close() })
}

// encodeRecord returns the message of a record of these columns, compressed. Indices in
// columns of the first ones' shapes are numbered later.
func (s *sink) encodeRecord(schema *arrow.Schema, coded []shape, columns []*array.Data, codec int8, grant *batch.Grant) (message, error) {
	c := &capture{kind: kindRecord, codec: codec, columns: coded, grant: grant}
	return s.capture(c, schema, func(w *ipc.Writer) error {
		rows := int64(0)
		if len(columns) > 0 {
			rows = int64(columns[0].Len())
		}
		record := tables.NewRecord(schema, columns, rows)
		defer record.Release()
		return w.Write(record)
	})
}

// capture runs the library's writer and returns the message that c kept. A panic of the
// library, which meets types that it cannot write, becomes an error.
func (s *sink) capture(c *capture, schema *arrow.Schema, write func(*ipc.Writer) error) (m message, err error) {
	defer panics.Recover(&err, panics.As("the Arrow library does not write this"))
	options := append(s.ipc[:len(s.ipc):len(s.ipc)], ipc.WithSchema(schema))
	if err := write(ipc.NewWriterWithPayloadWriter(c, options...)); err != nil {
		return message{}, err
	}
	return c.message, nil
}
