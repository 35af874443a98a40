package tableio

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"robotsbatch/batch"
	"robotsbatch/batch/option"
	"robotsbatch/io/frontier/format"
	"robotsbatch/io/tables"
)

// findURLs returns the index of the column with the URLs: what [format.Columns.URL]
// finds, or the only string column.
func findURLs(schema *arrow.Schema, name string) (int, error) {
	columns := columnsOf(schema)
	found, err := columns.URL(name)
	if err != nil {
		return 0, cmp.Or(within(schema, name), err)
	}
	if found >= 0 {
		if field := schema.Field(found); !holdsURLs(field.Type, true) {
			return 0, option.Errorf("column %q is of type %s, which holds no URLs: name another one with %s (the columns are %s)", field.Name, field.Type, option.URLColumn, columns)
		}
		return found, nil
	}
	only := -1
	for i, field := range schema.Fields() {
		if !holdsURLs(field.Type, false) {
			continue
		}
		if only >= 0 {
			return 0, option.Errorf("which column has the URLs? There is no \"url\", and more than one of strings: name one of %s with %s", columns, option.URLColumn)
		}
		only = i
	}
	if only < 0 {
		return 0, option.Errorf("no column has strings: name the one with the URLs with %s (the columns are %s)", option.URLColumn, columns)
	}
	return only, nil
}

// within returns an error for a name with dots that is a field of a column; nil for any other.
func within(schema *arrow.Schema, name string) error {
	outer, field, _ := strings.Cut(name, ".")
	for _, i := range schema.FieldIndices(outer) {
		if dt, ok := tables.Storage(schema.Field(i).Type).(*arrow.StructType); ok && field != "" {
			if _, ok := dt.FieldIdx(strings.SplitN(field, ".", 2)[0]); ok {
				return fmt.Errorf(`%q lies within the column %q, and such names are for jsonl: make it a column, such as duckdb -c "copy (select %s as %s, * from 'in.parquet') to 'out.parquet'"`,
					name, outer, name, name[strings.LastIndexByte(name, '.')+1:])
			}
		}
	}
	return nil
}

// columnsOf returns the names of a schema's columns, with their types.
func columnsOf(schema *arrow.Schema) format.Columns {
	c := format.Columns{Type: func(i int) string { return schema.Field(i).Type.String() }}
	for _, field := range schema.Fields() {
		c.Names = append(c.Names, field.Name)
	}
	return c
}

// holdsURLs reports whether a column of that type can hold URLs: strings, binary
// values if those count, or a dictionary of such.
func holdsURLs(dt arrow.DataType, binary bool) bool {
	dt = tables.Storage(dt)
	if dictionary, ok := dt.(*arrow.DictionaryType); ok {
		dt = tables.Storage(dictionary.ValueType)
	}
	switch dt.ID() {
	case arrow.STRING, arrow.LARGE_STRING, arrow.STRING_VIEW:
		return true
	case arrow.BINARY, arrow.LARGE_BINARY, arrow.BINARY_VIEW:
		return binary
	}
	return false
}

// URLs returns the strings of a checked array. It copies only views, up to limit bytes.
func URLs(d *array.Data, limit int64) (batch.Column, error) {
	strings, err := tables.StringsOf(d, limit)
	if err != nil {
		return batch.Column{}, worded(err)
	}
	column := batch.Column(strings)
	return column, column.Validate()
}
