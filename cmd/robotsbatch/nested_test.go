package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/bitutil"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"robotsbatch/io/store/must"
)

// nestedTables writes one table twice as Arrow files: nested.arrow has the URL, its time and
// its weight in fields of structs, as corpora do, some of which are null; flat.arrow has them
// in columns.
func nestedTables(t *testing.T, urlType arrow.DataType) {
	t.Helper()
	field := func(name string, dt arrow.DataType) arrow.Field {
		return arrow.Field{Name: name, Type: dt, Nullable: true}
	}
	fields := []arrow.Field{field("tokens", arrow.PrimitiveTypes.Int32), field("url", urlType), field("date", arrow.FixedWidthTypes.Timestamp_us)}
	nested := arrow.NewSchema([]arrow.Field{
		field("text", arrow.BinaryTypes.String),
		field("metadata", arrow.StructOf(field("dump", arrow.BinaryTypes.String), field("page", arrow.StructOf(
			fields[0], fields[1], field("tags", arrow.ListOf(arrow.BinaryTypes.String)), fields[2],
		)))),
	}, nil)
	flat := arrow.NewSchema(append([]arrow.Field{field("text", arrow.BinaryTypes.String)}, fields...), nil)
	n, f := array.NewRecordBuilder(memory.DefaultAllocator, nested), array.NewRecordBuilder(memory.DefaultAllocator, flat)
	outer := n.Field(1).(*array.StructBuilder)
	inner := outer.FieldBuilder(1).(*array.StructBuilder)
	write := func(name string, schema *arrow.Schema, record arrow.Record) {
		file := must.Get(os.Create(name))(t)
		defer file.Close()
		w := must.Get(ipc.NewFileWriter(file, ipc.WithSchema(schema)))(t)
		for _, part := range []arrow.Record{record.NewSlice(0, 20), record.NewSlice(20, record.NumRows())} { // the second has offsets
			must.Do(t, w.Write(part))
		}
		must.Do(t, w.Close())
	}
	for i := range 50 {
		for _, b := range []array.Builder{n.Field(0), f.Field(0)} {
			_ = b.AppendValueFromString(fmt.Sprintf("text %d", i))
		}
		values := []string{fmt.Sprint(i % 7), fmt.Sprintf("https://example.com/private/%d", i%5), fmt.Sprintf("2026-0%d-01 00:00:00", 1+i%8)}
		if i%3 == 0 {
			values[1] = "https://example.com/public"
		}
		outer.Append(true)
		_ = outer.FieldBuilder(0).AppendValueFromString("dump")
		inner.Append(true)
		_ = inner.FieldBuilder(2).AppendValueFromString([]string{`["a","b"]`, "[]"}[i%2])
		for k, value := range values {
			null := i%17 == k
			for _, b := range []array.Builder{inner.FieldBuilder([]int{0, 1, 3}[k]), f.Field(k + 1)} {
				if null || b == f.Field(k+1) && (i%11 == 3 || i%13 == 5) {
					b.AppendNull()
				} else if err := b.AppendValueFromString(value); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	// Structs that are null have values all the same, which do not count.
	record := n.NewRecord()
	metadata := record.Column(1).Data()
	page := nullEach(metadata.Children()[1], 13, 5, metadata.Children()[1].Children())
	metadata = nullEach(metadata, 11, 3, []arrow.ArrayData{metadata.Children()[0], page})
	write("nested.arrow", nested, array.NewRecord(nested, []arrow.Array{record.Column(0), array.MakeFromData(metadata)}, record.NumRows()))
	write("flat.arrow", flat, f.NewRecord())
}

// nullEach makes the values at i null where i % n is k.
func nullEach(d arrow.ArrayData, n, k int, children []arrow.ArrayData) arrow.ArrayData {
	valid := make([]byte, bitutil.BytesForBits(int64(d.Len())))
	for i := range d.Len() {
		bitutil.SetBitTo(valid, i, i%n != k)
	}
	return array.NewData(d.DataType(), d.Len(), []*memory.Buffer{memory.NewBufferBytes(valid)}, children, array.UnknownNullCount, 0)
}

// A field of a struct serves like a column: for URLs, times and weights, in each format of
// tables, whatever is copied.
func TestFieldsOfStructs(t *testing.T) {
	workplace(t)
	must.WriteFile(t, "captures.jsonl", `{"url":"https://example.com/robots.txt","status":200,"body":"User-agent: *\nDisallow: /private\n","fetched_at":"2026-02-15T00:00:00Z"}
{"url":"https://example.com/robots.txt","status":200,"body":"User-agent: *\nDisallow: /public\n","fetched_at":"2026-05-15T00:00:00Z"}
`)
	judged := func(args ...string) (rows, summary string) {
		t.Helper()
		args = append([]string{"-rules", "captures.jsonl", "-explain", "-batch-rows", "7"}, args...)
		if !slices.Contains(args, "-out") {
			args = append(args, "-out-format", "csv")
		}
		status, rows, summary := runWith(t.Context(), "", args...)
		must.Need(t, status == exitDone, "%q: status %d: %s", args, status, summary)
		_, summary, _ = strings.Cut(summary, "resolved, 0 not\n")
		summary, _, _ = strings.Cut(summary, "; 1 host")
		return rows, summary
	}
	for i, urlType := range []arrow.DataType{
		arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString,
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String},
	} {
		nestedTables(t, urlType)
		flat := []string{"-url-column", "url", "-as-of", "column:date", "-weight", "tokens"}
		within := []string{"-url-column", "metadata.page.url", "-as-of", "column:metadata.page.date", "-weight", "metadata.page.tokens"}
		want, wantSummary := judged(append(flat, "-in", "flat.arrow", "-columns", "verdict")...)
		wantURLs, _ := judged(append(flat, "-in", "flat.arrow", "-columns", "url")...)
		must.Need(t, strings.Contains(want, "disallow_rule") && strings.Contains(want, "allow") && strings.Contains(want, "invalid"),
			"the rows are too much alike: %s", want)
		for _, name := range []string{"nested.arrow", "nested.arrows", "nested.parquet"} {
			if name != "nested.arrow" {
				judged(append(within, "-in", "nested.arrow", "-out", name, "-prefix", "first_")...)
			}
			rows, summary := judged(append(within, "-in", name, "-columns", "verdict")...)
			must.Be(t, rows == want && strings.ReplaceAll(summary, "metadata.page.", "") == wantSummary,
				"%s, %s: %s\n%s\nwant %s\n%s", urlType, name, summary, rows, wantSummary, want)
			urls, _ := judged(append(within, "-in", name, "-columns", "url")...)
			must.Equal(t, urls, "metadata.page."+wantURLs, urlType, name, "URLs", wantURLs)
			if i > 0 {
				continue
			}
			again := []string{"-columns", "verdict", "-url-column", "metadata.page.url", "-prefix", "x_", "-in"}
			now, _ := judged(append(again, name)...)
			for _, out := range []string{"out.arrow", "out.parquet"} {
				for _, columns := range []string{"all", "url"} {
					what := fmt.Sprintf("%s, %s to %s, columns %s", urlType, name, out, columns)
					judged(append(within, "-in", name, "-out", out, "-columns", columns)...)
					rows, _ := judged(append(again, out)...)
					must.Be(t, rows == now, "%s: read again\n%s\nwant\n%s", what, rows, now)
					judged(append(within, "-in", name, "-out", out, "-columns", columns, "-emit", "denied")...)
					rows, _ = judged(append(again, out)...)
					must.Equal(t, strings.Count(rows, "\n")-1, strings.Count(want, "disallow_rule"), what, "rows denied")
				}
			}
		}
	}
}

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
