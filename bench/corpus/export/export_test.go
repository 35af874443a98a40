package export_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"
	"github.com/klauspost/compress/zstd"

	"robotsbatch/bench/corpus"
	"robotsbatch/bench/corpus/export"
	"robotsbatch/io/rules/captures"
	"robotsbatch/io/rules/warc"
	"robotsbatch/io/store/must"
)

const sample = "../sample"

// TestSample compares the checked-in sample with the generator's output. After an intended
// change, go generate ./bench/corpus writes the sample.
func TestSample(t *testing.T) {
	dir := t.TempDir()
	c := corpus.New(corpus.SampleOptions())
	must.Do(t, export.Rules(filepath.Join(dir, "rules"), c))
	want, got := files(t, filepath.Join(dir, "rules")), files(t, filepath.Join(sample, "rules"))
	must.Equal(t, len(got), len(want), "files in rules")
	for name, body := range want {
		must.Be(t, bytes.Equal(got[name], body), "rules/%s differs from what the generator writes", name)
	}
	for _, name := range []string{"frontier.arrow", "frontier.arrows", "frontier.txt.zst"} {
		made := filepath.Join(dir, name)
		must.Do(t, export.Frontier(made, c, export.Options{BatchRows: 512}))
		rows := read(t, filepath.Join(sample, name))
		must.Be(t, slices.Equal(rows, read(t, made)), "%s has other rows than the generator writes", name)
	}
}

// TestSampleHasEverything lists the features that the sample must show.
func TestSampleHasEverything(t *testing.T) {
	text := strings.Join(read(t, filepath.Join(sample, "frontier.txt.zst")), "\n")
	rules := files(t, filepath.Join(sample, "rules"))
	var bodies, names strings.Builder
	for name, body := range rules {
		bodies.Write(body)
		names.WriteString(name + "\n")
	}
	for _, want := range []struct{ what, in, part string }{
		{"an internationalised host", text, "://www.niño"},
		{"its Punycode", text, "://www.xn--"},
		{"the file of one", names.String(), "xn--"},
		{"a port", text, ".example:3000/"},
		{"the file of one", names.String(), ".example_3000"},
		{"an escape", text, "%C3%A9"},
		{"a raw byte", text, "é"},
		{"a query", text, "?page="},
		{"a fragment", text, "#"},
		{"no scheme", text, "\n//www."},
		{"no authority", text, "\nmailto:"},
		{"another scheme", text, "\ngopher://"},
		{"http", text, "\nhttp://"},
		{"a group for CCBot", bodies.String(), "CCBot\n"},
		{"a CRLF", bodies.String(), "\r\n"},
		{"an end anchor", bodies.String(), "$\n"},
	} {
		must.Be(t, strings.Contains(want.in, want.part), "the sample lacks %s: %q", want.what, want.part)
	}
	missing := 0
	for o := range corpus.New(corpus.SampleOptions()).Origins() {
		if _, ok := rules[o.FileName()]; !ok {
			missing++
		}
	}
	must.Be(t, missing != 0, "every host of the sample has a file")
}

func TestFrontierFormats(t *testing.T) {
	c := corpus.New(corpus.Options{Origins: 20, IDN: 0.5})
	var want []string
	for _, url := range c.URLs() {
		want = append(want, string(url))
	}
	for _, ending := range export.Formats {
		for _, compression := range []string{"", "lz4", "none"} {
			for _, rows := range []int{0, 7, len(want)} {
				name := filepath.Join(t.TempDir(), "f"+ending)
				must.Do(t, export.Frontier(name, c, export.Options{BatchRows: rows, Compression: compression}))
				got := read(t, name)
				for i := range got {
					got[i], _, _ = strings.Cut(got[i], "\t")
				}
				must.EqualSlices(t, got, want, ending, compression, rows, "the rows read are not those written")
			}
		}
	}
}

// TestFrontierIndex: a table like Common Crawl's index has the same rows in every format.
func TestFrontierIndex(t *testing.T) {
	c := corpus.New(corpus.Options{Origins: 20, URLs: 3000, Ports: 0.2})
	var want []string
	for _, ending := range []string{".arrow", ".arrows", ".parquet"} {
		name := filepath.Join(t.TempDir(), "f"+ending)
		must.Do(t, export.Frontier(name, c, export.Options{BatchRows: 700, Columns: 30}))
		rows := read(t, name)
		if want == nil {
			want = rows
		}
		must.Be(t, len(rows) == 3000 && slices.Equal(rows, want), "%s: %d rows, which are not those of the first file", ending, len(rows))
	}
	n := strings.Count(want[0], "\t") + 1
	must.Need(t, n == 30, "%d columns", n)
	row := want[slices.IndexFunc(want, func(row string) bool { return strings.Contains(row, "\thttps\t") && strings.Contains(row, "?") })]
	for _, part := range []string{")/", "https://", "\texample\t", "crawl-data/CC-MAIN-2025-05/segments/"} {
		must.Be(t, strings.Contains(row, part), "a row lacks %q: %s", part, row)
	}
	must.Say(t, export.Frontier(filepath.Join(t.TempDir(), "f.parquet"), c, export.Options{Columns: 7}), "must be 3 or 30", "7 columns")
}

