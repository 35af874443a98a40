package captures

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"robotsbatch/batch"
	"robotsbatch/io/frontier/tableio"
	"robotsbatch/io/tables"
)

// row is a row of a table of captures; null and absent fields are nil.
type row struct {
	url, authority, body, location []byte
	hasStatus                      bool
	status                         int
	fetched                        time.Time
	failed                         bool

	file           []byte // of a WARC record that has the rest
	offset, length int64  // of the record in it

	// broken says which value of the row cannot be read. The row is then taken as a fetch without an
	// answer: if it were skipped, its host would be allowed.
	broken error
}

// finish checks a row whose fields are set, trims its authority, and makes a broken row a fetch without an
// answer. The error says why a row must be skipped: it has no URL, or says nothing about an answer. An
// empty body without a status says nothing, because formats without null write it for a fetch that nobody
// made. Nor does a null body of a 2xx; an empty one is a robots.txt without rules.
func (r *row) finish() error {
	if r.namesFile() {
		r.broken = nil // the record has the status and the time that cannot be read
		if r.offset < 0 || r.length <= 0 || r.offset+r.length < 0 {
			r.broken = errors.New("it names a WARC file, but not both the offset and the length of a record in it")
		}
	}
	r.trimAuthority()
	r.failed = r.failed || r.broken != nil
	switch {
	case len(r.file) > 0 && len(r.body) == 0 && len(r.url) > 0: // a WARC record may have all else
		return nil
	case len(r.url) == 0 && len(r.authority) == 0:
		return errors.New("it has neither url nor authority")
	case len(r.body) == 0 && !r.hasStatus && !r.failed:
		return errors.New("it has neither body, nor status, nor error")
	case r.body == nil && r.status/100 == 2 && !r.failed:
		return errNullBody
	}
	return nil
}

// trimAuthority removes what follows scheme, host and port in the authority. The row is broken if
// that is more than a slash, and there is no URL that would count instead.
func (r *row) trimAuthority() {
	r.authority = bytes.TrimPrefix(bytes.TrimSpace(r.authority), []byte("//"))
	scheme, host, hasScheme := bytes.Cut(r.authority, []byte("://"))
	if !hasScheme || bytes.ContainsAny(scheme, "/?#;") { // as in example.com/?u=http://example.org
		host = r.authority
	}
	if end := bytes.IndexAny(host, "/?#;"); end >= 0 { // where package urls ends an authority
		if len(r.url) == 0 && string(host[end:]) != "/" {
			r.broken = fmt.Errorf("authority %.80q is more than scheme, host and port: URLs belong into the column url", r.authority)
		}
		r.authority = r.authority[:len(r.authority)-len(host)+end]
		host = host[:end]
	}
	if len(host) == 0 {
		r.authority = nil
	}
}

// namesFile reports whether the answer is in a WARC record that the row names. A failed fetch
// has none.
func (r *row) namesFile() bool { return len(r.file) > 0 && len(r.body) == 0 && !r.failed }

// capture sets x to the row's capture.
func (r *row) capture(x *Capture) {
	*x = Capture{URL: r.url, Time: r.fetched, Status: r.status, Failed: r.failed, Unread: r.broken != nil, Location: r.location, Body: r.body, Offset: -1}
	if r.namesFile() {
		x.File, x.Offset, x.Length = r.file, r.offset, r.length
	}
}

var errNullBody = errors.New("it has a 2xx status and a null body: only an empty text is an empty robots.txt")

// nothings are the texts, in lower case, that stand for a value that is not there: what Python, pandas
// and SQL write into text.
var nothings = []string{"", "none", "null", "nan", "<na>", `\n`}

// dash stands for a value that is not there in indexes, such as the status of a revisit.
const dash = "-"

// undash returns a text of an index, nil for a dash.
func undash(text []byte) []byte {
	if string(text) == dash {
		return nil
	}
	return text
}

// isNothing reports whether a text stands for a value that is not there.
func isNothing(text []byte) bool {
	const longest = 4
	return len(text) <= longest && slices.ContainsFunc(nothings, func(none string) bool { return strings.EqualFold(none, string(text)) })
}

