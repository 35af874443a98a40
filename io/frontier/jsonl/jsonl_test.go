package jsonl

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"go.uber.org/goleak"

	"robotsbatch/batch"
	"robotsbatch/io/frontier/lines"
	"robotsbatch/io/frontier/lines/linestest"
	"robotsbatch/io/frontier/tableio/tablestest"
	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const null = linestest.Null

// urls returns the URLs of every batch.
func urls(t testing.TB, s *lines.Source) (result [][]string, err error) {
	t.Helper()
	return linestest.Batches(t, s, linestest.URLs)
}

// A key with dots is one of an object in the object, unless the object has it itself. As
// elsewhere, the last of equal keys counts.
func TestKeysOfInnerObjects(t *testing.T) {
	for _, test := range []struct{ name, key, line, want string }{
		{"inner", "meta.url", `{"url":"x","meta":{"id":1,"url":"u"},"z":0}`, "u"},
		{"deeper", "a.b.c", `{"a":{"b":{"c":"u"}}}`, "u"},
		{"escaped", "meta.url", `{"m\u0065ta":{"u\u0072l":"\u0075"}}`, "u"},
		{"white space", "meta.url", `{ "meta" : { "url" : "u" } }`, "u"},
		{"its own key is first", "meta.url", `{"meta.url":"u","meta":{"url":"x"}}`, "u"},
		{"its own key is last", "meta.url", `{"meta":{"url":"x"},"meta.url":"u"}`, "u"},
		{"an inner key with a dot", "a.b.c", `{"a":{"b":{"c":"x"},"b.c":"u"}}`, "u"},
		{"twice", "meta.url", `{"meta":{"url":"x"},"meta":{"url":"u"}}`, "u"},
		{"not in the last", "meta.url", `{"meta":{"url":"x"},"meta":{}}`, null},
		{"null", "meta.url", `{"meta":null}`, null},
		{"a string", "meta.url", `{"meta":"{\"url\":\"x\"}"}`, null},
		{"an array", "meta.url", `{"meta":[{"url":"x"}]}`, null},
		{"another object", "meta.url", `{"met":{"url":"x"},"metas":{"url":"x"}}`, null},
		{"dots alone", "..", `{"":{"":{"":"u"}}}`, "u"},
		{"damaged", "meta.url", `{"meta":{"url":"x"}`, null},
	} {
		t.Run(test.name, func(t *testing.T) {
			first := `{"` + test.key + `":"first"}`
			got, err := urls(t, NewSource(strings.NewReader(first+"\n"+test.line+"\n"), lines.Options{URLColumn: test.key}))
			must.Need(t, err == io.EOF, "%v", err)
			must.DeepEqual(t, got, [][]string{{"first", test.want}})
		})
	}
}

