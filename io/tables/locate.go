package tables

import (
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"robotsbatch/batch"
)

// Location says where a table has its URLs: in one column, or split over
// several, as in Common Crawl's index.
type Location struct {
	schema *arrow.Schema // of the tables that come out
	column int           // of the URLs, or
	parts  *Parts        // what they are put together from
	joined bool          // what comes out is the URLs that were put together
	weight int           // the column of Beside.Weight; -1 for none
	time   int           // that of Beside.Time likewise
}

// Locate finds the URLs in tables of a schema: in the column of that name; without a
// name in "url", else in the columns that findParts finds, else in the only column
// of strings. If URLs are put together and keep is not KeepAll, the table that comes
// out has only a column of them.
func Locate(schema *arrow.Schema, name string, keep batch.Keep) (*Location, error) {
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

// Schema is that of the tables that come out.
func (l *Location) Schema() *arrow.Schema { return l.schema }

// Name is the URL column's; "url" when they are put together from several.
func (l *Location) Name() string {
	if l.parts != nil {
		return joinedColumn
	}
	return l.schema.Field(l.column).Name
}

// IsSplit reports whether the URLs are put together from several columns.
func (l *Location) IsSplit() bool { return l.parts != nil }

// Columns are the indices of the columns that the URLs are in, and of those beside them.
func (l *Location) Columns() []int {
	if l.parts != nil {
		return l.withBeside(l.parts.Columns())
	}
	return l.withBeside([]int{l.column})
}

// Text returns the column of URLs of a table if it is one of strings or bytes with
// offsets, else nil. It is the table's.
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

// URLs returns the URLs of a table, and the table that comes out: the same, or the URLs
// alone. The arrays must have been checked. limit bounds the bytes that are put
// together or copied.
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
