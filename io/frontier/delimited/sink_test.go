package delimited

import (
	"bytes"
	"encoding/csv"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"go.uber.org/goleak"

	"robotsbatch/batch"
	"robotsbatch/io/frontier/lines"
	"robotsbatch/io/frontier/lines/linestest"
	"robotsbatch/io/store/compress"
	"robotsbatch/io/store/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newSink(t testing.TB, o lines.SinkOptions) (*linestest.Writer, batch.Sink) {
	t.Helper()
	return linestest.NewSink(t, NewSink, o)
}

func TestGolden(t *testing.T) {
	one, explained, both := linestest.Columns(1, false), linestest.Columns(1, true), linestest.Columns(2, true)
	cases := []linestest.GoldenCase[lines.SinkOptions]{
		{File: "list.csv", Options: lines.SinkOptions{Layout: batch.Layout{Verdicts: one}}},
		{File: "list.tsv", Options: lines.SinkOptions{Layout: batch.Layout{Verdicts: one}, Tab: true}},
		{File: "list_explained.csv", Options: lines.SinkOptions{Layout: batch.Layout{Verdicts: explained}}},
		{File: "list_facts.csv", Options: lines.SinkOptions{Layout: batch.Layout{Verdicts: linestest.Facts()}}},
		{File: "list_agents.csv", Options: lines.SinkOptions{Layout: batch.Layout{Verdicts: linestest.Lists()}}},
		{File: "list_two_agents.tsv", Options: lines.SinkOptions{Layout: batch.Layout{Keep: batch.KeepURL, Verdicts: both}, Tab: true}},
		{File: "verdict.csv", Options: lines.SinkOptions{Layout: batch.Layout{Keep: batch.KeepNone, Verdicts: one}}},
		{File: "table.csv", Options: lines.SinkOptions{Layout: batch.Layout{URLColumn: "url", Verdicts: one}, Schema: linestest.Schema()}, Table: true},
		{File: "table.tsv", Options: lines.SinkOptions{Layout: batch.Layout{URLColumn: "url", Verdicts: one}, Schema: linestest.Schema(), Tab: true}, Table: true},
		{File: "table_url.csv", Options: lines.SinkOptions{Layout: batch.Layout{Keep: batch.KeepURL, URLColumn: "url", Verdicts: one}, Schema: linestest.Schema()}, Table: true},
		{File: "table_verdict.csv", Options: lines.SinkOptions{Layout: batch.Layout{Keep: batch.KeepNone, URLColumn: "url", Verdicts: explained}, Schema: linestest.Schema()}, Table: true},
	}
	linestest.GoldenCases(t, NewSink, cases, func(t *testing.T, o lines.SinkOptions, got []byte) {
		// Another reader sees as many rows, and as many fields in each.
		r := csv.NewReader(bytes.NewReader(got))
		if o.Tab {
			r.Comma = '\t'
		}
		records, err := r.ReadAll()
		must.Be(t, err == nil && len(records) == 1+2*4, "read back: %d records, error %v", len(records), err)
	})
}

func TestSelectedRows(t *testing.T) {
	v := linestest.Verdicts()
	v.Selected, v.SelectedRows = []byte{0b1010}, 2
	w, s := newSink(t, lines.SinkOptions{Layout: batch.Layout{Verdicts: linestest.Columns(1, false)}})
	got := linestest.Write(t, w, s, v, linestest.List("a", "b", "c", "d"))
	must.Equal(t, string(got), "url,allowed\nb,false\nd,true\n")
}

func unpack(t *testing.T, packed []byte, c compress.Codec) string {
	t.Helper()
	r := must.Get(compress.NewReader(bytes.NewReader(packed), c))(t)
	defer r.Close()
	var b bytes.Buffer
	must.Get(b.ReadFrom(r))(t)
	return b.String()
}

func TestNameClash(t *testing.T) {
	layout := batch.Layout{URLColumn: "url", Verdicts: linestest.Columns(1, false)}
	must.Fail(t, must.Err(NewSink(new(linestest.Writer), lines.SinkOptions{Layout: layout, Schema: linestest.Texts("url", "allowed")})))
}

// TestURLFromSeveralColumns keeps the URL of a table that has none in one column.
func TestURLFromSeveralColumns(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "url_host_name", Type: arrow.BinaryTypes.String}}, nil)
	hosts := array.NewStringBuilder(memory.DefaultAllocator)
	hosts.Append("a.example")
	b := linestest.List("http://a.example/")
	b.Table = array.NewRecord(schema, []arrow.Array{hosts.NewArray()}, 1)
	v := &batch.Verdicts{Rows: 1, Agents: []batch.AgentVerdicts{{Allowed: []byte{1}, Valid: []byte{1}}}}
	for keep, want := range map[batch.Keep]string{
		batch.KeepAll: "url_host_name,allowed\na.example,true\n",
		batch.KeepURL: "url,allowed\nhttp://a.example/,true\n",
	} {
		w, s := newSink(t, lines.SinkOptions{Layout: batch.Layout{Keep: keep, Verdicts: linestest.Columns(1, false)}, Schema: schema})
		got := linestest.Write(t, w, s, v, b)
		must.Be(t, string(got) == want, "%q, want %q", got, want)
	}
}

