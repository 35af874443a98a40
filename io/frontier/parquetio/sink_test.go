package parquetio

import (
	"errors"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"

	"robotsbatch/batch"
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
	for {
		p, err := s.Next(t.Context())
		if err != nil {
			break
		}
		pieces = append(pieces, p)
	}
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
