package tableio

import (
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"robotsbatch/batch"
)

// Location says where a table has its URLs: in one column, or split over
// several, as in Common Crawl's index.
type Location struct {
	schema *arrow.Schema // of the tables that are written
	column int           // the URL column, or
	parts  *Parts        // the columns that URLs are joined from
	joined bool          // the output table has only the joined URLs
	weight int           // the column of ExtraColumns.Weight; -1 for none
	time   int           // the column of ExtraColumns.Time, in the same way
}

// Locate finds the URLs in tables of a schema: in the column of that name; without a
// name in "url", else in the columns that findParts finds, else in the only column
// of strings. If URLs are put together and keep is not KeepAll, the table that comes
// out has only a column of them.
func Locate(schema *arrow.Schema, name string, keep batch.Keep) (*Location, error) {
	if err := checkByteOrder(); err != nil {
		return nil, err
	}
	l := &Location{schema: schema, column: -1, weight: -1, time: -1}
	if name == "" && len(schema.FieldIndices(joinedColumn)) == 0 {
		l.parts = findParts(schema)
	}
	if l.parts == nil {
		var err error
		l.column, err = findURLs(schema, name)
		return l, err
	}
	if l.joined = keep != batch.KeepAll; l.joined {
		metadata := schema.Metadata()
		l.schema = arrow.NewSchema([]arrow.Field{joinedField}, &metadata)
	}
	return l, nil
}

// Schema returns the schema of the output tables.
func (l *Location) Schema() *arrow.Schema { return l.schema }

// Name returns the name of the URL column; "url" if URLs are joined from several columns.
func (l *Location) Name() string {
	if l.parts != nil {
		return joinedColumn
	}
	return l.schema.Field(l.column).Name
}

// IsSplit reports whether the URLs are joined from several columns.
func (l *Location) IsSplit() bool { return l.parts != nil }

// Columns returns the indices of the columns with the URLs, and of those that FindExtra found.
func (l *Location) Columns() []int {
	if l.parts != nil {
		return l.withExtra(l.parts.Columns())
	}
	return l.withExtra([]int{l.column})
}

// Text returns a table's URL column if it has strings or bytes with offsets, otherwise
// nil. The table still owns it.
func (l *Location) Text(table arrow.Record) *array.Data {
	if l.parts != nil {
		return nil
	}
	d := table.Column(l.column).Data().(*array.Data)
	switch d.DataType().ID() {
	case arrow.STRING, arrow.BINARY, arrow.LARGE_STRING, arrow.LARGE_BINARY:
		return d
	}
	return nil
}

// URLs returns the URLs of a table, and the output table: the same, or one with only
// the URLs. The arrays must have been checked. limit is the most bytes that are joined
// or copied.
func (l *Location) URLs(table arrow.Record, limit int64) (batch.Column, arrow.Record, error) {
	if l.parts == nil {
		urls, err := URLs(table.Column(l.column).Data().(*array.Data), limit)
		if err != nil {
			err = fmt.Errorf("column %q: %w", l.Name(), err)
		}
		return urls, table, err
	}
	joined, err := l.parts.Join(table, limit)
	if err != nil {
		return batch.Column{}, nil, err
	}
	urls, err := URLs(joined.Column(0).Data().(*array.Data), limit)
	if l.joined {
		table = arrow.Record(array.NewRecord(l.schema, joined.Columns(), joined.NumRows()))
	}
	return urls, table, err
}