func TestQuote(t *testing.T) {
	for _, test := range []struct{ field, want string }{
		{`a,b`, `"a,b"`},
		{`"`, `""""`},
		{`""`, `""""""`},
		{`a"b`, `"a""b"`},
		{"a\nb", "\"a\nb\""},
		{"a\rb", "\"a\rb\""},
		{"a\tb", "a\tb"},
		{" a ", " a "},
		{"", `""`},
		{"'", "'"},
	} {
		w, s := newSink(t, lines.SinkOptions{Layout: batch.Layout{Keep: batch.KeepURL}})
		v := &batch.Verdicts{Rows: 1}
		got := linestest.Write(t, w, s, v, linestest.List(test.field))
		must.Equal(t, string(got), "url\n"+test.want+"\n", test.field, "written")
	}
}

// FuzzReadBack writes two fields and has encoding/csv read them.
func FuzzReadBack(f *testing.F) {
	f.Add("http://a.example/", `a "rule", and more`, false)
	f.Add("", "", true)
	f.Add("a\r\nb", "\t", true)
	f.Fuzz(func(t *testing.T, url, rule string, tab bool) {
		layout := batch.Layout{Verdicts: []batch.VerdictColumn{{Name: "rule", Kind: batch.Explaining[1]}}}
		w, s := newSink(t, lines.SinkOptions{Layout: layout, Tab: tab})
		v := &batch.Verdicts{Rows: 1, Agents: []batch.AgentVerdicts{{
			Rules: []int32{0}, Explanations: []batch.Explanation{{Text: rule}},
		}}}
		if url == "null" {
			url = ""
		}
		r := csv.NewReader(bytes.NewReader(linestest.Write(t, w, s, v, linestest.List(url))))
		if tab {
			r.Comma = '\t'
		}
		records := must.Get(r.ReadAll())(t)
		// That reader makes a CRLF in a field a LF.
		lf := func(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }
		want := [][]string{{"url", "rule"}, {lf(url), lf(rule)}}
		must.Be(t, slices.EqualFunc(records, want, slices.Equal), "%q, want %q", records, want)
	})
}

// TestEncodeConcurrently is for the race detector. The batches are slices of one
// record, and share the memory of its dictionary and of its lists' elements.
func TestEncodeConcurrently(t *testing.T) {
	for _, c := range []compress.Codec{compress.None, compress.Gzip, compress.Zstd} {
		w, s := newSink(t, lines.SinkOptions{Layout: batch.Layout{URLColumn: "url", Verdicts: linestest.Columns(1, true)}, Schema: linestest.Schema(), Codec: c})
		one, single := newSink(t, lines.SinkOptions{Layout: batch.Layout{URLColumn: "url", Verdicts: linestest.Columns(1, true)}, Schema: linestest.Schema()})
		b, v := linestest.Table(), linestest.Verdicts()
		record := b.Table.(arrow.Record)
		const batches = 40
		chunks := make(chan batch.Chunk)
		var workers sync.WaitGroup
		for range 4 {
			workers.Go(func() {
				for range batches / 4 {
					part := *b
					part.Table = record.NewSlice(0, record.NumRows())
					chunk, err := s.Encode(&part, v)
					if err != nil {
						t.Error(err)
					}
					chunks <- chunk
				}
			})
		}
		go func() { workers.Wait(); close(chunks) }()
		for chunk := range chunks {
			must.Do(t, s.Write(chunk))
		}
		must.Do(t, s.Close())
		want := string(linestest.Write(t, one, single, v, slices.Repeat([]*batch.Batch{b}, batches)...))
		got := unpack(t, w.Bytes(), c)
		must.Be(t, got == want, "%s: %d bytes, want %d", c, len(got), len(want))
	}
}

func BenchmarkEncode(b *testing.B) {
	for _, c := range []compress.Codec{compress.None, compress.Zstd} {
		b.Run("codec="+c.String(), func(b *testing.B) {
			w, s := newSink(b, lines.SinkOptions{Layout: batch.Layout{Verdicts: linestest.Columns(1, false)}, Codec: c})
			linestest.BenchmarkEncode(b, w, s)
		})
	}
}
