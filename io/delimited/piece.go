package delimited

import (
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"robotsbatch/batch"
	"robotsbatch/io/lines"
)

// store is what a batch needs. It goes round: Source.Next, Piece.Decode,
// Batch.Release.
type store struct {
	data    []byte
	columns []column // one, or all
	unread  []byte   // the last field that no column has
}

// column is a column as it is filled.
type column struct {
	data     []byte
	offsets  []int32
	validity []byte // empty without nulls
	nulls    int
}

// keep is how many octets of columns are kept for another batch: more than a
// batch can have, but no more than a few of them, for in each another column may
// be the large one.
const keep = 4 * lines.MaxBlockSize

// reset makes m ready for a batch of n columns and at most that many rows.
func (m *store) reset(n, rows int) {
	for len(m.columns) < n {
		m.columns = append(m.columns, column{})
	}
	for i := range m.columns {
		c := &m.columns[i]
		if cap(c.offsets) < rows+1 {
			c.offsets = make([]int32, 0, rows+1)
		}
		c.data, c.offsets, c.validity, c.nulls = c.data[:0], append(c.offsets[:0], 0), c.validity[:0], 0
	}
}

// large tells whether m has grown too large to be kept.
func (m *store) large() bool {
	octets := 0
	for i := range m.columns {
		octets += cap(m.columns[i].data)
	}
	return octets > keep
}

// end ends a row's value.
func (c *column) end() { c.offsets = append(c.offsets, int32(len(c.data))) }

// null ends a row that has no value, one of at most that many.
func (c *column) null(rows int) {
	if c.nulls == 0 {
		for range (rows + 7) / 8 {
			c.validity = append(c.validity, 0xFF)
		}
	}
	row := len(c.offsets) - 1
	c.validity[row>>3] &^= 1 << (row & 7)
	c.nulls++
	c.end()
}

// piece is a run of whole rows.
type piece struct {
	source *Source
	store  *store
	block  lines.Block
}

// Name implements batch.Piece. Lines are counted from 1.
func (p *piece) Name() string {
	return fmt.Sprintf("delimited: %s: batch %d (%s)", p.source.name, p.block.Index, p.block.LineRange())
}

// Size implements batch.Piece.
func (p *piece) Size() int64 {
	const offsetSize = 4
	columns := 1
	if p.source.columns {
		columns = len(p.source.names)
	}
	return 2*int64(cap(p.store.data)) + offsetSize*int64(columns)*int64(p.block.Records+1)
}

// Decode implements batch.Piece. A row with fewer fields than the header has
// nulls at its end; one with more is an error, and so is a quote that stands
// open.
func (p *piece) Decode() (*batch.Batch, error) {
	s, m := p.source, p.store
	n := 1
	if s.columns {
		n = len(s.names)
	}
	m.reset(n, p.block.Records)
	r := newReader(m.data, s.comma)
	for r.more() {
		if err := p.row(r); err != nil {
			return nil, err
		}
	}
	url := &m.columns[0]
	if s.columns {
		url = &m.columns[s.url]
	}
	b := &batch.Batch{
		Input: s.name, Index: p.block.Index, FirstRow: p.block.FirstLine,
		URLs: batch.Column{Offsets32: url.offsets, Data: url.data},
	}
	if url.nulls > 0 {
		b.URLs.Validity = url.validity
	}
	var record arrow.Record
	if s.columns {
		record = m.record(s.schema)
		b.Table = record
	}
	b.Release = func() {
		if record != nil {
			record.Release()
		}
		if !m.large() {
			s.pool.Put(m)
		}
	}
	return b, nil
}

// row reads a record into the columns.
func (p *piece) row(r *reader) error {
	s, m := p.source, p.store
	start, at := r.at, 0
	for last := false; !last; at++ {
		if at == len(s.names) {
			return p.tooManyFields(start)
		}
		ok := true
		switch {
		case s.columns:
			c := &m.columns[at]
			if c.data, last, ok = r.field(c.data); ok {
				c.end()
			}
		case at == s.url:
			c := &m.columns[0]
			if c.data, last, ok = r.field(c.data); ok {
				c.end()
			}
		default:
			m.unread, last, ok = r.field(m.unread[:0])
		}
		if !ok {
			return fmt.Errorf("the row that starts in line %d: %w", p.block.Line(start), errOpenQuote)
		}
	}
	if tooLong(r.data[start:r.at], s.blocks.MaxLine()) {
		return s.blocks.TooLong(p.block.Line(start))
	}
	switch {
	case s.columns:
		for ; at < len(s.names); at++ {
			m.columns[at].null(p.block.Records)
		}
	case at <= s.url:
		m.columns[0].null(p.block.Records)
	}
	return nil
}

// tooLong tells whether a record with its line end has more octets than most
// without it.
func tooLong(record []byte, most int) bool {
	if len(record) <= most {
		return false
	}
	n := len(record)
	if record[n-1] == '\n' {
		n--
	}
	if n > 0 && record[n-1] == '\r' {
		n--
	}
	return n > most
}

func (p *piece) tooManyFields(start int) error {
	separator := "comma"
	if p.source.comma == '\t' {
		separator = "tab"
	}
	return fmt.Errorf("the row that starts in line %d has more fields than the header, which has %d: put a value that has a %s in it in quotes", p.block.Line(start), len(p.source.names), separator)
}

// record is the columns as a record that shares their memory.
func (m *store) record(schema *arrow.Schema) arrow.Record {
	rows := len(m.columns[0].offsets) - 1
	columns := make([]arrow.Array, schema.NumFields())
	for i := range columns {
		c := &m.columns[i]
		buffers := []*memory.Buffer{
			nil,
			memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(c.offsets)),
			memory.NewBufferBytes(c.data),
		}
		if c.nulls > 0 {
			buffers[0] = memory.NewBufferBytes(c.validity)
		}
		data := array.NewData(arrow.BinaryTypes.String, rows, buffers, nil, c.nulls, 0)
		columns[i] = array.NewStringData(data)
		data.Release()
	}
	record := array.NewRecord(schema, columns, int64(rows))
	for _, column := range columns {
		column.Release()
	}
	return record
}
