package captures

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/batch"
	"robotsbatch/io/frontier/lines"
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
	// Broken, if not nil, is called with an error for each broken row, which is
	// skipped.
	Broken func(error)
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
	tableColumns
)

var columnNames = [tableColumns]string{"url", "authority", "body", "status", "fetched_at", "location", "error"}

// checker is a table of lines: it says from which a row comes, and what is wrong with it.
type checker interface {
	Check(row int) (where string, err error)
}

// MaxLine is how many bytes a line of a table may have: 16 MiB.
const MaxLine = 16 << 20

// Keys are the columns of a table as keys of objects. status, fetched_at and error may
// have numbers and booleans.
func Keys() (keys []lines.Named) {
	for i, name := range columnNames {
		keys = append(keys, lines.Named{Name: name, Text: i != statusColumn && i != fetchedColumn && i != errorColumn})
	}
	return keys
}

// Table reads the captures of a table: a row each, with the columns
//
//	url         of the robots.txt, or of what one redirects to; or
//	authority   such as https://example.com, or example.com for both http and
//	            https on their default ports, or example.com:8443 for both there
//	body        strings or bytes, decoded; null or empty is an empty one where there is a
//	            status, and else says nothing
//	status      integer or digits; null is unknown, and means 200
//	fetched_at  a timestamp, whose unit is its type's; an integer, or digits,
//	            which are seconds since 1970, or a WARC's 14 digits
//	            (20260301120000); or text as RFC 3339; null is unknown
//	location    of a redirect, as written
//	error       text that is not empty, or true, says that there was no answer
//
// The body and one of url and authority are required. Other columns are ignored. Objects
// may lack any of them.
type Table struct {
	rowReader
	source  TableSource
	columns [tableColumns]int // in the schema, or -1

	now   tableBatch
	next  int   // row
	first int64 // row number of the batch's first, from 0
}

// NewTable returns a reader of the captures of a source. It finds the columns by their names,
// and returns an error if one is missing, is there twice or has a type that it cannot have.
// Closing the source is left to the caller.
func NewTable(s TableSource, o TableOptions) (*Table, error) {
	t := &Table{rowReader: rowReader{options: o}, source: s}
	for i, name := range columnNames {
		t.columns[i] = -1
		indices := s.Schema().FieldIndices(name)
		switch {
		case len(indices) > 1:
			return nil, fmt.Errorf("captures: %s: %d columns have the name %q: rename all but one", o.Name, len(indices), name)
		case len(indices) == 0:
			continue
		}
		t.columns[i] = indices[0]
		if dt := s.Schema().Field(indices[0]).Type; !fits(i, dt) {
			return nil, fmt.Errorf("captures: %s: column %q cannot be %s: it takes %s", o.Name, name, dt, wanted(i))
		}
	}
	if (t.columns[urlColumn] < 0 && t.columns[authorityColumn] < 0) || t.columns[bodyColumn] < 0 {
		return nil, ErrColumns(o.Name, strings.Join(fieldNames(s.Schema()), ", "))
	}
	return t, nil
}

// ErrColumns returns the error for a table that has other columns, which it lists.
func ErrColumns(name, columns string) error {
	return fmt.Errorf("captures: %s: a table of captures has the columns url or authority, and body; this one has %s", name, columns)
}

func fieldNames(schema *arrow.Schema) []string {
	var names []string
	for _, f := range schema.Fields() {
		names = append(names, fmt.Sprintf("%q", f.Name))
	}
	return names
}

// Close frees what the table holds; the source stays open.
func (t *Table) Close() error {
	t.now.release()
	return nil
}

// Next implements [Reader].
func (t *Table) Next(x *Capture) error { return t.nextOf(t.read, x) }

// read reads the next row.
func (t *Table) read() (r row, where string, err error) {
	for t.next == t.now.rows {
		if err := t.nextBatch(); err != nil {
			return r, "", endOfTable{err}
		}
	}
	if r, err = t.now.row(t.next); err != nil {
		where = fmt.Sprintf("row %d", t.first+int64(t.next))
		if lines, ok := t.now.batch.Table.(checker); ok {
			var reason error
			if where, reason = lines.Check(t.next); reason != nil {
				err = reason
			}
		}
	}
	t.next++
	return r, where, err
}

// nextBatch goes to the next batch.
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
		err = t.now.open(b, t.columns)
	}
	if err != nil {
		return fmt.Errorf("captures: %s: %w", piece.Name(), err)
	}
	return nil
}

// rowReader turns rows into captures.
type rowReader struct {
	options TableOptions
	row     row
	urls    [2][]byte // of the row
	count   int       // of them
	given   int       // how many of them were handed out
}

// endOfTable wraps an error that ends the table, such as io.EOF. Any other error
// concerns a single row.
type endOfTable struct{ error }

// nextOf sets x to the next capture of the rows that read returns.
func (t *rowReader) nextOf(read func() (row, string, error), x *Capture) error {
	for t.given == t.count {
		r, where, err := read()
		var end endOfTable
		switch {
		case errors.As(err, &end):
			return end.error
		case err == nil:
			t.row, t.given = r, 0
			t.count = r.urls(&t.urls)
		case t.options.Broken != nil:
			t.options.Broken(fmt.Errorf("captures: %s: %s skipped: %w", t.options.Name, where, err))
		}
	}
	t.row.url = t.urls[t.given]
	t.given++
	t.row.capture(x)
	return nil
}
