package export

import (
	"errors"
	"os"
	"strconv"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"

	"robotsbatch/bench/corpus"
)

const (
	// captureRows is the number of rows in a record batch of captures.
	captureRows = 1024
	// crawlSeconds is the time from one crawl to the next: 30 days.
	crawlSeconds = 30 * 24 * 60 * 60
)

// Captures writes the robots.txt fetches of crawl number crawl for all origins, as a table
// of captures, to the Arrow stream name.
func Captures(name string, c *corpus.Corpus, crawl int) error {
	return toFile(name, func(file *os.File) error { return writeCaptures(file, c, crawl) })
}

// writeCaptures writes the table of Captures to file.
func writeCaptures(file *os.File, c *corpus.Corpus, crawl int) error {
	b := newBuilder(c, []arrow.Field{
		{Name: "url", Type: arrow.BinaryTypes.String},
		{Name: "status", Type: arrow.PrimitiveTypes.Int16},
		{Name: "fetched_at", Type: arrow.FixedWidthTypes.Timestamp_s},
		{Name: "body", Type: arrow.BinaryTypes.Binary, Nullable: true},
	})
	defer b.Release()
	w := ipc.NewWriter(file, ipc.WithSchema(b.Schema()), ipc.WithZstd())
	var body []byte
	for o := range c.Origins() {
		captured := c.Capture(&o, crawl)
		b.Field(0).(*array.StringBuilder).Append(robotsURL(&o))
		b.Field(1).(*array.Int16Builder).Append(int16(captured.Status))
		b.Field(2).(*array.TimestampBuilder).Append(arrow.Timestamp(firstFound + crawl*crawlSeconds + o.Index%86_400))
		if captured.Status == 200 {
			body = c.AppendBody(body[:0], captured.Body)
			b.Field(3).(*array.BinaryBuilder).Append(body)
		} else {
			b.Field(3).AppendNull()
		}
		if b.Field(0).Len() == captureRows {
			if err := writeRecord(w, b); err != nil {
				return err
			}
		}
	}
	return errors.Join(writeRecord(w, b), w.Close())
}

// writeRecord writes the rows that b has as a record batch, and empties b.
func writeRecord(w recordWriter, b *array.RecordBuilder) error {
	record := b.NewRecord()
	defer record.Release()
	return w.Write(record)
}

// robotsURL returns the URL of an origin's robots.txt.
func robotsURL(o *corpus.Origin) string { return string(o.Authority()) + "/robots.txt" }

// CapturesName is the name of the table of a crawl.
func CapturesName(crawl int) string { return "captures-" + strconv.Itoa(100 + crawl)[1:] + ".arrows" }
