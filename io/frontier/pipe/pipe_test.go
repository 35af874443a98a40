package pipe_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"go.uber.org/goleak"

	"robotsbatch/batch"
	"robotsbatch/io/frontier/pipe"
	"robotsbatch/io/frontier/tableio/tablestest"
	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// byLength gives verdicts by a URL's length: of three the first is allowed, the second
// denied, and the third has none.
type byLength struct{}

func newByLength() batch.Evaluator { return byLength{} }

func (byLength) Evaluate(b *batch.Batch, v *batch.Verdicts) error {
	v.Reset(b.URLs.Len(), batch.Want{Agents: 1})
	for row := range v.Rows {
		if b.URLs.Null(row) || len(b.URLs.Value(row))%3 == 2 {
			v.SetNull(row, matcher.InvalidURL)
		} else {
			v.Agents[0].Set(row, len(b.URLs.Value(row))%3 == 0)
		}
	}
	return nil
}

// wanted is the verdict that byLength gives, as text.
func wanted(url string) string {
	if url == "(null)" {
		return url
	}
	return []string{"true", "false", "(null)"}[len(url)%3]
}

var verdictColumns = []batch.VerdictColumn{{Name: "allowed", Kind: batch.Allowed}}

func options() pipe.Options { return pipe.Options{Name: "stdin", Verdicts: verdictColumns} }

// child runs a pipe whose writes wait for the client to read, and the other way round:
// whoever writes before the other is ready to read stands still for ever.
func child(t *testing.T, o pipe.Options) (to *io.PipeWriter, from *io.PipeReader, wait func() (batch.Stats, error)) {
	t.Helper()
	in, to := io.Pipe()
	from, out := io.Pipe()
	var stats batch.Stats
	ended := make(chan error, 1)
	go func() {
		var err error
		stats, err = pipe.Run(t.Context(), in, out, newByLength, o)
		out.CloseWithError(err)
		ended <- err
	}()
	t.Cleanup(func() { in.Close(); from.Close() })
	return to, from, func() (batch.Stats, error) { err := <-ended; return stats, err }
}

func urlRecord(t *testing.T, name string, urls ...string) arrow.Record {
	t.Helper()
	b := array.NewStringBuilder(memory.NewGoAllocator())
	for _, url := range urls {
		b.Append(url)
	}
	ids := array.NewInt64Builder(memory.NewGoAllocator())
	for i := range urls {
		ids.Append(int64(i))
	}
	return tablestest.NewRecord([]string{name, "id"}, b.NewArray(), ids.NewArray())
}

func manyURLs(n int) []string {
	urls := make([]string, n)
	for i := range urls {
		urls[i] = fmt.Sprintf("https://example.com/%d/%s", i, strings.Repeat("x", i%5))
	}
	return urls
}

// A client without threads writes a batch, reads its answer, and goes on.
func TestLockStep(t *testing.T) {
	batches := [][]string{{"a", "bb", "ccc"}, {}, manyURLs(66_000), {"dddd"}}
	for compression, writing := range map[string][]ipc.Option{"none": nil, "zstd": {ipc.WithZstd()}, "lz4": {ipc.WithLZ4()}} {
		for _, workers := range []int{1, 3} {
			for _, keep := range []batch.Keep{batch.KeepAll, batch.KeepURL, batch.KeepNone} {
				t.Run(fmt.Sprintf("%s/workers=%d/keep=%d", compression, workers, keep), func(t *testing.T) {
					o := options()
					o.Keep, o.Workers = keep, workers
					lockStep(t, o, writing, batches)
				})
			}
		}
	}
}

func lockStep(t *testing.T, o pipe.Options, writing []ipc.Option, batches [][]string) {
	to, from, wait := child(t, o)
	var w *ipc.Writer
	var r *ipc.Reader
	for number, urls := range batches {
		record := urlRecord(t, "url", urls...)
		if number == 0 { // the library writes the schema with the first batch
			must.Do(t, writeSchema(to, record.Schema()))
			r = must.Get(ipc.NewReader(from))(t) // reads the schema
			w = ipc.NewWriter(&withoutSchema{w: to}, append(writing, ipc.WithSchema(record.Schema()))...)
		}
		must.Do(t, w.Write(record))
		must.Need(t, r.Next(), "batch %d has no answer: %v", number, r.Err())
		checkAnswer(t, record, r.Record(), o.Keep)
	}
	must.Do(t, w.Close()) // to itself stays open
	must.Need(t, !r.Next() && r.Err() == nil, "after the end: %v", r.Err())
	stats := must.Get(wait())(t)
	rows := 0
	for _, urls := range batches {
		rows += len(urls)
	}
	must.Be(t, stats.Rows == int64(rows) && stats.Selected == int64(rows), "%d rows read and %d written, want %d", stats.Rows, stats.Selected, rows)
}

