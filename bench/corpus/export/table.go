package export

import (
	"fmt"
	"strconv"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"robotsbatch/bench/corpus"
)

// table builds the rows of a frontier.
type table struct {
	builder *array.RecordBuilder
	// add appends a row to all columns.
	add func(row int64, o *corpus.Origin, url []byte)
}

// newTable returns a table, with dictionaries if the format has them and the table could
// use them. The caller must release its builder.
func newTable(c *corpus.Corpus, o Options, dictionaries bool) (table, error) {
	switch o.Columns {
	case 0, 3:
		return frontierTable(c, o.Crawls), nil
	case 30:
		return indexTable(c, dictionaries), nil
	}
	return table{}, fmt.Errorf("%d columns: must be 3 or 30", o.Columns)
}

// newBuilder returns a builder of rows with these fields. The metadata of its schema names the seed.
func newBuilder(c *corpus.Corpus, fields []arrow.Field) *array.RecordBuilder {
	metadata := arrow.NewMetadata(
		[]string{"made_by", "seed"},
		[]string{"robotsbatch bench/corpus", strconv.FormatUint(c.Options().Seed, 10)})
	return array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, &metadata))
}

// write writes all rows.
func (t table) write(w recordWriter, c *corpus.Corpus, o Options) error {
	row := int64(0)
	for origin, url := range o.urls(c) {
		t.add(row, origin, url)
		if row++; row%int64(o.batchRows()) == 0 {
			if err := writeRecord(w, t.builder); err != nil {
				return err
			}
		}
	}
	if t.builder.Field(0).Len() == 0 {
		return nil
	}
	return writeRecord(w, t.builder)
}

// firstFound is found_at in the first row: 2025-01-01T00:00:00Z.
const firstFound = 1_735_689_600

// frontierTable has the columns url, fetch_priority and found_at, and the times of fetches
// if crawls is not 0.
func frontierTable(c *corpus.Corpus, crawls int) table {
	fields := []arrow.Field{
		{Name: "url", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "fetch_priority", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
		{Name: "found_at", Type: arrow.FixedWidthTypes.Timestamp_s},
	}
	if crawls > 0 {
		for _, name := range []string{"crawl_time", "fetch_time", "mixed_time"} {
			fields = append(fields, arrow.Field{Name: name, Type: arrow.FixedWidthTypes.Timestamp_ms})
		}
	}
	builder := newBuilder(c, fields)
	urls := builder.Field(0).(*array.StringBuilder)
	priorities := builder.Field(1).(*array.Int32Builder)
	found := builder.Field(2).(*array.TimestampBuilder)
	first, host := int64(0), -1 // the first row of the origin
	return table{builder, func(row int64, o *corpus.Origin, url []byte) {
		urls.BinaryBuilder.Append(url)
		if row%17 == 16 {
			priorities.AppendNull()
		} else {
			priorities.Append(int32(row * 7919 % 100))
		}
		found.Append(arrow.Timestamp(firstFound + row*37))
		if crawls == 0 {
			return
		}
		if o.Index != host {
			first, host = row, o.Index
		}
		all := int64(crawls) * crawlSeconds
		rising := all * (row - first) / max(1, o.URLs)
		mixed := int64(uint64(row+1) * 0x9E3779B97F4A7C15 >> 32 * uint64(all) >> 32)
		crawl := int64(crawls/2)*crawlSeconds + mixed%crawlSeconds
		for i, second := range [...]int64{crawl, rising, mixed} {
			builder.Field(3 + i).(*array.TimestampBuilder).Append(arrow.Timestamp(1000 * (firstFound + second))) // whole seconds, as in WARC files
		}
	}}
}
