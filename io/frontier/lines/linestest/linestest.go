// Package linestest has what the tests of outputs made of lines share: batches
// with all that may be in them, an output in memory, and golden files.
package linestest

import (
	"bytes"
	"errors"
	"flag"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/decimal128"
	"github.com/apache/arrow/go/v15/arrow/float16"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"robotsbatch/batch"
	"robotsbatch/io/store/blob"
	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
	"robotsbatch/matcher/robotstxt"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares got with a file in testdata, which the flag -update rewrites.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		must.Do(t, os.WriteFile(path, got, 0o666))
	}
	want := must.Get(os.ReadFile(path))(t)
	if bytes.Equal(got, want) {
		return
	}
	gotLines, wantLines := strings.SplitAfter(string(got), "\n"), strings.SplitAfter(string(want), "\n")
	for i := range min(len(gotLines), len(wantLines)) {
		if gotLines[i] != wantLines[i] {
			t.Fatalf("%s: line %d is\n%s\nwant\n%s", path, i+1, gotLines[i], wantLines[i])
		}
	}
	t.Fatalf("%s: %d lines, want %d", path, len(gotLines)-1, len(wantLines)-1)
}

// Writer is a blob.Writer in memory.
type Writer struct {
	bytes.Buffer
	Fails   error // what Write and Close return
	Closed  bool
	Aborted bool
}

func (w *Writer) Write(p []byte) (int, error) {
	if w.Fails != nil {
		return 0, w.Fails
	}
	return w.Buffer.Write(p)
}

// Close implements blob.Writer.
func (w *Writer) Close() error {
	if w.Closed {
		return errors.New("Close after Close")
	}
	w.Closed = w.Fails == nil
	return w.Fails
}

// Abort implements blob.Writer.
func (w *Writer) Abort() { w.Aborted = !w.Closed }

// List is a batch of a list of URLs; "null" is a null row.
func List(urls ...string) *batch.Batch {
	c := batch.Column{Offsets32: []int32{0}, Validity: make([]byte, (len(urls)+7)/8)}
	for i, url := range urls {
		if url != "null" {
			c.Validity[i>>3] |= 1 << (i & 7)
			c.Data = append(c.Data, url...)
		}
		c.Offsets32 = append(c.Offsets32, int32(len(c.Data)))
	}
	return &batch.Batch{Input: "urls.txt", URLs: c}
}

// rows are the values of the rows of Table. One URL is null, one has a quote,
// a comma and a tab, one is not UTF-8.
var rows = []string{
	"https://a.example/",
	`https://b.example/?q="x,y"` + "\t&z=<1>",
	"null",
	"https://c.example/\xff/ü/\u2028",
}

var storage = memory.DefaultAllocator

// Schema is that of Table, whose URL column has binary values.
func Schema() *arrow.Schema { return Table().Table.(arrow.Record).Schema() }

// Table is a batch of a table of many types. The rows of its record are sliced out
// of more, and each column but the first has a null in the third row.
func Table() *batch.Batch {
	var fields []arrow.Field
	var columns []arrow.Array
	add := func(name string, column arrow.Array) {
		fields = append(fields, arrow.Field{Name: name, Type: column.DataType(), Nullable: true})
		columns = append(columns, column)
	}
	add("id", build(arrow.PrimitiveTypes.Int32, func(b array.Builder, i int) { b.(*array.Int32Builder).Append(int32(i - 2)) }, false))
	add("url", build(arrow.BinaryTypes.Binary, func(b array.Builder, i int) {
		b.(*array.BinaryBuilder).Append([]byte(rows[i%len(rows)]))
	}, true))
	addScalars(func(name string, t arrow.DataType, appendTo func(array.Builder, int)) {
		add(name, build(t, appendTo, true))
	})
	addNested(func(name string, t arrow.DataType, appendTo func(array.Builder, int)) {
		add(name, build(t, appendTo, true))
	})
	record := array.NewRecord(arrow.NewSchema(fields, nil), columns, int64(columns[0].Len()))
	b := List(rows...)
	b.Input, b.Table = "urls.arrow", record.NewSlice(int64(len(rows)), 2*int64(len(rows)))
	return b
}

