package arrowipc

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"robotsbatch/batch"
	"robotsbatch/io/frontier/tableio"
	"robotsbatch/io/frontier/tableio/tablestest"
	"robotsbatch/io/store/compress"
	"robotsbatch/io/store/must"
	"robotsbatch/io/tables/arrow/layout"
	"robotsbatch/matcher"
)

// explained are verdicts of two agents with explanations for five rows.
func explained() *batch.Verdicts {
	return &batch.Verdicts{
		Rows: 5,
		Agents: []batch.AgentVerdicts{
			{
				Allowed: []byte{0b01001}, Valid: []byte{0b11011}, Nulls: 1,
				Reasons: []matcher.Reason{matcher.AllowRule, matcher.DisallowRule, matcher.InvalidURL, matcher.NoRobots, matcher.DisallowRule},
				Rules:   []int32{0, 1, -1, -1, 1},
				Explanations: []batch.Explanation{
					{Text: "allow: /é", Agent: "*", Line: 7}, {Text: "disallow: /", Agent: "FooBot", Line: 12},
				},
			},
			{Allowed: []byte{0b11111}, Valid: []byte{0b11111}, Reasons: slices.Repeat([]matcher.Reason{matcher.NoGroup}, 5), Rules: []int32{-1, -1, -1, -1, -1}},
		},
	}
}

// listBatch is a batch of a list of URLs.
func listBatch(urls ...string) *batch.Batch {
	column := batch.Column{Offsets32: []int32{0}}
	for _, u := range urls {
		column.Data = append(column.Data, u...)
		column.Offsets32 = append(column.Offsets32, int32(len(column.Data)))
	}
	return &batch.Batch{Input: "list", URLs: column}
}

// write encodes and writes one batch and closes the sink.
func write(t *testing.T, s batch.Sink, b *batch.Batch, v *batch.Verdicts) {
	t.Helper()
	must.Do(t, s.Write(must.Get(s.Encode(b, v))(t)))
	must.Do(t, s.Close())
}

// dump shows a table as lines of text.
func dump(schema *arrow.Schema, records []arrow.Record) string {
	var text strings.Builder
	for _, field := range schema.Fields() {
		null := ""
		if field.Nullable {
			null = "?"
		}
		fmt.Fprintf(&text, "%s %s%s, ", field.Name, field.Type, null)
	}
	text.WriteString("\n")
	for _, record := range records {
		for i := range int(record.NumRows()) {
			for _, column := range record.Columns() {
				text.WriteString(column.ValueStr(i) + ", ")
			}
			text.WriteString("\n")
		}
	}
	return text.String()
}

func TestVerdictColumns(t *testing.T) {
	columns := must.Get(batch.VerdictColumns(batch.ColumnOptions{Agents: []string{"*", "FooBot"}, Explain: true, Prefix: "r_"}))(t)
	const header = "url utf8?, r_allowed_all bool?, r_reason_all utf8, r_rule_all utf8?, r_rule_line_all int32?, r_rule_agent_all utf8?, " +
		"r_allowed_foobot bool?, r_reason_foobot utf8, r_rule_foobot utf8?, r_rule_line_foobot int32?, r_rule_agent_foobot utf8?, \n"
	const nobody = "true, no_group, (null), (null), (null), \n"
	rows := []string{
		"http://a/, true, allow_rule, allow: /é, 7, *, " + nobody,
		"http://b/, false, disallow_rule, disallow: /, 12, FooBot, " + nobody,
		"c, (null), invalid_url, (null), (null), (null), " + nobody,
		"http://d/, true, no_robots, (null), (null), (null), " + nobody,
		"http://e/\xff, false, disallow_rule, disallow: /, 12, FooBot, " + nobody,
	}
	b := listBatch("http://a/", "http://b/", "c", "http://d/", "http://e/\xff")
	for _, e := range encodings {
		for _, selected := range []byte{0b11111, 0b00001, 0b10110, 0} {
			t.Run(fmt.Sprintf("%s/%b", e, selected), func(t *testing.T) {
				var out output
				s := must.Get(NewSink(&out, SinkOptions{
					Layout: batch.Layout{URLColumn: "url", Verdicts: columns},
					Codec:  e.compression, Stream: e.stream, mem: trackMemory(t),
				}))(t)
				v := explained()
				v.Selected = []byte{selected}
				write(t, s, b, v)
				want := header
				for i, row := range rows {
					if selected>>i&1 == 1 {
						want += row
					}
				}
				must.Equal(t, dump(tablestest.ReadArrow(t, out.Bytes())), want)
			})
		}
	}
}

