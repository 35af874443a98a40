package captures

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/batch"
	"robotsbatch/batch/option"
	"robotsbatch/io/frontier/format"
	"robotsbatch/io/frontier/lines"
	"robotsbatch/io/frontier/tableio"
	"robotsbatch/io/store/blob"
	"robotsbatch/io/tables"
)

// TableSource reads a table of captures batch by batch, each with all columns as
// an [arrow.Record] in batch.Batch.Table.
type TableSource interface {
	batch.Source
	Schema() *arrow.Schema
}

// TableOptions say how a table is read. The zero value is the default.
type TableOptions struct {
	// Name of the table for errors.
	Name string
	// Broken, if not nil, is called with an error for each broken row, which is skipped or
	// taken as a fetch without an answer. The error says which.
	Broken func(error)
	// Note, if not nil, is called with a message about the table.
	Note func(option.Message)
}

// The columns of a table.
const (
	urlColumn = iota
	authorityColumn
	bodyColumn
	statusColumn
	fetchedColumn
	locationColumn
	errorColumn
	fileColumn
	offsetColumn
	lengthColumn
	tableColumns
)

// column describes a column of a table of captures.
type column struct {
	name  string
	index []string                  // its names in indexes of WARC records (Common Crawl's, and CDX)
	also  func(arrow.DataType) bool // which types it takes besides strings and bytes; nil for none
	wants string                    // what it takes, for messages
}

var columns = [tableColumns]column{
	urlColumn:       {name: "url", wants: "strings or bytes"},
	authorityColumn: {name: "authority", wants: "strings or bytes"},
	bodyColumn:      {name: "body", wants: "strings or bytes"},
	statusColumn:    {"status", []string{"fetch_status"}, isNumber, "numbers, or strings of digits"},
	fetchedColumn:   {"fetched_at", []string{"fetch_time", "timestamp"}, isTime, "timestamps, strings, or numbers that are seconds since 1970"},
	locationColumn:  {name: "location", index: []string{"fetch_redirect", "redirect"}, wants: "strings or bytes"},
	errorColumn:     {name: "error", also: isFlag, wants: "strings, booleans or numbers"},
	fileColumn:      {name: "filename", index: []string{"warc_filename"}, wants: "strings or bytes"},
	offsetColumn:    {"offset", []string{"warc_record_offset"}, isNumber, "numbers, or strings of digits"},
	lengthColumn:    {"length", []string{"warc_record_length"}, isNumber, "numbers, or strings of digits"},
}

// checker is a table that was made of lines. Check returns words for the line of a row, and what is
// wrong with the line; nil for nothing.
type checker interface {
	Check(row int) (where string, err error)
}

// MaxLine is the most bytes of a line of a table: 16 MiB.
const MaxLine = 16 << 20

// alike are names that other tools give to columns of a table of captures. A column with such a name
// is not read, because it may hold something else, but noteAlike reports it.
var alike = [tableColumns][]string{
	bodyColumn:   {"content", "text"},
	statusColumn: {"status_code", "http_status", "http_status_code", "statusCode", "response_code", "http_code"},
	errorColumn:  {"error_message"},
}

// Keys returns the keys of JSON objects that Table reads: its columns, those of indexes, and
// similar names that it only reports. A row whose own columns have values of the wrong type is broken,
// and keeps its url or authority, whose fetch then failed. Columns of indexes and similar names may
// mean something else: values of the wrong type are null there.
func Keys() (keys []lines.Named) {
	for i, c := range columns {
		keys = append(keys, lines.Named{Name: c.name, Text: c.also == nil, Kept: i == urlColumn || i == authorityColumn})
		for _, other := range slices.Concat(c.index, alike[i]) {
			keys = append(keys, lines.Named{Name: other, Loose: true})
		}
	}
	return keys
}

