package delimited

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"go.uber.org/goleak"

	"robotsbatch/batch"
	"robotsbatch/io/frontier/lines"
	"robotsbatch/io/frontier/lines/linestest"
	"robotsbatch/io/frontier/tableio/tablestest"
	"robotsbatch/io/store/compress"
	"robotsbatch/io/store/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const null = linestest.Null

// batches returns the rows of every batch, and whether they are what the URLs
// and Next say, too.
func batches(t testing.TB, s *lines.Source) (result [][][]string, err error) {
	t.Helper()
	return linestest.Batches(t, s, func(b *batch.Batch) [][]string { return rowsOf(t, s, b) })
}

func rowsOf(t testing.TB, s *lines.Source, b *batch.Batch) [][]string {
	t.Helper()
	record := b.Table.(arrow.Record)
	must.Need(t, record.NumRows() == int64(b.URLs.Len()), "%d rows, but %d URLs", record.NumRows(), b.URLs.Len())
	rows := make([][]string, b.URLs.Len())
	for i, url := range linestest.URLs(b) {
		for _, column := range record.Columns() {
			value := null
			if column.IsValid(i) {
				value = strings.Clone(column.(*array.String).Value(i))
			}
			rows[i] = append(rows[i], value)
		}
		must.Equal(t, url, rows[i][s.Schema().FieldIndices(s.URLColumn())[0]], "row", i, "URL", "column")
	}
	return rows
}

func open(t testing.TB, r io.Reader, o lines.Options) *lines.Source {
	t.Helper()
	o.Name, o.Columns = "in.csv", true
	return must.Get(NewSource(r, o))(t)
}