// setStatus sets the status from its cell in row i, which has a number or a text of digits or of
// a whole float. No cell, nil, and texts for "no value" leave it unset.
func (r *row) setStatus(c *cells, i int) error {
	switch {
	case c == nil:
		return nil
	case c.number != nil:
		return r.setStatusNumber(c.number(i))
	}
	text := c.text.Value(i)
	if isNothing(text) || string(text) == dash {
		return nil
	}
	status, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return fmt.Errorf("status %.40q is no number", text)
	}
	return r.setStatusNumber(status)
}

// setStatusNumber sets the status. An invalid one becomes -1: negative, or 0, which crawlers
// write if there was no answer. Large numbers are clamped to 32 bits, and stay invalid.
func (r *row) setStatusNumber(status float64) error {
	if status != math.Trunc(status) {
		return fmt.Errorf("status %v is no whole number", status)
	}
	r.hasStatus = true
	if r.status = int(max(-1, min(status, math.MaxInt32))); status <= 0 {
		r.status = -1
	}
	return nil
}

// setFetched sets the time of the fetch from its cell in row i. No cell, nil, and texts for "no
// value" leave it unset.
func (r *row) setFetched(c *cells, i int) error {
	ok := true
	switch {
	case c == nil:
	case c.time != nil:
		r.fetched = c.time(i)
	case c.number != nil:
		r.fetched, ok = batch.TimeOf(c.number(i))
	default:
		if text := bytes.TrimSpace(c.text.Value(i)); !isNothing(text) && string(text) != dash {
			r.fetched, ok = batch.ParseTime(text)
		}
	}
	if ok && r.fetched.Year() <= LastYear { // milliseconds that are taken for seconds are later
		return nil
	}
	r.fetched = time.Time{}
	return fmt.Errorf("fetched_at %.40q is no time: want RFC 3339, 14 digits, or seconds since 1970", c.array.ValueStr(i))
}

// setFailed sets failed from the cell of the error in row i: false for no cell, nil, for false, 0,
// "false", "0" and texts for "no value"; true for all others.
func (r *row) setFailed(c *cells, i int) {
	switch {
	case c == nil:
	case c.boolean != nil:
		r.failed = c.boolean(i)
	case c.number != nil:
		r.failed = c.number(i) != 0
	default:
		text := c.text.Value(i)
		number, err := strconv.ParseFloat(string(text), 64)
		r.failed = !isNothing(text) && !strings.EqualFold(string(text), "false") && (err != nil || number != 0)
	}
}

// urls sets list to the URLs of robots.txt that the row is about, in list's memory. n is their
// number: 2 (http and https) for an authority without a scheme, unless its port is the default
// port of one of them; else 1.
func (r *row) urls(list *[2][]byte) (n int) {
	if len(r.url) > 0 {
		list[0] = append(list[0][:0], r.url...)
		return 1
	}
	a := r.authority
	if bytes.Contains(a, []byte("://")) {
		list[0] = append(append(list[0][:0], a...), "/robots.txt"...)
		return 1
	}
	for _, form := range [...]struct{ scheme, otherPort string }{{"http://", ":443"}, {"https://", ":80"}} {
		if !bytes.HasSuffix(a, []byte(form.otherPort)) {
			list[n] = append(append(append(list[n][:0], form.scheme...), a...), "/robots.txt"...)
			n++
		}
	}
	return n
}

// maxBatch is the most bytes of strings that may be copied from a column of a batch.
const maxBatch = 1 << 30

// cells has the values of a column in a batch, by row. Of text, number, time and boolean, only the
// one of the column's type is set.
type cells struct {
	array   arrow.Array
	null    func(row int) bool
	text    *batch.Column
	number  func(row int) float64 // not defined for NaN, which is null
	time    func(row int) time.Time
	boolean func(row int) bool
}

// isNumber reports whether a type is one of whole numbers, or of floats, which pandas makes of
// a column of whole numbers where one is missing.
func isNumber(dt arrow.DataType) bool { return arrow.IsInteger(dt.ID()) || arrow.IsFloating(dt.ID()) }

func isTime(dt arrow.DataType) bool { return isNumber(dt) || dt.ID() == arrow.TIMESTAMP }

func isFlag(dt arrow.DataType) bool { return isNumber(dt) || dt.ID() == arrow.BOOL }

// isText reports whether the values of a type are strings or bytes, directly or by a
// dictionary.
func isText(dt arrow.DataType) bool {
	if dictionary, ok := dt.(*arrow.DictionaryType); ok {
		dt = tables.Storage(dictionary.ValueType)
	}
	return arrow.IsBaseBinary(dt.ID()) || dt.ID() == arrow.STRING_VIEW || dt.ID() == arrow.BINARY_VIEW
}