// Table reads the captures of a table: a row each, with the columns
//
//	url         of the robots.txt, or of what one redirects to; or
//	authority   such as https://example.com, or example.com for both http and
//	            https on their default ports, or example.com:8443 for both there
//	body        strings or bytes, decoded; null, or empty without a status, says nothing
//	status      a number or digits; null is unknown, and means 200
//	fetched_at  a timestamp, whose unit is its type's; a number, or digits,
//	            which are seconds since 1970, or a WARC's 14 digits
//	            (20260301120000); or text as RFC 3339; null is unknown
//	location    of a redirect, as written
//	error       text, true, or a number that is not 0: there was no answer
//
// A row without a body may name a WARC record instead, by filename, offset and length, or as
// indexes do. From the first batch with such rows on, the columns of indexes are
// read where a row has no value in the column that they stand for.
//
// Floats are read where they are whole. The texts none, null, nan, \N and, of an error, false and
// 0 mean null, whatever their case. So is a dash as a status, a time or a filename.
//
// The body and one of url and authority are required. Other columns are ignored. Objects
// may lack any of them. A name in other case, or with blanks around it, counts where no column has it
// in its own.
type Table struct {
	options TableOptions
	source  TableSource
	// The indices in the schema of each column, or -1 if it is missing, and then of those that
	// indexes have in its place.
	columns [tableColumns][]int

	noted   bool // whether noteAlike and checkFolders have looked at the first batch with rows
	escaped bool // whether noteLineEnds has noted a body
	named   bool // whether a batch named WARC records

	now   tableBatch
	next  int   // row
	first int64 // row number of the batch's first, from 0

	row          row
	urls         [2][]byte
	count, given int // the URLs that the row has, and those that Next has returned

	hasBody, lacksBody bool  // a row has a body; a 2xx has a null one
	whole              bool  // a row is not broken
	broken             error // of the first row that is broken
	brokenRows         int
}

// NewTable returns a reader of the captures of a source. It finds the columns by their names,
// and returns an error if one is missing, is there twice or has a type that it cannot have.
// Closing the source is left to the caller.
func NewTable(s TableSource, o TableOptions) (*Table, error) {
	t := &Table{options: o, source: s}
	fits := func(i, index int) bool { // whether columns[i] takes the type of the table's column with that index
		dt := tables.Storage(s.Schema().Field(index).Type)
		return isText(dt) || dt.ID() == arrow.NULL || columns[i].also != nil && columns[i].also(dt)
	}
	for i, c := range columns {
		indices := columnsNamed(s.Schema(), c.name)
		switch {
		case len(indices) > 1:
			return nil, fmt.Errorf("%s: %d columns have the name %q: rename all but one", o.Name, len(indices), c.name)
		case len(indices) == 0:
			indices = []int{-1} // none
		case !fits(i, indices[0]):
			return nil, fmt.Errorf("%s: column %q cannot be %s: it takes %s", o.Name, c.name, s.Schema().Field(indices[0]).Type, c.wants)
		}
		t.columns[i] = indices
		for _, name := range c.index { // a column of that name whose type does not fit is something else
			if indices := columnsNamed(s.Schema(), name); len(indices) == 1 && fits(i, indices[0]) {
				t.columns[i] = append(t.columns[i], indices[0])
			}
		}
	}
	has := func(column int) bool { return t.columns[column][0] >= 0 }
	hasBodies := has(bodyColumn) && (has(urlColumn) || has(authorityColumn))
	hasRecords := has(urlColumn) && t.namesRecords(func(index int) bool { return index >= 0 })
	if !hasBodies && !hasRecords {
		return nil, ErrColumns(o.Name, format.Columns{Names: tableio.ColumnsOf(s.Schema()).Names}.String())
	}
	return t, nil
}

// columnsNamed returns the indices of the columns with a name; if there is none, of those
// whose name differs only in case or by blanks around it.
func columnsNamed(schema *arrow.Schema, name string) []int {
	indices := schema.FieldIndices(name)
	for i, f := range schema.Fields() {
		if strings.EqualFold(strings.TrimSpace(f.Name), name) && !schema.HasField(name) {
			indices = append(indices, i)
		}
	}
	return indices
}

// namesRecords reports whether the table has the three columns that name a WARC record, under any of
// their names. has reports it for a column, given its index in the schema.
func (t *Table) namesRecords(has func(column int) bool) bool {
	return slices.ContainsFunc(t.columns[fileColumn], has) && slices.ContainsFunc(t.columns[offsetColumn], has) && slices.ContainsFunc(t.columns[lengthColumn], has)
}