// A list's nulls stay null, also in a slice of it.
func TestListWithNulls(t *testing.T) {
	b := listBatch("a", "b", "c", "d")
	b.URLs.Validity = []byte{0b1010}
	b.URLs = b.URLs.Slice(1, 4)
	var out output
	s := must.Get(NewSink(&out, SinkOptions{Codec: compress.Zstd, Layout: batch.Layout{URLColumn: "page"}, mem: trackMemory(t)}))(t)
	write(t, s, b, tablestest.Verdicts(3))
	must.Equal(t, dump(tablestest.ReadArrow(t, out.Bytes())), "page utf8?, \nb, \n(null), \nd, \n")
}

// tableBatch is a batch of a record with its URLs in the first column.
func tableBatch(t testing.TB, record arrow.Record) *batch.Batch {
	t.Helper()
	urls := must.Get(tableio.URLs(record.Column(0).Data().(*array.Data), 1<<20))(t)
	return &batch.Batch{Input: "table", URLs: urls, Table: record}
}

func TestLayouts(t *testing.T) {
	fieldMetadata := arrow.NewMetadata([]string{"unit"}, []string{"ms"})
	metadata := arrow.NewMetadata([]string{"pandas", "k"}, []string{"{}", "v"})
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "page", Type: arrow.BinaryTypes.LargeString},
		{Name: "n", Type: arrow.PrimitiveTypes.Int64, Nullable: true, Metadata: fieldMetadata},
	}, &metadata)
	record := array.NewRecord(schema, []arrow.Array{
		tablestest.FromJSON(t, arrow.BinaryTypes.LargeString, `["a","b","c"]`), tablestest.FromJSON(t, arrow.PrimitiveTypes.Int64, `[1,null,3]`),
	}, 3)
	for _, test := range []struct {
		keep batch.Keep
		want string
	}{
		{batch.KeepAll, "page large_utf8, n int64?, allowed bool?, \na, 1, true, \nb, (null), false, \nc, 3, (null), \n"},
		{batch.KeepURL, "page large_utf8, allowed bool?, \na, true, \nb, false, \nc, (null), \n"},
		{batch.KeepNone, "allowed bool?, \ntrue, \nfalse, \n(null), \n"},
	} {
		for _, stream := range []bool{false, true} {
			var out output
			s := must.Get(NewSink(&out, SinkOptions{
				Codec:  compress.Zstd,
				Schema: schema, Stream: stream, mem: trackMemory(t),
				Layout: batch.Layout{Keep: test.keep, URLColumn: "page", Verdicts: []batch.VerdictColumn{{Name: "allowed", Kind: batch.Allowed}}},
			}))(t)
			write(t, s, tableBatch(t, record), tablestest.Verdicts(3))
			got, records := tablestest.ReadArrow(t, out.Bytes())
			must.Equal(t, dump(got, records), test.want)
			m := got.Metadata()
			must.Be(t, m.Equal(metadata), "metadata %v, want %v", m, metadata)
			if test.keep == batch.KeepAll && !got.Field(1).Metadata.Equal(fieldMetadata) {
				t.Errorf("metadata of a field %v, want %v", got.Field(1).Metadata, fieldMetadata)
			}
		}
	}
}

func TestNewSinkErrors(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "url", Type: arrow.BinaryTypes.String}, {Name: "allowed", Type: arrow.FixedWidthTypes.Boolean},
	}, nil)
	verdicts := []batch.VerdictColumn{{Name: "allowed", Kind: batch.Allowed}}
	for _, test := range []struct {
		name    string
		options SinkOptions
		fail    int
		errHas  string
	}{
		{"clash", SinkOptions{Codec: compress.Zstd, Schema: schema, Layout: batch.Layout{URLColumn: "url", Verdicts: verdicts}}, 0, "prefix"},
		{"clash with the list's column", SinkOptions{Codec: compress.Zstd, Layout: batch.Layout{URLColumn: "allowed", Verdicts: verdicts}}, 0, "prefix"},
		{"no clash", SinkOptions{Codec: compress.Zstd, Schema: schema, Layout: batch.Layout{Keep: batch.KeepURL, URLColumn: "url", Verdicts: verdicts}}, 0, ""},
		{"no URL column", SinkOptions{Codec: compress.Zstd, Schema: schema, Layout: batch.Layout{Keep: batch.KeepURL, URLColumn: "page"}}, 0, `0 columns "page"`},
		{"full disk", SinkOptions{Codec: compress.Zstd, Layout: batch.Layout{URLColumn: "url"}}, 4, "disk full"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := NewSink(&output{fail: test.fail}, test.options)
			if test.errHas == "" {
				must.Do(t, err)
				return
			}
			must.Say(t, err, test.errHas)
		})
	}
}

