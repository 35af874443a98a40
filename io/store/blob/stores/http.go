// Package stores links the drivers of the object stores that package blob can
// open: Amazon S3 and what speaks its protocol (s3://), Google Cloud Storage
// (gs://) and Azure Blob Storage (azblob://).
//
// It is for the programs that want them, which import it for its effect alone.
package stores

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"robotsbatch/io/store/blob"
)

const (
	// attempts is how often a request is tried.
	attempts = 6
	// maxPause is the longest pause between two attempts.
	maxPause = 20 * time.Second

	contentType = "application/octet-stream"
)

// setTransport sets a transport up for large objects: bodies stay as they are stored, and each
// request has its own connection, so that a stalled one delays no other and a repeated one
// gets a fresh connection.
func setTransport(t *http.Transport) {
	t.DisableCompression = true
	t.MaxIdleConnsPerHost = 64
	t.ForceAttemptHTTP2 = false
	t.Protocols = new(http.Protocols)
	t.Protocols.SetHTTP1(true)
}

// newClient returns a client for the stores whose libraries bring none. It
// follows no redirect: credentials are for one host.
func newClient() *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	setTransport(t)
	return &http.Client{Transport: t, CheckRedirect: refuseRedirects}
}

// refuseRedirects makes a client return an answer that redirects instead of following it.
func refuseRedirects(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// listings bounds the answers to requests for keys, which become lists in memory.
type listings struct{ blob.Doer }

// Do sends a request. If it asks for a list of keys, its response may have at most
// blob.MaxListing bytes.
func (d listings) Do(request *http.Request) (*http.Response, error) {
	answer, err := d.Doer.Do(request)
	if q := request.URL.Query(); err == nil && request.Method == http.MethodGet && (q.Has("list-type") || q.Get("comp") == "list") {
		answer.Body = &bounded{answer.Body, blob.MaxListing}
	}
	return answer, err
}

// bounded is the body of an answer with keys, which may have left more bytes.
type bounded struct {
	io.ReadCloser
	left int64
}

// Read implements io.Reader. It returns an error instead of bytes once the body has too many.
func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, fmt.Errorf("the store sends more than %d bytes of keys in one answer", blob.MaxListing)
	}
	return n, err
}

// retryAfter returns how long a response's Retry-After, in seconds or a time, asks to wait: at most
// maxPause, and 0 without one.
func retryAfter(h http.Header) time.Duration {
	text := h.Get("Retry-After")
	wait := time.Duration(0)
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		wait = time.Duration(seconds) * time.Second
	} else if at, err := http.ParseTime(text); err == nil {
		wait = time.Until(at)
	}
	return min(max(0, wait), maxPause)
}

// rangeHeader returns the value of the Range header for r; nil for a whole object.
func rangeHeader(r blob.Range) *string {
	if r.Length < 0 {
		return nil
	}
	return optional(fmt.Sprintf("bytes=%d-%d", r.Offset, r.Offset+r.Length-1))
}

// sizeOf returns the length in bytes that an answer states, or -1 if it states none.
func sizeOf(length *int64) int64 {
	if length == nil {
		return -1
	}
	return *length
}

// newBody returns the body of a response to a request for range r, with the attributes of the whole
// object. r, contentRange and answer are as in blob.CheckRange. If the response has another range,
// newBody closes the body and returns an error.
func newBody(body io.ReadCloser, r blob.Range, contentRange string, answer blob.Attributes) (*blob.Body, error) {
	size, err := blob.CheckRange(r, contentRange, answer)
	if err != nil {
		body.Close()
		return nil, err
	}
	answer.Size = size
	return &blob.Body{ReadCloser: body, Attributes: answer}, nil
}

// sortKeys puts the keys of a page in order, folders among them.
func sortKeys(keys []blob.Key) {
	slices.SortFunc(keys, func(a, b blob.Key) int { return strings.Compare(a.Name, b.Name) })
}
