package jsonl

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/batch"
	"robotsbatch/batch/option"
	"robotsbatch/io/frontier/lines"
)

// decoder makes batches of whole lines.
type decoder struct {
	*input
	scanner         scanner
	original        originalLines
	urls            lines.Strings
	surt, timestamp lines.Strings    // of a crawl index
	values          []*lines.Strings // of the named columns
	weights         lines.Numbers
	times           []int64
	seen            uint64 // a bit for each of input.keys that occurred in the batch
	unquoted        []byte // scratch of addTime
}

// newDecoder returns a decoder of the input.
func (f *input) newDecoder() lines.Decoder {
	d := &decoder{input: f, scanner: newScanner(f.keys, f.watched)}
	if f.cdxj {
		d.original.cdxj, d.scanner.own = true, len(indexKeys)
	}
	for range f.keys[f.named:] {
		d.values = append(d.values, new(lines.Strings))
	}
	return d
}

// originalLines are those of a batch, which the sink of this package writes as they are.
type originalLines struct {
	text []byte
	rows []row
	cdxj bool // they are lines of a crawl index
	// clash is the error about an object that has a verdict's name as a key; nil for none.
	clash error
}

// row is a line that is not blank.
type row struct {
	start, end int32 // of the line, without white space around it
	object     int32 // where the object starts; -1 if there is none
	empty      bool  // the object has no members
	owned      uint8 // of a crawl index, the bits of indexKeys that are keys of the object itself
	misfit     bool  // a value does not fit its named column
}

// named is the named columns of a batch.
type named struct {
	arrow.Record
	original    *originalLines
	linesBefore int64 // in the input, before the batch
}

// Check returns where a row comes from, such as "line 5", and an error if the line is no
// object or a value does not fit its column. It counts the lines of the batch up to the row, so it
// is slow.
func (n named) Check(row int) (where string, err error) {
	r := n.original.rows[row]
	where = fmt.Sprintf("line %d", n.linesBefore+int64(bytes.Count(n.original.text[:r.start], []byte{'\n'}))+1)
	switch {
	case r.object < 0:
		err = errors.New("it is not a JSON object")
	case r.misfit:
		err = errors.New("a value is of another type than it should be")
	}
	return where, err
}

// passed is a batch.Batch.Table whose original lines the sink of this package writes.
type passed interface{ lines() *originalLines }

func (r *originalLines) lines() *originalLines { return r }

// crawlIndex is a crawl index's rows, as a record and as original lines.
type crawlIndex struct{ named }

func (c crawlIndex) lines() *originalLines { return c.original }

// Held implements lines.Decoder.
func (d *decoder) Held() int {
	held := cap(d.urls.Data) + cap(d.surt.Data) + cap(d.timestamp.Data)
	for _, c := range d.values {
		held += cap(c.Data)
	}
	return held
}

// Size implements lines.Decoder.
func (d *decoder) Size(block *lines.Block) int64 {
	rowSize := 16 + 4*int64(3+len(d.values)) // a row and offsets
	return 2*int64(cap(block.Data)) + rowSize*int64(block.Lines+1)
}

// reset prepares d for a batch of at most rows rows.
func (d *decoder) reset(rows int) {
	for _, c := range append([]*lines.Strings{&d.urls, &d.surt, &d.timestamp}, d.values...) {
		c.Reset(rows)
	}
	d.weights.Reset(rows)
	d.times, d.original.rows, d.original.clash, d.seen = d.times[:0], d.original.rows[:0], nil, 0
}

// Decode implements lines.Decoder.
func (d *decoder) Decode(block *lines.Block, b *batch.Batch) error {
	d.reset(block.Lines)
	d.original.text = block.Data
	for line, rest := block.FirstLine+1, block.Data; len(rest) > 0; line++ {
		start := len(block.Data) - len(rest)
		var text []byte
		text, rest = lines.CutLine(rest)
		if len(text) > d.blocks.MaxLine() {
			return d.blocks.TooLong(line)
		}
		begin, end := trim(text)
		if begin < end {
			d.addLine(row{start: int32(start + begin), end: int32(start + end)}, line)
		}
	}
	d.recordKeys(block.Index)
	b.URLs = d.urls.Column()
	if d.weight >= 0 {
		b.Weights = d.weights.Column()
	}
	if d.hasIndexTimes() {
		timestamps := d.timestamp.Column()
		b.Times = batch.TimesOf(&timestamps)
	} else if d.time >= 0 {
		b.Times = d.times
	}
	switch {
	case !d.options.Columns: // no table is asked for
	case d.cdxj:
		record := lines.Record(d.schema, append([]*lines.Strings{&d.surt, &d.timestamp, &d.urls}, d.values...))
		b.Table, b.Release = crawlIndex{named{record, &d.original, block.FirstLine}}, record.Release
	case d.schema != nil:
		record := lines.Record(d.schema, d.values)
		b.Table, b.Release = named{record, &d.original, block.FirstLine}, record.Release
	default:
		b.Table = &d.original
	}
	return nil
}

// recordKeys records, for [occurrences.check], which keys occurred in the batch. If a key that some
// row must have is missing in the first batch, it also records the keys of the first object, for the
// error. index is the batch's.
func (d *decoder) recordKeys(index int) {
	if len(d.original.rows) == 0 {
		return
	}
	o, missing := d.occurrences, false
	for i := range o.keys {
		if d.seen>>i&1 != 0 {
			o.keys[i].seen.Store(true)
		} else if !o.keys[i].hint.Empty() {
			missing = true
		}
	}
	if index == 0 && missing {
		for _, r := range d.original.rows {
			if r.object >= 0 {
				keys := objectKeys(d.original.text[r.object:r.end])
				o.firstKeys.Store(&keys)
				break
			}
		}
	}
	o.hasRows.Store(true)
}