// ErrColumns returns the error for a table that has other columns, which it lists.
func ErrColumns(name, columns string) error {
	return fmt.Errorf("%s: a table of captures has the columns url or authority, in lower case, and body; this one has %s", name, columns)
}

// Close frees what the table holds; the source stays open.
func (t *Table) Close() { t.now.release() }

// Next sets x to the next capture, which is valid until the next call. After the last it
// returns io.EOF, or an error if no row could be read or had a body.
func (t *Table) Next(x *Capture) error {
	for t.given == t.count {
		if t.next < t.now.rows {
			t.readRow()
		} else if err := t.nextBatch(); err != nil {
			return t.endError(err)
		}
	}
	t.row.url = t.urls[t.given]
	t.given++
	t.row.capture(x)
	return nil
}

// readRow reads the next row and its URLs, unless it is skipped: then t.given stays equal to t.count.
func (t *Table) readRow() {
	r, skipped := t.now.row(t.next)
	if skipped != nil || r.broken != nil {
		skipped = t.reportBroken(&r, skipped)
	}
	if skipped == nil {
		t.row, t.given, t.count = r, 0, r.urls(&t.urls)
		t.whole = t.whole || r.broken == nil
	}
	t.noteLineEnds(&r)
	t.hasBody = t.hasBody || r.body != nil || r.file != nil
	t.lacksBody = t.lacksBody || errors.Is(skipped, errNullBody)
	t.next++
}

// endError returns the error that ends reading. It replaces io.EOF by an error if no row has a
// body, or none of several rows could be read.
func (t *Table) endError(err error) error {
	switch {
	case err == io.EOF && t.lacksBody && !t.hasBody:
		return fmt.Errorf("%s: %w", t.options.Name, errNoBodies)
	case err == io.EOF && t.brokenRows > 1 && !t.whole: // one may be broken in a table of captures, too
		return fmt.Errorf("%s: %w: %w", t.options.Name, errNoRows, t.broken)
	}
	return err
}

// reportBroken reports a row with an error, and returns the reason to skip the row; nil if it is taken
// as a fetch without an answer. skipped is the reason that the row alone gives; if it is nil, r.broken says
// what is wrong. Where the line of a skipped row is broken, that is why the row lacks values: if it has a
// URL or an authority, reportBroken makes r a fetch without an answer.
func (t *Table) reportBroken(r *row, skipped error) error {
	where := fmt.Sprintf("row %d", t.first+int64(t.next))
	if lines, ok := t.now.batch.Table.(checker); ok {
		var brokenLine error
		where, brokenLine = lines.Check(t.next)
		switch {
		case brokenLine == nil, skipped == nil: // the row's own error counts
		case len(r.url)+len(r.authority) > 0:
			r.broken, r.failed, skipped = brokenLine, true, nil
		default:
			skipped = brokenLine
		}
	}
	what, why := "skipped", skipped
	if skipped == nil {
		what, why = "taken as a fetch without an answer", r.broken
		t.brokenRows++
		t.broken = cmp.Or(t.broken, fmt.Errorf("%s: %w", where, why))
	}
	if t.options.Broken != nil {
		t.options.Broken(fmt.Errorf("%s: %s %s: %w", t.options.Name, where, what, why))
	}
	return skipped
}

// nextBatch reads the next batch and makes it current. It returns io.EOF after the last.
func (t *Table) nextBatch() error {
	t.first += int64(t.now.rows)
	t.next = 0
	t.now.release()
	piece, err := t.source.Next(context.Background()) // reading a file does not block for long
	if err != nil {
		return err
	}
	b, err := piece.Decode()
	if err == nil {
		err = t.openBatch(b)
	}
	if err == nil && !t.noted && t.now.rows > 0 {
		t.noted = true
		t.noteAlike()
		err = t.checkFolders()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", piece.Name(), err)
	}
	return nil
}

