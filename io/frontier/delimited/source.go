package delimited

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"robotsbatch/batch/option"
	"robotsbatch/matcher/spelling"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/batch"
	"robotsbatch/io/frontier/format"
	"robotsbatch/io/frontier/lines"
)

const (
	// maxColumns is the most columns of a header.
	maxColumns = 10_000

	// maxCells bounds the fields of a batch's table. Each takes four bytes, even one
	// that a short row leaves out.
	maxCells = 4 << 20
)

// Options of a source. The zero value reads comma-separated values and hands
// out their URLs alone.
type Options struct {
	// Name of the input for errors.
	Name string
	// Separator stands between fields: a tab, or a printable ASCII character
	// that is no letter, digit or quote. 0 takes the one of comma, semicolon, tab
	// and vertical bar that occurs most often in the header.
	Separator byte
	// CDX reads a crawl index whose first line, " CDX N b a m s k r M S V g",
	// names each field by a letter. Blanks separate the fields, and a quote is a plain
	// character.
	CDX bool
	// URLColumn is the column with the URLs. Empty means "url", or the one that differs
	// from "url" only in case, or the only column.
	URLColumn string
	// Beside names columns that are read besides the URLs.
	Beside batch.Beside
	// Columns asks for all columns, as batch.Batch.Table.
	Columns bool
	// BatchRows is the most rows a batch has; 0 means lines.DefaultRows. Where
	// Columns asks for very many, a batch has fewer.
	BatchRows int
	// BatchSize is the most bytes of input in a batch before its last row; 0 means
	// lines.MaxBlockSize, which is also the limit.
	BatchSize int
	// MaxLine is the most bytes a row may have, without its line end; 0 means
	// lines.DefaultMaxLine, and 1 GiB is the limit. A longer row is an error.
	MaxLine int
}

// Source reads delimited values. It is a batch.Source.
type Source struct {
	name    string
	comma   byte // the separator, 0 until the header is read
	cdx     bool
	blocks  *lines.Blocks
	skipped int // blocks that were read for the header
	names   []string
	url     int // the URLs' column
	weight  int // that of the weights; -1 for none
	time    int // that of the times likewise
	schema  *arrow.Schema
	columns bool // all columns are asked for
	pool    sync.Pool
}

// NewSource reads the header of r, which must be decompressed already, and does not
// close r. Errors name the input; without a column of URLs, they list the columns.
func NewSource(r io.Reader, o Options) (*Source, error) {
	s := &Source{name: o.Name, comma: o.Separator, cdx: o.CDX, columns: o.Columns}
	cut := &cutter{separator: s.comma}
	options := lines.BlockOptions{
		Prefix: "delimited: " + o.Name, Rows: 1, MaxLine: o.MaxLine, Size: o.BatchSize,
		Hint:   option.Messagef("close a quote that stands open, or take the row out"),
		Cutter: cut,
	}
	if s.cdx {
		s.comma, options.Cutter, options.Hint = ' ', nil, option.Messagef("take the row out")
	}
	s.blocks = lines.NewBlocks(r, options)
	if err := s.readHeader(o.URLColumn, o.Beside); err != nil {
		return nil, err
	}
	cut.separator = s.comma
	rows := o.BatchRows
	if rows <= 0 {
		rows = lines.DefaultRows
	}
	if s.columns {
		cells := maxCells
		if o.BatchSize > 0 {
			cells = min(cells, o.BatchSize/2)
		}
		rows = min(rows, max(1, cells/len(s.names)))
	}
	s.blocks.SetRows(rows)
	s.pool.New = func() any { return new(store) }
	return s, nil
}

// readHeader reads the first row that is not empty.
func (s *Source) readHeader(url string, beside batch.Beside) error {
	for s.names == nil {
		block, err := s.blocks.Next(context.Background(), nil)
		if err == io.EOF {
			return fmt.Errorf("delimited: %s: the input is empty: it needs a header with the columns' names", s.name)
		}
		if err != nil {
			return err
		}
		s.skipped++
		if err := s.parseHeader(&block); err != nil {
			return fmt.Errorf("delimited: %s: the header: %w", s.name, err)
		}
	}
	var err error
	if s.url, err = findColumn(s.names, url); err != nil {
		return fmt.Errorf("delimited: %s: %w", s.name, err)
	}
	if s.weight, err = findBeside(s.names, beside.Weight, option.Weight); err != nil {
		return fmt.Errorf("delimited: %s: %w", s.name, err)
	}
	if s.time, err = findBeside(s.names, beside.Time, option.AsOf); err != nil {
		return fmt.Errorf("delimited: %s: %w", s.name, err)
	}
	s.schema = lines.StringSchema(s.names...)
	return nil
}

func (s *Source) parseHeader(block *lines.Block) error {
	if len(block.Data) > s.blocks.MaxLine()+len("\r\n") {
		return s.blocks.TooLong(block.Line(0))
	}
	if !newReader(block.Data, s.comma, s.cdx).more() {
		return nil
	}
	if s.comma == 0 {
		s.comma = likelySeparator(block.Data)
	}
	r := newReader(block.Data, s.comma, s.cdx)
	r.more()
	for last := false; !last; {
		if len(s.names) == maxColumns {
			return fmt.Errorf("more than %d columns: this is no table, or one that has to be cut first", maxColumns)
		}
		var name []byte
		var ok bool
		if name, last, ok = r.field(nil); !ok {
			return errOpenQuote
		}
		s.names = append(s.names, string(name))
	}
	if s.cdx {
		return s.nameFields()
	}
	return nil
}

