package encoding

import (
	"slices"

	"robotsbatch/io/tables"
	"robotsbatch/io/tables/parquet/layout"
)

// openPlain returns a decoder of values in PLAIN.
func openPlain(b *Body) (Decoder, error) {
	switch b.Type {
	case layout.Boolean:
		values, err := layout.CutPadding(b.Values, (b.Present+7)/8)
		return &packed{bits: values}, err
	case layout.ByteArray:
		if int64(b.Present)*4 > int64(len(b.Values)) { // each has its length before it
			return nil, errShort
		}
		return &plainStrings{b.Values}, nil
	}
	values, err := layout.CutPadding(b.Values, b.Present*b.Width)
	return &plain{values, b.Width}, err
}

// writePlain appends runs of values of p in PLAIN.
func writePlain(p *Page, dst []byte, runs []tables.Run) ([]byte, error) {
	if p.boolean {
		return layout.AppendBits(dst, p.gather(runs)), nil
	}
	return p.appendRuns(dst, runs), nil
}

// plainNeeds is scheme.needs of PLAIN. Byte arrays are not copied, but Page.Begins says where each begins. Values of a
// fixed width need nothing.
func plainNeeds(s size) int64 {
	switch s.t {
	case layout.Boolean:
		return booleansNeed(s)
	case layout.ByteArray:
		return 5 * s.n // 4 bytes each, and a quarter for growth
	}
	return 0
}

// plain are values of a fixed width in PLAIN: one after another.
type plain struct {
	values []byte
	width  int
}

// Next implements [Decoder]. No limit is needed: the values are as large as in the page.
func (p *plain) Next(dst *Values, n int, _ int64) error {
	dst.Data = append(dst.Data, p.values[:n*p.width]...)
	p.values = p.values[n*p.width:]
	return nil
}

// Done implements [Decoder]. openPlain has checked how many bytes there are.
func (p *plain) Done() error { return nil }

// setPage sets the page's values, which are not copied.
func (p *plain) setPage(page *Page) error {
	page.Data = p.values
	return nil
}

// packed are booleans in PLAIN: a bit each.
type packed struct {
	bits []byte
	at   int // the next boolean: its bit in bits
}

// Next implements [Decoder]: it appends a byte for each boolean. The caller has checked the limit, because it
// knows their size.
func (p *packed) Next(dst *Values, n int, _ int64) error {
	for range n {
		dst.Data = append(dst.Data, p.bits[p.at>>3]>>(p.at&7)&1)
		p.at++
	}
	return nil
}

// Done implements [Decoder]. openPlain has checked how many bytes there are.
func (p *packed) Done() error { return nil }

// plainStrings are byte arrays in PLAIN: each after its length in four bytes.
type plainStrings struct{ values []byte }

// Next implements [Decoder]. It finds all ends first, so that it checks the limit once and grows the data
// once.
func (p *plainStrings) Next(dst *Values, n int, limit int64) error {
	src, at, from, ends := p.values, 0, len(dst.Data), dst.growEnds(n)
	for i := range ends {
		next, ok := afterText(src, at)
		if !ok {
			return errShort
		}
		at = next
		ends[i] = int32(from + at - 4*(i+1)) // without the lengths; checked below
	}
	end := from + at - 4*n
	if err := checkLimit(int64(end), limit); err != nil {
		return err
	}
	data := slices.Grow(dst.Data, end-from)[:end]
	at = 4 // after the length of the first value; then of the next one
	for _, to := range ends {
		at += copy(data[from:to], src[at:]) + 4
		from = int(to)
	}
	dst.Data, p.values = data, src[at-4:]
	return nil
}

// skip passes over the next n values. It reads only their lengths.
func (p *plainStrings) skip(n int) error {
	at, ok := 0, false
	for range n {
		if at, ok = afterText(p.values, at); !ok {
			return errShort
		}
	}
	p.values = p.values[at:]
	return nil
}

// Done implements [Decoder]: the bytes after the last value may only be padding.
func (p *plainStrings) Done() error { return layout.CheckPadding(p.values) }

// setPage finds where each value of the page begins. Their bytes are not copied.
func (p *plainStrings) setPage(page *Page) error {
	if err := page.setByteArrays(p.values, page.present); err != nil {
		return err
	}
	return layout.CheckPadding(p.values[page.Begins[page.present]:])
}
