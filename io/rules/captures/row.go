package captures

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"robotsbatch/batch"
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

// finish checks a row. A broken row becomes a fetch without an answer. The error says
// why a row must be skipped: it has no URL, or says nothing about an answer. An empty body
// without a status says nothing, because formats without null write it for a fetch that nobody
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
	case len(r.file) > 0 && len(r.body) == 0 && len(r.url) > 0:
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
	if !hasScheme || bytes.ContainsAny(scheme, "/?#;") {
		host = r.authority
	}
	if end := bytes.IndexAny(host, "/?#;"); end >= 0 {
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
	if ok && r.fetched.Year() <= LastYear { // later: such as milliseconds that are taken for seconds
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
