package tableio

import (
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"robotsbatch/batch"
	"robotsbatch/batch/option"
	"robotsbatch/io/frontier/format"
	"robotsbatch/io/tables"
)

// findURLs returns the column with the URLs, or the field of a struct. [format.Columns.URL] finds it by the name; if
// there is no name, and no column "url", it is the only column of strings.
func findURLs(schema *arrow.Schema, name string) (place, error) {
	columns := ColumnsOf(schema)
	found, err := findPlace(schema, name, columns.URL)
	if err != nil {
		return found, err
	}
	if found.column >= 0 {
		if !isText(found.dataType) {
			return found, option.Errorf("column %q is of type %s, which holds no URLs: name another one with %s (the columns are %s)", found.name, found.dataType, option.URLColumn, columns)
		}
		return found, nil
	}
	only := -1
	for i, field := range schema.Fields() {
		if !slices.Contains(stringTypes, textType(field.Type)) {
			continue
		}
		if only >= 0 {
			return found, option.Errorf("which column has the URLs? There is no \"url\", and more than one of strings: name one of %s with %s", columns, option.URLColumn)
		}
		only = i
	}
	if only < 0 {
		return found, option.Errorf("no column has strings: name the one with the URLs with %s (the columns are %s)", option.URLColumn, columns)
	}
	return columnAt(schema, only), nil
}

// ColumnsOf returns the names and types of a schema's columns.
func ColumnsOf(schema *arrow.Schema) format.Columns {
	c := format.Columns{Type: func(i int) string { return schema.Field(i).Type.String() }}
	for _, field := range schema.Fields() {
		c.Names = append(c.Names, field.Name)
	}
	return c
}

// The types of texts. Columns of bytes may have URLs as well, but are not searched for them.
var (
	stringTypes = []arrow.Type{arrow.STRING, arrow.LARGE_STRING, arrow.STRING_VIEW}
	binaryTypes = []arrow.Type{arrow.BINARY, arrow.LARGE_BINARY, arrow.BINARY_VIEW}
)

// isText reports whether a column of type dt has texts, which may be URLs: strings or bytes, or a dictionary of these.
func isText(dt arrow.DataType) bool {
	return slices.Contains(slices.Concat(stringTypes, binaryTypes), textType(dt))
}

// textType returns the type of the values of a column of type dt, which may be an extension, a dictionary or both.
func textType(dt arrow.DataType) arrow.Type {
	dt = tables.Storage(dt)
	if dictionary, ok := dt.(*arrow.DictionaryType); ok {
		dt = tables.Storage(dictionary.ValueType)
	}
	return dt.ID()
}

// URLs returns the texts of a checked array as a column in its memory. Of views it makes a copy, as
// [tables.StringsOf] does with limit.
func URLs(d *array.Data, limit int64) (batch.Column, error) {
	strings, err := tables.StringsOf(d, limit)
	if err != nil {
		return batch.Column{}, Worded(err)
	}
	column := batch.Column(strings)
	return column, column.Validate()
}
