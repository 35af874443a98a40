package lines

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/batch"
	"robotsbatch/io/frontier/format"
)

// Column is a column of the output.
type Column struct {
	// Name as it is written.
	Name string
	// kind says where the values come from.
	kind columnKind
	// field is the index of an inputColumn in the input's records.
	field int
	// verdict describes a verdictColumn.
	verdict batch.VerdictColumn
	// most is the layout's limit of memory, in bytes.
	most int64
}

type columnKind uint8

const (
	urlColumn     columnKind = iota // batch.Batch.URLs
	inputColumn                     // another column of batch.Batch.Table
	verdictColumn                   // batch.Verdicts
)

// Columns returns the columns of an output: those of the input that the layout
// keeps, then the verdicts. The schema is the input's, nil for a list of URLs.
//
// The first column with the URL column's name is written from batch.Batch.URLs, as
// text whatever its type. A table whose URLs were put together from several columns
// has no such column; KeepURL then adds one.
func Columns(l batch.Layout, schema *arrow.Schema) ([]Column, error) {
	url := Column{Name: cmp.Or(l.URLColumn, format.URLColumn), kind: urlColumn}
	var columns []Column
	switch {
	case l.Keep == batch.KeepNone:
	case l.Keep == batch.KeepURL || schema == nil:
		columns = append(columns, url)
	default:
		columns = inputColumns(schema, url)
	}
	names := make([]string, len(columns))
	for i, column := range columns {
		names[i] = column.Name
	}
	if err := batch.CheckNames(names, l.Verdicts); err != nil {
		return nil, err
	}
	for _, v := range l.Verdicts {
		columns = append(columns, Column{Name: v.Name, kind: verdictColumn, verdict: v})
	}
	for i := range columns {
		columns[i].most = l.MemoryLimit()
	}
	return columns, nil
}

// inputColumns returns the columns of an input's schema. url takes the place of the first column
// with its name.
func inputColumns(schema *arrow.Schema, url Column) (columns []Column) {
	for i, field := range schema.Fields() {
		columns = append(columns, Column{Name: field.Name, kind: inputColumn, field: i})
	}
	if i := slices.IndexFunc(columns, func(c Column) bool { return c.Name == url.Name }); i >= 0 {
		columns[i] = url
	}
	return columns
}

// Appender appends a row's value to dst.
type Appender func(dst []byte, row int) []byte

// Text returns, for each column of a batch, how a row's value is appended as text. Null is
// empty. The caller must quote the text, which may have quotes and line ends. Booleans are
// true and false, numbers as short as they can be, timestamps like 2006-01-02 15:04:05Z,
// binary values base64, and lists, maps and structs are JSON.
func Text(b *batch.Batch, v *batch.Verdicts, columns []Column) ([]Appender, error) {
	return appenders(b, v, columns, textForm)
}

// JSON returns, for each column of a batch, how a row's value is appended as JSON (RFC 8259).
// Numbers that JSON cannot write, such as NaN, are null. Bytes that are not UTF-8 become
// U+FFFD, and set *replaced. Lists are arrays, maps and structs are objects. Values of other types
// are strings of what Text writes.
func JSON(b *batch.Batch, v *batch.Verdicts, columns []Column, replaced *atomic.Bool) ([]Appender, error) {
	f := jsonForm
	f.replaced = replaced
	return appenders(b, v, columns, f)
}

// appenders returns, for each column of a batch, how a row's value is appended in a form.
func appenders(b *batch.Batch, v *batch.Verdicts, columns []Column, f form) ([]Appender, error) {
	result := make([]Appender, len(columns))
	for i, column := range columns {
		f.most = column.most
		switch column.kind {
		case urlColumn:
			result[i] = f.urls(&b.URLs)
		case verdictColumn:
			var err error
			if result[i], err = f.verdicts(v, &columns[i].verdict); err != nil {
				return nil, err
			}
		case inputColumn:
			record, ok := b.Table.(arrow.Record)
			if !ok || int64(column.field) >= record.NumCols() || record.NumRows() != int64(v.Rows) {
				return nil, fmt.Errorf("column %q is not in the batch, which has a %T", column.Name, b.Table)
			}
			result[i] = f.values(record.Column(column.field))
		}
	}
	return result, nil
}

// selected reports whether a row is written.
func selected(v *batch.Verdicts, row int) bool {
	return v.Selected == nil || v.Selected[row>>3]>>(row&7)&1 != 0
}

// IsPlain reports whether the column's text never has one of the special characters, for which it
// would be quoted. Only verdict columns are known to be so: they have true, false, words of the
// program, or names of agents.
func (c *Column) IsPlain(special string) bool {
	if c.kind != verdictColumn {
		return false
	}
	kind := c.verdict.Kind
	if kind.Agents {
		return !slices.ContainsFunc(c.verdict.Names, func(name string) bool { return strings.ContainsAny(name, special) })
	}
	return kind.Type == batch.BoolType || kind.Plain
}
