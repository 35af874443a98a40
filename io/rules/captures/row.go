package captures

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
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
}

// check returns an error for a row without an answer or an error. An empty body is no
// answer: formats without null write it for a fetch that nobody made.
func (r *row) check() error {
	switch {
	case len(r.url) == 0 && len(r.authority) == 0:
		return errors.New("it has neither url nor authority")
	case len(r.body) == 0 && !r.hasStatus && !r.failed:
		return errors.New("it has neither body, nor status, nor error")
	}
	return nil
}

// capture sets x to the row's capture.
func (r *row) capture(x *Capture) {
	*x = Capture{URL: r.url, Time: r.fetched, Status: r.status, Failed: r.failed, Location: r.location, Body: r.body}
}

// setStatus takes a status in digits; empty text is none.
func (r *row) setStatus(text []byte) error {
	if len(text) == 0 {
		return nil
	}
	status, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		return fmt.Errorf("status %.40q is no number", text)
	}
	r.setStatusNumber(status)
	return nil
}

// setStatusNumber takes a status. It clamps large numbers, so that an invalid status
// stays invalid when it is stored.
func (r *row) setStatusNumber(status int64) {
	r.hasStatus = true
	r.status = int(min(max(status, -1), math.MaxInt32))
}

// setFailed takes the text of an error; empty text and "false" mean that there was none.
func (r *row) setFailed(text []byte) {
	r.failed = len(text) > 0 && string(text) != "false"
}

// setFetched takes a time as text; empty text is none.
func (r *row) setFetched(text []byte) error {
	if text = bytes.TrimSpace(text); len(text) == 0 {
		return nil
	}
	fetched, ok := batch.ParseTime(text)
	if !ok {
		return fmt.Errorf("fetched_at %.40q is no time: want RFC 3339, 14 digits, or seconds since 1970", text)
	}
	r.fetched = fetched
	return nil
}

// setFetchedNumber takes a time as an integer.
func (r *row) setFetchedNumber(n int64) error {
	fetched, ok := batch.TimeOf(n)
	if !ok {
		return fmt.Errorf("fetched_at %d is no time: want 14 digits, or seconds since 1970", n)
	}
	r.fetched = fetched
	return nil
}

// urls sets list to the row's URLs, reusing its memory, and returns their number: one,
// or two (http and https) for an authority without a scheme.
func (r *row) urls(list *[2][]byte) (n int) {
	if len(r.url) > 0 {
		list[0] = append(list[0][:0], r.url...)
		return 1
	}
	a := bytes.TrimSuffix(r.authority, []byte("/"))
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
