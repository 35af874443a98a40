package jsonl

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/batch"
	"robotsbatch/batch/option"
	"robotsbatch/io/frontier/lines"
)

// memory is the memory of a batch. It passes from Source.Next to Piece.Decode, and
// Batch.Release gives it back.
type memory struct {
	rows            rows
	urls            lines.Strings
	surt, timestamp lines.Strings // of a crawl index
	weights         lines.Numbers
	times           []int64
	scanner         scanner
	keyed           bool // a row has the URL's key
	weighed, timed  bool // a row has the weight's, the time's
	unquoted        []byte
}

func (s *Source) newMemory() *memory {
	m := &memory{scanner: scanner{key: []byte(s.options.URLKey), anyCase: s.anyCase, watched: s.watched}}
	if s.options.Beside.Weight != "" {
		m.scanner.weight = []byte(s.options.Beside.Weight)
	}
	if key := s.options.Beside.Time; key != "" && !s.timestamps() {
		m.scanner.time = []byte(key)
	}
	if s.options.CDXJ {
		m.rows.cdxj, m.scanner.own = true, 2
	}
	return m
}

// rows holds a batch's original lines, for the sink to pass through.
type rows struct {
	text []byte
	rows []row
	cdxj bool
	// clash is the error about an object that has the key of a verdict.
	clash error
}

// row is a line that is not blank.
type row struct {
	start, end int32 // of the line, without white space around it
	object     int32 // where the object starts; -1 if there is none
	empty      bool  // the object has no members
	owned      uint8 // which of surt and timestamp are keys in the object
}

// passed is a batch.Batch.Table that the sink of this package can pass through.
type passed interface{ passThrough() *rows }

func (r *rows) passThrough() *rows { return r }

// index is a crawl index's rows, also as a record.
type index struct {
	arrow.Record
	*rows
}

// piece is a run of whole lines.
type piece struct {
	source *Source
	memory *memory
	block  lines.Block
}

// Name implements batch.Piece. Lines are counted from 1.
func (p *piece) Name() string {
	return fmt.Sprintf("jsonl: %s: batch %d (%s)", p.source.options.Name, p.block.Index, p.block.LineRange())
}

// Size implements batch.Piece.
func (p *piece) Size() int64 {
	const rowSize = 16 + 3*4 // a row and three offsets
	return 2*int64(cap(p.memory.rows.text)) + rowSize*int64(p.block.Lines+1)
}

// Decode implements batch.Piece.
func (p *piece) Decode() (*batch.Batch, error) {
	s, m := p.source, p.memory
	m.urls.Reset(p.block.Lines)
	m.surt.Reset(p.block.Lines)
	m.timestamp.Reset(p.block.Lines)
	m.weights.Reset(p.block.Lines)
	m.times = m.times[:0]
	m.rows.rows, m.rows.clash, m.keyed, m.weighed, m.timed = m.rows.rows[:0], nil, false, false, false
	for line, rest := p.block.FirstLine+1, p.block.Data; len(rest) > 0; line++ {
		start := len(p.block.Data) - len(rest)
		var text []byte
		text, rest = lines.TakeLine(rest)
		if len(text) > s.blocks.MaxLine() {
			return nil, s.blocks.TooLong(line)
		}
		begin, end := trim(text)
		if begin < end {
			m.line(row{start: int32(start + begin), end: int32(start + end)}, line)
		}
	}
	p.note()
	b := &batch.Batch{
		Input: s.options.Name, Index: p.block.Index, FirstRow: p.block.FirstLine,
		URLs:    m.urls.Column(),
		Release: func() { s.pool.Put(m) },
	}
	if m.scanner.weight != nil {
		b.Weights = m.weights.Column()
	}
	if s.timestamps() {
		timestamps := m.timestamp.Column()
		b.Times = batch.TimesOf(&timestamps)
	} else if m.scanner.time != nil {
		b.Times = m.times
	}
	switch {
	case !s.options.Columns:
	case s.options.CDXJ:
		record := lines.Record(s.schema, []*lines.Strings{&m.surt, &m.timestamp, &m.urls})
		b.Table = index{record, &m.rows}
		b.Release = func() { record.Release(); s.pool.Put(m) }
	default:
		b.Table = &m.rows
	}
	return b, nil
}

