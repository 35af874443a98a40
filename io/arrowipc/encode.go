package arrowipc

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"

	"robotsbatch/batch"
	"robotsbatch/io/tables"
)

// Encode implements batch.Sink. A batch of which no row comes out is not
// written.
func (s *sink) Encode(b *batch.Batch, v *batch.Verdicts) (batch.Chunk, error) {
	c := &chunk{}
	columns, err := s.output.Columns(b, v)
	if err != nil {
		return nil, fmt.Errorf("arrowipc: %w", err)
	}
	if columns == nil {
		return c, nil
	}
	defer tables.Release(columns)
	if c.message, err = s.encodeRecord(s.plain, columns); err == nil {
		c.dictionaries, err = s.usedDictionaries(b)
	}
	if err != nil {
		return nil, fmt.Errorf("arrowipc: %w", err)
	}
	return c, nil
}

// usedDictionaries returns the dictionaries of the batch's columns that come
// out.
func (s *sink) usedDictionaries(b *batch.Batch) (list []usedDictionary, err error) {
	inputs, err := s.output.Inputs(b)
	number := int64(0)
	for i, data := range inputs {
		list = appendDictionaries(list, &number, s.schema.Field(i).Name, data)
	}
	return list, err
}

// message is a message as it is written.
type message struct {
	data []byte
	meta int32 // octets of its beginning that are metadata, padding included
}

// at returns the block of the message when it is written at pos.
func (m message) at(pos int64) block {
	return block{offset: pos, meta: m.meta, body: int64(len(m.data)) - int64(m.meta)}
}

func appendUint32(b []byte, v uint32) []byte { return binary.LittleEndian.AppendUint32(b, v) }

// newFramed returns a message's marker, length and metadata, with room for its
// body.
func newFramed(meta []byte, body int64) message {
	padded := (len(meta) + 7) &^ 7
	data := make([]byte, 0, int64(framePrefix+padded)+body)
	data = appendUint32(appendUint32(data, continuation), uint32(padded))
	data = append(data, meta...)
	data = data[:framePrefix+padded]
	return message{data: data, meta: int32(len(data))}
}

// capture is an ipc.PayloadWriter that keeps the last payload of a kind.
type capture struct {
	kind    uint8
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
	c.message = newFramed(buffer.Bytes(), h.bodyLength)
	body := bytes.NewBuffer(c.message.data)
	err = p.SerializeBody(body)
	c.message.data = body.Bytes()
	return err
}

// encodeSchema returns the schema message.
func (s *sink) encodeSchema() (message, error) {
	return s.capture(kindSchema, s.schema, func(w *ipc.Writer) error { return w.Close() })
}

// encodeRecord returns the message of a record of these columns, compressed.
func (s *sink) encodeRecord(schema *arrow.Schema, columns []*array.Data) (message, error) {
	m, err := s.capture(kindRecord, schema, func(w *ipc.Writer) error {
		arrays := make([]arrow.Array, len(columns))
		rows := int64(0)
		for i, column := range columns {
			arrays[i] = array.MakeFromData(column)
			defer arrays[i].Release()
			rows = int64(column.Len())
		}
		record := array.NewRecord(schema, arrays, rows)
		defer record.Release()
		return w.Write(record)
	})
	switch {
	case err != nil || s.options.Compression == Uncompressed:
		return m, err
	case s.options.Compression == LZ4:
		return deflate(m, codecLZ4)
	}
	return deflate(m, codecZstd)
}

// capture returns the message of a kind that the library's writer makes. The
// library panics on types that it cannot write.
func (s *sink) capture(kind uint8, schema *arrow.Schema, write func(*ipc.Writer) error) (m message, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the Arrow library does not write this: %v", p)
		}
	}()
	c := &capture{kind: kind}
	options := append(s.ipc[:len(s.ipc):len(s.ipc)], ipc.WithSchema(schema))
	if err := write(ipc.NewWriterWithPayloadWriter(c, options...)); err != nil {
		return message{}, err
	}
	return c.message, nil
}
