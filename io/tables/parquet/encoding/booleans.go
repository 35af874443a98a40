package encoding

import (
	"robotsbatch/io/tables"
	"robotsbatch/io/tables/parquet/layout"
)

// runs are booleans in runs (RLE).
type runs struct{ layout.Hybrid }

func openBooleans(b *Body) (Decoder, error) {
	r := &runs{}
	if b.Present == 0 {
		return r, nil
	}
	var err error
	r.Hybrid, err = layout.NewBooleans(b.Values)
	return r, err
}

func (r *runs) Next(dst *Values, n int, _ int64) (err error) {
	dst.Data, err = r.AppendBytes(dst.Data, n, 1)
	return err
}

func writeBooleans(p *Page, dst []byte, runs []tables.Run) ([]byte, error) {
	kept := p.gather(runs)
	return layout.AppendLevels(dst, kept, len(kept), 0, 1, true), nil
}