func TestURLs(t *testing.T) {
	for _, test := range []struct {
		name, input string
		want        []string
	}{
		{"nothing", "", nil},
		{"one", `{"url":"u"}` + "\n", []string{"u"}},
		{"no last line end", `{"url":"u"}` + "\n" + `{"url":"v"}`, []string{"u", "v"}},
		{"CRLF and a mark", "\xEF\xBB\xBF" + `{"url":"u"}` + "\r\n" + `{"url":"v"}` + "\r\n", []string{"u", "v"}},
		{"white space", " \t{ \"a\" : 1 , \"url\" :\t\"u\" } \r\n", []string{"u"}},
		{"blank lines", "\n \n\t\r\n" + `{"url":"u"}` + "\n\n", []string{"u"}},
		{"other keys", `{"a":[1,{"url":"x"}],"url":"u","b":{"url":"y"}}`, []string{"u"}},
		{"the last of several", `{"url":"u","url":"v"}`, []string{"v"}},
		{"the last of several is null", `{"url":"u","url":null}`, []string{null}},
		{"escapes", `{"url":"\"\\\/\b\f\n\r\t\u0041\u00e9\u20AC"}`, []string{"\"\\/\b\f\n\r\tAé€"}},
		{"surrogates", `{"url":"\ud83d\ude00 \ud83d \ude00 \ud83d\u0041 \ud83d\ud83d\ude00"}`, []string{"😀 \uFFFD \uFFFD \uFFFDA \uFFFD😀"}},
		{"escapes in the key", `{"\u0075\u0072l":"u"}`, []string{"u"}},
		{"not UTF-8", "{\"url\":\"\xff\xed\xa0\x80\"}", []string{"\xff\xed\xa0\x80"}},
		{"empty", `{"url":""}`, []string{""}},
		{"absent", `{}` + "\n" + `{"urls":"u"}` + "\n" + `{"":"u"}`, []string{null, null, null}},
		{"other case", `{"URL":"u"}` + "\n" + `{"Url":"u","url":"v"}` + "\n" + `{"url":"v","Url":"u"}` + "\n" + `{"url":1,"Url":"u"}`, []string{"u", "v", "v", null}},
		{"not a string", `{"url":null}` + "\n" + `{"url":1}` + "\n" + `{"url":["u"]}` + "\n" + `{"url":{"url":"u"}}` + "\n" + `{"url":true}`, []string{null, null, null, null, null}},
		{"no object", `"url"` + "\n" + `["url"]` + "\n" + `1` + "\n" + `null` + "\n" + `http://a.example/`, []string{null, null, null, null, null}},
		{"cut", `{"url":"u"` + "\n" + `{"url":"u` + "\n" + `{"url":` + "\n" + `{"url"` + "\n" + `{` + "\n" + `{"url":"u\`, []string{null, null, null, null, null, null}},
		{"more behind it", `{"url":"u"}x` + "\n" + `{"url":"u"}{}`, []string{null, null}},
		{"control characters", "{\"url\":\"a\tb\"}\n{\"url\":\"\x00\"}\n{\"url\":\"\r\"}", []string{null, null, null}},
		{"bad escapes", `{"url":"\x"}` + "\n" + `{"url":"\u12"}` + "\n" + `{"url":"\u12g4"}`, []string{null, null, null}},
		{"bad elsewhere", `{"url":"u","n":01}` + "\n" + `{"url":"u",}` + "\n" + `{"url":"u","n":tru}` + "\n" + `{"url":"u","n":[1,]}` + "\n" + `{'url':"u"}`, []string{null, null, null, null, null}},
		{"numbers", `{"n":[0,-0.5e+10,1E5,12.25],"url":"u"}` + "\n" + `{"n":[-],"url":"u"}` + "\n" + `{"n":1.,"url":"u"}` + "\n" + `{"n":.5,"url":"u"}` + "\n" + `{"n":1e,"url":"u"}`, []string{"u", null, null, null, null}},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, batchRows := range []int{0, 1, 2, 3} {
				for _, r := range []io.Reader{
					strings.NewReader(test.input),
					iotest.OneByteReader(strings.NewReader(test.input)), iotest.DataErrReader(strings.NewReader(test.input)),
				} {
					got, err := urls(t, NewSource(r, lines.Options{BatchRows: batchRows}))
					must.Be(t, err == io.EOF && slices.Equal(slices.Concat(got...), test.want), "batches of %d: %q, %v, want %q", batchRows, got, err, test.want)
				}
			}
		})
	}
}

func TestDepth(t *testing.T) {
	for depth, want := range map[int]string{maxDepth - 1: "u", maxDepth: null, 500_000: null} {
		input := `{"a":` + strings.Repeat("[", depth) + strings.Repeat("]", depth) + `,"url":"u"}`
		got, err := urls(t, NewSource(strings.NewReader(input), lines.Options{}))
		must.Be(t, err == io.EOF && got[0][0] == want, "%d deep: %q, %v", depth, got, err)
		must.Equal(t, json.Valid([]byte(input)), want == "u", depth, "deep: encoding/json is of another mind")
	}
}

func TestKey(t *testing.T) {
	s := NewSource(strings.NewReader(`{"url":"u","link":"v"}`), lines.Options{URLColumn: "link"})
	got, err := urls(t, s)
	must.Be(t, err == io.EOF && got[0][0] == "v" && s.URLColumn() == "link" && s.Schema() == nil, "%q, %v; %q, %v", got, err, s.URLColumn(), s.Schema())
}

func TestIndex(t *testing.T) {
	input := "com,example)/ 20250101000000 {\"url\": \"http://example.com/\", \"status\": \"200\"}\r\n" +
		"com,example)/a 2025 {}\n" +
		"alone\n" +
		"two words\n" +
		"!OpenWayback-CDXJ 1.0\n" +
		"com,example)/b 2025 {\"timestamp\":\"x\",\"url\":\"v\"} \n" +
		"com,example)/c 2025  not JSON"
	s := NewCDXJ(strings.NewReader(input), lines.Options{Columns: true})
	b, _ := linestest.Decoded(t, s)
	defer b.Release()
	record := b.Table.(arrow.Record)
	must.Be(t, record.Schema().Equal(s.Schema()), "schema %v", record.Schema())
	want := [][]string{
		{"com,example)/", "com,example)/a", "alone", "two", "!OpenWayback-CDXJ", "com,example)/b", "com,example)/c"},
		{"20250101000000", "2025", null, "words", "1.0", "2025", "2025"},
		{"http://example.com/", null, null, null, null, "v", null},
	}
	for i, column := range record.Columns() {
		var got []string
		for row := range column.Len() {
			value := null
			if column.IsValid(row) {
				value = column.(*array.String).Value(row)
			}
			got = append(got, value)
		}
		must.EqualSlices(t, got, want[i], "column", record.ColumnName(i))
	}
}

// sunk is what the sink writes of an input.
func sunk(t *testing.T, input string, o lines.Options, cdxj bool, l batch.Layout) (string, error) {
	t.Helper()
	o.Columns, o.Verdicts = l.Keep == batch.KeepAll, l.Verdicts
	s := open(strings.NewReader(input), o, cdxj)
	w, sink := linestest.NewSink(t, NewSink, lines.SinkOptions{Layout: l, Schema: s.Schema()})
	err := tablestest.Each(s, func(p batch.Piece) error {
		b, err := p.Decode()
		if err != nil {
			return err
		}
		defer b.Release()
		v := &batch.Verdicts{Rows: b.URLs.Len()}
		bits := make([]byte, (v.Rows+7)/8)
		v.Agents = []batch.AgentVerdicts{{Allowed: bits, Valid: bits, Reasons: make([]matcher.Reason, v.Rows), Rules: slices.Repeat([]int32{-1}, v.Rows)}}
		chunk, err := sink.Encode(b, v)
		if err == nil {
			err = sink.Write(chunk)
		}
		return err
	})
	if err != nil {
		return "", err
	}
	return w.String(), sink.Close()
}

func TestPassThrough(t *testing.T) {
	layout := batch.Layout{URLColumn: "url", Verdicts: linestest.Columns(1, false)}
	for _, test := range []struct {
		name        string
		cdxj        bool
		input, want string
	}{
		{"byte for byte", false, "\xEF\xBB\xBF {\"n\": 1.50 , \"url\":\"\\u0041\", \"é\":\"\xff\" }\t\r\n", "{\"n\": 1.50 , \"url\":\"\\u0041\", \"é\":\"\xff\" ,\"allowed\":null}\n"},
		{"without members", false, "{}\n{ \t}\n", `{"allowed":null}` + "\n" + `{"allowed":null}` + "\n"},
		{"no object", false, "not \"JSON\"\t\n[1]\n", `{"line":"not \"JSON\"","allowed":null}` + "\n" + `{"line":"[1]","allowed":null}` + "\n"},
		{"an inner key", false, `{"a":{"allowed":1}}`, `{"a":{"allowed":1},"allowed":null}` + "\n"},
		{"index", true, `com,x)/ 2025 {"url":"u", "a":1}`, `{"surt":"com,x)/","timestamp":"2025","url":"u", "a":1,"allowed":null}` + "\n"},
		{"index, without members", true, "s 1 {}", `{"surt":"s","timestamp":"1","allowed":null}` + "\n"},
		{"index, own keys", true, `s 1 {"timestamp":2}` + "\n" + `s 1 {"surt":3,"timestamp":2}`, `{"surt":"s","timestamp":2,"allowed":null}` + "\n" + `{"surt":3,"timestamp":2,"allowed":null}` + "\n"},
		{"index, no object", true, "s 1\n", `{"line":"s 1","allowed":null}` + "\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, rows := range []int{0, 1} {
				must.Equal(t, must.Get(sunk(t, test.input, lines.Options{BatchRows: rows}, test.cdxj, layout))(t), test.want)
			}
		})
	}
	layout.Keep = batch.KeepURL
	must.Equal(t, must.Get(sunk(t, `{"a":1,"url":"u"}`, lines.Options{}, false, layout))(t), `{"url":"u","allowed":null}`+"\n", "URL alone")
}

func TestClash(t *testing.T) {
	layout := batch.Layout{URLColumn: "url", Verdicts: linestest.Columns(1, true)}
	input := `{"url":"u"}` + "\n\n" + `{"url":"u","a":{},"\u0072ule":1}` + "\n" + `{"allowed":1}`
	_, err := sunk(t, input, lines.Options{}, false, layout)
	must.Mention(t, err, `line 3 has a key "rule" already`, "prefix")
	layout.Verdicts = linestest.Columns(1, false)
	must.Say(t, must.Err(sunk(t, input, lines.Options{BatchRows: 1}, false, layout)), `line 4 has a key "allowed" already`)
	layout.Keep = batch.KeepURL
	must.Get(sunk(t, input, lines.Options{}, false, layout))(t)
}

func TestLineLimit(t *testing.T) {
	long := `{"url":"` + strings.Repeat("x", 100) + `"}`
	_, err := urls(t, NewSource(strings.NewReader("{}\n"+long+"\n"), lines.Options{Name: "in.jsonl", MaxLine: 100}))
	must.Say(t, err, "line 2 has more than 100 bytes")
	s := NewSource(linestest.Endless("{}\n", 0), lines.Options{Name: "in.jsonl"})
	got, err := urls(t, s)
	must.Say(t, err, "in.jsonl: line 2 has more than 1048576 bytes")
	must.Equal(t, len(got), 1, "batches before")
	broken := errors.New("the disk is broken")
	must.Is(t, must.Err(urls(t, NewSource(iotest.ErrReader(broken), lines.Options{}))), broken)
}

// FuzzJSONL compares URLs with those that encoding/json finds, whatever the cut,
// and has it read what is passed through. A key that an option names counts in its
// own case alone, as in a map.
func FuzzJSONL(f *testing.F) {
	f.Add("{\"a\":[{\"url\":1}],\"url\":\"\\ud83d\\ude00\\n\"}\r\n\n{\"url\":null}", 1, []byte{3, 0})
	f.Add("{\"url\":\"a\"}\n{\"URL\":\"b\"}", -1, []byte{2})
	f.Add("{\"url\":\"\\u00zz\"}\n{\"n\":-1.5E+888,\"\\u0075rl\":\"\xff\"}\n{}x", 2, []byte{1, 7, 200})
	f.Fuzz(func(t *testing.T, input string, batchRows int, sizes []byte) {
		batches, err := urls(t, NewSource(linestest.Chunks(input, sizes), lines.Options{URLColumn: "url", BatchRows: batchRows % 8}))
		must.Need(t, err == io.EOF, "%v", err)
		got := slices.Concat(batches...)
		var want, objects []string
		for line := range strings.SplitSeq(strings.TrimPrefix(input, "\xEF\xBB\xBF"), "\n") {
			if line = strings.Trim(line, " \t\r"); line == "" {
				continue
			}
			var object map[string]any
			url := null
			if unmarshal(line, &object) != nil || object == nil {
				object = map[string]any{"line": asUTF8(line)}
			} else if value, ok := object["url"].(string); ok {
				url = value
			}
			delete(object, "allowed")
			objects = append(objects, fmt.Sprint(object))
			want = append(want, url)
		}
		for i := range got {
			got[i] = asUTF8(got[i])
		}
		must.Need(t, slices.Equal(got, want), "%q, want %q", got, want)
		out, ok := sunkAny(t, input, false)
		if !ok {
			return
		}
		var passed []string
		for line := range strings.Lines(out) {
			var object map[string]any
			err := unmarshal(line, &object)
			must.Need(t, err == nil, "%q: %v", line, err)
			delete(object, "allowed")
			passed = append(passed, fmt.Sprint(object))
		}
		must.DeepEqual(t, passed, objects)
	})
}

// sunkAny is what the sink writes of an input, unless its keys are those of verdicts.
func sunkAny(t *testing.T, input string, cdxj bool) (out string, ok bool) {
	t.Helper()
	out, err := sunk(t, input, lines.Options{}, cdxj, batch.Layout{URLColumn: "url", Verdicts: linestest.Columns(1, false)})
	must.Need(t, err == nil || strings.Contains(err.Error(), "already"), "%v", err)
	return out, err == nil
}

// unmarshal is encoding/json's with numbers as they are written, for some have
// no float64.
func unmarshal(text string, object *map[string]any) error {
	if !json.Valid([]byte(text)) {
		return errors.New("no JSON")
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	return d.Decode(object)
}

func TestNoAllocations(t *testing.T) {
	s := NewSource(strings.NewReader(strings.Repeat(`{"a":1,"url":"http://a.example/\u0041"}`+"\n", 100_000)), lines.Options{BatchRows: 1000, Columns: true})
	if n := linestest.Allocations(t, s); n > 20 { // far fewer, but the race detector empties pools
		t.Errorf("%.0f allocations a batch of 1000 rows", n)
	}
}

func TestCancel(t *testing.T) {
	for _, cdxj := range []bool{false, true} {
		linestest.CancelReads(t, "{\"url\":\"u\"}\n\nx 1 {\"url\":\"v\"}\r\n{}", func(r io.Reader) batch.Source {
			return open(r, lines.Options{BatchRows: 2}, cdxj)
		})
	}
}

func BenchmarkSource(b *testing.B) {
	object := `{"url": "https://www.example.com/some/path/of/a/page.html?with=a&query=string", "mime": "text/html", "status": "200", "digest": "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ", "length": "1234", "offset": "56789", "filename": "crawl-data/segments/1/warc/file.warc.gz"}`
	const rows = 1 << 17
	for _, cdxj := range []bool{false, true} {
		line := object + "\n"
		if cdxj {
			line = "com,example)/some/path 20250101000000 " + line
		}
		input := strings.Repeat(line, rows)
		b.Run(fmt.Sprintf("cdxj=%v", cdxj), func(b *testing.B) {
			linestest.Benchmark(b, input, rows, func(r io.Reader) batch.Source {
				return open(r, lines.Options{Columns: true, Verdicts: linestest.Columns(1, true)}, cdxj)
			})
		})
	}
}

// An input is wrong as a whole where no row has the key, but not where it has no
// rows.
func TestComplete(t *testing.T) {
	for _, test := range []struct{ input, key, want string }{
		{"", "", ""},
		{"\n \n", "", ""},
		{"{}\n{\"url\":null}\n", "", ""},
		{"not JSON\n{\"URL\":\"u\"}\n", "", ""},
		{"not JSON\n", "", "in: no line is a JSON object"},
		{"x\n{\"link\":{\"url\":1},\"a\":2}\n{}\n", "", `in: no line has a key "url": name the key of the URL with url-column; the first object has "link.url", "a", "link"`},
		{"{\"URL\":\"u\",\"links\":2}\n", "link", `in: no line has a key "link": name the key of the URL with url-column; the first object has "links", "URL"`},
	} {
		for _, rows := range []int{0, 1} {
			s := NewSource(strings.NewReader(test.input), lines.Options{Name: "in", URLColumn: test.key, BatchRows: rows})
			complete := s.Complete()
			_, err := urls(t, s)
			must.Need(t, err == io.EOF, "%v", err)
			got := ""
			if err := complete(); err != nil {
				got = err.Error()
			}
			must.Be(t, got == test.want || rows == 1 && strings.HasPrefix(test.input, "x") && got != "", "%q: %q, want %q", test.input, got, test.want)
		}
	}
}

// FuzzIndex reads a crawl index: a row for each line that is not blank, whose URL
// is that of its object, and every line comes out as one object.
func FuzzIndex(f *testing.F) {
	f.Add("s 1 {\"URL\": \"in other case\"}")
	f.Add("com,example)/ 20250101000000 {\"url\": \"http://example.com/\", \"status\": \"200\"}\r\n\nalone\ntwo words")
	f.Add("!OpenWayback-CDXJ 1.0\ncom,example)/b 2025 {\"timestamp\":\"x\",\"surt\":1,\"url\":\"v\"} \nc 2  not JSON")
	f.Fuzz(func(t *testing.T, input string) {
		batches, err := urls(t, NewCDXJ(strings.NewReader(input), lines.Options{URLColumn: "url", BatchRows: 3}))
		must.Need(t, err == io.EOF, "%v", err)
		var want []string
		for line := range strings.SplitSeq(strings.TrimPrefix(input, "\xEF\xBB\xBF"), "\n") {
			if line = strings.Trim(line, " \t\r"); line != "" {
				want = append(want, indexURL(line))
			}
		}
		got := slices.Concat(batches...)
		for i := range got {
			got[i] = asUTF8(got[i])
		}
		must.Need(t, slices.Equal(got, want), "%q, want %q", got, want)
		out, ok := sunkAny(t, input, true)
		if !ok {
			return
		}
		n := strings.Count(out, "\n")
		must.Need(t, n == len(want), "%d lines for %d rows: %q", n, len(want), out)
		for line := range strings.Lines(out) {
			must.Need(t, json.Valid([]byte(line)), "%q is not JSON", line)
		}
	})
}

// indexURL is the URL of a line of a crawl index.
func indexURL(line string) string {
	_, rest, _ := strings.Cut(line, " ")
	_, text, _ := strings.Cut(rest, " ")
	var object map[string]any
	if unmarshal(text, &object) == nil && object != nil {
		if url, ok := object["url"].(string); ok {
			return url
		}
	}
	return null
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
	w, s := linestest.NewSink(t, NewSink, lines.SinkOptions{Layout: batch.Layout{Verdicts: linestest.Columns(1, false)}})
	got := linestest.Write(t, w, s, v, linestest.List("a", "b", "c", "d"))
	want := `{"url":"a","allowed":true}` + "\n" + `{"url":"c","allowed":null}` + "\n"
	must.Equal(t, string(got), want)
}

// It is said where bytes cannot be written, and only there.
func TestReplacedBytesAreNoted(t *testing.T) {
	for url, want := range map[string]int{"http://a.example/\ufffd": 0, "http://a.example/\xff": 1} {
		w, s := linestest.NewSink(t, NewSink, lines.SinkOptions{Layout: batch.Layout{Verdicts: linestest.Columns(1, false)}})
		linestest.Write(t, w, s, linestest.Verdicts(), linestest.List(url, "b", "c", "d"))
		notes := s.(interface{ Notes() []string }).Notes()
		must.Equal(t, len(notes), want, url, notes)
	}
	_, s := linestest.NewSink(t, NewSink, lines.SinkOptions{Layout: batch.Layout{URLColumn: "url", Verdicts: linestest.Columns(1, false)}, Schema: linestest.Texts("url", "x\xff")})
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
		w, s := linestest.NewSink(t, NewSink, lines.SinkOptions{Layout: layout})
		v := &batch.Verdicts{Rows: 1, Agents: []batch.AgentVerdicts{{Rules: []int32{0}, Explanations: []batch.Explanation{{Text: rule}}}}}
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
	w, s := linestest.NewSink(b, NewSink, lines.SinkOptions{Layout: batch.Layout{Verdicts: linestest.Columns(1, false)}})
	linestest.BenchmarkEncode(b, w, s)
}
