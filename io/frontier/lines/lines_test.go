package lines

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/apache/arrow/go/v15/arrow"
	"go.uber.org/goleak"

	"robotsbatch/batch"
	"robotsbatch/batch/option"
	"robotsbatch/io/frontier/lines/linestest"
	"robotsbatch/io/frontier/tableio/tablestest"
	"robotsbatch/io/store/compress"
	"robotsbatch/io/store/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func constant(s string) func(dst []byte, row int) []byte {
	return func(dst []byte, _ int) []byte { return append(dst, s...) }
}

// oneRow are verdicts of one row.
var oneRow = &batch.Verdicts{Rows: 1}

func TestOutput(t *testing.T) {
	tests := []struct {
		name, header string
		parts        []string
		want         string
	}{
		{"nothing", "", nil, ""},
		{"header alone", "h\n", nil, "h\n"},
		{"parts", "", []string{"a\n", "", "b\n"}, "a\nb\n"},
		{"header and parts", "h\n", []string{"", "a\n", "b\n", ""}, "h\na\nb\n"},
		{"header and empty parts", "h\n", []string{"", ""}, "h\n"},
	}
	for _, c := range []compress.Codec{compress.None, compress.Gzip, compress.Zstd} {
		for _, test := range tests {
			t.Run(fmt.Sprintf("%s/%s", c, test.name), func(t *testing.T) {
				w := new(linestest.Writer)
				o := must.Get(NewOutput(w, []byte(test.header), SinkOptions{Codec: c}))(t)
				for _, part := range test.parts {
					must.Do(t, o.Write(must.Get(o.Encode(nil, oneRow, constant(part)))(t)))
				}
				must.Do(t, o.Close())
				o.Abort()
				must.Be(t, w.Closed && !w.Aborted, "the output is not closed")
				// A whole file of its kind, whatever is in it.
				must.Need(t, compress.Detect(w.Bytes()) == c, "the output is not %s: %q", c, w.Bytes())
				r := must.Get(compress.NewReader(&w.Buffer, c))(t)
				defer r.Close()
				var got strings.Builder
				for buffer, err := make([]byte, 10), error(nil); err == nil; {
					var n int
					n, err = r.Read(buffer)
					got.Write(buffer[:n])
				}
				must.Equal(t, got.String(), test.want)
			})
		}
	}
}

func TestOutputFails(t *testing.T) {
	full := errors.New("no space left")
	w := &linestest.Writer{Fails: full}
	o := must.Get(NewOutput(w, []byte("h\n"), SinkOptions{Codec: compress.Zstd}))(t)
	chunk := must.Get(o.Encode(nil, oneRow, constant("a\n")))(t)
	must.Is(t, o.Write(chunk), full, "Write")
	o.Abort()
	must.Be(t, w.Aborted, "the output is not aborted")

	w = &linestest.Writer{Fails: full}
	o = must.Get(NewOutput(w, []byte("h\n"), SinkOptions{}))(t)
	err := o.Close()
	must.Be(t, errors.Is(err, full) && w.Aborted, "Close: %v, aborted: %v", err, w.Aborted)
	must.Fail(t, must.Err(NewOutput(w, nil, SinkOptions{Codec: 99})), "unknown codec")
	must.Fail(t, o.Write(otherChunk{}), "chunk of another sink")
}

// A batch may want more memory than it has: rows of a dictionary that are one
// long entry, lists of them.
func TestOutputMemory(t *testing.T) {
	dt := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	entry := `"` + strings.Repeat("a", 1000) + `"`
	all := entry + strings.Repeat(","+entry, 99)
	for name, column := range map[string]arrow.Array{
		"many rows":      tablestest.FromJSON(t, dt, "["+all+"]"),
		"a long list":    tablestest.FromJSON(t, arrow.ListOf(dt), "[["+all+"]]"),
		"list in struct": tablestest.FromJSON(t, arrow.StructOf(arrow.Field{Name: "l", Type: arrow.ListOf(dt)}), `[{"l":[`+all+`]}]`),
	} {
		for memory, fails := range map[int64]bool{0: false, 200_000: false, 50_000: true} {
			layout := batch.Layout{URLColumn: "other", Memory: memory}
			record := tablestest.NewRecord([]string{"d"}, column)
			columns := must.Get(Columns(layout, record.Schema()))(t)
			v := &batch.Verdicts{Rows: column.Len()}
			values := must.Get(JSON(&batch.Batch{Table: record}, v, columns, nil))(t)
			o := must.Get(NewOutput(new(linestest.Writer), nil, SinkOptions{Layout: layout}))(t)
			most := 0
			_, err := o.Encode(nil, v, func(dst []byte, row int) []byte {
				dst = values[0](dst, row)
				most = len(dst)
				return dst
			})
			must.Be(t, (err != nil) == fails && (!fails || strings.Contains(err.Error(), "raise memory")), "%s: %d bytes of memory: %v", name, memory, err)
			must.Be(t, !fails || most <= 60_000, "%s: %d bytes before the end", name, most)
		}
	}
}