// objectKeys returns the keys of an object, and those of the objects in it as OUTER.INNER.
func objectKeys(object []byte) (keys []string) {
	var members map[string]json.RawMessage
	if json.Unmarshal(object, &members) != nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		keys = append(keys, name)
		var inner map[string]json.RawMessage
		if members[name][0] == '{' && json.Unmarshal(members[name], &inner) == nil {
			for _, key := range slices.Sorted(maps.Keys(inner)) {
				keys = append(keys, name+"."+key)
			}
		}
	}
	return keys
}

// trim returns the start and the end of a line without the white space around it.
func trim(line []byte) (begin, end int) {
	end = len(line)
	for end > 0 && isSpace(line[end-1]) {
		end--
	}
	for begin < end && isSpace(line[begin]) {
		begin++
	}
	return begin, end
}

// isSpace reports whether c is JSON's white space other than LF.
func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

// addLine adds the row of a line, with its values: r has the start and the end of the line. number is
// the line's, from 1, for errors. A line without a valid object has no values. Only with named columns
// the URL, the weight, the time and values of columns with Kept count, if they come before the fault.
func (d *decoder) addLine(r row, number int64) {
	text := d.original.text[r.start:r.end]
	object := text
	if d.cdxj {
		object = d.splitIndexLine(text)
	}
	r.object = -1
	if d.scanner.scanObject(object) {
		r.object = r.end - int32(len(object))
		r.empty, r.owned = d.scanner.members == 0, d.scanner.owned
		if d.scanner.clash >= 0 && d.original.clash == nil {
			d.original.clash = option.Errorf("line %d has a key %q already: give the verdict columns another name with %s (such as %s)",
				number, d.watched[d.scanner.clash], option.Prefix, option.Prefix.With("robots_"))
		}
		d.seen |= d.scanner.found
	} else if len(d.values) == 0 { // else addNamed needs what was found
		d.scanner.found = 0
	}
	d.addURL(d.scanner.value(0)) // the first of input.keys
	if d.weight >= 0 {
		d.addWeight(d.scanner.value(d.weight))
	}
	if d.time >= 0 {
		d.addTime(d.scanner.value(d.time))
	}
	if len(d.values) > 0 {
		r.misfit = !d.addNamed(r.object >= 0)
	}
	d.original.rows = append(d.original.rows, r)
}

// addURL adds a row's URL from the raw JSON value of its key: a null if that is not a string.
func (d *decoder) addURL(value []byte) {
	if len(value) == 0 || value[0] != '"' {
		d.urls.Null()
		return
	}
	d.urls.Data = appendUnquoted(d.urls.Data, value[1:len(value)-1])
	d.urls.End()
}

// addWeight adds a weight from the raw JSON value of its key. A string may hold the number, as
// in crawl indexes.
func (d *decoder) addWeight(value []byte) {
	switch {
	case isNull(value):
		d.weights.Null()
	case value[0] == '"':
		d.weights.Append(value[1 : len(value)-1])
	default:
		d.weights.Append(value)
	}
}

// addTime adds a row's time from the raw JSON value of its key: a string or a number.
func (d *decoder) addTime(value []byte) {
	if len(value) > 0 && value[0] == '"' {
		d.unquoted = appendUnquoted(d.unquoted[:0], value[1:len(value)-1])
		value = d.unquoted
	}
	d.times = append(d.times, batch.ParseSeconds(value))
}

// addNamed adds a row of the named columns: the text of a string, or another scalar as written. fits
// is true if the line is an object and each value fits its column. Else the row has only nulls, and
// values of columns with Kept.
func (d *decoder) addNamed(isObject bool) (fits bool) {
	fits = isObject
	for i, n := range d.options.Named {
		value := d.scanner.value(d.named + i)
		if !n.Loose && !fitsNamed(n, value) {
			fits = false
		}
	}
	for i, c := range d.values {
		n, value := d.options.Named[i], d.scanner.value(d.named+i)
		hasValue := fits || n.Kept && fitsNamed(n, value)
		switch {
		case !hasValue || isNull(value) || isNested(value):
			c.Null()
		case value[0] == '"':
			c.Data = appendUnquoted(c.Data, value[1:len(value)-1])
			c.End()
		default:
			c.Data = append(c.Data, value...)
			c.End()
		}
	}
	return fits
}

// fitsNamed reports whether a raw value fits a named column that is not Loose.
func fitsNamed(n lines.Named, value []byte) bool {
	return isNull(value) || !isNested(value) && (!n.Text || value[0] == '"')
}

// isNested reports whether a raw value is an object or a list.
func isNested(value []byte) bool { return value[0] == '{' || value[0] == '[' }

// isNull reports whether a raw value is null or absent.
func isNull(value []byte) bool { return len(value) == 0 || string(value) == "null" }

// splitIndexLine adds the first two words of a crawl index's line, its sort key and timestamp,
// to their columns, and returns the object after them.
func (d *decoder) splitIndexLine(text []byte) []byte {
	surt, rest, found := bytes.Cut(text, []byte{' '})
	d.surt.Data = append(d.surt.Data, surt...)
	d.surt.End()
	if !found {
		d.timestamp.Null()
		return nil
	}
	timestamp, object, _ := bytes.Cut(rest, []byte{' '})
	d.timestamp.Data = append(d.timestamp.Data, timestamp...)
	d.timestamp.End()
	begin, _ := trim(object)
	return object[begin:]
}
