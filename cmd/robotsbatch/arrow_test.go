package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// makeArrow is the scripts' command "mkarrow OUT": it writes lines from stdin
// as an Arrow file, or as a stream when OUT ends in .arrows. The first line has
// the columns, as name:type; a line each row, with \N for null; a line "--"
// ends a record batch. Columns are separated by blanks.
func makeArrow() {
	check := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, "mkarrow:", err)
			os.Exit(1)
		}
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Scan()
	schema := parseSchema(strings.Fields(lines.Text()))
	f, err := os.Create(os.Args[1])
	check(err)
	var w interface {
		Write(arrow.Record) error
		io.Closer
	}
	if strings.HasSuffix(os.Args[1], ".arrows") {
		w = ipc.NewWriter(f, ipc.WithSchema(schema))
	} else {
		w, err = ipc.NewFileWriter(f, ipc.WithSchema(schema))
		check(err)
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	flush := func() { check(w.Write(b.NewRecord())) }
	for lines.Scan() {
		if lines.Text() == "--" {
			flush()
			continue
		}
		for i, value := range strings.Fields(lines.Text()) {
			if value == `\N` {
				b.Field(i).AppendNull()
			} else {
				check(b.Field(i).AppendValueFromString(value))
			}
		}
	}
	flush()
	check(w.Close())
	check(f.Close())
}

func parseSchema(columns []string) *arrow.Schema {
	types := map[string]arrow.DataType{
		"utf8": arrow.BinaryTypes.String, "large_utf8": arrow.BinaryTypes.LargeString,
		"binary": arrow.BinaryTypes.Binary, "int": arrow.PrimitiveTypes.Int64, "uint": arrow.PrimitiveTypes.Uint64, "float": arrow.PrimitiveTypes.Float64,
		"bool":       arrow.FixedWidthTypes.Boolean,
		"seconds":    arrow.FixedWidthTypes.Timestamp_s,
		"naive":      &arrow.TimestampType{Unit: arrow.Microsecond},
		"interval":   arrow.FixedWidthTypes.MonthInterval,
		"scaled":     &arrow.Decimal128Type{Precision: 5, Scale: -2},
		"dictionary": &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String},
	}
	var fields []arrow.Field
	for _, column := range columns {
		name, kind, _ := strings.Cut(column, ":")
		fields = append(fields, arrow.Field{Name: name, Type: types[kind], Nullable: true})
	}
	metadata := arrow.NewMetadata([]string{"origin"}, []string{"mkarrow"})
	return arrow.NewSchema(fields, &metadata)
}

// printArrow is the scripts' command "arrowcat FILE": it prints an Arrow file
// or stream as text.
func printArrow() {
	f, err := os.Open(os.Args[1])
	if err == nil {
		err = dumpArrow(f, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "arrowcat:", err)
		os.Exit(1)
	}
}

func dumpArrow(f *os.File, w io.Writer) error {
	if r, err := ipc.NewFileReader(f); err == nil {
		dumpSchema(w, r.Schema())
		for i := range r.NumRecords() {
			record, err := r.Record(i)
			if err != nil {
				return err
			}
			dumpRecord(w, record)
		}
		return nil
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	r, err := ipc.NewReader(f)
	if err != nil {
		return err
	}
	dumpSchema(w, r.Schema())
	for r.Next() {
		dumpRecord(w, r.Record())
	}
	return r.Err()
}

func dumpSchema(w io.Writer, s *arrow.Schema) {
	var names []string
	for _, field := range s.Fields() {
		names = append(names, field.Name+":"+field.Type.String())
	}
	fmt.Fprintln(w, strings.Join(names, " "), s.Metadata())
}

func dumpRecord(w io.Writer, r arrow.Record) {
	fmt.Fprintln(w, "-- "+strconv.FormatInt(r.NumRows(), 10)+" rows")
	for row := range int(r.NumRows()) {
		var values []string
		for _, column := range r.Columns() {
			if column.IsNull(row) {
				values = append(values, `\N`)
			} else {
				values = append(values, column.ValueStr(row))
			}
		}
		fmt.Fprintln(w, strings.Join(values, " "))
	}
}