// build makes a column three times as long as rows, of which Table takes the
// second third.
func build(t arrow.DataType, appendTo func(array.Builder, int), nulls bool) arrow.Array {
	b := array.NewBuilder(storage, t)
	defer b.Release()
	for i := range 3 * len(rows) {
		if nulls && i%len(rows) == 2 {
			b.AppendNull()
			continue
		}
		appendTo(b, i%len(rows))
	}
	return b.NewArray()
}

// addScalars adds columns whose third value is null.
func addScalars(add func(string, arrow.DataType, func(array.Builder, int))) {
	add("text", arrow.BinaryTypes.LargeString, func(b array.Builder, i int) {
		b.(*array.LargeStringBuilder).Append([]string{"", "two\r\nlines", "", "a\\b\x00\x1f\x7f"}[i])
	})
	add("tag", &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}, func(b array.Builder, i int) {
		if err := b.(*array.BinaryDictionaryBuilder).AppendString([]string{"x", "y, z", "", "x"}[i]); err != nil {
			panic(err)
		}
	})
	add("ok", arrow.FixedWidthTypes.Boolean, func(b array.Builder, i int) { b.(*array.BooleanBuilder).Append(i > 0) })
	add("small", arrow.PrimitiveTypes.Uint8, func(b array.Builder, i int) { b.(*array.Uint8Builder).Append(uint8(255 - i)) })
	add("big", arrow.PrimitiveTypes.Uint64, func(b array.Builder, i int) { b.(*array.Uint64Builder).Append(math.MaxUint64 - uint64(i)) })
	add("score", arrow.PrimitiveTypes.Float64, func(b array.Builder, i int) {
		b.(*array.Float64Builder).Append([]float64{0.1, 1e300, 0, math.NaN()}[i])
	})
	add("rank", arrow.PrimitiveTypes.Float32, func(b array.Builder, i int) {
		b.(*array.Float32Builder).Append([]float32{0.1, -0.5, 0, float32(math.Inf(1))}[i])
	})
	add("half", arrow.FixedWidthTypes.Float16, func(b array.Builder, i int) { b.(*array.Float16Builder).Append(float16.New(1.5)) })
	add("at", arrow.FixedWidthTypes.Timestamp_ms, func(b array.Builder, i int) {
		b.(*array.TimestampBuilder).Append(1_700_000_000_123 + arrow.Timestamp(i)*1000)
	})
	add("day", arrow.FixedWidthTypes.Date32, func(b array.Builder, i int) { b.(*array.Date32Builder).Append(arrow.Date32(20_000 + i)) })
	add("price", &arrow.Decimal128Type{Precision: 10, Scale: 2}, func(b array.Builder, i int) {
		b.(*array.Decimal128Builder).Append(decimal128.FromI64(int64(i*100 + 5)))
	})
	add("digest", &arrow.FixedSizeBinaryType{ByteWidth: 3}, func(b array.Builder, i int) {
		b.(*array.FixedSizeBinaryBuilder).Append([]byte{0, 0xFF, byte(i)})
	})
	add("nothing", arrow.Null, func(b array.Builder, _ int) { b.AppendNull() })
}

