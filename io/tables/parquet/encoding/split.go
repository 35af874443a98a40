package encoding

import (
	"robotsbatch/io/tables"
	"robotsbatch/io/tables/parquet/layout"
)

// split are values in BYTE_STREAM_SPLIT: the first byte of each value, then the second byte of each, and so on.
type split struct {
	values   []byte
	width, n int // bytes of a value, and the number of values
	at       int // the next value
}

// openSplit returns a decoder of values in BYTE_STREAM_SPLIT.
func openSplit(b *Body) (Decoder, error) {
	values, err := layout.CutPadding(b.Values, b.Present*b.Width)
	return &split{values: values, width: b.Width, n: b.Present}, err
}

// Next implements [Decoder].
func (s *split) Next(dst *Values, n int, _ int64) error {
	for range n {
		for k := range s.width {
			dst.Data = append(dst.Data, s.values[k*s.n+s.at]) // byte k of value s.at
		}
		s.at++
	}
	return nil
}

// Done implements [Decoder]. openSplit has checked how many bytes there are.
func (s *split) Done() error { return nil }

// writeSplit appends runs of values of p in BYTE_STREAM_SPLIT.
func writeSplit(p *Page, dst []byte, runs []tables.Run) ([]byte, error) {
	for k := range p.Width {
		for _, r := range runs {
			for i := r.Low; i < r.High; i++ {
				dst = append(dst, p.Data[i*p.Width+k])
			}
		}
	}
	return dst, nil
}