type otherChunk struct{}

func (otherChunk) Size() int64 { return 0 }

func TestColumns(t *testing.T) {
	table := linestest.Texts
	for _, test := range []struct {
		name   string
		keep   batch.Keep
		url    string
		schema *arrow.Schema
		want   string // an asterisk marks the URL column; or what the error says
	}{
		{"list", batch.KeepAll, "", nil, "*url allowed"},
		{"list, URL", batch.KeepURL, "url", nil, "*url allowed"},
		{"list, none", batch.KeepNone, "url", nil, "allowed"},
		{"table", batch.KeepAll, "u", table("a", "u", "b"), "a *u b allowed"},
		{"table, URL", batch.KeepURL, "u", table("a", "u", "b"), "*u allowed"},
		{"table, none", batch.KeepNone, "u", table("a", "u", "b"), "allowed"},
		{"two columns of the URL's name", batch.KeepAll, "u", table("u", "u"), "*u u allowed"},
		{"no URL column", batch.KeepAll, "url", table("host"), "host allowed"},
		{"clash", batch.KeepAll, "u", table("u", "allowed"), `"allowed"`},
		{"clash, which another prefix ends", batch.KeepAll, "u", table("u", "allowed"), "prefix"},
		{"a column that clashes and stays out", batch.KeepURL, "u", table("u", "allowed"), "*u allowed"},
		{"no URL column, URL", batch.KeepURL, "", table("host"), "*url allowed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			columns, err := Columns(batch.Layout{Keep: test.keep, URLColumn: test.url, Verdicts: linestest.Columns(1, false)}, test.schema)
			if err != nil && strings.Contains(err.Error(), test.want) {
				return
			}
			must.Do(t, err)
			var got []string
			for _, column := range columns {
				if column.kind == urlColumn {
					column.Name = "*" + column.Name
				}
				got = append(got, column.Name)
			}
			must.Equal(t, strings.Join(got, " "), test.want)
		})
	}
}

// TestBatchWithoutTable is a mistake of the caller's, and no panic.
func TestBatchWithoutTable(t *testing.T) {
	columns := must.Get(Columns(batch.Layout{URLColumn: "url"}, linestest.Schema()))(t)
	must.Fail(t, must.Err(Text(linestest.List("a", "b", "c", "d"), linestest.Verdicts(), columns)))
	columns = must.Get(Columns(batch.Layout{Keep: batch.KeepNone, Verdicts: linestest.Facts()}, nil))(t)
	v := linestest.Verdicts()
	v.Columns = nil
	must.Fail(t, must.Err(JSON(linestest.List("a", "b", "c", "d"), v, columns, nil)), "without facts")
}

func TestAppendString(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{"", `""`},
		{"http://a.example/?a=1&b=<2>", `"http://a.example/?a=1&b=<2>"`},
		{`"\/`, `"\"\\/"`},
		{"\x00\b\t\n\v\f\r\x1f\x7f", `"\u0000\u0008\t\n\u000b\u000c\r\u001f` + "\x7f\""},
		{"ü€😀\u2028\ufffd", "\"ü€😀\u2028\ufffd\""},
		{"\xff", `"` + "\ufffd" + `"`},
		{"a\xc3", `"a` + "\ufffd" + `"`},
		{"\xed\xa0\x80", `"` + "\ufffd\ufffd\ufffd" + `"`},
		{"\xf0\x9f\x98x\xf0\x9f\x98\x80", `"` + "\ufffd\ufffd\ufffdx😀" + `"`},
	} {
		must.Equal(t, string(AppendString(nil, test.in, nil)), test.want, test.in)
		must.Equal(t, string(AppendString([]byte("x"), []byte(test.in), nil)), "x"+test.want, test.in, "as bytes", test.want)
		must.Be(t, json.Valid(AppendString(nil, test.in, nil)), "%q gives no JSON", test.in)
	}
}

