package arrowipc

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"robotsbatch/batch"
	"robotsbatch/matcher"
)

// Encode implements batch.Sink. A batch of which no row comes out is not
// written.
func (s *sink) Encode(b *batch.Batch, v *batch.Verdicts) (batch.Chunk, error) {
	rows := []run{{0, v.Rows}}
	if v.Selected != nil {
		rows = selectedRuns(v.Selected, v.Rows)
	}
	c := &chunk{}
	if countRows(rows) == 0 {
		return c, nil
	}
	columns, err := s.inputColumns(b, v.Rows, rows, c)
	defer func() { release(columns) }()
	for i := 0; i < len(s.options.Layout.Verdicts) && err == nil; i++ {
		var column *array.Data
		if column, err = s.verdictColumn(s.options.Layout.Verdicts[i], v, rows); err == nil {
			columns = append(columns, column)
		}
	}
	if err == nil {
		c.message, err = s.encodeRecord(s.plain, columns)
	}
	if err != nil {
		for _, d := range c.dictionaries {
			d.values.Release()
		}
		return nil, fmt.Errorf("arrowipc: %w", err)
	}
	return c, nil
}

func release(columns []*array.Data) {
	for _, column := range columns {
		column.Release()
	}
}

// inputColumns returns the rows of the input's columns that are kept, and
// gives c the dictionaries of these.
func (s *sink) inputColumns(b *batch.Batch, rows int, runs []run, c *chunk) ([]*array.Data, error) {
	if s.options.Schema == nil {
		if s.options.Layout.Keep == batch.KeepNone {
			return nil, nil
		}
		column, err := s.gather.urls(&b.URLs, runs)
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", s.options.Layout.URLColumn, err)
		}
		return []*array.Data{column}, nil
	}
	record, ok := b.Table.(arrow.Record)
	if !ok || record.NumRows() != int64(rows) {
		return nil, errors.New("the batch has no table of its rows")
	}
	if !sameColumns(record.Schema(), s.options.Schema) {
		return nil, fmt.Errorf("%s has other columns than the output: inputs of one output must have the same", b.Input)
	}
	var columns []*array.Data
	number := int64(0)
	for _, i := range s.kept {
		data := record.Column(i).Data().(*array.Data)
		columns = append(columns, s.gather.gather(data, runs))
		c.dictionaries = appendDictionaries(c.dictionaries, &number, record.ColumnName(i), data)
	}
	return columns, nil
}

// sameColumns tells whether two schemas have columns of the same names and
// types.
func sameColumns(a, b *arrow.Schema) bool {
	if a == b {
		return true
	}
	if a.NumFields() != b.NumFields() {
		return false
	}
	for i, field := range a.Fields() {
		if other := b.Field(i); field.Name != other.Name || !arrow.TypeEqual(field.Type, other.Type) {
			return false
		}
	}
	return true
}

// verdictColumn returns a verdict column of the rows that come out.
func (s *sink) verdictColumn(column batch.VerdictColumn, v *batch.Verdicts, runs []run) (*array.Data, error) {
	agent := &v.Agents[column.Agent]
	if column.Kind == batch.AllowedColumn {
		return s.gather.verdicts(agent, runs), nil
	}
	if len(agent.Reasons) < v.Rows || len(agent.Rules) < v.Rows {
		return nil, fmt.Errorf("column %q: the verdicts have no explanations", column.Name)
	}
	index := make([]int32, 0, countRows(runs))
	if column.Kind == batch.ReasonColumn {
		for _, r := range runs {
			for _, reason := range agent.Reasons[r.low:r.high] {
				index = append(index, int32(reason))
			}
		}
		return s.strings(column.Name, reasonNames, index)
	}
	for _, r := range runs {
		index = append(index, agent.Rules[r.low:r.high]...)
	}
	if column.Kind == batch.RuleLineColumn {
		return s.gather.lines(agent.Explanations, index), nil
	}
	texts := make([]string, len(agent.Explanations))
	for i, e := range agent.Explanations {
		texts[i] = e.Text
		if column.Kind == batch.RuleAgentColumn {
			texts[i] = e.Agent
		}
	}
	return s.strings(column.Name, texts, index)
}

