package jsonl

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"robotsbatch/matcher/spelling"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/batch"
	"robotsbatch/batch/option"
	"robotsbatch/io/frontier/lines"
)

// defaultKey is the key of the URL, unless Options say otherwise.
const defaultKey = "url"

// Names of a crawl index's columns beside the URL.
const (
	surtColumn      = "surt"
	timestampColumn = "timestamp"
)

// Options of a source. The zero value reads the URLs of JSON objects.
type Options struct {
	// Name of the input for errors.
	Name string
	// CDXJ reads a crawl index: a sort key, a timestamp and an object a line.
	CDXJ bool
	// URLKey is the key of the URL; empty for "url", or in an object without it
	// one in other case, such as "URL".
	URLKey string
	// Beside names keys that are read besides the URL.
	Beside batch.Beside
	// Columns asks for whole rows as batch.Batch.Table: the original lines for this
	// package's sink to pass through, and for a crawl index also a record of its
	// columns.
	Columns bool
	// Verdicts are the columns that will be added. This package's sink fails at an
	// object with one of their names as a key.
	Verdicts []batch.VerdictColumn
	// BatchRows is the most lines a batch has; 0 means lines.DefaultRows.
	BatchRows int
	// BatchSize is the most bytes of input in a batch before its last row; 0 means
	// lines.MaxBlockSize, which is also the limit.
	BatchSize int
	// MaxLine is the most bytes a line may have, without its line end; 0 means
	// lines.DefaultMaxLine, and 1 GiB is the limit. A longer line is an error.
	MaxLine int
}

// Source reads JSON objects or a crawl index, line by line. It is a
// batch.Source.
type Source struct {
	options Options
	blocks  *lines.Blocks
	watched [][]byte
	anyCase bool
	schema  *arrow.Schema
	pool    sync.Pool
	whole   *whole
}

// whole is what is known about an input after all its pieces were decoded.
type whole struct {
	name, key string
	weight    string
	time      string
	rows      atomic.Bool              // there are some
	keyed     atomic.Bool              // one of them has the URL's key
	weighed   atomic.Bool              // one of them has the weight's
	timed     atomic.Bool              // one of them has the time's
	keys      atomic.Pointer[[]string] // of an object, for people
}

// NewSource reads r, which must be decompressed already, and does not close it.
func NewSource(r io.Reader, o Options) *Source {
	anyCase := o.URLKey == ""
	if anyCase {
		o.URLKey = defaultKey
	}
	s := &Source{options: o, anyCase: anyCase, whole: &whole{name: o.Name, key: o.URLKey, weight: o.Beside.Weight}, blocks: lines.NewBlocks(r, lines.BlockOptions{
		Prefix: "jsonl: " + o.Name, Rows: o.BatchRows, MaxLine: o.MaxLine, Size: o.BatchSize,
		Hint: option.Messagef("take the line out, or say what the input is with %s", option.InFormat),
	})}
	if !s.timestamps() {
		s.whole.time = o.Beside.Time
	}
	if o.CDXJ {
		s.schema = lines.StringSchema(surtColumn, timestampColumn, o.URLKey)
		s.watched = [][]byte{[]byte(surtColumn), []byte(timestampColumn)}
	}
	if o.Columns {
		for _, v := range o.Verdicts {
			s.watched = append(s.watched, []byte(v.Name))
		}
	}
	s.pool.New = func() any { return s.newMemory() }
	return s
}

// Schema returns a crawl index's columns, and nil for objects, whose keys may differ
// from line to line.
func (s *Source) Schema() *arrow.Schema { return s.schema }

// timestamps reports whether the wanted times are a crawl index's timestamps.
func (s *Source) timestamps() bool {
	return s.options.CDXJ && s.options.Beside.Time == timestampColumn
}

// URLColumn returns the key of the URL.
func (s *Source) URLColumn() string { return s.options.URLKey }

// Next returns the next batch of undecoded lines. After a failed read it returns the
// whole lines that were read, and then the error on every call.
func (s *Source) Next(ctx context.Context) (batch.Piece, error) {
	m := s.pool.Get().(*memory)
	block, err := s.blocks.Next(ctx, m.rows.text)
	m.rows.text = block.Data
	if err != nil {
		s.pool.Put(m)
		return nil, err
	}
	return &piece{source: s, memory: m, block: block}, nil
}

// Complete returns a function to call after all pieces were decoded. It returns an
// error if there are rows and none has the URL's key, the weight's or the time's. It does not keep
// the source in memory.
func (s *Source) Complete() func() error { return s.whole.check }

func (w *whole) check() error {
	key, hint := w.key, option.Messagef("name the one of the URL with %s", option.URLColumn)
	switch {
	case !w.rows.Load():
		return nil
	case !w.keyed.Load():
	case w.weight != "" && !w.weighed.Load():
		key, hint = w.weight, option.Messagef("name another one with %s", option.Weight)
	case w.time != "" && !w.timed.Load():
		key, hint = w.time, option.Messagef("name another one with %s", option.AsOf)
	default:
		return nil
	}
	what := option.Messagef("no line is a JSON object")
	if keys := w.keys.Load(); keys != nil {
		what = option.Messagef("no line has a key %q: %s; the first object has %s", key, hint, listKeys(*keys, key))
	}
	return option.Errorf("jsonl: %s: %s", w.name, what)
}

// listKeys lists an object's keys for people, the likeliest first.
func listKeys(keys []string, wanted string) string {
	const most = 20
	if len(keys) == 0 {
		return "none"
	}
	if near := spelling.Nearest(wanted, keys); near != "" {
		keys = append([]string{near}, slices.DeleteFunc(slices.Clone(keys), func(k string) bool { return k == near })...)
	}
	var quoted []string
	for _, key := range keys[:min(len(keys), most)] {
		quoted = append(quoted, fmt.Sprintf("%.200q", key))
	}
	if more := len(keys) - most; more > 0 {
		quoted = append(quoted, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(quoted, ", ")
}

// Close does nothing: the input belongs to who opened it.
func (s *Source) Close() error { return nil }
