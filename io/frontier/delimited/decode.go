package delimited

import (
	"bytes"
	"fmt"
	"strconv"

	"robotsbatch/batch"
	"robotsbatch/io/frontier/lines"
)

// decoder makes batches of whole rows.
type decoder struct {
	*header
	columns []*lines.Strings // one, or all
	unread  []byte           // the last field that belongs to no column
	weights lines.Numbers
	times   []int64
}

// width returns the number of columns that a batch has.
func (d *decoder) width() int {
	if d.whole {
		return len(d.names)
	}
	return 1
}

// Held implements lines.Decoder.
func (d *decoder) Held() (bytes int) {
	for _, c := range d.columns {
		bytes += cap(c.Data)
	}
	return bytes
}

// Size implements lines.Decoder.
func (d *decoder) Size(block *lines.Block) int64 {
	const offsetSize = 4
	return 2*int64(cap(block.Data)) + offsetSize*int64(d.width())*int64(block.Records+1)
}

// reset prepares d for a batch of at most rows rows.
func (d *decoder) reset(rows int) {
	for len(d.columns) < d.width() {
		d.columns = append(d.columns, new(lines.Strings))
	}
	for _, c := range d.columns {
		c.Reset(rows)
	}
	d.weights.Reset(rows)
	d.times = d.times[:0]
}

// Decode implements lines.Decoder. A row with fewer fields than the header ends in nulls;
// one with more is an error, and so is a quote that nothing closes.
func (d *decoder) Decode(block *lines.Block, b *batch.Batch) error {
	d.reset(block.Records)
	r := newReader(block.Data, d.comma, d.cdx)
	for r.more() {
		if err := d.readRow(r, block); err != nil {
			return err
		}
	}
	url := d.columns[0]
	if d.whole {
		url = d.columns[d.url]
	}
	b.URLs = url.Column()
	if d.weight >= 0 {
		b.Weights = d.weights.Column()
	}
	if d.time >= 0 {
		b.Times = d.times
	}
	if d.whole {
		record := lines.Record(d.schema, d.columns)
		b.Table, b.Release = record, record.Release
	}
	return nil
}

// readRow appends a record's fields to the columns. Fields without a column are read into
// unread, where weights and times are parsed.
func (d *decoder) readRow(r *reader, block *lines.Block) error {
	start, at := r.at, 0
	for last := false; !last; at++ {
		if at == len(d.names) {
			return d.errTooManyFields(block, start)
		}
		d.unread = d.unread[:0]
		into, c := &d.unread, d.columnOf(at)
		if c != nil {
			into = &c.Data
		}
		low := len(*into)
		var ok bool
		if *into, last, ok = r.field(*into); !ok {
			return fmt.Errorf("the row that starts in line %d: %w", block.Line(start), errOpenQuote)
		}
		if c != nil {
			c.End()
		}
		if at == d.weight {
			d.weights.Append((*into)[low:])
		}
		if at == d.time {
			d.times = append(d.times, batch.ParseSeconds((*into)[low:]))
		}
	}
	if tooLong(r.data[start:r.at], d.blocks.MaxLine()) {
		return d.blocks.TooLong(block.Line(start))
	}
	if at <= d.weight {
		d.weights.Null()
	}
	if at <= d.time {
		d.times = append(d.times, batch.NoTime)
	}
	switch {
	case d.whole:
		for ; at < len(d.names); at++ {
			d.columns[at].Null()
		}
	case at <= d.url:
		d.columns[0].Null()
	}
	return nil
}

// columnOf returns the column for the field with that index; nil for none.
func (d *decoder) columnOf(field int) *lines.Strings {
	switch {
	case d.whole:
		return d.columns[field]
	case field == d.url:
		return d.columns[0]
	}
	return nil
}

// tooLong reports whether a record, without its line end, has more than most bytes.
func tooLong(record []byte, most int) bool {
	return len(record) > most && len(bytes.TrimSuffix(bytes.TrimSuffix(record, []byte("\n")), []byte("\r"))) > most
}

// errTooManyFields returns the error for the record that starts at an offset of the block.
func (d *decoder) errTooManyFields(block *lines.Block, start int) error {
	if d.cdx {
		return fmt.Errorf("the row that starts in line %d has more fields than the header, which has %d: write a blank in a value as %%20", block.Line(start), len(d.names))
	}
	return fmt.Errorf("the row that starts in line %d has more fields than the header, which has %d: put a value that has a %s in it in quotes", block.Line(start), len(d.names), separatorName(d.comma))
}

// separatorName returns a separator's name for messages.
func separatorName(c byte) string {
	switch c {
	case ',':
		return "comma"
	case ';':
		return "semicolon"
	case '\t':
		return "tab"
	case '|':
		return "vertical bar"
	}
	return strconv.QuoteRune(rune(c))
}