func TestFrontierWithoutRows(t *testing.T) {
	c := corpus.New(corpus.Options{URLs: -1})
	for _, ending := range export.Formats {
		name := filepath.Join(t.TempDir(), "f"+ending)
		must.Do(t, export.Frontier(name, c, export.Options{}))
		rows := read(t, name)
		must.Be(t, len(rows) == 0, "%s has rows %q", ending, rows)
	}
}

func TestFrontierErrors(t *testing.T) {
	c := corpus.New(corpus.Options{Origins: 1})
	for name, want := range map[string]string{
		"f.csv":     "must end in one of .arrow .arrows",
		"none/f.tx": "no such file",
	} {
		err := export.Frontier(filepath.Join(t.TempDir(), name), c, export.Options{})
		must.Mention(t, err, want, name)
	}
	must.Say(t, export.Frontier(filepath.Join(t.TempDir(), "f.arrow"), c, export.Options{Compression: "brotli"}), "brotli", "compression brotli")
}

func files(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	entries := must.Get(os.ReadDir(dir))(t)
	found := make(map[string][]byte)
	for _, entry := range entries {
		found[entry.Name()] = must.Get(os.ReadFile(filepath.Join(dir, entry.Name())))(t)
	}
	return found
}

// read returns the rows of a frontier, with tabs between the columns of a table.
func read(t *testing.T, name string) []string {
	t.Helper()
	content := must.Get(os.ReadFile(name))(t)
	var rows []string
	switch filepath.Ext(name) {
	case ".arrow":
		r := must.Get(ipc.NewFileReader(bytes.NewReader(content)))(t)
		defer r.Close()
		for i := range r.NumRecords() {
			record := must.Get(r.Record(i))(t)
			rows = appendRows(rows, record)
		}
		return rows
	case ".arrows":
		r := must.Get(ipc.NewReader(bytes.NewReader(content)))(t)
		defer r.Release()
		for r.Next() {
			rows = appendRows(rows, r.Record())
		}
		must.Do(t, r.Err())
		return rows
	case ".parquet":
		props := pqarrow.ArrowReadProperties{BatchSize: 1 << 20}
		table := must.Get(pqarrow.ReadTable(context.Background(), bytes.NewReader(content), nil, props, memory.DefaultAllocator))(t)
		defer table.Release()
		if table.NumRows() == 0 {
			return nil
		}
		r := array.NewTableReader(table, 0)
		defer r.Release()
		for r.Next() {
			rows = appendRows(rows, r.Record())
		}
		return rows
	case ".zst":
		decoder := must.Get(zstd.NewReader(bytes.NewReader(content)))(t)
		defer decoder.Close()
		content = must.Get(io.ReadAll(decoder))(t)
	}
	for line := range strings.Lines(string(content)) {
		rows = append(rows, strings.TrimSuffix(line, "\n"))
	}
	return rows
}

func appendRows(rows []string, record arrow.Record) []string {
	for i := range int(record.NumRows()) {
		values := make([]string, record.NumCols())
		for j, column := range record.Columns() {
			values[j] = column.ValueStr(i)
		}
		rows = append(rows, strings.Join(values, "\t"))
	}
	return rows
}

// TestCrawl: the files are like those of crawlers, and have the captures and bodies asked
// for.
func TestCrawl(t *testing.T) {
	folder := t.TempDir()
	c := corpus.New(corpus.Options{Origins: 500, Missing: 0.45, Rules: 60, Bare: true})
	must.Do(t, export.Crawl(folder, c, 3))
	files := must.Get(filepath.Glob(filepath.Join(folder, "*.warc.gz")))(t)
	must.Equal(t, len(files), 3, "files")
	bodies := make(map[string]bool)
	for i := range c.Bodies() {
		bodies[string(c.AppendBody(nil, i))] = true
	}
	statuses := make(map[int]int)
	total := 0
	for _, name := range files {
		f := must.Get(os.Open(name))(t)
		defer f.Close()
		r := must.Get(warc.NewReader(f, warc.Options{Name: name, Broken: func(err error) { t.Error(err) }}))(t)
		var x captures.Capture
		for r.Next(&x) == nil {
			total++
			statuses[x.Status]++
			must.Be(t, x.Status != 200 || bodies[string(x.Body)], "%s has a body that is not listed", x.URL)
			must.Equal(t, x.Status/100 == 3, len(x.Location) > 0, x.URL, "status", x.Status, "Location", x.Location)
		}
		n := r.Stats()
		must.Be(t, n.Records == 3*n.Responses+1, "%s: %+v", name, n)
	}
	must.Be(t, total == 500 && statuses[200] >= 200 && statuses[404] >= 50 && statuses[301] >= 30 && statuses[503] != 0, "statuses %v of %d", statuses, total)
}
