package parquetio

import (
	"bytes"
	"context"
	"crypto/sha512"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"

	"robotsbatch/batch"
	"robotsbatch/batch/manifest"
	"robotsbatch/io/frontier/tableio/tablestest"
	codecs "robotsbatch/io/store/compress"
	"robotsbatch/io/store/must"
)

// Small batches share row groups, large ones have their own, and all rows come
// out in order.
func TestRowGroups(t *testing.T) {
	sizes := []int{10_000, 1, 16_000, 40_000, 0, 70_000, 7}
	want := []int64{26_001, 40_000, 70_000, 7}
	var batches []*batch.Batch
	at := 0
	for _, n := range sizes {
		urls := tablestest.URLArray(at+n, true)
		record := tablestest.NewRecord([]string{"url"}, array.NewSlice(urls, int64(at), int64(at+n)))
		batches = append(batches, tableBatch(t, record))
		at += n
	}
	schema := batches[0].Table.(arrow.Record).Schema()
	for _, compression := range []codecs.Codec{codecs.Zstd, codecs.Snappy, codecs.None} {
		data := writeAll(t, SinkOptions{Layout: batch.Layout{URLColumn: "url"}, Schema: schema, Codec: compression}, batches, tablestest.Verdicts)
		f, records := libraryRead(t, data)
		must.Equal(t, f.MetaData().Schema.Root().RepetitionType(), parquet.Repetitions.Required, "the root is not required")
		must.Need(t, f.NumRows() == int64(at) && f.NumRowGroups() == len(want), "%d rows in %d groups, want %d in %d", f.NumRows(), f.NumRowGroups(), at, len(want))
		all, row := tablestest.URLArray(at, true), 0
		for i, record := range records {
			must.Equal(t, record.NumRows(), want[i], "row group", i, "rows")
			n := int(record.NumRows())
			must.Be(t, array.SliceEqual(record.Column(0), 0, int64(n), all, int64(row), int64(row+n)), "row group %d has other rows", i)
			row += n
		}
	}
}

// tableBatch is a batch of a record with its URLs in the first column.
func tableBatch(t testing.TB, record arrow.Record) *batch.Batch {
	t.Helper()
	column := record.Column(0).(*array.String)
	b := &batch.Batch{Input: "table", Table: record}
	b.URLs.Offsets32 = make([]int32, column.Len()+1)
	return b
}

// An output without rows is a file, and an aborted one is none.
func TestEmptyAndAborted(t *testing.T) {
	data := writeAll(t, SinkOptions{Codec: codecs.Zstd, Layout: batch.Layout{URLColumn: "page"}}, nil, nil)
	s, batches, err := readAll(data, Options{URLColumn: "page"})
	must.Be(t, err == nil && len(batches) == 0 && s.Schema().NumFields() == 2, "%d batches: %v", len(batches), err)
	var out output
	sink := must.Get(NewSink(&out, SinkOptions{Codec: codecs.Zstd, Layout: batch.Layout{URLColumn: "url"}}))(t)
	sink.Abort()
	must.Be(t, out.aborted && !out.closed, "the output was not aborted")
}

// Pieces can be decoded after the source was closed, and the last one closes
// the file.
func TestFileStaysOpen(t *testing.T) {
	record := tablestest.NewRecord([]string{"url"}, tablestest.URLArray(10, true))
	file := &closing{memoryFile: fileOf(libraryWrite(t, compress.Codecs.Zstd, parquet.DataPageV1, 4, record))}
	s := must.Get(Open(file, file.Size(), Options{BatchRows: 3}))(t)
	var pieces []batch.Piece
	must.Do(t, tablestest.Each(s, func(p batch.Piece) error { pieces = append(pieces, p); return nil }))
	err := errors.Join(s.Close(), s.Close())
	must.Need(t, err == nil && file.closed == 0, "closed %d times: %v", file.closed, err)
	for i := len(pieces) - 1; i >= 0; i-- { // in any order
		must.Get(pieces[i].Decode())(t)
	}
	must.Be(t, len(pieces) == 5 && file.closed == 1, "%d pieces, closed %d times", len(pieces), file.closed)
}

type closing struct {
	memoryFile
	closed int
}

func (c *closing) Close() error { c.closed++; return nil }

// selecting is an evaluator that selects all rows but some.
type selecting struct{}

func (selecting) Evaluate(b *batch.Batch, v *batch.Verdicts) error {
	v.Reset(b.URLs.Len(), batch.Want{Agents: 1})
	tablestest.Select(v, func(i int) bool { return (b.FirstRow+int64(i))%7 > 0 })
	return nil
}