// writeSchema writes the schema message of a stream.
func writeSchema(w io.Writer, schema *arrow.Schema) error {
	var all bytes.Buffer
	if err := ipc.NewWriter(&all, ipc.WithSchema(schema)).Close(); err != nil {
		return err
	}
	_, err := w.Write(all.Bytes()[:all.Len()-8]) // without the end marker
	return err
}

// withoutSchema leaves out the first message of a stream.
type withoutSchema struct {
	w      io.Writer
	schema bool // it came
	head   []byte
}

func (s *withoutSchema) Write(p []byte) (int, error) {
	if s.schema {
		return s.w.Write(p)
	}
	s.head = append(s.head, p...)
	if len(s.head) < 8 {
		return len(p), nil
	}
	size := 8 + int(s.head[4]) + int(s.head[5])<<8
	if len(s.head) < size {
		return len(p), nil
	}
	s.schema = true
	if rest := s.head[size:]; len(rest) > 0 {
		if _, err := s.w.Write(rest); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// checkAnswer compares an answer with the columns that came in and the verdicts.
func checkAnswer(t *testing.T, asked, answer arrow.Record, keep batch.Keep) {
	t.Helper()
	kept := map[batch.Keep]int{batch.KeepAll: int(asked.NumCols()), batch.KeepURL: 1, batch.KeepNone: 0}[keep]
	must.Need(t, answer.NumRows() == asked.NumRows() && int(answer.NumCols()) == kept+1,
		"%d rows of %d columns for %d rows, want %d columns", answer.NumRows(), answer.NumCols(), asked.NumRows(), kept+1)
	for i := range kept {
		must.Need(t, array.Equal(answer.Column(i), asked.Column(i)), "column %s came out as another", asked.ColumnName(i))
	}
	allowed := answer.Column(kept)
	for row := range int(asked.NumRows()) {
		url := asked.Column(0).ValueStr(row)
		got := allowed.ValueStr(row)
		must.Need(t, got == wanted(url), "row %d, %s: %s, want %s", row, url, got, wanted(url))
	}
}

// answer runs a pipe over a whole stream.
func answer(t *testing.T, stream []byte, o pipe.Options) ([]byte, batch.Stats) {
	t.Helper()
	var out bytes.Buffer
	stats := must.Get(pipe.Run(t.Context(), bytes.NewReader(stream), &out, newByLength, o))(t)
	return out.Bytes(), stats
}

// Columns of all types are written as they were read, and each batch has one answer
// whichever rows are selected.
func TestEmit(t *testing.T) {
	columns := tablestest.Columns(t)
	names, arrays := []string{"url"}, []arrow.Array{tablestest.URLArray(12, true)}
	for i, column := range columns {
		names, arrays = append(names, fmt.Sprintf("%d %s", i, column.Name)), append(arrays, column.Array)
	}
	whole := tablestest.NewRecord(names, arrays...)
	records := []arrow.Record{whole, whole, whole}
	stream := tablestest.WriteArrow(t, true, whole.Schema(), records)
	for _, emit := range []batch.Emit{batch.EmitAll, batch.EmitAllowed, batch.EmitDenied, batch.EmitUnknown} {
		for _, keep := range []batch.Keep{batch.KeepAll, batch.KeepURL, batch.KeepNone} {
			t.Run(fmt.Sprintf("emit=%d/keep=%d", emit, keep), func(t *testing.T) {
				o := options()
				o.Emit, o.Keep, o.URLColumn = emit, keep, "url"
				answered, _ := answer(t, stream, o)
				_, answers := tablestest.ReadArrow(t, answered)
				must.Need(t, len(answers) == len(records), "%d answers to %d batches", len(answers), len(records))
				for i, record := range records {
					rows := chosen(record.Column(0), emit)
					must.Need(t, int(answers[i].NumRows()) == len(rows), "batch %d: %d rows, want %d", i, answers[i].NumRows(), len(rows))
					if keep != batch.KeepAll {
						continue
					}
					for c, column := range record.Columns() {
						tablestest.SameRows(t, answers[i].Column(c), column, rows)
					}
				}
			})
		}
	}
}

// chosen are the selected rows.
func chosen(urls arrow.Array, emit batch.Emit) (rows []int) {
	of := map[batch.Emit]string{batch.EmitAllowed: "true", batch.EmitDenied: "false", batch.EmitUnknown: "(null)"}[emit]
	for row := range urls.Len() {
		if emit == batch.EmitAll || wanted(urls.ValueStr(row)) == of {
			rows = append(rows, row)
		}
	}
	return rows
}

// A dictionary may grow, and may be replaced, between batches.
func TestDictionaries(t *testing.T) {
	dt := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	record := func(values string) arrow.Record {
		return tablestest.NewRecord([]string{"url"}, tablestest.FromJSON(t, dt, values))
	}
	for _, deltas := range []bool{false, true} {
		records := []arrow.Record{record(`["a","bb"]`), record(`["a","bb","ccc"]`), record(`["z","yyyyy",null]`)}
		if deltas {
			records = records[:2]
		}
		stream := tablestest.WriteArrow(t, true, records[0].Schema(), records, ipc.WithDictionaryDeltas(deltas))
		answered, _ := answer(t, stream, options())
		_, answers := tablestest.ReadArrow(t, answered)
		for i, record := range records {
			must.Equal(t, fmt.Sprint(answers[i].Column(0)), fmt.Sprint(record.Column(0)), "deltas", deltas, "batch", i)
			urls := record.Column(0).(*array.Dictionary)
			for row := range urls.Len() {
				url := "(null)"
				if urls.IsValid(row) {
					url = urls.Dictionary().ValueStr(urls.GetValueIndex(row))
				}
				must.Equal(t, answers[i].Column(1).ValueStr(row), wanted(url), "deltas", deltas, "batch", i, url)
			}
		}
	}
}

// URLs that are split over columns have answers one by one, too.
func TestSplitURLs(t *testing.T) {
	text := func(values string) arrow.Array { return tablestest.FromJSON(t, arrow.BinaryTypes.String, values) }
	record := tablestest.NewRecord([]string{"url_protocol", "url_host_name", "url_path"},
		text(`["https","http"]`), text(`["example.com","example.org"]`), text(`["/a","/bb"]`))
	stream := tablestest.WriteArrow(t, true, record.Schema(), []arrow.Record{record, record.NewSlice(0, 0), record.NewSlice(1, 2)})
	for _, keep := range []batch.Keep{batch.KeepAll, batch.KeepURL, batch.KeepNone} {
		for _, emit := range []batch.Emit{batch.EmitAll, batch.EmitAllowed} {
			o := options()
			o.Keep, o.Emit = keep, emit
			answered, _ := answer(t, stream, o)
			_, answers := tablestest.ReadArrow(t, answered)
			must.Be(t, len(answers) == 3, "keep %d, emit %d: %d answers to 3 batches", keep, emit, len(answers))
		}
	}
}

// A stream without batches has an answer without any, and nothing at all is an error.
func TestEmptyStream(t *testing.T) {
	schema := urlRecord(t, "url").Schema()
	answered, stats := answer(t, tablestest.WriteArrow(t, true, schema, nil), options())
	got, answers := tablestest.ReadArrow(t, answered)
	if len(answers) != 0 || got.NumFields() != 3 || stats.Rows != 0 || !bytes.HasSuffix(answered, []byte{0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0}) {
		t.Errorf("%d batches of %v, ending in %x", len(answers), got, answered[len(answered)-8:])
	}
	var out bytes.Buffer
	_, err := pipe.Run(t.Context(), bytes.NewReader(nil), &out, newByLength, options())
	must.Be(t, errors.Is(err, io.ErrUnexpectedEOF) && out.Len() == 0, "of no bytes: %v, %d bytes", err, out.Len())
}

// Wherever a stream is cut, its answer has no end marker.
func TestCutStream(t *testing.T) {
	record := urlRecord(t, "url", "a", "bb", "ccc")
	stream := tablestest.WriteArrow(t, true, record.Schema(), []arrow.Record{record, record})
	whole, _ := answer(t, stream, options())
	for size := range stream {
		var out bytes.Buffer
		_, err := pipe.Run(t.Context(), bytes.NewReader(stream[:size]), &out, newByLength, options())
		must.Need(t, errors.Is(err, io.ErrUnexpectedEOF), "cut at %d: %v", size, err)
		got := out.Bytes()
		must.Need(t, bytes.HasPrefix(whole, got) && len(got) <= len(whole)-8, "cut at %d: the answer is %d bytes, of %d", size, len(got), len(whole))
	}
}

// steps hands out a message's parts one by one, and says how many were taken.
type steps struct {
	parts [][]byte
	taken int
}

func (s *steps) Write(p []byte) (int, error) {
	s.parts = append(s.parts, bytes.Clone(p))
	return len(p), nil
}

func (s *steps) Read(p []byte) (int, error) {
	if s.taken == len(s.parts) {
		return 0, io.EOF
	}
	n := copy(p, s.parts[s.taken])
	if s.parts[s.taken] = s.parts[s.taken][n:]; len(s.parts[s.taken]) == 0 {
		s.taken++
	}
	return n, nil
}

// onWrite calls a function before each write.
type onWrite func()

func (f onWrite) Write(p []byte) (int, error) { f(); return len(p), nil }

// A pipe with one worker reads nothing before it has answered, and never less than a
// batch before it answers that.
func TestOneBatchAtATime(t *testing.T) {
	in := &steps{}
	record := urlRecord(t, "url", manyURLs(1000)...)
	w := ipc.NewWriter(in, ipc.WithSchema(record.Schema()))
	var ends []int // parts up to the end of each batch
	for range 5 {
		must.Do(t, w.Write(record))
		ends = append(ends, len(in.parts))
	}
	must.Do(t, w.Close())
	writes := 0
	out := onWrite(func() {
		switch {
		case writes == 0 && in.taken >= ends[0]:
			t.Errorf("a batch was read before the schema was written")
		case 0 < writes && writes <= len(ends) && in.taken != ends[writes-1]:
			t.Errorf("at answer %d %d parts were read, want %d", writes-1, in.taken, ends[writes-1])
		}
		writes++
	})
	must.Do(t, must.Err(pipe.Run(t.Context(), in, out, newByLength, options())))
	must.Be(t, writes == 1+len(ends)+1, "%d writes for a schema, %d answers and an end marker", writes, len(ends))
}

// A batch that takes more than its part of the memory is an error.
func TestMemory(t *testing.T) {
	record := urlRecord(t, "url", manyURLs(100_000)...)
	o := options()
	o.Memory = 1 << 20
	var out bytes.Buffer
	stream := tablestest.WriteArrow(t, true, record.Schema(), []arrow.Record{record})
	must.Say(t, must.Err(pipe.Run(t.Context(), bytes.NewReader(stream), &out, newByLength, o)), "raise memory")
}

// A failed check keeps back the answers from then on, and the end marker.
func TestCheck(t *testing.T) {
	record := urlRecord(t, "url", "a")
	stream := tablestest.WriteArrow(t, true, record.Schema(), []arrow.Record{record, record})
	changed := errors.New("the rules have changed")
	for passes := range 3 {
		o, checks := options(), 0
		o.Check = func() error {
			if checks++; checks > passes {
				return changed
			}
			return nil
		}
		var out bytes.Buffer
		_, err := pipe.Run(t.Context(), bytes.NewReader(stream), &out, newByLength, o)
		must.Be(t, errors.Is(err, changed) && !bytes.HasSuffix(out.Bytes(), []byte{0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0}), "error %v, %d bytes", err, out.Len())
		r := must.Get(ipc.NewReader(&out))(t)
		answers := 0
		for r.Next() {
			answers++
		}
		must.Equal(t, answers, passes)
	}
}

// The end of the context ends a wait for the schema, for a batch, and for a reader.
func TestStopped(t *testing.T) {
	record := urlRecord(t, "url", "a", "bb")
	stream := tablestest.WriteArrow(t, true, record.Schema(), []arrow.Record{record})
	stop := errors.New("stop")
	for _, sent := range []int{0, 4, len(stream) - 20, len(stream) - 8} {
		ctx, cancel := context.WithCancelCause(t.Context())
		in, to := io.Pipe()
		go func() {
			_, _ = to.Write(stream[:sent])
			cancel(stop)
		}()
		must.Is(t, must.Err(pipe.Run(ctx, in, io.Discard, newByLength, options())), stop, "after", sent, "bytes")
		in.Close() // ends a read that goes on
	}
}

// An error of the output ends the pipe.
func TestOutputFails(t *testing.T) {
	record := urlRecord(t, "url", "a", "bb")
	stream := tablestest.WriteArrow(t, true, record.Schema(), []arrow.Record{record, record})
	full := errors.New("disk full")
	for after := range 4 {
		in, out := bytes.NewReader(stream), &failing{left: after, err: full}
		must.Is(t, must.Err(pipe.Run(t.Context(), in, out, newByLength, options())), full, "after", after, "writes")
	}
}

// failing fails after some writes.
type failing struct {
	left int
	err  error
}

func (f *failing) Write(p []byte) (int, error) {
	if f.left == 0 {
		return 0, f.err
	}
	f.left--
	return len(p), nil
}
