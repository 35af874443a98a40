package stores

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"robotsbatch/io/blob"
)

const (
	// attempts is how often a request is tried.
	attempts = 6
	// maxPause is the longest pause between two attempts.
	maxPause = 20 * time.Second

	contentType = "application/octet-stream"
)

// setTransport changes a transport to what large objects need: bodies as they
// are stored, and a connection for each request, so that one that stands still
// holds up no other and the next attempt gets a fresh one.
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
	refuse := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &http.Client{Transport: t, CheckRedirect: refuse}
}

// rangeHeader is nil for a whole object.
func rangeHeader(r blob.Range) *string {
	if r.Length < 0 {
		return nil
	}
	text := fmt.Sprintf("bytes=%d-%d", r.Offset, r.Offset+r.Length-1)
	return &text
}

// newBody is the answer to a request for a range, which it must be of.
func newBody(body io.ReadCloser, r blob.Range, contentRange string, contentLength int64, modified time.Time) (*blob.Body, error) {
	size, err := blob.CheckRange(r, contentRange, contentLength)
	if err != nil {
		body.Close()
		return nil, err
	}
	return &blob.Body{ReadCloser: body, Attributes: blob.Attributes{Size: size, Modified: modified}}, nil
}

// sortKeys puts the keys of a page in order, folders among them.
func sortKeys(keys []blob.Key) {
	slices.SortFunc(keys, func(a, b blob.Key) int { return strings.Compare(a.Name, b.Name) })
}
