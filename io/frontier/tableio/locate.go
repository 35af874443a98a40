package tableio

import (
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"robotsbatch/batch"
	"robotsbatch/batch/option"
)

// SourceOptions are those of a source of Arrow or Parquet.
type SourceOptions struct {
	// Name of the input for errors, such as a path or "stdin".
	Name string
	// URLColumn names the column with the URLs. Empty means "url" or, if there is no
	// such column, what [Locate] finds.
	URLColumn string
	// Keep says which columns are written: with [batch.KeepAll] all are read, otherwise
	// only those with the URLs.
	Keep batch.Keep
	// Extra names columns that are read besides the URLs, even if they are not written.
	Extra batch.ExtraColumns
	// BatchRows is the most rows that a batch has; 0 means 65,536.
	BatchRows int
	// Memory is the most bytes, as read and decoded together, of a record batch with all dictionaries; in
	// Parquet, of a page, and of the rows of a batch. 0 means 512 MiB.
	Memory int64
	// Part selects the record batches or row groups of a file that are read. Row numbers
	// start at its first row.
	Part batch.Part
	// Piece is the most bytes that the rows of a batch take as the file declares their size; 0 means an
	// eighth of Memory. Only Parquet has it.
	Piece int64
	// StopAtEnd stops reading at a stream's end marker, because its writer may keep it open. Only Arrow
	// has it.
	StopAtEnd bool
}

// Location says where a table has its URLs: in one column, or split over
// several, as in Common Crawl's index.
type Location struct {
	schema *arrow.Schema // of the output tables, see URLs
	urls   place         // of the URLs; nowhere if parts is not nil
	parts  *Parts        // the columns from which URLs are joined; nil if they are in one column
	alone  bool          // the output table is one column with the URLs, which the input does not have
	copies bool          // see ReadsWritten
	weight place         // the column of ExtraColumns.Weight; nowhere for none
	time   place         // the column of ExtraColumns.Time; nowhere for none
}

// Locate finds the URLs in tables of a schema, and the columns of extra. name names a column, or
// a field of a struct (metadata.url). If it is empty, the URLs are in the column "url"; without such a column
// they are joined from the columns that findParts finds; without these they are in the only column of strings.
//
// keep says which columns are written. They are taken from the output table. That is the input's table, unless only
// URLs are written and these are not a column of the input: then it is a table of one column, the URLs.
func Locate(schema *arrow.Schema, name string, keep batch.Keep, extra batch.ExtraColumns) (*Location, error) {
	if err := checkByteOrder(); err != nil {
		return nil, err
	}
	l := &Location{schema: schema, urls: nowhere}
	var err error
	if name == "" && len(schema.FieldIndices(urlName)) == 0 {
		if l.parts, err = findParts(schema); err != nil {
			return nil, err
		}
	}
	urlField := joinedField
	if l.parts == nil {
		if l.urls, err = findURLs(schema, name); err != nil {
			return nil, err
		}
		urlField = arrow.Field{Name: l.urls.name, Type: l.urls.dataType, Nullable: true}
	}
	if l.alone = !l.IsColumn() && keep != batch.KeepAll; l.alone {
		metadata := schema.Metadata()
		l.schema = arrow.NewSchema([]arrow.Field{urlField}, &metadata)
	}
	// Each column that is read is written: all are, or the URL column alone is read.
	l.copies = keep == batch.KeepAll || l.IsColumn() && extra == (batch.ExtraColumns{})
	if l.weight, err = findExtra(schema, extra.Weight, option.Weight, isNumber, "integers or floats"); err != nil {
		return nil, err
	}
	l.time, err = findExtra(schema, extra.Time, option.AsOf, holdsTimes, "timestamps, dates, seconds or text")
	return l, err
}

// Schema returns the schema of the output tables.
func (l *Location) Schema() *arrow.Schema { return l.schema }

// Name returns the name of the URL column, with dots for a field of a struct; "url" if URLs
// are joined from several columns.
func (l *Location) Name() string {
	if l.parts != nil {
		return urlName
	}
	return l.urls.name
}

// IsJoined reports whether the URLs are joined from several columns.
func (l *Location) IsJoined() bool { return l.parts != nil }

// IsColumn reports whether the URLs are a column of the table.
func (l *Location) IsColumn() bool { return l.parts == nil && l.urls.path == nil }

// ReadsWritten reports whether each column that is read is also written. If not, tables cannot be copied
// without decoding: the columns from which URLs are joined, and those of ExtraColumns, are written only with
// [batch.KeepAll].
func (l *Location) ReadsWritten() bool { return l.copies }

// Paths returns the columns that are read: those with the URLs, and those of ExtraColumns. A path is the column's index
// and, for a field of a struct, the indices of the fields on the way to it.
func (l *Location) Paths() [][]int {
	var paths [][]int
	if l.parts != nil {
		for _, column := range l.parts.Columns() {
			paths = append(paths, []int{column})
		}
	}
	for _, p := range []place{l.urls, l.weight, l.time} {
		if p.column >= 0 {
			paths = append(paths, append([]int{p.column}, p.path...))
		}
	}
	return paths
}

// Columns returns the indices of the columns that are read, each once.
func (l *Location) Columns() []int {
	var columns []int
	for _, path := range l.Paths() {
		if !slices.Contains(columns, path[0]) {
			columns = append(columns, path[0])
		}
	}
	return columns
}

// Text returns a table's URL column, which the table still owns, if its values are stored as offsets and bytes. Otherwise
// it returns nil.
func (l *Location) Text(table arrow.Record) *array.Data {
	if !l.IsColumn() {
		return nil
	}
	d := l.urls.valuesOf(table)
	switch d.DataType().ID() {
	case arrow.STRING, arrow.BINARY, arrow.LARGE_STRING, arrow.LARGE_BINARY:
		return d
	}
	return nil
}

// URLs returns the URLs of a table, and the output table (see Locate), which shares the memory of the table or of the
// URLs. The arrays must have been checked. limit is the most bytes of URLs that are joined or copied.
func (l *Location) URLs(table arrow.Record, limit int64) (urls batch.Column, _ arrow.Record, err error) {
	var values *array.Data
	if l.parts == nil {
		values = l.urls.valuesOf(table)
	} else if values, err = l.parts.join(table, limit); err != nil {
		return urls, nil, err
	}
	urls, err = URLs(values, limit)
	if err != nil {
		err = columnError(l.Name(), err)
	} else if l.alone {
		table = array.NewRecord(l.schema, []arrow.Array{array.MakeFromData(values)}, table.NumRows())
	}
	return urls, table, err
}
