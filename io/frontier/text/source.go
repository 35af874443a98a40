package text

import (
	"io"

	"robotsbatch/batch"
	"robotsbatch/batch/option"
	"robotsbatch/io/frontier/format"
	"robotsbatch/io/frontier/lines"
	"robotsbatch/matcher/urls"
)

// NewSource returns a source of a list of URLs, from r, which must be decompressed. Blank lines are
// left out, and the length of lines is checked, when a piece is decoded.
func NewSource(r io.Reader, o lines.Options) *lines.Source {
	blocks := o.Blocks(r, option.Messagef("if this is a list of URLs take the line out, if it is not say what it is with %s", option.InFormat), nil)
	return lines.NewSource(o.Name, blocks, lines.Table{
		URLColumn:  format.URLColumn,
		NewDecoder: func() lines.Decoder { return &decoder{blocks: blocks, blanks: o.Blanks} },
	})
}

// decoder makes batches of whole lines.
type decoder struct {
	blocks  *lines.Blocks
	blanks  *lines.Blanks
	offsets []int32
}

// Size implements lines.Decoder.
func (d *decoder) Size(block *lines.Block) int64 {
	const offsetSize = 4
	return int64(cap(block.Data)) + offsetSize*int64(max(block.Lines+1, cap(d.offsets)))
}

// Held implements lines.Decoder.
func (*decoder) Held() int { return 0 }

// Decode implements lines.Decoder. It removes line ends and blank lines from the block in
// place; what is left is the column.
func (d *decoder) Decode(block *lines.Block, b *batch.Batch) error {
	if cap(d.offsets) < block.Lines+1 {
		d.offsets = make([]int32, 0, block.Lines+1)
	}
	d.blanks.Add(block)
	d.offsets = append(d.offsets[:0], 0)
	data, end := block.Data, 0
	for line, rest := int64(1), data; len(rest) > 0; line++ {
		var row []byte
		row, rest = lines.CutLine(rest)
		if len(row) > d.blocks.MaxLine() {
			return d.blocks.TooLong(block.FirstLine + line)
		}
		if len(urls.Trim(row)) > 0 {
			end += copy(data[end:], row)
			d.offsets = append(d.offsets, int32(end))
		}
	}
	b.URLs = batch.Column{Offsets32: d.offsets, Data: data[:end]}
	return nil
}
