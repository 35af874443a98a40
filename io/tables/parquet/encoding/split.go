package encoding

import (
	"robotsbatch/io/tables"
	"robotsbatch/io/tables/parquet/layout"
)

// split are values of which the first bytes come first, then the second ones, and so on
// (BYTE_STREAM_SPLIT).
type split struct {
	values       []byte
	width, n, at int
}

// openSplit returns a decoder of values in BYTE_STREAM_SPLIT.
func openSplit(b *Body) (Decoder, error) {
	values, err := layout.CutPadding(b.Values, b.Present*b.Width)
	return &split{values: values, width: b.Width, n: b.Present}, err
}

// Next implements [Decoder].
func (s *split) Next(dst *Values, n int, _ int64) error {
	for range n {
		dst.Data = s.value(dst.Data, s.at)
		s.at++
	}
	return nil
}

// value appends the bytes of value i, one of each stream.
func (s *split) value(dst []byte, i int) []byte {
	for k := range s.width {
		dst = append(dst, s.values[k*s.n+i])
	}
	return dst
}

func (s *split) Done() error { return nil }

// setPage gives the page its values as they lie apart: Page.Value puts one together.
func (s *split) setPage(page *Page) error {
	page.Data, page.split = s.values, s
	return nil
}

// writeSplit appends runs of values of p in BYTE_STREAM_SPLIT: the runs of each stream in turn.
func writeSplit(p *Page, dst []byte, runs []tables.Run) ([]byte, error) {
	for k := range p.Width {
		stream := p.Data[k*p.present : (k+1)*p.present]
		for _, r := range runs {
			dst = append(dst, stream[r.Low:r.High]...)
		}
	}
	return dst, nil
}