func TestRows(t *testing.T) {
	type rows = [][]string
	for _, test := range []struct {
		name  string
		input string // after the header url,b
		want  rows
	}{
		{"none", "", nil},
		{"one", "u,1\n", rows{{"u", "1"}}},
		{"no last line end", "u,1\nv,2", rows{{"u", "1"}, {"v", "2"}}},
		{"CRLF", "u,1\r\nv,2\r\n", rows{{"u", "1"}, {"v", "2"}}},
		{"CR at the end", "u,1\r", rows{{"u", "1"}}},
		{"CR within", "u\rv,1\n", rows{{"u\rv", "1"}}},
		{"empty fields", ",\n,1\nu,\n", rows{{"", ""}, {"", "1"}, {"u", ""}}},
		{"empty field at the end", "u,", rows{{"u", ""}}},
		{"empty lines", "\n\r\nu,1\n\n\n\r\nv,2\n\n", rows{{"u", "1"}, {"v", "2"}}},
		{"white space is a value", " \n\t, 1 \n", rows{{" ", null}, {"\t", " 1 "}}},
		{"quotes", `"u","1"` + "\n" + `"v",2`, rows{{"u", "1"}, {"v", "2"}}},
		{"empty quotes", `"",""` + "\n" + `""` + "\n", rows{{"", ""}, {"", null}}},
		{"quotes in quotes", `"a""b",""""` + "\n" + `"""x""",""""""`, rows{{`a"b`, `"`}, {`"x"`, `""`}}},
		{"separator in quotes", `"a,b",1`, rows{{"a,b", "1"}}},
		{"line ends in quotes", "\"a\nb\",\"\r\n\n\"\r\nv,2\n", rows{{"a\nb", "\r\n\n"}, {"v", "2"}}},
		{"quote within a field", `5" disk,x"y"` + "\n" + `v,"2"`, rows{{`5" disk`, `x"y"`}, {"v", "2"}}},
		{"value behind quotes", `"a"b"c,1` + "\n" + `"v" ,2`, rows{{`ab"c`, "1"}, {"v ", "2"}}},
		{"fewer fields", "u\nv,2\n", rows{{"u", null}, {"v", "2"}}},
		{"not UTF-8", "\xff\x00,\xed\xa0\x80", rows{{"\xff\x00", "\xed\xa0\x80"}}},
		{"a mark later", "\xEF\xBB\xBF,1", rows{{"\xEF\xBB\xBF", "1"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, tab := range []bool{false, true} {
				input, want := "url,b\n"+test.input, test.want
				if tab {
					if strings.Contains(input, "\t") {
						continue
					}
					input = strings.ReplaceAll(input, ",", "\t")
				}
				for _, batchRows := range []int{0, 1, 2, 3} {
					for _, r := range []io.Reader{
						strings.NewReader(input), strings.NewReader("\xEF\xBB\xBF" + input),
						iotest.OneByteReader(strings.NewReader(input)), iotest.DataErrReader(strings.NewReader(input)),
					} {
						got, err := batches(t, open(t, r, lines.Options{Separator: separatorOf(tab), BatchRows: batchRows}))
						must.Need(t, err == io.EOF, "%v", err)
						text := fmt.Sprintf("%q", slices.Concat(got...))
						if tab {
							text = strings.ReplaceAll(text, `\t`, ",")
						}
						must.Equal(t, text, fmt.Sprintf("%q", want), "tab", tab, "batches of", batchRows, want)
					}
				}
			}
		})
	}
}

func TestHeader(t *testing.T) {
	for _, test := range []struct{ name, header, flag, column, fails string }{
		{"url", "id,url,x\n", "", "url", ""},
		{"named", "id,url,x\n", "x", "x", ""},
		{"only", "target\n", "", "target", ""},
		{"only, and named", "a:b\n", "a:b", "a:b", ""},
		{"only, of two words", "URL address\n", "", "URL address", ""},
		{"only, with separators", "\"page: url, as crawled\"\n", "", "page: url, as crawled", ""},
		{"separated by something else", "url^n\n", "", "", `one named "url^n": if these are several, say what separates them with delimiter, and if it has the URLs, name it with url-column`},
		{"separated by blanks", "URL n\n", "", "", `one named "URL n"`},
		{"mark", "\xEF\xBB\xBFurl,x\n", "", "url", ""},
		{"mark and quotes", "\xEF\xBB\xBF\"url\",\"a,\nb\"\r\n", "", "url", ""},
		{"empty lines first", "\n\r\n\nid,url", "", "url", ""},
		{"none of that name", "id,link\n", "", "", `there is no column "url": name one of "id", "link" with url-column`},
		{"not the one named", "id,url\n", "link", "", `there is no column "link": name one of "id", "url" with url-column`},
		{"other case twice", "URL,Url\n", "", "", `there are 2 columns "url"`},
		{"case counts in a name", "id,url\n", "URL", "", `did you mean "url"`},
		{"twice", "url,url\n", "", "", `there are 2 columns "url"`},
		{"no header", "http://a.example/\nhttp://b.example/\n", "", "", "the first row has a URL"},
		{"no header, several columns", "1,http://a.example/\n", "", "", "cut off all but the URLs"},
		{"nothing", "", "", "", "the input is empty"},
		{"nothing but lines", "\n\n\r\n", "", "", "the input is empty"},
		{"open quote", "url,\"x\n", "", "", "a quote opens that nothing closes"},
		{"too many columns", "url" + strings.Repeat(",", maxColumns), "", "", "more than 10000 columns"},
		{"too long", strings.Repeat("x", 200) + "\n", "", "", "the row that starts in line 1 has more than 100 bytes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := lines.Options{Name: "in.csv", URLColumn: test.flag}
			if test.name == "too long" {
				o.MaxLine = 100
			}
			s, err := NewSource(strings.NewReader(test.header), o)
			if test.fails != "" {
				must.Mention(t, err, test.fails, "in.csv")
				return
			}
			must.Do(t, err)
			must.Equal(t, s.URLColumn(), test.column)
			_, err = s.Next(t.Context())
			must.Be(t, err == io.EOF, "error %v", err)
		})
	}
}

