package delimited

import (
	"bytes"
	"cmp"
	"fmt"
	"strconv"

	"robotsbatch/batch"
	"robotsbatch/io/frontier/lines"
)

// decoder makes batches of whole rows.
type decoder struct {
	*header
	columns []*lines.Strings // all or, unless header.whole, that of the URLs
	unread  []byte           // the last field that is in no column
	weights lines.Numbers
	times   []int64
}

// width returns the length of d.columns.
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
	r := newReader(block.Data, d.separator, d.cdx)
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

// readRow appends a record's fields to the columns, of which there is one, of the URLs, unless
// d.whole is set; a field without a column goes to d.unread. Weights and times are parsed from what
// was appended. Columns that the record is too short for get a null.
func (d *decoder) readRow(r *reader, block *lines.Block) error {
	rowStart, field := r.at, 0
	for last := false; !last; field++ {
		if field == len(d.names) {
			return d.errTooManyFields(block, rowStart)
		}
		d.unread = d.unread[:0]
		text, column := &d.unread, d.columnOf(field)
		if column != nil {
			text = &column.Data
		}
		begin := len(*text)
		var ok bool
		if *text, last, ok = r.field(*text); !ok {
			return fmt.Errorf("the row that starts in line %d: %w", block.Line(rowStart), errOpenQuote)
		}
		if column != nil {
			column.End()
		}
		if field == d.weight {
			d.weights.Append((*text)[begin:])
		}
		if field == d.time {
			d.times = append(d.times, batch.ParseSeconds((*text)[begin:]))
		}
	}
	if tooLong(r.data[rowStart:r.at], d.blocks.MaxLine()) {
		return d.blocks.TooLong(block.Line(rowStart))
	}
	// From here on, field is the index of the first column that the record is too short for.
	if field <= d.weight {
		d.weights.Null()
	}
	if field <= d.time {
		d.times = append(d.times, batch.NoTime)
	}
	switch {
	case d.whole:
		for ; field < len(d.names); field++ {
			d.columns[field].Null()
		}
	case field <= d.url:
		d.columns[0].Null()
	}
	return nil
}

// columnOf returns the column of the field with an index; nil if the batch has none for it.
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
	help := "write a blank in a value as %20"
	if !d.cdx {
		help = fmt.Sprintf("put a value that has a %s in it in quotes", cmp.Or(separatorNames[d.separator], strconv.QuoteRune(rune(d.separator))))
	}
	return fmt.Errorf("the row that starts in line %d has more fields than the header, which has %d: %s", block.Line(start), len(d.names), help)
}

// separatorNames are the names of separators for messages.
var separatorNames = map[byte]string{',': "comma", ';': "semicolon", '\t': "tab", '|': "vertical bar"}
