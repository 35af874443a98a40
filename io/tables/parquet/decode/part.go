package decode

import (
	"bytes"
	"fmt"

	"robotsbatch/io/tables"
	"robotsbatch/io/tables/parquet/columns"
	"robotsbatch/io/tables/parquet/encoding"
	"robotsbatch/io/tables/parquet/layout"
)

// Decode returns the entries of the part's rows, in memory of their own. Call it once. Parts of a reader may
// be decoded by several goroutines at once.
func (p *Part) Decode() (columns.Leaf, error) {
	leaf, err := p.leaf, error(nil)
	if leaf == nil {
		leaf, err = p.decodeSpans()
	}
	if err != nil {
		return columns.Leaf{}, err
	}
	return *leaf, nil
}

// decodeSpans decodes the part's spans in order.
func (p *Part) decodeSpans() (*columns.Leaf, error) {
	o := p.reader.newOutput(p.rows)
	for _, s := range p.spans {
		if err := p.reader.decodeSpan(s, o); err != nil {
			return nil, err
		}
	}
	return o.finish(), nil
}

// output is the entries of a part that were decoded so far.
type output struct {
	columns.Leaf // its levels and number of entries; finish sets its values
	reader       *Reader
	rows         int             // of the part
	values       encoding.Values // of the entries
}

// newOutput returns an empty output for a part with this number of rows.
func (r *Reader) newOutput(rows int) *output {
	o := &output{reader: r, rows: rows, values: encoding.Values{Width: r.node.Width()}}
	if r.node.Type == layout.ByteArray {
		o.values.Begins = append(make([]int32, 0, rows+1), 0)
	}
	return o
}

// finish returns the entries after the last span was decoded.
func (o *output) finish() *columns.Leaf {
	if o.values.Begins == nil {
		o.Fixed = o.values.Data
	} else {
		o.Data, o.Offsets = o.values.Data, o.values.Begins
	}
	return &o.Leaf
}

// cursor is a point in a page from which entries can be decoded.
type cursor struct {
	at         int // the first entry that is not decoded
	values     encoding.Decoder
	definition layout.Hybrid
}

// decodeSpan opens the page of a span, appends the span's entries to o, and releases the page.
func (r *Reader) decodeSpan(s span, o *output) error {
	p := s.page
	err := r.open(p)
	if err == nil {
		err = r.appendEntries(s, o)
	}
	if err == nil {
		r.release(p)
	}
	return p.withIndex(err)
}

// appendEntries appends the entries of a span to o. The span's page is open; it leaves a cursor there for the
// next span.
func (r *Reader) appendEntries(s span, o *output) error {
	c, err := r.takeCursor(s)
	if err != nil {
		return err
	}
	present, err := r.appendDefinitions(s, c, o)
	if err != nil {
		return err
	}
	o.N += s.n
	v := &o.values
	size := len(o.Definitions) + len(o.Repetitions) + len(v.Data) + 4*len(v.Begins) + present*v.Width
	if int64(size) > r.limit { // a small page may have indices of long values in a dictionary
		return &tables.LimitError{What: fmt.Sprintf("its rows take more than %d bytes decoded", r.limit), Help: tables.MoreMemory | tables.FewerRows}
	}
	if v.Data == nil {
		v.Data = make([]byte, 0, r.expectedSize(s.page, o.rows))
	}
	if err := c.values.Next(v, present, r.limit); err != nil {
		return err
	}
	if c.at = s.from + s.n; c.at == s.page.Values { // no span comes after it
		return c.values.Done()
	}
	s.page.mu.Lock()
	defer s.page.mu.Unlock()
	if s.page.furthest == nil || s.page.furthest.at < c.at { // spans may be decoded out of order
		s.page.furthest = c
	}
	return nil
}

// appendDefinitions appends the definition levels of a span, and returns how many of its entries have a
// value. o.Definitions stays nil as long as all entries do.
func (r *Reader) appendDefinitions(s span, c *cursor, o *output) (present int, err error) {
	most := r.node.MaxDefinition
	if s.page.data.Present == s.page.Values { // no entry of the page is null
		if o.Definitions != nil {
			o.Definitions = append(o.Definitions, bytes.Repeat([]byte{most}, s.n)...)
		}
		return s.n, nil
	}
	if o.Definitions == nil { // the first null of the run: the entries before have values
		o.Definitions = bytes.Repeat([]byte{most}, o.N)
	}
	if o.Definitions, err = c.definition.AppendBytes(o.Definitions, s.n, most); err != nil {
		return 0, err
	}
	return bytes.Count(o.Definitions[o.N:], []byte{most}), nil
}

// takeCursor returns a cursor at the first entry of a span. It takes the one that an earlier span left in the
// page, or a new one if that is beyond the span, and skips the entries up to the span. New ones alone take 1.1
// times the processor time where a page has a million URLs.
func (r *Reader) takeCursor(s span) (c *cursor, err error) {
	p := s.page
	p.mu.Lock()
	if p.furthest != nil && p.furthest.at <= s.from {
		c, p.furthest = p.furthest, nil // nobody else may use it
	}
	p.mu.Unlock()
	if c == nil {
		c, err = r.newCursor(p)
	}
	if err != nil || c.at == s.from {
		return c, err
	}
	skipped := s.from - c.at // entries, and then those that have values
	if p.data.Present < p.Values {
		if skipped, _, err = c.definition.Count(skipped, uint32(r.node.MaxDefinition)); err != nil {
			return nil, err
		}
	}
	return c, encoding.Skip(c.values, skipped)
}

// newCursor returns a cursor at the first entry of a page. In DELTA_BYTE_ARRAY the first value may share bytes
// with the last one of the page before, so the decoder gets that page's, r.previous. Such pages are decoded
// in order, by the one goroutine that calls Next.
func (r *Reader) newCursor(p *page) (*cursor, error) {
	b := encoding.Body{Encoding: p.Encoding, Type: r.node.Type, Width: r.node.Width(), Values: p.data.Values, Present: p.data.Present, Dictionary: r.dictionary}
	needsPrevious := p.Encoding == layout.DeltaByteArray
	if needsPrevious {
		b.Before = r.previous
	}
	values, err := encoding.New(&b)
	if err != nil {
		return nil, err
	}
	if needsPrevious {
		r.previous = values
	}
	return &cursor{values: values, definition: p.data.Definition}, nil
}

// expectedSize guesses how many bytes of values a part with this number of rows has, by the mean size of a value in p,
// the part's first page, or in the dictionary. To grow them from nothing takes up to 1.2 times the processor time and
// memory of a job.
func (r *Reader) expectedSize(p *page, rows int) int {
	const most = 16 << 20 // bytes: more is not taken on a mere guess
	mean := r.node.Width()
	if mean == 0 { // byte arrays
		if mean = len(p.data.Values) / p.Values; r.dictionary != nil && r.dictionary.Len() > 0 {
			mean = max(mean, len(r.dictionary.Data)/r.dictionary.Len())
		}
	}
	size := int64(mean) * int64(rows)
	return int(min(size+size/32, most, r.limit)) // 1/32 more, because parts differ in size
}