func TestBrokenRows(t *testing.T) {
	for _, test := range []struct{ name, input, want string }{
		{"more fields", "url,b\nu,1\nv,2\n\nw,3,4\n", "the row that starts in line 5 has more fields than the header, which has 2: put a value that has a comma"},
		{"one more, empty", "url,b\nu,1,\n", "line 2 has more fields"},
		{"more fields after a row of two lines", "url,b\n\"u\nu\",1\nw,3,4\n", "line 4 has more fields"},
		{"open quote", "url,b\nu,1\nv,\"2\nw,3\n", "the row that starts in line 3: a quote opens that nothing closes"},
		{"too long", "url,b\nu,1\nv," + strings.Repeat("x", 99) + "\n", "the row that starts in line 3 has more than 100 bytes"},
		{"too long, at the end", "url,b\nu,1\nv," + strings.Repeat("x", 99), "the row that starts in line 3 has more than 100 bytes"},
		{"too long over lines", "url,b\nu,\"" + strings.Repeat("x\n", 1<<20), "the row that starts in line 2 has more than 100 bytes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, rows := range []int{0, 1, 2} {
				must.Say(t, must.Err(batches(t, open(t, strings.NewReader(test.input), lines.Options{BatchRows: rows, MaxLine: 100}))), test.want)
			}
		})
	}
	s := open(t, strings.NewReader("url,b\nu,"+strings.Repeat("x", 98)+"\r\n"), lines.Options{MaxLine: 100})
	_, err := batches(t, s)
	must.Be(t, err == io.EOF, "a row of just so many bytes: %v", err)
}

func TestEndlessRow(t *testing.T) {
	s := open(t, linestest.Endless("url\n\"", '\n'), lines.Options{})
	must.Say(t, must.Err(batches(t, s)), "the row that starts in line 2 has more than 1048576 bytes")
}

func TestCancel(t *testing.T) {
	linestest.CancelReads(t, "a,url\n1,u\n\n\"2\n\",\"v\nw\"\r\n3\n", func(r io.Reader) batch.Source { return open(t, r, lines.Options{BatchRows: 2}) })
}

func TestReadErrors(t *testing.T) {
	broken := errors.New("the disk is broken")
	s := open(t, io.MultiReader(strings.NewReader("url\na\nb\nc"), iotest.ErrReader(broken)), lines.Options{})
	got, err := batches(t, s)
	must.Be(t, errors.Is(err, broken) && strings.Contains(err.Error(), "in.csv: reading line 4: "), "error %v", err)
	must.Equal(t, fmt.Sprint(got), "[[[a] [b]]]", "before")
	must.Is(t, must.Err(NewSource(iotest.ErrReader(broken), lines.Options{Name: "in.csv"})), broken)
}

// TestURLsAlone reads the URLs without the other columns.
func TestURLsAlone(t *testing.T) {
	b, _ := linestest.Decoded(t, must.Get(NewSource(strings.NewReader("a,url,b\n1,u,2\n1\n,\"v\nw\"\n1,\n"), lines.Options{}))(t))
	got := linestest.URLs(b)
	want := []string{"u", null, "v\nw", ""}
	must.Be(t, b.Table == nil && slices.Equal(got, want), "%q with %v, want %q", got, b.Table, want)
	b.Release()
}

func TestLineNumbers(t *testing.T) {
	s := open(t, strings.NewReader("\nurl\na\n\"b\nb\nb\"\n\nc\nd"), lines.Options{BatchRows: 2})
	want := []struct {
		name  string
		first int64
	}{
		{"in.csv: batch 0 (lines 3 to 6)", 2},
		{"in.csv: batch 1 (lines 7 to 8)", 6},
		{"in.csv: batch 2 (lines 9 to 9)", 8},
	}
	for _, want := range want {
		b, name := linestest.Decoded(t, s)
		must.Be(t, name == want.name && b.FirstRow == want.first, "%s from %d, want %v", name, b.FirstRow, want)
	}
}