func TestEncodeErrors(t *testing.T) {
	record := tablestest.NewRecord([]string{"url"}, tablestest.URLArray(3, false))
	other := tablestest.NewRecord([]string{"page"}, tablestest.URLArray(3, false))
	for _, test := range []struct {
		name   string
		b      *batch.Batch
		column batch.VerdictColumn
		errHas string
	}{
		{"no table", listBatch("a", "b", "c"), batch.VerdictColumn{Name: "allowed", Kind: batch.Allowed}, "no table"},
		{"a table of other rows", tableBatch(t, record.NewSlice(0, 2)), batch.VerdictColumn{Name: "allowed", Kind: batch.Allowed}, "no table of its rows"},
		{"another table", tableBatch(t, other), batch.VerdictColumn{Name: "allowed", Kind: batch.Allowed}, "table has other columns"},
		{"no explanations", tableBatch(t, record), batch.VerdictColumn{Name: "reason", Kind: batch.Explaining[0]}, `column "reason"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := must.Get(NewSink(&output{}, SinkOptions{
				Codec:  compress.Zstd,
				Schema: record.Schema(), mem: trackMemory(t),
				Layout: batch.Layout{URLColumn: "url", Verdicts: []batch.VerdictColumn{test.column}},
			}))(t)
			must.Say(t, must.Err(s.Encode(test.b, tablestest.Verdicts(3))), test.errHas)
		})
	}
}

// An output that cannot be written is not closed, and aborting it aborts w.
func TestWriteErrors(t *testing.T) {
	whole := &output{}
	for fail := 0; ; fail += 50 {
		out := &output{fail: fail}
		s, err := NewSink(out, SinkOptions{Codec: compress.Zstd, Layout: batch.Layout{URLColumn: "url"}, mem: trackMemory(t)})
		if fail > 0 && err != nil {
			continue
		}
		must.Do(t, err)
		chunk, err := s.Encode(listBatch("http://a/"), tablestest.Verdicts(1))
		must.Do(t, err)
		if err = s.Write(chunk); err == nil {
			err = s.Close()
		}
		if fail == 0 {
			whole = out
			if s.Abort(); err != nil || out.aborted {
				t.Fatalf("aborted after closing: %v, %v", out.aborted, err)
			}
			continue
		}
		if fail >= whole.Len() {
			must.Do(t, err)
			return
		}
		if s.Abort(); err == nil || out.closed || !out.aborted {
			t.Fatalf("full at %d: closed %v, aborted %v, %v", fail, out.closed, out.aborted, err)
		}
	}
}

// dictionaryRecord has URLs in a dictionary.
func dictionaryRecord(t testing.TB, indices, values string) arrow.Record {
	dt := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	return tablestest.NewRecord([]string{"url"}, array.NewDictionaryArray(dt, tablestest.FromJSON(t, dt.IndexType, indices), tablestest.FromJSON(t, dt.ValueType, values)))
}

// A file's dictionaries can stay or grow; a stream's can change, too.
func TestDictionaryOutputs(t *testing.T) {
	ab, abc, same, xy := dictionaryRecord(t, `[1,0,null]`, `["a","b"]`), dictionaryRecord(t, `[2,0]`, `["a","b","c"]`),
		dictionaryRecord(t, `[1]`, `["a","b"]`), dictionaryRecord(t, `[0,1]`, `["x","y"]`)
	for _, test := range []struct {
		name             string
		records          []arrow.Record
		want             string
		inFile, inStream int // dictionary batches that are written
		fails            bool
	}{
		{name: "same", records: []arrow.Record{ab, same, ab}, want: "b a - b b a -", inFile: 1, inStream: 1},
		{name: "grows", records: []arrow.Record{ab, abc, same}, want: "b a - c a b", inFile: 2, inStream: 2},
		{name: "shrinks", records: []arrow.Record{abc, ab}, want: "c a b a -", inFile: 1, inStream: 1},
		{name: "changes", records: []arrow.Record{ab, xy, ab}, want: "b a - x y b a -", inStream: 3, fails: true},
	} {
		for _, e := range encodings {
			t.Run(test.name+"/"+e.String(), func(t *testing.T) {
				var out output
				w, err := NewSink(&out, SinkOptions{
					Schema: ab.Schema(), Stream: e.stream, Codec: e.compression, mem: trackMemory(t),
					Layout: batch.Layout{URLColumn: "url"},
				})
				must.Do(t, err)
				for _, record := range test.records {
					b := tableBatch(t, record)
					chunk, encodeErr := w.Encode(b, tablestest.Verdicts(b.URLs.Len()))
					must.Do(t, encodeErr)
					if err = w.Write(chunk); err != nil {
						break
					}
				}
				if test.fails && !e.stream {
					must.Need(t, err != nil && strings.Contains(err.Error(), ".arrows"), "error %v", err)
					w.Abort()
					return
				}
				must.Do(t, err)
				must.Do(t, w.Close())
				dictionaries := test.inFile
				if e.stream {
					dictionaries = test.inStream
				}
				written, _ := messagesOf(t, out.Bytes())
				must.Be(t, len(written) == dictionaries, "%d dictionaries written, want %d", len(written), dictionaries)
				batches, err := readAll(out.Bytes(), false, Options{})
				must.Need(t, err == nil && urlsOf(batches) == test.want, "%q, %v, want %q", urlsOf(batches), err, test.want)
				if !e.stream {
					compareLibrary(t, out.Bytes(), test.want)
				}
			})
		}
	}
}

// compareLibrary compares a file's only column as the library reads it.
func compareLibrary(t *testing.T, data []byte, want string) {
	_, records := tablestest.ReadArrow(t, data)
	var values []string
	for _, record := range records {
		for i := range record.Column(0).Len() {
			values = append(values, strings.ReplaceAll(record.Column(0).ValueStr(i), "(null)", "-"))
		}
	}
	must.Equal(t, strings.Join(values, " "), want, "library reads")
}

// Reading, selecting and writing give back all memory that they take.
func TestMemoryIsGivenBack(t *testing.T) {
	for _, c := range tablestest.Columns(t) {
		t.Run(c.Name, func(t *testing.T) {
			record := tablestest.NewRecord([]string{"url", "x"}, tablestest.URLArray(c.Array.Len(), true), c.Array)
			data := libraryWrite(t, allEncodings[3], record.Schema(), record, record)
			mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
			s := must.Get(open(data, false, Options{BatchRows: 5}))(t)
			w := must.Get(NewSink(&output{}, SinkOptions{Codec: compress.Zstd, Schema: record.Schema(), Layout: batch.Layout{URLColumn: "url"}, mem: mem}))(t)
			must.Do(t, tablestest.Each(s, func(p batch.Piece) error {
				b := must.Get(p.Decode())(t)
				v := tablestest.Verdicts(b.URLs.Len())
				v.Selected = []byte{0b1101}
				chunk := must.Get(w.Encode(b, v))(t)
				b.Release()
				return w.Write(chunk)
			}))
			must.Do(t, s.Close())
			must.Do(t, w.Close())
			mem.AssertSize(t, 0)
		})
	}
}

// A pipe gets a record batch for each of its own, even if all rows are left out.
func TestOneToOneWithoutRows(t *testing.T) {
	for _, c := range tablestest.Columns(t) {
		record := tablestest.NewRecord([]string{"url", "x"}, tablestest.URLArray(c.Array.Len(), false), c.Array)
		var out output
		s := must.Get(NewSink(&out, SinkOptions{Stream: true, OneToOne: true, Selects: true, Schema: record.Schema(), Layout: batch.Layout{URLColumn: "url"}}))(t)
		b := tableBatch(t, record)
		v := tablestest.Verdicts(b.URLs.Len())
		tablestest.Select(v, func(int) bool { return false })
		write(t, s, b, v)
		schema, records := tablestest.ReadArrow(t, out.Bytes())
		must.Be(t, len(records) == 1 && records[0].NumRows() == 0 && arrow.TypeEqual(schema.Field(1).Type, c.Array.DataType()), "%s: %v", c.Name, records)
	}
}

// The end marker stands before a file's footer, so that what writes files is
// read from a pipe.
func TestEndMarkerInFiles(t *testing.T) {
	var out output
	s := must.Get(NewSink(&out, SinkOptions{Codec: compress.Zstd, Layout: batch.Layout{URLColumn: "url"}}))(t)
	write(t, s, listBatch("http://a/"), tablestest.Verdicts(1))
	must.Need(t, bytes.Contains(out.Bytes(), layout.EndOfStream), "no end marker")
	batches, err := readAll(out.Bytes(), true, Options{})
	must.Need(t, err == nil && urlsOf(batches) == "http://a/", "%q, %v", urlsOf(batches), err)
}