// Columns of verdicts that are written four at a time are what they are one by one.
func TestAllowedRunWritesItsColumns(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for _, agents := range []int{4, 5, 8, 13, 166} {
		const rows = 203
		v := &batch.Verdicts{}
		v.Reset(rows, batch.Want{Agents: agents})
		layout := batch.Layout{Keep: batch.KeepNone}
		for agent := range agents {
			layout.Verdicts = append(layout.Verdicts, batch.VerdictColumn{Name: fmt.Sprint("allowed_", agent), Kind: batch.Allowed, Agent: agents - 1 - agent})
			for row := range rows {
				v.Agents[agent].Set(row, r.IntN(3) == 0)
			}
		}
		for _, row := range []int{0, 7, 100, 202} {
			for agent := range agents {
				a := &v.Agents[agent]
				a.Valid[row>>3] &^= 1 << (row & 7)
				a.Allowed[row>>3] &^= 1 << (row & 7)
				a.Nulls++
			}
		}
		columns := must.Get(Columns(layout, nil))(t)
		fields := must.Get(Text(&batch.Batch{}, v, columns))(t)
		allowed := NewAllowedRun(columns, func(dst []byte, column int, value string) []byte {
			return append(fmt.Appendf(dst, "%d=", column), value...)
		}).Rows(v)
		for _, row := range r.Perm(rows) {
			null := row == 0 || row == 7 || row == 100 || row == 202
			must.Need(t, allowed.Begins(0, row) != null && !allowed.Begins(1, row), "row %d, null %t: begins %t, and %t at the second column", row, null, allowed.Begins(0, row), allowed.Begins(1, row))
			var want []byte
			for column, field := range fields {
				want = field(fmt.Appendf(want, "%d=", column), row)
			}
			got := allowed.Append(nil, row)
			must.Need(t, null || string(got) == string(want), "%d agents, row %d: %s, want %s", agents, row, got, want)
		}
	}
}

// Other columns, and fewer than four allowed ones, are no run.
func TestAllowedRunNeedsFourColumns(t *testing.T) {
	kinds := func(kinds ...*batch.ColumnKind) []Column {
		layout := batch.Layout{Keep: batch.KeepURL, URLColumn: "url"}
		for i, kind := range kinds {
			layout.Verdicts = append(layout.Verdicts, batch.VerdictColumn{Name: fmt.Sprint("c", i), Kind: kind})
		}
		return must.Get(Columns(layout, nil))(t)
	}
	write := func(dst []byte, _ int, value string) []byte { return append(dst, value...) }
	allowed, reason := batch.Allowed, batch.Explaining[0]
	for _, few := range [][]Column{kinds(), kinds(allowed, allowed, allowed), kinds(allowed, reason, allowed, reason, allowed, reason, allowed)} {
		if w := NewAllowedRun(few, write); w != nil {
			t.Errorf("%d columns: from %d to %d", len(few), w.First, w.End)
		}
	}
	w := NewAllowedRun(kinds(allowed, allowed, allowed, allowed, reason, allowed), write)
	must.Be(t, w != nil && w.First == 1 && w.End == 5, "four allowed columns behind the URL: %+v", w)
}

// pairs is a Cutter whose records are two lines each.
type pairs struct{ lines int }

func (c *pairs) Cut(data []byte, from, most int) (end, records int) {
	if from == 0 {
		c.lines = 0
	}
	for at := from; at < len(data) && records < most; at++ {
		if data[at] != '\n' {
			continue
		}
		if c.lines++; c.lines%2 == 0 {
			end, records = at+1, records+1
		}
	}
	return end, records
}

