package jsonl

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"go.uber.org/goleak"

	"robotsbatch/batch"
	"robotsbatch/io/frontier/lines"
	"robotsbatch/io/frontier/lines/linestest"
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
		{File: "list.jsonl", Options: lines.SinkOptions{Layout: batch.Layout{Verdicts: one}}},
		{File: "list_facts.jsonl", Options: lines.SinkOptions{Layout: batch.Layout{Verdicts: linestest.Facts()}}},
		{File: "list_agents.jsonl", Options: lines.SinkOptions{Layout: batch.Layout{Verdicts: linestest.Lists()}}},
		{File: "list_two_agents.jsonl", Options: lines.SinkOptions{Layout: batch.Layout{Verdicts: both}}},
		{File: "verdict.jsonl", Options: lines.SinkOptions{Layout: batch.Layout{Keep: batch.KeepNone, Verdicts: one}}},
		{File: "table.jsonl", Options: lines.SinkOptions{Layout: batch.Layout{URLColumn: "url", Verdicts: one}, Schema: linestest.Schema()}, Table: true},
		{File: "table_url.jsonl", Options: lines.SinkOptions{Layout: batch.Layout{Keep: batch.KeepURL, URLColumn: "url", Verdicts: explained}, Schema: linestest.Schema()}, Table: true},
	}
	linestest.GoldenCases(t, NewSink, cases, func(t *testing.T, _ lines.SinkOptions, got []byte) {
		rows := 0
		for line := range bytes.Lines(got) {
			rows++
			must.Be(t, json.Valid(line), "line %d is not JSON: %s", rows, line)
		}
		must.Equal(t, rows, 2*4, "lines")
	})
}

func TestSelectedRows(t *testing.T) {
	v := linestest.Verdicts()
	v.Selected, v.SelectedRows = []byte{0b0101}, 2
	w, s := newSink(t, lines.SinkOptions{Layout: batch.Layout{Verdicts: linestest.Columns(1, false)}})
	got := linestest.Write(t, w, s, v, linestest.List("a", "b", "c", "d"))
	want := `{"url":"a","allowed":true}` + "\n" + `{"url":"c","allowed":null}` + "\n"
	must.Equal(t, string(got), want)
}

// It is said where bytes cannot be written, and only there.
func TestReplacedBytesAreNoted(t *testing.T) {
	for url, want := range map[string]int{"http://a.example/\ufffd": 0, "http://a.example/\xff": 1} {
		w, s := newSink(t, lines.SinkOptions{Layout: batch.Layout{Verdicts: linestest.Columns(1, false)}})
		linestest.Write(t, w, s, linestest.Verdicts(), linestest.List(url, "b", "c", "d"))
		notes := s.(interface{ Notes() []string }).Notes()
		must.Equal(t, len(notes), want, url, notes)
	}
	_, s := newSink(t, lines.SinkOptions{Layout: batch.Layout{URLColumn: "url", Verdicts: linestest.Columns(1, false)}, Schema: linestest.Texts("url", "x\xff")})
	must.Equal(t, len(s.(interface{ Notes() []string }).Notes()), 1, "notes of a column's name")
}

func TestNameClash(t *testing.T) {
	tests := []struct {
		schema *arrow.Schema
		want   string
	}{
		{linestest.Texts("url", "allowed"), "prefix"},
		{linestest.Texts("url", "x", "x"), `two columns "x"`},
		{linestest.Texts("url", "url"), `two columns "url"`},
		{linestest.Texts("url", "x\xff", "x\xfe"), "two columns \"x\ufffd\""}, // as they are written
	}
	layout := batch.Layout{URLColumn: "url", Verdicts: linestest.Columns(1, false)}
	for _, test := range tests {
		must.Say(t, must.Err(NewSink(new(linestest.Writer), lines.SinkOptions{Layout: layout, Schema: test.schema})), test.want)
	}
}

// FuzzReadBack has encoding/json read what is written.
func FuzzReadBack(f *testing.F) {
	f.Add("http://a.example/", `a "rule"`)
	f.Add("\x00\xff\u2028", "\r\n\t\b\\")
	f.Add("\xed\xa0\x80 \xf4\x90\x80\x80", "\xe2\x82")
	f.Fuzz(func(t *testing.T, url, rule string) {
		if url == "null" {
			url = ""
		}
		layout := batch.Layout{Verdicts: []batch.VerdictColumn{{Name: "rule", Kind: batch.Explaining[1]}}}
		w, s := newSink(t, lines.SinkOptions{Layout: layout})
		v := &batch.Verdicts{Rows: 1, Agents: []batch.AgentVerdicts{{
			Rules: []int32{0}, Explanations: []batch.Explanation{{Text: rule}},
		}}}
		got := linestest.Write(t, w, s, v, linestest.List(url))
		must.Need(t, bytes.IndexByte(got, '\n') == len(got)-1, "%q is not one line", got)
		var object struct{ URL, Rule string }
		err := json.Unmarshal(got, &object)
		must.Need(t, err == nil, "%q: %v", got, err)
		must.Be(t, object.URL == asUTF8(url) && object.Rule == asUTF8(rule), "%q, want %q and %q", object, asUTF8(url), asUTF8(rule))
	})
}

// asUTF8 has each byte that is not UTF-8 replaced.
func asUTF8(s string) string { return string([]rune(s)) }

func BenchmarkEncode(b *testing.B) {
	w, s := newSink(b, lines.SinkOptions{Layout: batch.Layout{Verdicts: linestest.Columns(1, false)}})
	linestest.BenchmarkEncode(b, w, s)
}