// addNested adds columns whose values have parts.
func addNested(add func(string, arrow.DataType, func(array.Builder, int))) {
	add("list", arrow.ListOf(arrow.PrimitiveTypes.Float64), func(b array.Builder, i int) {
		list := b.(*array.ListBuilder)
		list.Append(true)
		for j := range i {
			list.ValueBuilder().(*array.Float64Builder).Append([]float64{1, math.NaN(), 2.5}[j])
		}
	})
	add("pair", arrow.FixedSizeListOf(2, arrow.BinaryTypes.String), func(b array.Builder, i int) {
		list := b.(*array.FixedSizeListBuilder)
		list.Append(true)
		list.ValueBuilder().AppendNull()
		list.ValueBuilder().(*array.StringBuilder).Append(rows[i])
	})
	add("object", arrow.StructOf(
		arrow.Field{Name: `a "key"`, Type: arrow.PrimitiveTypes.Int16, Nullable: true},
		arrow.Field{Name: "list", Type: arrow.ListOf(arrow.FixedWidthTypes.Boolean), Nullable: true},
	), func(b array.Builder, i int) {
		object := b.(*array.StructBuilder)
		object.Append(true)
		object.FieldBuilder(0).(*array.Int16Builder).Append(int16(-i))
		object.FieldBuilder(1).AppendNull()
	})
	add("map", arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int64), func(b array.Builder, i int) {
		m := b.(*array.MapBuilder)
		m.Append(true)
		m.KeyBuilder().(*array.StringBuilder).Append("k")
		m.ItemBuilder().(*array.Int64Builder).Append(int64(i))
	})
	add("runs", arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, arrow.BinaryTypes.String), func(b array.Builder, i int) {
		runs := b.(*array.RunEndEncodedBuilder)
		runs.Append(1)
		runs.ValueBuilder().(*array.StringBuilder).Append("r,r")
	})
	add("union", arrow.DenseUnionOf([]arrow.Field{
		{Name: "n", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: "s", Type: arrow.BinaryTypes.String, Nullable: true},
	}, []arrow.UnionTypeCode{5, 7}), func(b array.Builder, i int) {
		union := b.(*array.DenseUnionBuilder)
		if i == 0 {
			union.Append(5)
			union.Child(0).(*array.Int64Builder).Append(42)
			return
		}
		union.Append(7)
		union.Child(1).(*array.StringBuilder).Append("seven")
	})
}

// Verdicts are those of two agents for a batch of four rows: allowed by a rule,
// denied by one, none, and allowed without a rule. For the second agent allowed
// and denied are the other way round.
func Verdicts() *batch.Verdicts {
	explained := func(allowed byte) batch.AgentVerdicts {
		return batch.AgentVerdicts{
			Allowed: []byte{allowed}, Valid: []byte{0b1011}, Nulls: 1,
			Reasons: []matcher.Reason{matcher.AllowRule, matcher.DisallowRule, matcher.InvalidURL, matcher.NoRuleMatched},
			Rules:   []int32{1, 0, -1, -1},
			Explanations: []batch.Explanation{
				{Text: `Disallow: /*?q="x,y"`, Agent: "*", Line: 12},
				{Text: "Allow: /", Agent: "CCBot/2.0, and others", Line: 3},
			},
		}
	}
	return &batch.Verdicts{
		Rows: 4, SelectedRows: 4, Agents: []batch.AgentVerdicts{explained(0b1001), explained(0b0010)},
		Members: 2, Denied: [][]int32{nil, {1}, {0, 1}}, DeniedOf: []int32{2, 1, -1, 0},
		AsOf: asOf, Columns: factValues(),
	}
}

const asOf = 1_772_366_460

// factValues are the values of the Facts that the evaluator sets, for four rows: the host of 0 and
// 1 has a robots.txt with everything, row 2 has no host, and that of 3 has no robots.txt.
func factValues() []batch.Values {
	none := batch.Host{Authority: []byte("http://10.0.0.1"), Facts: &matcher.Facts{Status: 404}}
	all := batch.Host{Authority: []byte("https://a.example"), HasRules: true, Time: asOf, Facts: &matcher.Facts{
		Status: 200, Fetched: 1_772_366_400, Kind: robotstxt.TextKind, Records: &matcher.Records{
			CrawlDelays: []float64{matcher.NoCrawlDelay, 0.5}, Sitemaps: []string{`https://a.example/1,x`, "/é%20b"}, Digest: "00ff",
		},
		Usage: matcher.CompileUsage(
			robotstxt.Parse([]byte("User-agent: ccbot\nLicense: https://a.example/1,x\nLicense: urn:2"), robotstxt.Options{}),
			matcher.NewAgents([]matcher.Chain{{"CCBot"}, {"*"}}), matcher.UsageOptions{Licenses: true}),
	}}
	var values []batch.Values
	for _, c := range Facts() {
		if c.Kind.IsSet() {
			v := batch.Values{Kind: c.Kind, Agent: c.Agent}
			for _, h := range []*batch.Host{&all, &all, nil, &none} {
				of := int32(-1)
				switch {
				case h == nil:
				case c.Kind.Value != nil:
					of = v.Add(c.Kind.Value(h, c.Agent))
				case h == &all: // a column that the evaluator sets row by row
					of = v.Add(batch.Value{Known: true, Text: "reference"})
				}
				v.Of = append(v.Of, of)
			}
			values = append(values, v)
		}
	}
	return values
}