// TestBlocks has blocks follow each other without a gap, whatever the reads and
// the records are, also when a context ends in the first read.
func TestBlocks(t *testing.T) {
	var b strings.Builder
	for i := range 101 {
		fmt.Fprintf(&b, "line %d%s\n", i, strings.Repeat("x", i*i%40))
	}
	for _, input := range []string{b.String(), strings.TrimSuffix(b.String(), "\n"), "\n", "x", mark + "\n\n\n", ""} {
		for _, rows := range []int{0, 1, 3, 100} {
			for _, cutter := range []Cutter{nil, &pairs{}} {
				for _, r := range []io.Reader{strings.NewReader(input), iotest.OneByteReader(strings.NewReader(input)), iotest.DataErrReader(strings.NewReader(input))} {
					ctx, cancel := context.WithCancel(t.Context())
					cancelling := linestest.ReaderFunc(func(p []byte) (int, error) { cancel(); return r.Read(p) })
					testBlocks(ctx, t, strings.TrimPrefix(input, mark), (&Options{BatchRows: rows}).Blocks(cancelling, option.Message{}, cutter))
				}
			}
		}
	}
}

func testBlocks(ctx context.Context, t *testing.T, input string, blocks *Blocks) {
	t.Helper()
	var got []byte
	lines := int64(0)
	_, plain := blocks.cutter.(lineCutter)
	for index := 0; ; index++ {
		block, err := blocks.Next(ctx, nil)
		if errors.Is(err, context.Canceled) {
			block, err = blocks.Next(t.Context(), nil)
		}
		if err == io.EOF {
			break
		}
		must.Do(t, err)
		wantLines := bytes.Count(block.Data, newline)
		if !bytes.HasSuffix(block.Data, newline) {
			wantLines++
		}
		wantRecords := wantLines
		if !plain {
			wantRecords = (wantLines + 1) / 2
		}
		must.Be(t, block.Index == index && block.FirstLine == lines && block.Lines == wantLines && block.Records == wantRecords,
			"block %d after %d lines: %+v", index, lines, block)
		must.Be(t, block.Records != 0 && block.Records <= blocks.rows, "%d records, want at most %d", block.Records, blocks.rows)
		last := len(block.Data) - 1
		must.Be(t, block.Line(last) == lines+int64(block.Lines), "the last line is %d", block.Line(last))
		lines += int64(block.Lines)
		got = append(got, block.Data...)
	}
	must.Equal(t, string(got), input, "blocks of")
}

func TestStrings(t *testing.T) {
	var s Strings
	for range 2 { // the memory is used again
		s.Reset(10)
		for i := range 10 {
			s.Data = append(s.Data, strings.Repeat("x", i)...)
			if i%3 == 1 {
				s.Data = s.Data[:len(s.Data)-i]
				s.Null()
				continue
			}
			s.End()
		}
		column := s.Column()
		must.Do(t, column.Validate())
		record := Record(StringSchema("a", "b"), []*Strings{&s, &s})
		for i := range 10 {
			must.Be(t, column.Null(i) == (i%3 == 1) && record.Column(1).IsNull(i) == column.Null(i), "row %d: null %v in the column, %v in the record", i, column.Null(i), record.Column(1).IsNull(i))
			must.Be(t, column.Null(i) || len(column.Value(i)) == i && record.Column(0).ValueStr(i) == string(column.Value(i)), "row %d: %q", i, column.Value(i))
		}
		record.Release()
		s.Reset(3)
		s.End()
		column = s.Column()
		must.Be(t, column.Validity == nil && column.Len() == 1, "after Reset: %+v", column)
	}
}

// Blanks counts as one that looks at each line does.
func TestBlanks(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		data := make([]byte, rng.IntN(40))
		for i := range data {
			data[i] = "ab \t\n\r\n\v"[rng.IntN(8)]
		}
		var got Blanks
		got.Add(&Block{Data: data, FirstLine: 7})
		count, line, first := int64(0), int64(0), ""
		for number, rest := int64(7), data; len(rest) > 0; number++ {
			var row []byte
			row, rest = CutLine(rest)
			if row = bytes.Trim(row, " \t\r\v\f"); !bytes.ContainsAny(row, " \t") {
				continue
			}
			if count++; count == 1 {
				line, first = number, string(row)
			}
		}
		n, text := got.Count()
		must.Need(t, n == count && text == first && got.line == line, "%q: %d, the first %q in line %d; want %d, %q, %d", data, n, text, got.line, count, first, line)
	}
}
