package encoding

import (
	"robotsbatch/io/tables"
	"robotsbatch/io/tables/parquet/layout"
)

// hybridBooleans are booleans in RLE: numbers of one bit in the hybrid of runs and packed bits.
type hybridBooleans struct{ layout.Hybrid }

// openBooleans returns a decoder of booleans in RLE.
func openBooleans(b *Body) (_ Decoder, err error) {
	d := &hybridBooleans{}
	if b.Present > 0 {
		d.Hybrid, err = layout.NewBooleans(b.Values)
	}
	return d, err
}

// Next implements [Decoder]: a boolean becomes a byte.
func (d *hybridBooleans) Next(dst *Values, n int, _ int64) (err error) {
	dst.Data, err = d.AppendBytes(dst.Data, n, 1)
	return err
}

// writeBooleans appends runs of booleans of p in RLE: as levels of 0 and 1, with their size before them.
func writeBooleans(p *Page, dst []byte, runs []tables.Run) ([]byte, error) {
	kept := p.gather(runs)
	return layout.AppendLevels(dst, kept, len(kept), 0, 1, true), nil
}
