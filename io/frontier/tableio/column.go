package tableio

import (
	"slices"
	"strings"

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

// place is where a table has values: in a column, or in a field of a struct, as corpora have
// URLs in metadata.url.
type place struct {
	name     string
	column   int   // index of the column, negative for none
	path     []int // indices of the fields on the way into it, outermost first; nil for the column itself
	dataType arrow.DataType
}

// nowhere is the place of values that a table does not have.
var nowhere = place{column: -1}

// columnAt returns the place of column i.
func columnAt(schema *arrow.Schema, i int) place {
	field := schema.Field(i)
	return place{name: field.Name, column: i, dataType: field.Type}
}

// findPlace returns the place of the values with a name: the column whose index find returns, or nowhere if that is
// negative. If find fails, it is a field of a struct that has the name or, without one, find's error is returned.
func findPlace(schema *arrow.Schema, name string, find func(name string) (int, error)) (place, error) {
	found, err := find(name)
	if err != nil {
		if p := fieldOf(schema, name); p.path != nil {
			return p, nil
		}
		return nowhere, err
	}
	if found < 0 {
		return nowhere, nil
	}
	return columnAt(schema, found), nil
}

// fieldOf returns the place of a field of a struct by a name with dots, such as metadata.url; nowhere if
// there is none. Of several fields with one name it is the first.
func fieldOf(schema *arrow.Schema, name string) place {
	outer, rest, dotted := strings.Cut(name, ".")
	found := schema.FieldIndices(outer)
	if !dotted || len(found) == 0 {
		return nowhere
	}
	p := columnAt(schema, found[0])
	p.name = name
	for dotted {
		var field string
		field, rest, dotted = strings.Cut(rest, ".")
		outer, ok := tables.Storage(p.dataType).(*arrow.StructType)
		if !ok {
			return nowhere
		}
		i, ok := outer.FieldIdx(field)
		if !ok {
			return nowhere
		}
		p.path, p.dataType = append(p.path, i), outer.Field(i).Type
	}
	return p
}

// valuesOf returns the values of a table's rows. The table still owns them.
func (p place) valuesOf(table arrow.Record) *array.Data {
	d := table.Column(p.column).Data().(*array.Data)
	for _, i := range p.path {
		d = tables.FieldOf(d, i)
	}
	return d
}
