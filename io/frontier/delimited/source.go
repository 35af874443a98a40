package delimited

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/batch"
	"robotsbatch/batch/option"
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

// NewSource reads the header of r and returns a source of the rows after it. r must be
// decompressed, and is not closed. An error names the input; without a column of URLs, it
// lists the columns.
func NewSource(r io.Reader, o lines.Options) (*lines.Source, error) {
	cut := &cutter{separator: o.Separator}
	h := &header{separator: o.Separator, blocks: o.Blocks(r, option.Messagef("close a quote that stands open, or take the row out"), cut)}
	return h.open(o, cut)
}

// NewCDX returns a source of a crawl index whose first line, " CDX N b a m s k r M S V g",
// names each field by a letter. Blanks separate the fields, and a quote is a plain character.
func NewCDX(r io.Reader, o lines.Options) (*lines.Source, error) {
	h := &header{separator: ' ', cdx: true, blocks: o.Blocks(r, option.Messagef("take the row out"), nil)}
	return h.open(o, nil)
}

// header is the first row that is not empty, and what it says about the others.
type header struct {
	separator byte // between fields; 0 until the header is read
	cdx       bool // it is the header of a CDX index
	blocks    *lines.Blocks
	names     []string // of the columns
	url       int      // the index of the column of URLs
	weight    int      // that of the column of weights; -1 for none
	time      int      // that of the column of times; -1 for none
	whole     bool     // batches have all columns as a record
	schema    *arrow.Schema
}

// open reads the header and returns a source of the rows after it. cut finds the ends of rows, and
// gets the separator that the header has; it is nil for CDX.
func (h *header) open(o lines.Options, cut *cutter) (*lines.Source, error) {
	if err := h.read(o.Name); err != nil {
		return nil, err
	}
	if err := h.findColumns(o.URLColumn, o.Extra); err != nil {
		return nil, fmt.Errorf("%s: %w", o.Name, err)
	}
	if cut != nil {
		cut.separator = h.separator
	}
	h.schema, h.whole = lines.StringSchema(h.names...), o.Columns
	if h.whole {
		// A cell takes four bytes, even where a short row leaves it out: Size/2 cells take at most
		// twice Size.
		cells := min(maxCells, h.blocks.Size()/2)
		h.blocks.LimitRows(max(1, cells/len(h.names)))
	}
	return lines.NewSource(o.Name, h.blocks, lines.Table{
		Schema: h.schema, URLColumn: h.names[h.url],
		NewDecoder: func() lines.Decoder { return &decoder{header: h} },
	}), nil
}

// read reads the first row that is not empty, as the header. input names the input in errors.
func (h *header) read(input string) error {
	for h.names == nil {
		block, err := h.blocks.Header(context.Background())
		if err == io.EOF {
			return fmt.Errorf("%s: the input is empty: it needs a header with the columns' names", input)
		}
		if err != nil {
			return err
		}
		if err := h.parse(&block); err != nil {
			return fmt.Errorf("%s: the header: %w", input, err)
		}
	}
	return nil
}

// findColumns sets the indices of the columns with URLs, weights and times. url is the name of
// the URLs' column; empty for the default.
func (h *header) findColumns(url string, extra batch.ExtraColumns) (err error) {
	columns := format.Columns{Names: h.names}
	if h.url, err = findURLs(columns, url); err != nil {
		return err
	}
	if h.weight, err = columns.Extra(extra.Weight, option.Weight); err != nil {
		return err
	}
	h.time, err = columns.Extra(extra.Time, option.AsOf)
	return err
}

// separated matches a column's name that is likely several names, because no separator was
// recognised: url and another name, with what may separate them.
var separated = regexp.MustCompile(`(?i)^url[,;|:^\t][^ ]|[,;|^\t]url$|^url [^ ]$|[,;|:^\t]url[,;|:^\t]`)

// findURLs returns the index of the column that has the URLs: what [format.Columns.URL] finds,
// or the only column. A single name that contains a separator is an error, because it is
// likely several columns.
func findURLs(columns format.Columns, name string) (int, error) {
	found, err := columns.URL(name)
	if err != nil || found >= 0 {
		return found, err
	}
	names := columns.Names
	switch {
	case strings.Contains(strings.Join(names, " "), "://"):
		return 0, option.Errorf("there is no column \"url\", and the first row has a URL where the columns' names should be (they are %s): put a header before it%s", columns, headerAdvice(names))
	case len(names) == 1 && separated.MatchString(names[0]):
		return 0, option.Errorf("there is no column \"url\", but one named %q: if these are several, say what separates them with %s, and if it has the URLs, name it with %s", names[0], option.Delimiter, option.URLColumn)
	case len(names) == 1:
		return 0, nil
	}
	return 0, columns.NoColumn(format.URLColumn)
}

// headerAdvice says what else helps, besides a header, an input whose first row has a URL in place
// of names: cut off the other columns or, if there are none, read the input as a list.
func headerAdvice(names []string) option.Message {
	if len(names) > 1 {
		return option.Messagef(", or cut off all but the URLs")
	}
	return option.Messagef(", or read a list of URLs with %s", option.InFormat.With("text"))
}

// parse reads the columns' names from a block of one record. It sets h.separator if that is 0. If all
// lines of the block are empty, it leaves h.names nil.
func (h *header) parse(block *lines.Block) error {
	if len(block.Data) > h.blocks.MaxLine()+len("\r\n") {
		return h.blocks.TooLong(block.Line(0))
	}
	r := newReader(block.Data, h.separator, h.cdx)
	if !r.more() {
		return nil
	}
	if h.separator == 0 {
		h.separator = likelySeparator(block.Data)
		r.separator = h.separator
	}
	for last := false; !last; {
		if len(h.names) == maxColumns {
			return fmt.Errorf("more than %d columns: this is no table, or one that has to be cut first", maxColumns)
		}
		var name []byte
		var ok bool
		if name, last, ok = r.field(nil); !ok {
			return errOpenQuote
		}
		h.names = append(h.names, string(name))
	}
	if h.cdx {
		return h.nameFields()
	}
	return nil
}

// cdxNames maps the letters of a CDX header that most indexes have to column names.
var cdxNames = map[string]string{
	"N": "surt", "b": "timestamp", "a": "url", "m": "mime", "s": "status", "k": "digest",
	"r": "redirect", "M": "meta", "S": "length", "V": "offset", "g": "filename",
}

// nameFields replaces the letters of a CDX header by the columns' names.
func (h *header) nameFields() error {
	letters := h.names
	if letters[0] == "" {
		letters = letters[1:] // the header starts with the separator
	}
	if len(letters) < 2 || letters[0] != "CDX" {
		return errors.New("a crawl index starts with a line such as \" CDX N b a m s k r M S V g\"")
	}
	h.names = nil
	for _, letter := range letters[1:] {
		name, known := cdxNames[letter]
		if !known {
			name = "cdx_" + letter
		}
		h.names = append(h.names, name)
	}
	return nil
}

var errOpenQuote = errors.New("a quote opens that nothing closes: close it, or double it and put the value in quotes")

// separators are the possible separators of a header, the likeliest first.
const separators = ",;\t|"

// likelySeparator returns the separator that occurs most often outside of quotes in a header: of
// equal ones the first of separators, which is a comma if there is none.
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
