// Package export writes a corpus to files: its bodies as a folder of robots.txt
// files, its URLs as frontiers in the formats that the program reads.
package export

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"
	"github.com/klauspost/compress/zstd"

	"robotsbatch/bench/corpus"
)

// Options control how frontiers are written. The zero value is the default.
type Options struct {
	// BatchRows is the number of rows of an Arrow record batch; default 65,536.
	BatchRows int
	// Compression is that of Arrow's record batches: "zstd", the default, "lz4" or "none".
	// Parquet uses zstd.
	Compression string
	// Columns is the number of columns of a table: 3, the default, or 30. The 30 have the
	// names and contents of those in Common Crawl's index, including a list and
	// dictionaries.
	Columns int
	// Crawls, if not 0, adds the times of fetches to the 3 columns: crawl_time, within one
	// crawl, as in a crawl's list; fetch_time, rising within an origin from the first of so
	// many crawls to the last; and mixed_time, in random order.
	Crawls int
	// Parts, if not 0, divides the frontier into that number of parts with equal numbers of
	// origins. Only part number Part, from 0 on, is written.
	Part, Parts int
	// List, if not nil, has the URLs to be written in place of the corpus's.
	List [][]byte
}

// urls returns the URLs to be written.
func (o Options) urls(c *corpus.Corpus) iter.Seq2[*corpus.Origin, []byte] {
	if o.List != nil {
		return func(yield func(*corpus.Origin, []byte) bool) {
			all := corpus.Origin{URLs: int64(len(o.List))}
			for i := 0; i < len(o.List) && yield(&all, o.List[i]); i++ {
			}
		}
	}
	if o.Parts <= 0 {
		return c.URLs()
	}
	origins := int64(c.Options().Origins)
	bound := func(part int) int { return int(origins * int64(part) / int64(o.Parts)) }
	return c.URLsOf(bound(o.Part), bound(o.Part+1))
}

// batchRows returns BatchRows or its default.
func (o Options) batchRows() int {
	if o.BatchRows <= 0 {
		return 65_536
	}
	return o.BatchRows
}

// Formats are the extensions of the files that Frontier writes: an Arrow file, an Arrow
// stream, Parquet, and one URL per line.
var Formats = []string{".arrow", ".arrows", ".parquet", ".txt", ".txt.zst"}

// Rules writes the body of each origin that has one to a file in dir, and creates dir if
// needed.
func Rules(dir string, c *corpus.Corpus) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	var body []byte
	for o := range c.Origins() {
		if o.Body < 0 {
			continue
		}
		body = c.AppendBody(body[:0], o.Body)
		if err := os.WriteFile(filepath.Join(dir, o.FileName()), body, 0o666); err != nil {
			return fmt.Errorf("export: %w", err)
		}
	}
	return nil
}

// Frontier writes the URLs to the file name, whose extension is one of Formats. Like real
// tables, a table has more columns: fetch_priority, with nulls, and found_at, or those that
// Options.Columns asks for.
func Frontier(name string, c *corpus.Corpus, o Options) error {
	return toFile(name, func(file *os.File) error {
		switch {
		case strings.HasSuffix(name, ".arrow"), strings.HasSuffix(name, ".arrows"):
			return writeArrow(file, c, o, strings.HasSuffix(name, "s"))
		case strings.HasSuffix(name, ".parquet"):
			return writeParquet(file, c, o)
		case strings.HasSuffix(name, ".txt"):
			return writeText(file, c, o)
		case strings.HasSuffix(name, ".txt.zst"):
			encoder, err := zstd.NewWriter(file)
			if err != nil {
				return err
			}
			return errors.Join(writeText(encoder, c, o), encoder.Close())
		}
		return fmt.Errorf("the name must end in one of %s", strings.Join(Formats, " "))
	})
}

// toFile creates a file and lets write fill it.
func toFile(name string, write func(*os.File) error) error {
	file, err := os.Create(name)
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	if err := errors.Join(write(file), file.Close()); err != nil {
		return fmt.Errorf("export: %s: %w", name, err)
	}
	return nil
}

// writeText writes a URL a line.
func writeText(w io.Writer, c *corpus.Corpus, o Options) error {
	buffered := bufio.NewWriterSize(w, 1<<20)
	for _, url := range o.urls(c) {
		_, _ = buffered.Write(url) // an error shows at Flush
		_ = buffered.WriteByte('\n')
	}
	return buffered.Flush()
}

// recordWriter is the common interface of Arrow's file and stream writers.
type recordWriter interface {
	Write(arrow.Record) error
	Close() error
}

// writeArrow writes an Arrow stream, or a file with a footer.
func writeArrow(file *os.File, c *corpus.Corpus, o Options, stream bool) error {
	t, err := newTable(c, o, true)
	if err != nil {
		return err
	}
	defer t.builder.Release()
	options := []ipc.Option{ipc.WithSchema(t.builder.Schema())}
	switch o.Compression {
	case "", "zstd":
		options = append(options, ipc.WithZstd())
	case "lz4":
		options = append(options, ipc.WithLZ4())
	case "none":
	default:
		return fmt.Errorf("compression %q: must be zstd, lz4 or none", o.Compression)
	}
	if stream {
		w := ipc.NewWriter(file, options...)
		return errors.Join(t.write(w, c, o), w.Close())
	}
	w, err := ipc.NewFileWriter(file, options...)
	if err != nil {
		return err
	}
	return errors.Join(t.write(w, c, o), w.Close())
}

// parquetWriter writes records in row groups of a million rows, as other programs do.
type parquetWriter struct{ *pqarrow.FileWriter }

func (w parquetWriter) Write(record arrow.Record) error { return w.WriteBuffered(record) }

// writeParquet writes a Parquet file, without dictionaries of URLs, because few repeat.
func writeParquet(file *os.File, c *corpus.Corpus, o Options) error {
	t, err := newTable(c, o, false)
	if err != nil {
		return err
	}
	defer t.builder.Release()
	w, err := pqarrow.NewFileWriter(t.builder.Schema(), struct{ io.Writer }{file}, // hides Close, so that the file stays open
		parquet.NewWriterProperties(
			parquet.WithCompression(compress.Codecs.Zstd), parquet.WithMaxRowGroupLength(1<<20),
			parquet.WithDictionaryFor("url", false)),
		pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
	if err != nil {
		return err
	}
	return errors.Join(t.write(parquetWriter{w}, c, o), w.Close())
}
