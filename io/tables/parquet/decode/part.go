package decode

import (
	"bytes"
	"fmt"
	"math"

	"robotsbatch/io/tables"
	"robotsbatch/io/tables/parquet/columns"
	"robotsbatch/io/tables/parquet/encoding"
	"robotsbatch/io/tables/parquet/layout"
)

// Decode returns the entries of the rows, in memory of their own. It is called once; parts may
// be decoded side by side.
func (p *Part) Decode() (columns.Leaf, error) {
	if p.leaf != nil {
		return *p.leaf, nil
	}
	leaf, err := p.decode()
	if err != nil {
		return columns.Leaf{}, err
	}
	return *leaf, nil
}

// decode decodes the part's spans in order.
func (p *Part) decode() (*columns.Leaf, error) {
	o := p.reader.output(p.rows)
	for _, s := range p.spans {
		if err := p.reader.decode(s, o); err != nil {
			return nil, err
		}
	}
	return o.leaf(), nil
}

// output is the entries of a run so far.
type output struct {
	columns.Leaf
	reader *Reader
	rows   int             // of the whole run
	values encoding.Values // leaf makes them those of Leaf
}

// output returns an output for some rows.
func (r *Reader) output(rows int) *output {
	o := &output{reader: r, rows: rows, values: encoding.Values{Width: r.node.Width()}}
	if r.node.Type == layout.ByteArray {
		o.values.Begins = append(make([]int32, 0, rows+1), 0)
	}
	return o
}

// leaf returns the entries, after the last was decoded.
func (o *output) leaf() *columns.Leaf {
	if o.values.Begins == nil {
		o.Fixed = o.values.Data
	} else {
		o.Data, o.Offsets = o.values.Data, o.values.Begins
		o.reader.lastSize.Store(int64(len(o.Data)))
	}
	return &o.Leaf
}

// cursor is a place in a page, from which on its entries can be decoded.
type cursor struct {
	at         int // the first entry that is not decoded
	values     encoding.Decoder
	definition layout.Hybrid
}

// decode decodes a span, whose page it opens unless that is open, and gives the page back.
func (r *Reader) decode(s span, o *output) error {
	p := s.page
	err := r.open(p)
	if err == nil {
		err = r.append(s, o)
	}
	if err == nil {
		r.release(p)
	}
	return p.failed(err)
}

// append decodes a span of a page that is open, and appends its entries.
func (r *Reader) append(s span, o *output) error {
	c, err := r.cursor(s)
	if err != nil {
		return err
	}
	present, err := r.appendDefinitions(s, c, o)
	if err != nil {
		return err
	}
	o.N += s.n
	v := &o.values
	if int64(len(o.Definitions)+len(o.Repetitions)+len(v.Data)+4*len(v.Begins)+present*v.Width) > r.limit { // a dictionary may have long values
		return &tables.LimitError{What: fmt.Sprintf("its rows take more than %d bytes decoded", r.limit), Help: tables.MoreMemory | tables.FewerRows}
	}
	if v.Data == nil {
		v.Data = make([]byte, 0, r.expect(s.page, o.rows))
	}
	if err := c.values.Next(v, present, r.limit); err != nil {
		return err
	}
	if c.at = s.from + s.n; c.at == s.page.Values {
		return c.values.Done()
	}
	s.page.mu.Lock()
	defer s.page.mu.Unlock()
	if s.page.place == nil || s.page.place.at < c.at {
		s.page.place = c
	}
	return nil
}

// appendDefinitions appends the definition levels of a span, and returns how many of its entries have a
// value. There are no levels as long as all entries have one.
func (r *Reader) appendDefinitions(s span, c *cursor, o *output) (present int, err error) {
	most := r.node.MaxDefinition
	if s.page.data.Present == s.page.Values { // no entry of the page is null
		if o.Definitions != nil {
			o.Definitions = append(o.Definitions, bytes.Repeat([]byte{most}, s.n)...)
		}
		return s.n, nil
	}
	if o.Definitions == nil {
		o.Definitions = bytes.Repeat([]byte{most}, o.N)
	}
	if o.Definitions, err = c.definition.AppendBytes(o.Definitions, s.n, most); err != nil {
		return 0, err
	}
	return bytes.Count(o.Definitions[o.N:], []byte{most}), nil
}

// cursor returns the cursor where a span begins. It takes the one that was left in the page, unless that
// is further on, or begins with the page's first entry; then it skips entries up to the span's.
func (r *Reader) cursor(s span) (*cursor, error) {
	p := s.page
	p.mu.Lock()
	c := p.place
	if c != nil && c.at <= s.from {
		p.place = nil // nobody else may use it
	} else {
		c = nil
	}
	p.mu.Unlock()
	if c == nil {
		var err error
		if c, err = r.first(p); err != nil {
			return nil, err
		}
	}
	if c.at == s.from {
		return c, nil
	}
	present := s.from - c.at // values to skip
	if p.data.Present < p.Values {
		var err error
		if present, _, err = c.definition.Count(present, uint32(r.node.MaxDefinition)); err != nil {
			return nil, err
		}
	}
	return c, encoding.Skip(c.values, present)
}

// first returns a cursor at the first entry of a page.
func (r *Reader) first(p *page) (*cursor, error) {
	b := encoding.Body{Encoding: p.Encoding, Type: r.node.Type, Width: r.node.Width(), Values: p.data.Values, Present: p.data.Present, Dictionary: r.dictionary}
	inOrder := p.Encoding == layout.DeltaByteArray
	if inOrder {
		b.Before = r.before
	}
	values, err := encoding.New(&b)
	if err != nil {
		return nil, err
	}
	if inOrder {
		r.before = values
	}
	return &cursor{values: values, definition: p.data.Definition}, nil
}

// expect returns how many bytes of values a run of rows will probably have, judging by its first page p
// and by the run before.
func (r *Reader) expect(p *page, rows int) int {
	const most = 16 << 20 // what is taken for nothing but a guess
	mean := r.node.Width()
	if mean == 0 {
		if mean = len(p.data.Values) / p.Values; r.dictionary != nil && r.dictionary.Len() > 0 {
			mean = max(mean, r.dictionary.Size()/r.dictionary.Len())
		}
	}
	size := max(int64(mean)*int64(rows), r.lastSize.Load())
	if r.node.Width() == 0 {
		size += size / 32
	}
	return int(min(size, most, r.limit, math.MaxInt32))
}