// Facts are the columns of facts beside those of the agents CCBot and *.
func Facts() []batch.VerdictColumn {
	var with []*batch.ColumnKind
	for _, name := range batch.WithNames() {
		kind, err := batch.ParseWith(name)
		if err != nil {
			panic(err)
		}
		with = append(with, kind)
	}
	columns, err := batch.VerdictColumns(batch.ColumnOptions{Agents: []string{"CCBot", "*"}, With: with})
	if err != nil {
		panic(err)
	}
	return columns
}

// Lists are the columns of verdicts that are combined of those of CCBot and *, and then
// that of lists alone.
func Lists() []batch.VerdictColumn {
	o := batch.ColumnOptions{Agents: []string{"CCBot", "*"}, Combined: true}
	columns, err := batch.VerdictColumns(o)
	if err != nil {
		panic(err)
	}
	o.ListOnly = true
	only, err := batch.VerdictColumns(o)
	if err != nil {
		panic(err)
	}
	return append(columns, only...)
}

// Columns are the verdict columns of the agents CCBot and *, or of CCBot alone.
func Columns(agents int, explain bool) []batch.VerdictColumn {
	columns, err := batch.VerdictColumns(batch.ColumnOptions{Agents: []string{"CCBot", "*"}[:agents], Explain: explain})
	if err != nil {
		panic(err)
	}
	return columns
}

// Write has a sink write batches and returns what is in w then.
func Write(t *testing.T, w *Writer, sink batch.Sink, v *batch.Verdicts, batches ...*batch.Batch) []byte {
	t.Helper()
	for _, b := range batches {
		must.Do(t, sink.Write(must.Get(sink.Encode(b, v))(t)))
	}
	must.Do(t, sink.Close())
	if !w.Closed {
		t.Error("the output is not closed")
	}
	return w.Bytes()
}

// NewSink opens a sink of lines that writes to memory.
func NewSink[O any](t testing.TB, open func(blob.Writer, O) (batch.Sink, error), o O) (*Writer, batch.Sink) {
	t.Helper()
	w := new(Writer)
	s := must.Get(open(w, o))(t)
	return w, s
}

// BenchmarkEncode measures writing a list of URLs with a verdict each.
func BenchmarkEncode(b *testing.B, w *Writer, s batch.Sink) {
	const rows = 65_536
	list := List(slices.Repeat([]string{"https://www.example.com/some/path/of/a/page.html?with=a&query=string"}, rows)...)
	v := &batch.Verdicts{Rows: rows, Agents: []batch.AgentVerdicts{{
		Allowed: bytes.Repeat([]byte{0b1011_0110}, rows/8), Valid: bytes.Repeat([]byte{0xFF}, rows/8),
	}}}
	b.SetBytes(int64(len(list.URLs.Data)))
	for b.Loop() {
		must.Do(b, s.Write(must.Get(s.Encode(list, v))(b)))
		w.Reset()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
}

// GoldenCase is an output of the rows of List(rows...), or of Table, twice.
type GoldenCase[O any] struct {
	File    string
	Options O
	Table   bool
}

// GoldenCases compares what a format writes with its golden files. check looks at the
// output in the way of the format.
func GoldenCases[O any](t *testing.T, open func(blob.Writer, O) (batch.Sink, error), cases []GoldenCase[O], check func(t *testing.T, o O, got []byte)) {
	for _, c := range cases {
		t.Run(c.File, func(t *testing.T) {
			b := List(rows...)
			if c.Table {
				b = Table()
			}
			w, s := NewSink(t, open, c.Options)
			got := Write(t, w, s, Verdicts(), b, b)
			golden(t, c.File, got)
			check(t, c.Options, got)
		})
	}
}

// Texts is a schema of columns of strings.
func Texts(names ...string) *arrow.Schema {
	var fields []arrow.Field
	for _, name := range names {
		fields = append(fields, arrow.Field{Name: name, Type: arrow.BinaryTypes.String})
	}
	return arrow.NewSchema(fields, nil)
}