// TestManyColumns has rows that leave almost all of very many columns out: a
// batch has fewer of them.
func TestManyColumns(t *testing.T) {
	s := open(t, strings.NewReader("url"+strings.Repeat(",", maxColumns-1)+"\n"+strings.Repeat("u\n", 600)), lines.Options{})
	got, err := batches(t, s)
	must.Need(t, err == io.EOF && len(slices.Concat(got...)) == 600, "%d batches, error %v", len(got), err)
	must.Equal(t, len(got[0]), maxCells/maxColumns, "rows in a batch")
}

// FuzzCSV compares rows with what encoding/csv reads where that takes the input,
// and rows of any cut with those of one block.
func FuzzCSV(f *testing.F) {
	f.Add("http://a.example/,1\r\n\"x\"\"y\",\"\n\"\n\n", false, 1, []byte{3, 0, 7})
	f.Add("a,b\r\n1,2\n", false, -1, []byte{2})
	f.Add("a\tb\tc\n\"\t\"\t5\" disk\n", true, 2, []byte{1, 1, 100})
	f.Add("\"a\"b\"c,\n\"\"\"\"\n\"open", false, 3, []byte{})
	f.Fuzz(func(t *testing.T, rows string, tab bool, batchRows int, sizes []byte) {
		input := "url,b,c\n" + rows
		if tab {
			input = "url\tb\tc\n" + rows
		}
		whole, wholeErr := batches(t, open(t, strings.NewReader(input), lines.Options{Separator: separatorOf(tab)}))
		all := slices.Concat(whole...)
		cut, cutErr := batches(t, open(t, linestest.Chunks(input, sizes), lines.Options{Separator: separatorOf(tab), BatchRows: batchRows % 8}))
		got := slices.Concat(cut...)
		must.Need(t, wholeErr != io.EOF || cutErr == io.EOF && reflect.DeepEqual(got, all), "cut: %q, %v; in one: %q", got, cutErr, all)
		must.Need(t, (wholeErr == io.EOF) == (cutErr == io.EOF), "cut: error %v; in one: %v", cutErr, wholeErr)
		r := csv.NewReader(strings.NewReader(input))
		r.FieldsPerRecord = -1
		if tab {
			r.Comma = '\t'
		}
		want, err := r.ReadAll()
		if err != nil {
			return
		}
		for _, row := range want {
			if len(row) > 3 {
				must.Need(t, wholeErr != io.EOF, "a row has %d fields, and no error", len(row))
				return
			}
		}
		must.Need(t, wholeErr == io.EOF, "error %v", wholeErr)
		for i, row := range want {
			for len(row) < 3 {
				row = append(row, null)
			}
			want[i] = row
		}
		for _, row := range all { // that reader makes a CRLF in a field a LF
			for i := range row {
				row[i] = strings.ReplaceAll(row[i], "\r\n", "\n")
			}
		}
		must.Need(t, fmt.Sprintf("%q", all) == fmt.Sprintf("%q", want[1:]), "%q, want %q", all, want[1:])
	})
}

// TestThroughAndBack has the source read what the sink wrote.
func TestThroughAndBack(t *testing.T) {
	input := "url,\"a,b\"\n\"x\ny\",\"\"\"\"\nu,\r\n\"\",5\" disk\n"
	s := open(t, strings.NewReader(input), lines.Options{})
	b, _ := linestest.Decoded(t, s)
	want := rowsOf(t, s, b)
	for _, tab := range []bool{false, true} {
		w, sink := linestest.NewSink(t, NewSink, lines.SinkOptions{Layout: batch.Layout{URLColumn: "url"}, Schema: s.Schema(), Separator: separatorOf(tab), Codec: compress.None})
		must.Do(t, sink.Write(must.Get(sink.Encode(b, &batch.Verdicts{Rows: len(want)}))(t)))
		got, err := batches(t, open(t, &w.Buffer, lines.Options{Separator: separatorOf(tab)}))
		must.Be(t, err == io.EOF && reflect.DeepEqual(slices.Concat(got...), want), "%q, %v, want %q", got, err, want)
	}
}

