package parquetio

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"robotsbatch/batch"
	"robotsbatch/io/frontier/tableio/tablestest"
	"robotsbatch/io/store/compress"
	"robotsbatch/io/store/must"
	"robotsbatch/io/tables/parquet/columns"
	"robotsbatch/io/tables/parquet/encode"
)

var update = flag.Bool("update", false, "rewrite the golden text in testdata")

// designRows are the row groups of the example that DESIGN.md carries through. What lies
// below /private is denied.
var designRows = [][]struct {
	url  string
	size int32 // 0 for null
}{
	{{"https://a.test/", 10}, {"https://a.test/news", 20}},
	{{"https://a.test/private", 30}, {"https://a.test/faq", 0}},
	{{"https://a.test/private/x", 40}, {"https://a.test/private/y", 50}},
}

// TestDesign keeps the example of DESIGN.md true: testdata/design.txt has the bytes of a
// table and of what comes out of it. With -update it writes that anew.
func TestDesign(t *testing.T) {
	in := designFile(t)
	d := &dump{t: t, data: in}
	d.title("in.parquet")
	d.file()
	before := d.seen

	all, chosen := designOutput(t, in, Options{}, true), designOutput(t, in, Options{}, false)
	d.data, d.copiedFrom, d.before = all, in, before
	d.title("out.parquet of robotsbatch -in in.parquet -out out.parquet")
	d.file()
	d.data = chosen
	d.title("the same with -emit allowed, in short")
	d.ranges()
	d.data = designOutput(t, in, Options{Keep: batch.KeepURL}, true)
	d.title("the first one with -columns url, in short")
	d.ranges()

	const golden = "testdata/design.txt"
	if *update {
		must.Do(t, os.WriteFile(golden, d.Bytes(), 0o666))
	}
	want := must.Get(os.ReadFile(golden))(t)
	must.Be(t, bytes.Equal(d.Bytes(), want), "%s is not what comes out; go test -run TestDesign -update writes it anew. Now it is\n%s", golden, d.String())
	checkDesignQuotes(t, string(want))
}

// checkDesignQuotes checks that DESIGN.md has the example's URLs, and that the dumped
// lines that it quotes are in the golden text.
func checkDesignQuotes(t *testing.T, golden string) {
	t.Helper()
	text := must.Get(os.ReadFile("../../tables/DESIGN.md"))(t)
	for _, group := range designRows {
		for _, row := range group {
			must.Be(t, strings.Contains(string(text), row.url), "DESIGN.md does not have %q of the example", row.url)
		}
	}
	quoted := 0
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); len(line) > 5 && strings.Trim(line[:5], "0123456789 ") == "" && strings.Contains(line, "  ") {
			if quoted++; !strings.Contains(golden, line) {
				t.Errorf("DESIGN.md quotes %q, which testdata/design.txt does not have", line)
			}
		}
	}
	must.Be(t, quoted != 0, "DESIGN.md quotes no byte of testdata/design.txt")
}

// designFile makes the example's table: not compressed, and without an Arrow schema.
func designFile(t *testing.T) []byte {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{{Name: "url", Type: arrow.BinaryTypes.String}, {Name: "size", Type: arrow.PrimitiveTypes.Int32, Nullable: true}}, nil)
	stored := must.Get(columns.FromArrow(schema))(t)
	stored.Stored = nil
	encoder := must.Get(encode.NewEncoder(stored, compress.None, 0))(t)
	var file bytes.Buffer
	w := must.Get(encode.NewWriter(&file, encoder))(t)
	for _, group := range designRows {
		b := array.NewRecordBuilder(memory.NewGoAllocator(), schema)
		for _, row := range group {
			b.Field(0).(*array.StringBuilder).Append(row.url)
			b.Field(1).(*array.Int32Builder).AppendValues([]int32{row.size}, []bool{row.size > 0})
		}
		columns := []*array.Data{b.Field(0).NewArray().Data().(*array.Data), b.Field(1).NewArray().Data().(*array.Data)}
		rows := must.Get(encoder.Shred(int64(len(group)), columns, memory.NewGoAllocator()))(t)
		must.Do(t, w.Write(must.Get(encoder.Encode(rows))(t)))
	}
	must.Do(t, w.Close("example"))
	return file.Bytes()
}

// designOutput lets the example pass through, all rows or those that are allowed.
func designOutput(t *testing.T, in []byte, o Options, all bool) []byte {
	t.Helper()
	s, err := Open(fileOf(in), int64(len(in)), o)
	if err == nil {
		err = s.PassThrough()
	}
	must.Do(t, err)
	defer s.Close()
	var out output
	sink, err := NewPassing(&out, s, batch.Layout{URLColumn: "url", Verdicts: []batch.VerdictColumn{{Name: "allowed", Kind: batch.Allowed}}})
	must.Do(t, err)
	for range designRows {
		p := must.Get(s.Next(t.Context()))(t)
		b := must.Get(p.Decode())(t)
		v := &batch.Verdicts{}
		v.Reset(b.URLs.Len(), batch.Want{Agents: 1})
		for row := range b.URLs.Len() {
			v.Agents[0].Set(row, !bytes.Contains(b.URLs.Value(row), []byte("/private")))
		}
		tablestest.Select(v, func(row int) bool { return all || !v.Agents[0].Denied(row) })
		b.Start = func(do func()) { do() }
		chunk, err := sink.Encode(b, v)
		if err == nil {
			err = sink.Write(chunk)
		}
		must.Do(t, err)
	}
	must.Do(t, sink.Close())
	return out.Bytes()
}
