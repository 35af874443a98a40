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
	offset, length int64  // of that

	// broken says what of the row cannot be read. It is taken as a fetch without an answer:
	// without the row its host would be allowed.
	broken error
}

// finish checks a row. It makes a row that is broken a fetch without an answer. The error says
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

// nothings are the texts, in lower case, that stand for a value that is not there.
var nothings = []string{"", "none", "null", "nan", "<na>"}

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
	return slices.ContainsFunc(nothings, func(none string) bool { return strings.EqualFold(none, string(text)) })
}

// setStatus sets the status from a text of digits, or of a whole float. Texts for "no value"
// leave it unset.
func (r *row) setStatus(text []byte) error {
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

// setFailed sets failed from the text of an error: false for "false", 0 and texts for "no
// value", true for all others.
func (r *row) setFailed(text []byte) {
	zero, err := strconv.ParseFloat(string(text), 64)
	r.failed = !isNothing(text) && !strings.EqualFold(string(text), "false") && (err != nil || zero != 0)
}

// parseFetched parses the time of a fetch. Texts for "no value" give the zero time; ok is
// false for other texts that are no time.
func parseFetched(text []byte) (t time.Time, ok bool) {
	if text = bytes.TrimSpace(text); isNothing(text) || string(text) == dash {
		return t, true
	}
	return batch.ParseTime(text)
}

// urls sets list to the URLs of robots.txt that the row is about, in list's memory. n is their
// number: 2 (http and https) for an authority without a scheme, unless its port is the default
// port of one of them; else 1.
func (r *row) urls(list *[2][]byte) (n int) {
	if len(r.url) > 0 {
		list[0] = append(list[0][:0], r.url...)
		return 1
	}
	a := bytes.TrimSuffix(bytes.TrimSpace(r.authority), []byte("/"))
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