// TestNoAllocations asserts that what is allocated does not grow with the rows.
func TestNoAllocations(t *testing.T) {
	s := open(t, strings.NewReader("url,a\n"+strings.Repeat("http://a.example/some/path?and=query,\"1\"\n", 100_000)), lines.Options{BatchRows: 1000})
	n := linestest.Allocations(t, s)
	must.Be(t, n <= 40, "%.0f allocations a batch of 1000 rows", n)
}

func BenchmarkSource(b *testing.B) {
	plain := `https://www.example.com/some/path/of/a/page.html?with=a&query=string,2025-01-01 00:00:00Z,12,text/html` + "\n"
	quoted := `"` + strings.ReplaceAll(strings.TrimSuffix(plain, "\n"), ",", `","`) + "\"\n"
	const rows = 1 << 18
	for name, row := range map[string]string{"plain": plain, "quoted": quoted} {
		input := "url,a,b,c\n" + strings.Repeat(row, rows)
		for _, columns := range []bool{false, true} {
			b.Run(fmt.Sprintf("rows=%s/columns=%v", name, columns), func(b *testing.B) {
				linestest.Benchmark(b, input, rows, func(r io.Reader) batch.Source {
					return must.Get(NewSource(r, lines.Options{Columns: columns}))(b)
				})
			})
		}
	}
}

// separatorOf returns a tab or a comma.
func separatorOf(tab bool) byte {
	if tab {
		return '\t'
	}
	return ','
}

// The header tells the separator, unless options do; quotes hide what is in them.
func TestSeparator(t *testing.T) {
	for _, test := range []struct {
		name, input string
		separator   byte
		want        string // the column and the URLs
	}{
		{"comma", "a,url\n1,u;v\n", 0, "url u;v"},
		{"semicolon", "a;url\n1;\"u;v\"\n", 0, "url u;v"},
		{"tab", "a\turl\n1\tu,v\n", 0, "url u,v"},
		{"vertical bar", "a|url\n1|u\n", 0, "url u"},
		{"quoted separators", "\"a,b,c\";url\n1;u\n", 0, "url u"},
		{"a quote after a separator that is not told yet", "url;\"a\nb\"\nu;\"1\n2\"\nv;3\n", 0, "url u v"},
		{"mark", "\xEF\xBB\xBFa;url\n1;u\n", 0, "url u"},
		{"only column", "url\nu;v\n", 0, "url u;v"},
		{"as many commas", "a;b,url\n1;2,u\n", 0, "url u"},
		{"given", "a,b^url\n1^u\n", '^', "url u"},
		{"other case", "a,URL\n1,u\n", 0, "URL u"},
		{"exact case first", "Url,url\n1,u\n", 0, "url u"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, columns := range []bool{false, true} {
				s := open(t, iotest.OneByteReader(strings.NewReader(test.input)), lines.Options{Separator: test.separator, Columns: columns})
				got := []string{s.URLColumn()}
				must.Do(t, tablestest.Each(s, func(p batch.Piece) error {
					got = append(got, linestest.URLs(must.Get(p.Decode())(t))...)
					return nil
				}))
				must.Equal(t, strings.Join(got, " "), test.want, got)
			}
		})
	}
}

