package columns

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/io/store/panics"
	"robotsbatch/io/tables"
	arrowlayout "robotsbatch/io/tables/arrow/layout"
	"robotsbatch/io/tables/parquet/layout"
)

// Table is the schema of a file in Arrow's types, column by column.
type Table struct {
	File    *layout.File
	Schema  *arrow.Schema
	Nodes   []*Node
	Columns []*Column
	Errs    []error  // of columns that cannot be read
	Casts   [][]Cast // of columns
	// Foreign says that the Arrow schema stored in the file is not understood, so that columns
	// have the types of Parquet's own schema.
	Foreign bool
}

// ReadTable reads the footer of a file of size bytes, and finds the Arrow type of each column. The footer may
// have limit bytes. A column that cannot be read is an error in Errs alone.
func ReadTable(r io.ReaderAt, size, limit int64) (t *Table, err error) {
	t = new(Table)
	if t.File, err = layout.ReadFooter(r, size, limit); err != nil {
		return nil, err
	}
	stored, err := t.stored()
	if err != nil {
		return nil, err
	}
	t.Nodes = FromParquet(t.File)
	t.Columns, t.Errs, t.Casts = make([]*Column, len(t.Nodes)), make([]error, len(t.Nodes)), make([][]Cast, len(t.Nodes))
	fields := make([]arrow.Field, len(t.Nodes))
	for i, n := range t.Nodes {
		if t.Columns[i], t.Casts[i], t.Errs[i] = Read(n, storedField(stored, i, n.Name)); t.Errs[i] != nil {
			fields[i] = arrow.Field{Name: n.Name, Type: arrow.Null} // nobody reads it
			continue
		}
		fields[i] = t.Columns[i].Field
		t.Casts[i] = append(t.Casts[i], storedCasts(stored, i, fields[i])...)
	}
	m := schemaMetadata(stored, t.File.Metadata)
	t.Schema = arrow.NewSchema(fields, &m)
	return t, nil
}

// Narrow limits column i to the struct fields at the paths, and returns its new Arrow field. A path has the
// indices of fields from the column inwards; an empty one means the whole column, which is not changed. Types
// of the stored Arrow schema are not restored in a narrowed column.
func (t *Table) Narrow(i int, paths [][]int) (arrow.Field, error) {
	part := t.Nodes[i].With(paths)
	if part == t.Nodes[i] {
		return t.Schema.Field(i), nil
	}
	if t.Columns[i], t.Casts[i], t.Errs[i] = Read(part, nil); t.Errs[i] != nil {
		return arrow.Field{}, fmt.Errorf("column %q: %w", part.Name, t.Errs[i])
	}
	return t.Columns[i].Field, nil
}

// Pick returns the nodes of the columns with these indices, nil for all, and their leaves, in the file's
// order.
func (t *Table) Pick(columns []int) (nodes, leaves []*Node) {
	for i, n := range t.Nodes {
		if columns == nil || slices.Contains(columns, i) {
			nodes = append(nodes, n)
		}
	}
	return nodes, Leaves(nil, nodes)
}

// Chunk returns the column chunk of a leaf in a row group.
func (t *Table) Chunk(group int, leaf *Node) *layout.Chunk {
	return &t.File.Groups[group].Chunks[leaf.Leaf]
}

// schemaKey is the metadata key under which Arrow's readers look for the Arrow schema.
const schemaKey = "ARROW:schema"

// stored returns the Arrow schema that some writers store in the file. It is nil if there is none, or if it is
// not supported; then it sets t.Foreign.
func (t *Table) stored() (schema *arrowlayout.Schema, err error) {
	for _, pair := range t.File.Metadata {
		if pair.Key != schemaKey {
			continue
		}
		schema, err = decodeSchema(pair.Value)
		if errors.Is(err, arrowlayout.ErrUnsupported) {
			t.Foreign = true
			return nil, nil
		}
		if err != nil {
			err = fmt.Errorf("damaged: the Arrow schema stored in it cannot be read: %w", err)
		}
		return schema, err
	}
	return nil, nil
}

