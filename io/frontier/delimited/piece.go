package delimited

import (
	"fmt"
	"strconv"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/batch"
	"robotsbatch/io/frontier/lines"
)

// store is the memory of a batch. It passes from Source.Next to Piece.Decode, and
// Batch.Release gives it back.
type store struct {
	data    []byte
	columns []*lines.Strings // one, or all
	unread  []byte           // the last field that belongs to no column
	weights lines.Numbers
	times   []int64
}

// keep is the most bytes of columns kept for the next batch. It exceeds the size of any
// one batch, and bounds the sum of columns that grew large in different batches.
const keep = 4 * lines.MaxBlockSize

// reset makes m ready for a batch of n columns and at most that many rows.
func (m *store) reset(n, rows int) {
	for len(m.columns) < n {
		m.columns = append(m.columns, new(lines.Strings))
	}
	for _, c := range m.columns {
		c.Reset(rows)
	}
	m.weights.Reset(rows)
	m.times = m.times[:0]
}

// large reports whether m has grown too large to be kept.
func (m *store) large() bool {
	bytes := 0
	for _, c := range m.columns {
		bytes += cap(c.Data)
	}
	return bytes > keep
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

// Decode implements batch.Piece. A row with fewer fields than the header ends in
// nulls; one with more is an error, and so is a quote that nothing closes.
func (p *piece) Decode() (*batch.Batch, error) {
	s, m := p.source, p.store
	n := 1
	if s.columns {
		n = len(s.names)
	}
	m.reset(n, p.block.Records)
	r := newReader(m.data, s.comma, s.cdx)
	for r.more() {
		if err := p.row(r); err != nil {
			return nil, err
		}
	}
	url := m.columns[0]
	if s.columns {
		url = m.columns[s.url]
	}
	b := &batch.Batch{
		Input: s.name, Index: p.block.Index, FirstRow: p.block.FirstLine,
		URLs: url.Column(),
	}
	if s.weight >= 0 {
		b.Weights = m.weights.Column()
	}
	if s.time >= 0 {
		b.Times = m.times
	}
	var record arrow.Record
	if s.columns {
		record = lines.Record(s.schema, m.columns)
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
		m.unread = m.unread[:0]
		into, c := &m.unread, m.columnOf(s, at)
		if c != nil {
			into = &c.Data
		}
		low := len(*into)
		var ok bool
		if *into, last, ok = r.field(*into); !ok {
			return fmt.Errorf("the row that starts in line %d: %w", p.block.Line(start), errOpenQuote)
		}
		if c != nil {
			c.End()
		}
		if at == s.weight {
			m.weights.Append((*into)[low:])
		}
		if at == s.time {
			m.times = append(m.times, batch.ParseSeconds((*into)[low:]))
		}
	}
	if tooLong(r.data[start:r.at], s.blocks.MaxLine()) {
		return s.blocks.TooLong(p.block.Line(start))
	}
	if at <= s.weight {
		m.weights.Null()
	}
	if at <= s.time {
		m.times = append(m.times, batch.NoTime)
	}
	switch {
	case s.columns:
		for ; at < len(s.names); at++ {
			m.columns[at].Null()
		}
	case at <= s.url:
		m.columns[0].Null()
	}
	return nil
}

// columnOf returns the column that a field goes into, nil for none.
func (m *store) columnOf(s *Source, field int) *lines.Strings {
	switch {
	case s.columns:
		return m.columns[field]
	case field == s.url:
		return m.columns[0]
	}
	return nil
}

// tooLong reports whether a record has more than most bytes, without its line end.
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
	return fmt.Errorf("the row that starts in line %d has more fields than the header, which has %d: put a value that has a %s in it in quotes", p.block.Line(start), len(p.source.names), separatorName(p.source.comma))
}

// separatorName returns a separator's name for messages.
func separatorName(c byte) string {
	switch c {
	case ',':
		return "comma"
	case ';':
		return "semicolon"
	case '\t':
		return "tab"
	case '|':
		return "vertical bar"
	}
	return strconv.QuoteRune(rune(c))
}