// cdxNames maps the letters of a CDX header that most indexes have to column names.
var cdxNames = map[string]string{
	"N": "surt", "b": "timestamp", "a": "url", "m": "mime", "s": "status", "k": "digest",
	"r": "redirect", "M": "meta", "S": "length", "V": "offset", "g": "filename",
}

// nameFields replaces a CDX header's letters by the columns' names.
func (s *Source) nameFields() error {
	letters := s.names
	if letters[0] == "" {
		letters = letters[1:] // the header starts with the separator
	}
	if len(letters) < 2 || letters[0] != "CDX" {
		return errors.New("a crawl index starts with a line such as \" CDX N b a m s k r M S V g\"")
	}
	s.names = nil
	for _, letter := range letters[1:] {
		name, known := cdxNames[letter]
		if !known {
			name = "cdx_" + letter
		}
		s.names = append(s.names, name)
	}
	return nil
}

var errOpenQuote = errors.New("a quote opens that nothing closes: close it, or write it twice and the field in quotes")

// separators are the possible separators of a header, the likeliest first.
const separators = ",;\t|"

// likelySeparator returns the separator that occurs most often outside of quotes
// in a header; a comma where there is none.
func likelySeparator(header []byte) byte {
	var counts [len(separators)]int
	quoted := false
	for _, c := range header {
		if c == '"' {
			quoted = !quoted
		}
		if i := strings.IndexByte(separators, c); i >= 0 && !quoted {
			counts[i]++
		}
	}
	best := 0
	for i, count := range counts {
		if count > counts[best] {
			best = i
		}
	}
	return separators[best]
}

// countNames counts the columns with the wanted name, and returns the last one.
func countNames(names []string, equal func(a, b string) bool, wanted string) (found, index int) {
	for i, column := range names {
		if equal(column, wanted) {
			found, index = found+1, i
		}
	}
	return found, index
}

// findColumn returns the index of the column that has the URLs.
func findColumn(names []string, name string) (int, error) {
	wanted := name
	if wanted == "" {
		wanted = "url"
	}
	found, index := countNames(names, func(a, b string) bool { return a == b }, wanted)
	if found == 0 && name == "" {
		found, index = countNames(names, strings.EqualFold, wanted)
	}
	switch {
	case found == 1:
		return index, nil
	case found > 1:
		return 0, option.Errorf("there are %d columns %q: name another one with %s", found, wanted, option.URLColumn)
	case name == "" && len(names) == 1 && !strings.Contains(names[0], "://"):
		return 0, nil
	case name == "" && strings.Contains(strings.Join(names, " "), "://"):
		return 0, option.Errorf("there is no column %q, and the first row has a URL where the columns' names should be (they are %s): put a header before it, or read a list of URLs with %s", wanted, listColumns(names), option.InFormat.With("text"))
	}
	return 0, &format.NoColumnError{Name: wanted, Near: spelling.Nearest(name, names), Columns: listColumns(names)}
}

// findBeside returns the index of the column that an option names; -1 if it is not set.
func findBeside(names []string, name string, by option.Name) (int, error) {
	if name == "" {
		return -1, nil
	}
	switch found, index := countNames(names, func(a, b string) bool { return a == b }, name); found {
	case 0:
	case 1:
		return index, nil
	default:
		return -1, option.Errorf("there are %d columns %q: name another one with %s", found, name, by)
	}
	if near := spelling.Nearest(name, names); near != "" {
		return -1, option.Errorf("there is no column %q for %s: did you mean %q? The columns are %s", name, by, near, listColumns(names))
	}
	return -1, option.Errorf("there is no column %q: name one of %s with %s", name, listColumns(names), by)
}

// listColumns lists the columns for people.
func listColumns(names []string) string {
	const most = 50
	var quoted []string
	for _, name := range names[:min(len(names), most)] {
		quoted = append(quoted, fmt.Sprintf("%.200q", name))
	}
	if more := len(names) - most; more > 0 {
		quoted = append(quoted, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(quoted, ", ")
}

// Schema returns the columns: strings that may be null.
func (s *Source) Schema() *arrow.Schema { return s.schema }

// URLColumn returns the name of the column that has the URLs.
func (s *Source) URLColumn() string { return s.names[s.url] }

// Next implements batch.Source. It only finds the ends of rows. After a failed read it
// returns the whole rows that were read, and then the error on every call.
func (s *Source) Next(ctx context.Context) (batch.Piece, error) {
	m := s.pool.Get().(*store)
	block, err := s.blocks.Next(ctx, m.data)
	m.data = block.Data
	if err != nil {
		s.pool.Put(m)
		return nil, err
	}
	block.Index -= s.skipped
	return &piece{source: s, store: m, block: block}, nil
}

// Close does nothing: the input belongs to who opened it.
func (s *Source) Close() error { return nil }