// openBatch makes b the current batch and opens its columns.
func (t *Table) openBatch(b *batch.Batch) error {
	record, ok := b.Table.(arrow.Record)
	if !ok {
		return errors.New("the batch has no table")
	}
	t.named = t.named || t.namesRecords(func(column int) bool { return !isNull(record, column) })
	t.now.batch, t.now.record, t.now.rows = b, record, int(record.NumRows())
	for i, columns := range t.columns {
		for n, column := range columns {
			if column < 0 || n > 0 && !t.named { // all but the first are those of an index
				continue
			}
			c, err := openCells(record.Column(column))
			if err != nil {
				return fmt.Errorf("column %q: %w", record.ColumnName(column), err)
			}
			t.now.cells[i] = append(t.now.cells[i], c)
		}
	}
	return nil
}

// isNull reports whether all values of a column are null. A column below 0 is missing, and
// counts as null.
func isNull(record arrow.Record, column int) bool {
	return column < 0 || record.Column(column).NullN() == int(record.NumRows())
}

// checkFolders returns an error if a folder's name, such as status=503, has a column that
// changes what the rows mean and that the rows lack, by whatever name: without it, a 503 would be a
// robots.txt.
func (t *Table) checkFolders() error {
	for name, value := range blob.Partitions(t.options.Name) {
		for _, column := range [...]int{statusColumn, fetchedColumn, errorColumn} {
			c := columns[column]
			// A table that names WARC records gets the values of an index's columns from these.
			isColumn := c.name == name || !t.named && (slices.Contains(c.index, name) || slices.Contains(alike[column], name))
			isImplied := value == "__HIVE_DEFAULT_PARTITION__" || column == statusColumn && value == "200" // null, and what a null means
			if isColumn && !isImplied && isNull(t.now.record, t.columns[column][0]) {
				return option.Errorf("the rows have no %s, which is in the name of a folder as %s: write it into the files, too, as a column %s (DuckDB: WRITE_PARTITION_COLUMNS)", c.name, name, c.name)
			}
		}
	}
	return nil
}

// noteLineEnds reports the first robots.txt that has \n in place of its line ends, as some programs write text,
// and so has no rules. A body without "user-agent" is likely a web page, and is not reported.
func (t *Table) noteLineEnds(r *row) {
	isRobots := !r.failed && (!r.hasStatus || r.status/100 == 2) // the body of another answer has no rules
	if t.escaped || t.options.Note == nil || !isRobots {
		return
	}
	t.escaped = bytes.IndexByte(r.body, '\n') < 0 && bytes.Contains(r.body, []byte(`\n`)) && bytes.Contains(bytes.ToLower(r.body), []byte("user-agent"))
	if t.escaped {
		t.options.Note(option.Messagef(`%s: the body of %.200q has \n in place of line ends, so that its rules do not count: if the site did not send that, write bodies as they were sent`,
			t.options.Name, cmp.Or(string(r.url), string(r.authority))))
	}
}

// noteAlike reports the columns of the first batch whose names other tools give to a column that is missing
// or null there: they are not read.
func (t *Table) noteAlike() {
	record := t.now.record
	if t.options.Note == nil {
		return
	}
	note := func(name string, column int) { // reports the column name if it has values and column has none
		indices := columnsNamed(t.source.Schema(), name)
		if isNull(record, t.columns[column][0]) && len(indices) > 0 && !isNull(record, indices[0]) {
			t.options.Note(option.Messagef("%s has a column %q, which is not read: the one of a table of captures is called %q", t.options.Name, record.ColumnName(indices[0]), columns[column].name))
		}
	}
	for column, names := range alike {
		for _, name := range names {
			note(name, column)
		}
	}
	if t.named || isNull(record, t.columns[bodyColumn][0]) {
		return
	}
	for _, column := range [...]int{statusColumn, fetchedColumn, locationColumn} {
		for _, name := range columns[column].index { // which are read of a table that names records
			note(name, column)
		}
	}
}

// errNoRows means that a table has rows, and none that can be read.
var errNoRows = errors.New("no row can be read")

// errNoBodies means that a table has no bodies, but answers that should have some.
var errNoBodies = fmt.Errorf("no row has a body, and some have a 2xx status: call the column of the bodies %q", columns[bodyColumn].name)