// openCells returns the values of a column, whose type NewTable has accepted.
func openCells(a arrow.Array) (*cells, error) {
	if extension, ok := a.(array.ExtensionArray); ok {
		a = extension.Storage()
	}
	c := &cells{array: a, null: a.IsNull}
	data, ok := a.Data().(*array.Data)
	if !ok {
		return nil, fmt.Errorf("%T cannot be read", a.Data())
	}
	switch a := a.(type) {
	case *array.Null:
		c.null = func(int) bool { return true }
	case *array.Boolean:
		c.boolean = a.Value
	case *array.Timestamp:
		unit := a.DataType().(*arrow.TimestampType).Unit
		c.time = func(row int) time.Time { return a.Value(row).ToTime(unit) }
	default:
		if isNumber(a.DataType()) {
			return c, c.setNumbers(data)
		}
		column, err := tableio.URLs(data, maxBatch)
		if err != nil {
			return nil, err
		}
		c.text, c.null = &column, column.Null // not IsNull: the value in a dictionary may be null
	}
	return c, nil
}

// setNumbers makes c the cells of a column of numbers. NaN is null.
func (c *cells) setNumbers(d *array.Data) error {
	numbers, err := tables.NumbersOf(d)
	c.number = func(row int) float64 {
		switch {
		case numbers.Floats != nil:
			return numbers.Floats[row]
		case numbers.Unsigned:
			return float64(uint64(numbers.Ints[row]))
		}
		return float64(numbers.Ints[row])
	}
	null := c.null
	c.null = func(row int) bool { return null(row) || math.IsNaN(c.number(row)) }
	return err
}

// tableBatch is a batch of a table.
type tableBatch struct {
	batch  *batch.Batch
	record arrow.Record           // batch.Table
	rows   int                    // their number
	cells  [tableColumns][]*cells // by column: the table's own, and those that an index has in its place
}

// cellsAt returns the first cells of a column that have a value in a row; nil if all are null.
func (b *tableBatch) cellsAt(column, row int) *cells {
	for _, c := range b.cells[column] {
		if !c.null(row) {
			return c
		}
	}
	return nil
}

// bytesAt returns the text of a column in a row, valid as long as the batch. It is nil for null and
// for a word that isNothing knows, and not nil for an empty text.
func (b *tableBatch) bytesAt(column, row int) []byte {
	c := b.cellsAt(column, row)
	if c == nil {
		return nil
	}
	switch text := c.text.Value(row); {
	case len(text) == 0:
		return []byte{}
	case isNothing(text):
		return nil
	default:
		return text
	}
}

// numberAt returns the whole number of a column in a row, which may be written as text; -1 if
// it is null, negative or no number.
func (b *tableBatch) numberAt(column, row int) int64 {
	switch c := b.cellsAt(column, row); {
	case c == nil:
	case c.number != nil && c.number(row) >= 0 && c.number(row) < 1<<53: // from there on floats are not exact
		return int64(c.number(row))
	case c.text != nil:
		if n, err := strconv.ParseInt(string(c.text.Value(row)), 10, 64); err == nil {
			return max(-1, n)
		}
	}
	return -1
}

// release gives the batch back.
func (b *tableBatch) release() {
	if b.batch != nil && b.batch.Release != nil {
		b.batch.Release()
	}
	*b = tableBatch{}
}

// row returns row i, whose texts are valid as long as the batch. The error says why the row
// must be skipped.
func (b *tableBatch) row(i int) (r row, err error) {
	r.url, r.authority, r.body = b.bytesAt(urlColumn, i), b.bytesAt(authorityColumn, i), b.bytesAt(bodyColumn, i)
	r.location, r.file = undash(b.bytesAt(locationColumn, i)), undash(b.bytesAt(fileColumn, i))
	r.offset, r.length = b.numberAt(offsetColumn, i), b.numberAt(lengthColumn, i)
	r.broken = cmp.Or(r.setStatus(b.cellsAt(statusColumn, i), i), r.setFetched(b.cellsAt(fetchedColumn, i), i))
	r.setFailed(b.cellsAt(errorColumn, i), i)
	return r, r.finish()
}
