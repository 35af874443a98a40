package encoding

import (
	"robotsbatch/io/tables"
	"robotsbatch/io/tables/parquet/layout"
)

// runs are booleans in runs (RLE).
type runs struct{ layout.Hybrid }

// openBooleans returns a decoder of booleans in RLE.
func openBooleans(b *Body) (Decoder, error) {
	r := &runs{}
	if b.Present == 0 {
		return r, nil
	}
	var err error
	r.Hybrid, err = layout.NewBooleans(b.Values)
	return r, err
}

// Next implements [Decoder]: a boolean becomes a byte.
func (r *runs) Next(dst *Values, n int, _ int64) (err error) {
	dst.Data, err = r.AppendBytes(dst.Data, n, 1)
	return err
}

// writeBooleans appends runs of booleans of p in RLE: as levels of 0 and 1, with their size before them.
func writeBooleans(p *Page, dst []byte, runs []tables.Run) ([]byte, error) {
	kept := p.gather(runs)
	return layout.AppendLevels(dst, kept, len(kept), 0, 1, true), nil
}
