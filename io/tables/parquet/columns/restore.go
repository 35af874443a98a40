package columns

import (
	"slices"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/io/tables"
)

// restore gives the column the metadata and the type of stored, its field in the stored Arrow schema; nil for
// none. If the values of c.Field.Type cannot have that type, the column keeps its own. restore notes a cast for
// dictionaries, views and types of lists that it does not restore.
func (c *Column) restore(r *reader, stored *arrow.Field) {
	if stored == nil {
		return
	}
	c.Field.Metadata = merge(stored.Metadata, c.Field.Metadata)
	dt := tables.Storage(stored.Type)
	if dictionary, ok := dt.(*arrow.DictionaryType); ok { // read as plain values
		values := *stored
		values.Type, values.Metadata = dictionary.ValueType, arrow.Metadata{}
		c.restore(r, &values)
		r.cast(stored.Type, c.Field.Type)
		return
	}
	switch c.shape {
	case aStruct:
		if dt, ok := dt.(*arrow.StructType); ok && len(dt.Fields()) == len(c.children) {
			for i, field := range dt.Fields() {
				if field.Name == c.children[i].Field.Name {
					c.children[i].restore(r, &field)
				}
			}
		}
		c.Field.Type = c.structType()
	case aMap:
		if dt, ok := dt.(*arrow.MapType); ok {
			entries := c.children[0]
			key, item := dt.KeyField(), dt.ItemField()
			entries.children[0].restore(r, &key)
			entries.children[1].restore(r, &item)
			entries.Field.Type = entries.structType()
			c.Field.Type = tables.MapOf(entries.children[0].Field, entries.children[1].Field, dt.KeysSorted)
		}
	case aList:
		c.restoreList(r, dt)
	default:
		c.restoreLeaf(r, dt)
	}
}

// cast notes that a column's stored type is replaced.
func (r *reader) cast(from, to arrow.DataType) {
	r.casts = append(r.casts, Cast{Column: r.name, From: from.String(), To: to.String()})
}

// merge returns the metadata of both; the second's values override the first's.
func merge(first, second arrow.Metadata) arrow.Metadata {
	keys, values := slices.Clone(first.Keys()), slices.Clone(first.Values())
	for i, key := range second.Keys() {
		if at := first.FindKey(key); at >= 0 {
			values[at] = second.Values()[i]
			continue
		}
		keys, values = append(keys, key), append(values, second.Values()[i])
	}
	return arrow.NewMetadata(keys, values)
}

// structType returns the type of a struct with the children's fields.
func (c *Column) structType() arrow.DataType {
	fields := make([]arrow.Field, len(c.children))
	for i, child := range c.children {
		fields[i] = child.Field
	}
	return arrow.StructOf(fields...)
}

// restoreList is restore for lists: it restores the elements, large lists and lists of a fixed size. Views are
// read as lists.
func (c *Column) restoreList(r *reader, dt arrow.DataType) {
	list, ok := dt.(arrow.ListLikeType)
	if !ok {
		return
	}
	element := list.ElemField()
	c.children[0].restore(r, &element)
	c.children[0].Field.Name = element.Name // Parquet's own is always "element"
	child := c.children[0].Field
	switch dt := dt.(type) {
	case *arrow.LargeListType:
		c.Field.Type = arrow.LargeListOfField(child)
		return
	case *arrow.FixedSizeListType:
		c.Field.Type = arrow.FixedSizeListOfField(dt.Len(), child)
		return
	}
	if c.Field.Type = arrow.ListOfField(child); dt.ID() != arrow.LIST {
		r.cast(dt, c.Field.Type)
	}
}

// restoreLeaf is restore for a column with values itself. It restores large strings and bytes, durations, time
// zones and wide decimals. dt is the stored type.
func (c *Column) restoreLeaf(r *reader, dt arrow.DataType) {
	switch inferred := c.Field.Type.(type) {
	case arrow.BinaryDataType:
		switch id, isText := dt.ID(), inferred.IsUtf8(); {
		case isText && id == arrow.LARGE_STRING, !isText && id == arrow.LARGE_BINARY:
			c.Field.Type = dt
		case isText && id == arrow.STRING_VIEW, !isText && id == arrow.BINARY_VIEW:
			r.cast(dt, inferred)
		}
	case *arrow.Int64Type:
		if dt.ID() == arrow.DURATION {
			c.Field.Type = dt
		}
	case *arrow.TimestampType:
		// A time zone only says how to show an instant. Timestamps without one are no instants.
		if withZone, ok := dt.(*arrow.TimestampType); ok && inferred.TimeZone != "" && withZone.TimeZone != "" {
			c.Field.Type = &arrow.TimestampType{Unit: inferred.Unit, TimeZone: withZone.TimeZone}
		}
	case *arrow.Decimal128Type:
		if wide, ok := dt.(*arrow.Decimal256Type); ok && wide.Precision == inferred.Precision && wide.Scale == inferred.Scale {
			c.Field.Type = wide
		}
	}
}
