package tableio

import (
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"robotsbatch/batch"
	"robotsbatch/io/store/blob"
	"robotsbatch/io/tables"
)

// Output makes the columns of an output: the input's columns that its layout keeps,
// then the verdicts. It is safe for concurrent use.
type Output struct {
	layout batch.Layout
	input  *arrow.Schema // nil for a list of URLs
	kept   []int         // indices of the input's columns that are written
	schema *arrow.Schema // of the output
	made   *arrow.Schema // of the columns that are made; it differs from schema after CodeAgents
	coded  bool          // CodeAgents was called
	empty  bool          // KeepEmpty was called
	mem    memory.Allocator
}

// NewOutput returns the output of batches whose tables are records of the schema
// input, which is nil for a list of URLs. An input column with the name of a
// verdict column is an error.
//
// Columns of the input keep type and metadata, a list's is utf8. Verdict columns have the
// Arrow types of their kinds' types; times are timestamps in milliseconds of UTC.
func NewOutput(layout batch.Layout, input *arrow.Schema, mem memory.Allocator) (*Output, error) {
	if err := checkByteOrder(); err != nil {
		return nil, err
	}
	o := &Output{layout: layout, input: input, mem: mem}
	var fields []arrow.Field
	var metadata *arrow.Metadata
	switch {
	case input == nil && layout.Keep != batch.KeepNone:
		fields = append(fields, arrow.Field{Name: layout.URLColumn, Type: arrow.BinaryTypes.String, Nullable: true})
	case input != nil:
		m := input.Metadata()
		metadata = &m
		for i, field := range input.Fields() {
			if layout.Keep == batch.KeepAll || layout.Keep == batch.KeepURL && field.Name == layout.URLColumn {
				o.kept = append(o.kept, i)
				fields = append(fields, field)
			}
		}
		if layout.Keep == batch.KeepURL && len(fields) != 1 {
			return nil, fmt.Errorf("the input has %d columns %q where it needs one", len(fields), layout.URLColumn)
		}
	}
	if err := batch.CheckNames(ColumnsOf(arrow.NewSchema(fields, nil)).Names, layout.Verdicts); err != nil {
		return nil, err
	}
	for _, column := range layout.Verdicts {
		fields = append(fields, arrow.Field{Name: column.Name, Type: valueTypes[column.Kind.Type], Nullable: !column.Kind.Required})
	}
	o.schema = arrow.NewSchema(fields, metadata)
	o.made = o.schema // until CodeAgents is called
	return o, nil
}

// CodeAgents has columns of lists of agents made as [tables.CodedLists], for a format that stores names by number. With
// plain lists, a job with 166 agents takes four times the processor time. Schema returns the same as before. Call it
// before Shares.
func (o *Output) CodeAgents() {
	fields := slices.Clone(o.schema.Fields())
	for i, column := range o.layout.Verdicts { // they are the last columns
		if column.Kind.Agents {
			fields[len(fields)-len(o.layout.Verdicts)+i].Type = tables.CodedLists
		}
	}
	metadata := o.schema.Metadata()
	o.made, o.coded = arrow.NewSchema(fields, &metadata), true
}

// KeepEmpty has Shares call encode for batches without rows as well. Call it before Shares.
func (o *Output) KeepEmpty() { o.empty = true }

// Schema returns the output's schema, the input's metadata included.
func (o *Output) Schema() *arrow.Schema { return o.schema }

// Inputs returns those columns of the batch's table that are written, with all rows; none for a
// list of URLs. The table still owns them.
func (o *Output) Inputs(b *batch.Batch) ([]*array.Data, error) {
	if o.input == nil {
		return nil, nil
	}
	record, ok := b.Table.(arrow.Record)
	if !ok {
		return nil, errors.New("the batch has no table of its rows")
	}
	if schema := record.Schema(); schema != o.input && !sameFields(schema.Fields(), o.input.Fields()) {
		return nil, fmt.Errorf("%s has other columns than the output: inputs of one output must have the same", b.Input)
	}
	columns := make([]*array.Data, len(o.kept))
	for i, column := range o.kept {
		columns[i] = record.Column(column).Data().(*array.Data)
	}
	return columns, nil
}

// inputColumns returns the given rows of the input's columns that are written, made by m. They are of the batch's table
// or, for a list, one of its URLs. n is the number of all rows of the batch. The caller releases the columns.
func (o *Output) inputColumns(b *batch.Batch, n int, m tables.Maker, rows tables.Rows) ([]*array.Data, error) {
	if o.input == nil {
		if o.layout.Keep == batch.KeepNone {
			return nil, nil
		}
		urls := tables.Strings(b.URLs)
		column, err := m.Strings(&urls, rows)
		if err != nil {
			return nil, columnError(o.layout.URLColumn, err)
		}
		return []*array.Data{column}, nil
	}
	inputs, err := o.Inputs(b)
	if err == nil && b.Table.(arrow.Record).NumRows() != int64(n) {
		err = errors.New("the batch has no table of its rows")
	}
	if err != nil {
		return nil, err
	}
	columns := make([]*array.Data, len(inputs), len(inputs)+len(o.layout.Verdicts))
	for i, data := range inputs {
		columns[i] = m.Gather(data, rows)
	}
	return columns, nil
}

// sameFields reports whether two lists of fields have the same names and types.
func sameFields(a, b []arrow.Field) bool {
	return slices.EqualFunc(a, b, func(x, y arrow.Field) bool { return x.Name == y.Name && sameType(x.Type, y.Type) })
}

// sameType reports whether two types are equal, except that inner fields may differ in metadata, which the
// library compares for some types, and in whether they are nullable. Fixed-size lists and unions
// have more than fields (a length; mode and codes): these are equal only if the library says so.
func sameType(a, b arrow.DataType) bool {
	if arrow.TypeEqual(a, b) {
		return true
	}
	x, nested := a.(arrow.NestedType)
	y, ok := b.(arrow.NestedType)
	if !nested || !ok || a.ID() != b.ID() || a.ID() == arrow.FIXED_SIZE_LIST || arrow.IsUnion(a.ID()) {
		return false
	}
	return sameFields(x.Fields(), y.Fields())
}

// Closing closes or aborts the file that a sink writes, so that Abort may follow any Close.
type Closing struct {
	File   blob.Writer
	closed bool
}

// Close calls end, which writes what is left, and then closes the file. It is called once; after an error
// the file may be aborted.
func (c *Closing) Close(end func() error) error {
	if c.closed {
		return errors.New("the output is closed already")
	}
	err := end()
	if err == nil {
		err = c.File.Close()
	}
	c.closed = err == nil
	return err
}

// Abort aborts the file, unless it is closed.
func (c *Closing) Abort() {
	if !c.closed {
		c.File.Abort()
	}
}