// decodeSchema reads a stored schema, which is in base64.
func decodeSchema(text string) (schema *arrowlayout.Schema, err error) {
	defer panics.Recover(&err, panics.As("damaged"))
	stream, err := decodeBase64(text)
	if err != nil {
		return nil, err
	}
	return arrowlayout.ReadSchema(stream)
}

// decodeBase64 decodes text with or without padding.
func decodeBase64(text string) ([]byte, error) {
	return base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "=\r\n"))
}

// storedField returns the stored field of column i, nil if there is none with that name.
func storedField(schema *arrowlayout.Schema, i int, name string) *arrow.Field {
	if schema == nil || i >= len(schema.Columns) || schema.Arrow.Field(i).Name != name {
		return nil
	}
	field := schema.Arrow.Field(i)
	return &field
}

// storedCasts returns a cast of column i from its stored type to field.Type if Arrow's library for Go does not have the
// stored one, and else none.
func storedCasts(schema *arrowlayout.Schema, i int, field arrow.Field) []Cast {
	if storedField(schema, i, field.Name) == nil {
		return nil
	}
	if schema.Columns[i].Unknown {
		return []Cast{{Column: field.Name, From: "a type of the stored Arrow schema that is not known here", To: field.Type.String()}}
	}
	if bits := schema.Columns[i].SmallDecimal(); bits > 0 {
		return []Cast{{Column: field.Name, From: fmt.Sprintf("decimal%d", bits), To: "decimal128"}}
	}
	return nil
}

// schemaMetadata returns the metadata of both the stored schema, which may be nil, and the file. The stored
// schema's value counts for a key that both have. The schema itself is left out.
func schemaMetadata(stored *arrowlayout.Schema, file []layout.KeyValue) arrow.Metadata {
	var keys, values []string
	seen := map[string]bool{schemaKey: true}
	add := func(key, value string) {
		if !seen[key] {
			seen[key] = true
			keys, values = append(keys, key), append(values, value)
		}
	}
	if stored != nil {
		m := stored.Arrow.Metadata()
		for i, key := range m.Keys() {
			add(key, m.Values()[i])
		}
	}
	for _, pair := range file {
		add(pair.Key, pair.Value)
	}
	return arrow.NewMetadata(keys, values)
}

// MetadataOf returns the key-value metadata of a file to be written: that of the schema, for readers of
// Parquet, and the encoded schema, for Arrow's.
func MetadataOf(schema *arrow.Schema) (pairs []layout.KeyValue, err error) {
	m := schema.Metadata()
	for i, key := range m.Keys() {
		pairs = append(pairs, layout.KeyValue{Key: key, Value: m.Values()[i]})
	}
	stored, err := arrowlayout.BuildSchema(schema)
	if err != nil {
		return nil, err
	}
	return append(pairs, layout.KeyValue{Key: schemaKey, Value: base64.StdEncoding.EncodeToString(stored.Head())}), nil
}

// Extended returns a function that turns a file's metadata into that of a copy. The copy has the file's
// columns with the indices kept, nil for all, then those of added. The function changes a stored Arrow schema
// to these columns, and sets key to the names of the added ones, separated by commas.
func Extended(kept []int, added *arrow.Schema, key string) func(pairs []layout.KeyValue) ([]layout.KeyValue, error) {
	return func(pairs []layout.KeyValue) ([]layout.KeyValue, error) {
		pairs = slices.DeleteFunc(slices.Clone(pairs), func(p layout.KeyValue) bool { return p.Key == key })
		for i, pair := range pairs {
			if pair.Key != schemaKey {
				continue
			}
			stream, err := decodeBase64(pair.Value)
			if err == nil {
				stream, err = arrowlayout.ExtendSchema(stream, kept, added)
			}
			if err != nil {
				return nil, &tables.LimitError{What: fmt.Sprintf("the Arrow schema stored in it cannot be extended: %v", err), Help: tables.Recode}
			}
			pairs[i].Value = base64.StdEncoding.EncodeToString(stream)
		}
		var names []string
		for _, field := range added.Fields() {
			names = append(names, field.Name)
		}
		return append(pairs, layout.KeyValue{Key: key, Value: strings.Join(names, ",")}), nil
	}
}