// reasonNames has the text of every reason.
var reasonNames = func() []string {
	names := make([]string, math.MaxUint8+1)
	for i := range names {
		names[i] = matcher.Reason(i).String()
	}
	return names
}()

// verdicts returns a boolean column, null where there is no verdict.
func (g gatherer) verdicts(agent *batch.AgentVerdicts, runs []run) *array.Data {
	n := countRows(runs)
	valid, nulls := g.validBits(agent.Valid, runs, n)
	return newData(arrow.FixedWidthTypes.Boolean, n, buffers(valid, g.bits(agent.Allowed, runs, n)), nil, nulls)
}

// lines returns a column of the rules' line numbers; index is negative where
// there is no rule.
func (g gatherer) lines(explanations []batch.Explanation, index []int32) *array.Data {
	valid, nulls := g.present(index)
	buffer, lines := allocate[int32](g, len(index))
	for i, rule := range index {
		if rule >= 0 {
			lines[i] = int32(min(explanations[rule].Line, math.MaxInt32))
		}
	}
	return newData(arrow.PrimitiveTypes.Int32, len(index), buffers(valid, buffer), nil, nulls)
}

// present returns the validity bitmap of rows that are null where index is
// negative, nil when none is.
func (g gatherer) present(index []int32) (*memory.Buffer, int) {
	buffer, bits := allocate[uint8](g, (len(index)+7)/8)
	nulls := 0
	for i, rule := range index {
		if rule < 0 {
			nulls++
			continue
		}
		bits[i>>3] |= 1 << (i & 7)
	}
	if nulls == 0 {
		buffer.Release()
		return nil, 0
	}
	return buffer, nulls
}

// errColumnSize is about utf8 columns, whose offsets have 31 bits.
var errColumnSize = errors.New("its strings take more than 2 GiB in one batch: lower -batch-rows")

// strings returns a utf8 column of the texts of index, null where it is
// negative.
func (s *sink) strings(name string, texts []string, index []int32) (*array.Data, error) {
	total := int64(0)
	for _, i := range index {
		if i >= 0 {
			total += int64(len(texts[i]))
		}
	}
	if total > math.MaxInt32 {
		return nil, fmt.Errorf("column %q: %w", name, errColumnSize)
	}
	valid, nulls := s.gather.present(index)
	offsetBuffer, offsets := allocate[int32](s.gather, len(index)+1)
	data := s.gather.alloc(int(total))
	to, at := data.Bytes(), 0
	for row, i := range index {
		if i >= 0 {
			at += copy(to[at:], texts[i])
		}
		offsets[row+1] = int32(at)
	}
	return newData(arrow.BinaryTypes.String, len(index), buffers(valid, offsetBuffer, data), nil, nulls), nil
}

// urls returns a utf8 column of URLs.
func (g gatherer) urls(urls *batch.Column, runs []run) (*array.Data, error) {
	total, nulls := int64(0), 0
	for _, r := range runs {
		for i := r.low; i < r.high; i++ {
			if urls.Null(i) {
				nulls++
			} else {
				total += int64(len(urls.Value(i)))
			}
		}
	}
	if total > math.MaxInt32 {
		return nil, errColumnSize
	}
	n := countRows(runs)
	var valid *memory.Buffer
	if nulls > 0 {
		valid = g.bits(urls.Validity, shift(runs, urls.ValidityOffset), n)
	}
	offsetBuffer, offsets := allocate[int32](g, n+1)
	data := g.alloc(int(total))
	to, at, row := data.Bytes(), 0, 1
	for _, r := range runs {
		for i := r.low; i < r.high; i++ {
			if !urls.Null(i) {
				at += copy(to[at:], urls.Value(i))
			}
			offsets[row] = int32(at)
			row++
		}
	}
	return newData(arrow.BinaryTypes.String, n, buffers(valid, offsetBuffer, data), nil, nulls), nil
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