func TestGolden(t *testing.T) {
	one, explained, both := linestest.Columns(1, false), linestest.Columns(1, true), linestest.Columns(2, true)
	cases := []linestest.GoldenCase[lines.SinkOptions]{
		{File: "list.csv", Options: lines.SinkOptions{Layout: batch.Layout{Verdicts: one}}},
		{File: "list.tsv", Options: lines.SinkOptions{Layout: batch.Layout{Verdicts: one}, Separator: '\t'}},
		{File: "list_explained.csv", Options: lines.SinkOptions{Layout: batch.Layout{Verdicts: explained}}},
		{File: "list_facts.csv", Options: lines.SinkOptions{Layout: batch.Layout{Verdicts: linestest.Facts()}}},
		{File: "list_agents.csv", Options: lines.SinkOptions{Layout: batch.Layout{Verdicts: linestest.Lists()}}},
		{File: "list_two_agents.tsv", Options: lines.SinkOptions{Layout: batch.Layout{Keep: batch.KeepURL, Verdicts: both}, Separator: '\t'}},
		{File: "verdict.csv", Options: lines.SinkOptions{Layout: batch.Layout{Keep: batch.KeepNone, Verdicts: one}}},
		{File: "table.csv", Options: lines.SinkOptions{Layout: batch.Layout{URLColumn: "url", Verdicts: one}, Schema: linestest.Schema()}, Table: true},
		{File: "table.tsv", Options: lines.SinkOptions{Layout: batch.Layout{URLColumn: "url", Verdicts: one}, Schema: linestest.Schema(), Separator: '\t'}, Table: true},
		{File: "table_url.csv", Options: lines.SinkOptions{Layout: batch.Layout{Keep: batch.KeepURL, URLColumn: "url", Verdicts: one}, Schema: linestest.Schema()}, Table: true},
		{File: "table_verdict.csv", Options: lines.SinkOptions{Layout: batch.Layout{Keep: batch.KeepNone, URLColumn: "url", Verdicts: explained}, Schema: linestest.Schema()}, Table: true},
	}
	linestest.GoldenCases(t, NewSink, cases, func(t *testing.T, o lines.SinkOptions, got []byte) {
		// Another reader sees as many rows, and as many fields in each.
		r := csv.NewReader(bytes.NewReader(got))
		r.Comma = rune(cmp.Or(o.Separator, ','))
		records, err := r.ReadAll()
		must.Be(t, err == nil && len(records) == 1+2*4, "read back: %d records, error %v", len(records), err)
	})
}

func TestSelectedRows(t *testing.T) {
	v := linestest.Verdicts()
	v.Selected, v.SelectedRows = []byte{0b1010}, 2
	w, s := linestest.NewSink(t, NewSink, lines.SinkOptions{Layout: batch.Layout{Verdicts: linestest.Columns(1, false)}})
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
		w, s := linestest.NewSink(t, NewSink, lines.SinkOptions{Layout: batch.Layout{Keep: keep, Verdicts: linestest.Columns(1, false)}, Schema: schema})
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
		w, s := linestest.NewSink(t, NewSink, lines.SinkOptions{Layout: batch.Layout{Keep: batch.KeepURL}})
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
		w, s := linestest.NewSink(t, NewSink, lines.SinkOptions{Layout: layout, Separator: separatorOf(tab)})
		v := &batch.Verdicts{Rows: 1, Agents: []batch.AgentVerdicts{{Rules: []int32{0}, Explanations: []batch.Explanation{{Text: rule}}}}}
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
		w, s := linestest.NewSink(t, NewSink, lines.SinkOptions{Layout: batch.Layout{URLColumn: "url", Verdicts: linestest.Columns(1, true)}, Schema: linestest.Schema(), Codec: c})
		one, single := linestest.NewSink(t, NewSink, lines.SinkOptions{Layout: batch.Layout{URLColumn: "url", Verdicts: linestest.Columns(1, true)}, Schema: linestest.Schema()})
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
					must.Be(t, err == nil, "%v", err)
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
			w, s := linestest.NewSink(b, NewSink, lines.SinkOptions{Layout: batch.Layout{Verdicts: linestest.Columns(1, false)}, Codec: c})
			linestest.BenchmarkEncode(b, w, s)
		})
	}
}