// note records for the source which keys occurred, see Source.Complete.
func (p *piece) note() {
	s, m := p.source, p.memory
	if len(m.rows.rows) == 0 {
		return
	}
	if m.keyed {
		s.whole.keyed.Store(true)
	}
	if m.weighed {
		s.whole.weighed.Store(true)
	}
	if m.timed {
		s.whole.timed.Store(true)
	}
	if p.block.Index == 0 && !(m.keyed && (m.weighed || m.scanner.weight == nil) && (m.timed || m.scanner.time == nil)) {
		for _, r := range m.rows.rows {
			if r.object >= 0 {
				keys := objectKeys(m.rows.text[r.object:r.end])
				s.whole.keys.Store(&keys)
				break
			}
		}
	}
	s.whole.rows.Store(true)
}

// objectKeys returns the keys of an object.
func objectKeys(object []byte) []string {
	var members map[string]json.RawMessage
	if json.Unmarshal(object, &members) != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(members))
}

// trim returns the bounds of a line without the white space around it.
func trim(line []byte) (begin, end int) {
	end = len(line)
	for end > 0 && isSpace(line[end-1]) {
		end--
	}
	for begin < end && isSpace(line[begin]) {
		begin++
	}
	return begin, end
}

// isSpace reports whether c is JSON's white space other than LF.
func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

// line adds a row whose line was found.
func (m *memory) line(r row, number int64) {
	text := m.rows.text[r.start:r.end]
	object := text
	if m.rows.cdxj {
		object = m.index(text)
	}
	r.object = -1
	if m.scanner.object(object) {
		r.object = r.end - int32(len(object))
		r.empty, r.owned = m.scanner.members == 0, m.scanner.owned
		if m.scanner.clash >= 0 && m.rows.clash == nil {
			m.rows.clash = option.Errorf("line %d has a key %q already: give the verdict columns another name with %s (such as %s)", number, m.scanner.watched[m.scanner.clash], option.Prefix, option.Prefix.With("robots_"))
		}
		m.keyed = m.keyed || m.scanner.value.end > 0
		m.url(object[m.scanner.value.start:m.scanner.value.end])
		m.weight(object[m.scanner.weighed.start:m.scanner.weighed.end])
		m.time(object[m.scanner.timed.start:m.scanner.timed.end])
	} else {
		m.urls.Null()
		m.weights.Null()
		m.time(nil)
	}
	m.rows.rows = append(m.rows.rows, r)
}

// url ends a row of URLs with the raw value of its key.
func (m *memory) url(value []byte) {
	if len(value) == 0 || value[0] != '"' {
		m.urls.Null()
		return
	}
	m.urls.Data = appendUnquoted(m.urls.Data, value[1:len(value)-1])
	m.urls.End()
}

// weight ends a row of weights with the raw value of its key. A string may hold the
// number, as in crawl indexes.
func (m *memory) weight(value []byte) {
	m.weighed = m.weighed || len(value) > 0
	switch {
	case len(value) == 0 || string(value) == "null":
		m.weights.Null()
	case value[0] == '"':
		m.weights.Append(value[1 : len(value)-1])
	default:
		m.weights.Append(value)
	}
}

// time adds a row's time from a string or a number. It does nothing if no time is
// wanted.
func (m *memory) time(value []byte) {
	if m.scanner.time == nil {
		return
	}
	m.timed = m.timed || len(value) > 0
	if len(value) > 0 && value[0] == '"' {
		m.unquoted = appendUnquoted(m.unquoted[:0], value[1:len(value)-1])
		value = m.unquoted
	}
	m.times = append(m.times, batch.ParseSeconds(value))
}

// index ends a row of sort keys and timestamps, the first two words of a line,
// and returns what follows them.
func (m *memory) index(text []byte) []byte {
	surt, rest, found := bytes.Cut(text, []byte{' '})
	m.surt.Data = append(m.surt.Data, surt...)
	m.surt.End()
	if !found {
		m.timestamp.Null()
		return nil
	}
	timestamp, object, _ := bytes.Cut(rest, []byte{' '})
	m.timestamp.Data = append(m.timestamp.Data, timestamp...)
	m.timestamp.End()
	begin, _ := trim(object)
	return object[begin:]
}