// filterOn filters a file on a lane of a pool.
func filterOn(lane *batch.Lane, data []byte, progress func(batch.Stats)) ([]byte, error) {
	defer lane.Close()
	var out output
	var sink batch.Sink
	s, err := openPassing(data, Options{Name: "in", URLColumn: "url", BatchRows: 100, Memory: 1 << 20})
	if err == nil {
		sink, err = newPassing(&out, s, false)
	}
	if err != nil {
		return nil, err
	}
	if _, err = lane.Run(s, sink, progress); err != nil {
		return nil, err // Next may still be running, so the source is not closed
	}
	return out.Bytes(), s.Close()
}

// Pages are filtered on the workers of the job, however many there are, within its memory. The
// output is the same with one worker, little memory and other outputs at the same time; an
// output that is damaged or cancelled does not disturb others.
func TestFilterOnWorkers(t *testing.T) {
	const rows = 3000
	texts := array.NewStringBuilder(memory.NewGoAllocator())
	for row := range rows {
		texts.Append(fmt.Sprintf("%x", sha512.Sum512([]byte{byte(row), byte(row >> 8)})))
	}
	record := tablestest.NewRecord([]string{"url", "text"}, tablestest.URLArray(rows, false), texts.NewArray())
	data := libraryWrite(t, compress.Codecs.Zstd, parquet.DataPageV1, 700, record)
	damaged := bytes.Clone(data)
	pages := footerOf(t, data).Groups[2].Chunks[1].Pages
	clear(damaged[pages.Offset+pages.Length/2:][:pages.Length/4])

	newEvaluator := func() batch.Evaluator { return selecting{} }
	pool := func(workers int, memory int64) *batch.Pool {
		return batch.NewPool(newEvaluator, batch.Options{Workers: workers, Memory: memory, Emit: batch.EmitSelected})
	}
	alone := pool(4, 1<<30)
	want, err := filterOn(alone.Lane(t.Context()), data, nil)
	alone.Close()
	must.Need(t, err == nil && footerOf(t, want).Rows == rows-rows/7-1, "%d bytes, error %v", len(want), err)
	for _, workers := range []int{1, 3} {
		for _, memory := range []int64{1, 300 << 10, 4 << 20} {
			p := pool(workers, memory)
			cancelled, cancel := context.WithCancel(t.Context())
			outputs, errs := make([][]byte, 6), make([]error, 6)
			var done sync.WaitGroup
			for i := range outputs {
				data, progress, lane := data, func(batch.Stats) {}, p.Lane(t.Context())
				switch i {
				case 1:
					data = damaged
				case 3:
					lane.Close()
					lane, progress = p.Lane(cancelled), func(s batch.Stats) {
						if s.Rows > rows/2 {
							cancel()
						}
					}
				}
				done.Go(func() { outputs[i], errs[i] = filterOn(lane, data, progress) })
			}
			done.Wait()
			p.Close()
			cancel()
			for i, err := range errs {
				switch {
				case i == 1 && (err == nil || !strings.Contains(err.Error(), "row group 2")), i == 3 && !errors.Is(err, context.Canceled), i != 1 && i != 3 && err != nil:
					t.Errorf("%d workers, %d bytes of memory: output %d: error %v", workers, memory, i, err)
				case err == nil && !bytes.Equal(outputs[i], want):
					t.Errorf("%d workers, %d bytes of memory: output %d differs", workers, memory, i)
				}
			}
		}
	}
}

// Where all rows are selected, the pages of a row group are written with its first batch. The file is
// the same, and a row group is one part of its manifest.
func TestPagesAreCopiedBeforeVerdicts(t *testing.T) {
	const rows = 1000
	record := tablestest.NewRecord([]string{"url"}, tablestest.URLArray(rows, false))
	data := libraryWrite(t, compress.Codecs.Zstd, parquet.DataPageV1, rows/2, record)
	want := must.Get(passThrough(100, data))(t)
	s := must.Get(openPassing(data, Options{URLColumn: "url", BatchRows: 100}))(t)
	var out output
	sums := manifest.NewSums(&out)
	sink := sums.Around(must.Get(newPassing(sums, s, true))(t))
	all := func(int64) bool { return true }
	p, err := s.Next(t.Context())
	if err == nil {
		err = passPiece(sink, p, all)
	}
	pages := footerOf(t, data).Groups[0].Chunks[0].Pages
	must.Need(t, err == nil && int64(out.Len()) >= pages.Length, "%d bytes after the first batch, error %v", out.Len(), err)
	must.Do(t, errors.Join(tablestest.Each(s, func(p batch.Piece) error { return passPiece(sink, p, all) }), sink.Close(), s.Close()))
	must.Be(t, bytes.Equal(out.Bytes(), want), "the file differs")
	var parts []int64
	for _, part := range sums.Parts() {
		parts = append(parts, part.Rows)
	}
	must.EqualSlices(t, parts, []int64{0, rows / 2, rows / 2, 0}, "parts of", "rows")
}
