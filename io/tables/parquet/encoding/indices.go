package encoding

import (
	"errors"
	"fmt"
	"slices"

	"robotsbatch/io/tables"
	"robotsbatch/io/tables/parquet/layout"
)

// indices are indices of values in a dictionary (RLE_DICTIONARY and PLAIN_DICTIONARY).
type indices struct {
	layout.Hybrid
	bits    int      // of each index
	entries *Values  // of the dictionary
	scratch []uint32 // memory for indices
}

// openIndices returns a decoder of values by their indices into b.Dictionary. The first byte of the page is
// the number of bits of an index. A page without values needs neither it nor a dictionary.
func openIndices(b *Body) (Decoder, error) {
	d := &indices{entries: b.Dictionary}
	switch {
	case b.Present == 0:
	case b.Dictionary == nil:
		return nil, errors.New("damaged: it needs a dictionary, and there is none")
	case len(b.Values) == 0 || b.Values[0] > 32:
		return nil, errShort
	}
	if len(b.Values) > 0 {
		d.bits = int(b.Values[0])
	}
	if b.Present > 0 {
		d.Hybrid = layout.NewHybrid(b.Values[1:], d.bits)
	}
	return d, nil
}

// errIndex is the error for an index that the dictionary does not have.
func errIndex(index uint32, dictionary *Values) error {
	return fmt.Errorf("damaged: index %d into a dictionary of %d values", index, dictionary.Len())
}

// Next implements [Decoder]. It reads at most block indices at once.
func (d *indices) Next(dst *Values, n int, limit int64) error {
	for n > 0 {
		part := slices.Grow(d.scratch[:0], block)[:min(n, block)]
		d.scratch = part
		if err := d.Read(part); err != nil {
			return err
		}
		if err := d.append(dst, part, limit); err != nil {
			return err
		}
		n -= len(part)
	}
	return nil
}

// append appends to dst the entries with these indices, as [Decoder].Next would. For byte arrays it finds
// all ends first, so that it checks the limit once and grows the data once.
func (d *indices) append(dst *Values, indices []uint32, limit int64) error {
	if width := d.entries.Width; width > 0 {
		for _, index := range indices {
			at := int(index) * width
			if at >= len(d.entries.Data) {
				return errIndex(index, d.entries)
			}
			dst.Data = append(dst.Data, d.entries.Data[at:at+width]...)
		}
		return nil
	}
	begins, end, ends := d.entries.Begins, int64(len(dst.Data)), dst.growEnds(len(indices))
	for i, index := range indices {
		if int(index) >= len(begins)-1 {
			return errIndex(index, d.entries)
		}
		end += int64(begins[index+1] - begins[index] - d.entries.gap)
		ends[i] = int32(end) // checked below
	}
	if err := checkLimit(end, limit); err != nil {
		return err
	}
	from := len(dst.Data)
	data := slices.Grow(dst.Data, int(end)-from)[:end]
	for i, index := range indices {
		copy(data[from:ends[i]], d.entries.Data[begins[index]+d.entries.gap:])
		from = int(ends[i])
	}
	dst.Data = data
	return nil
}

// setPage reads all indices of a page into page.Indices, and checks that the dictionary has them.
func (d *indices) setPage(page *Page) error {
	page.bits, page.dictionary = d.bits, d.entries
	page.Indices = grow(page.Indices, page.present)[:page.present]
	if err := d.Read(page.Indices); err != nil {
		return err
	}
	for _, index := range page.Indices {
		if int64(index) >= int64(d.entries.Len()) {
			return errIndex(index, d.entries)
		}
	}
	return d.Done()
}

// writeIndices appends the number of bits in a byte, and the indices of runs of values of p, each replaced by
// p.newIndex if that is not nil.
func writeIndices(p *Page, dst []byte, runs []tables.Run) ([]byte, error) {
	p.indices = p.indices[:0]
	for _, r := range runs {
		for _, index := range p.Indices[r.Low:r.High] {
			written := int32(index)
			if p.newIndex != nil {
				if written = p.newIndex[index]; written < 0 { // no kept row used it when the caller read the page before: see Page.Append
					return dst, errors.New("damaged: read a second time, it has other indices")
				}
			}
			p.indices = append(p.indices, written)
		}
	}
	return layout.AppendHybrid(append(dst, byte(p.bits)), p.indices, p.bits), nil
}
