package tableio

import (
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"robotsbatch/io/tables"
)

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
