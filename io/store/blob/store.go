package blob

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Store is a kind of object store, as its driver describes it to [Register].
type Store struct {
	// Open opens a bucket by a URL of the bucket's name and parameters. The
	// bucket stays open for the program's life.
	Open func(ctx context.Context, u *url.URL) (Bucket, error)
	// Parameters are what a URL of this kind may have. None may be secret.
	Parameters []string
	// Ordered says that the parts of an upload are sent one after the other.
	Ordered bool
}

// Bucket is an open bucket, safe for concurrent use. A driver sends its requests through
// [WithDeadlines], repeats one where that may help, and returns a [*ResponseError] for an answer
// that refuses one.
type Bucket interface {
	// Stat looks up an object.
	Stat(ctx context.Context, key string) (Attributes, error)
	// Read opens the body of an object. Length -1 asks for the whole object. If the
	// object has another version than the one given, the error's status is 404 or 412;
	// an empty version stands for any.
	Read(ctx context.Context, key, version string, r Range) (*Body, error)
	// List returns one page of the keys that begin with a prefix, in order. Keys
	// that share what follows the prefix up to a delimiter are one folder.
	List(ctx context.Context, q Query) (Page, error)
	// Put writes an object at once. Its errors are as those of Upload.Complete.
	Put(ctx context.Context, key string, data []byte) error
	// StartUpload starts an object that is written in parts.
	StartUpload(ctx context.Context, key string) (Upload, error)
}

// Attributes are what a store tells of an object.
type Attributes struct {
	// Size in bytes; -1 where the store does not say it.
	Size     int64
	Modified time.Time // when it was last written to
	// Version is the object's entity tag or generation, which changes when it is replaced; empty
	// where the store does not say it.
	Version string
}

// isNothing reports whether neither a version nor a time is known, as of a page that a proxy sent in
// place of the object.
func (a Attributes) isNothing() bool { return a.Version == "" && a.Modified.IsZero() }

// sameVersion reports whether two attributes are of the same version of an object: if both
// have a Version, by that, else by size and time, in whole seconds. What is unknown counts as
// equal.
func (a Attributes) sameVersion(b Attributes) bool {
	if a.Size != b.Size && a.Size >= 0 && b.Size >= 0 {
		return false
	}
	if a.Version != "" && b.Version != "" {
		return strings.TrimPrefix(a.Version, weakTag) == strings.TrimPrefix(b.Version, weakTag)
	}
	return a.Modified.IsZero() || b.Modified.IsZero() || a.Modified.Truncate(time.Second).Equal(b.Modified.Truncate(time.Second))
}

// weakTag begins an entity tag that a proxy made weak.
const weakTag = "W/"

// Body has the bytes of an object, or of the range of it that was asked for.
type Body struct {
	io.ReadCloser
	// Attributes are those of the whole object.
	Attributes
}

// Query asks for a page of keys.
type Query struct {
	// Prefix and Delimiter choose the keys.
	Prefix, Delimiter string
	// Token is that of the page before; empty for the first.
	Token string
	// Limit is the most keys that are wanted; 0 leaves it to the store.
	Limit int
}

// ErrCutListing says that a store has more keys than it lists, and no token for them.
var ErrCutListing = errors.New("the store says that there are more keys, and not how to get them")

// ErrNoListing says that an answer to a request for keys is not a list of keys.
var ErrNoListing = errors.New("the answer is not a list of keys: it may be another server's, such as a proxy's")

// ErrNoObject says that an answer to a request for a part of an object has neither its range nor
// anything that tells the object.
var ErrNoObject = errors.New("the answer does not say of which object it is: it may be another server's, such as a proxy's")

// MaxListing is the most bytes of an answer with keys that are read. A page of 1,000 has
// some 2 MiB at most; some stores answer with all keys at once.
const MaxListing = 256 << 20

// Page is some of the keys of a bucket.
type Page struct {
	Keys []Key
	// Token asks for the next page; empty after the last.
	Token string
}

// Key is the name of an object, or of a folder of objects.
type Key struct {
	Name     string
	IsFolder bool
	Attributes
}

// Upload is an object that is written in parts. It appears with Complete.
type Upload interface {
	// Part sends a part. Goroutines may send several at once unless the store is
	// Ordered.
	Part(ctx context.Context, p Part) error
	// Complete makes an object of the parts. The error is ErrUnconfirmed where the store
	// does not refuse it, and does not say either that it did so.
	Complete(ctx context.Context) error
	// Abort removes the parts from the store.
	Abort(ctx context.Context) error
}

// ErrUnconfirmed says that a store's answer does not say whether an object is complete.
var ErrUnconfirmed = errors.New("the store does not say that it is complete")

// Part is a part of an object that is being written. All but the last are
// [PartSize] bytes long.
type Part struct {
	Number int // from 1
	Offset int64
	Data   []byte
	Last   bool
}

// stores are the kinds of stores, by scheme.
var stores = make(map[string]Store)

// Register makes a kind of store known. It is for the init functions of
// packages that have drivers.
func Register(scheme string, store Store) { stores[scheme] = store }

// knownSchemes returns the schemes of URLs that can be opened, for messages.
func knownSchemes() string {
	schemes := slices.AppendSeq([]string{"file"}, maps.Keys(stores))
	slices.Sort(schemes)
	return strings.Join(schemes, "://, ") + "://"
}

// buckets are those that are open, by URL: opening one may ask the machine or
// the network for credentials.
var buckets = struct {
	sync.Mutex
	open map[string]Bucket
}{open: make(map[string]Bucket)}

// bucket opens the bucket of a URL, or returns it if it is open already.
func (u URL) bucket(ctx context.Context) (Bucket, error) {
	name := &url.URL{Scheme: u.Scheme, Host: u.Bucket, RawQuery: u.parameters}
	buckets.Lock()
	defer buckets.Unlock()
	if b := buckets.open[name.String()]; b != nil {
		return b, nil
	}
	// The bucket outlives ctx, and credentials may be fetched again later.
	b, err := stores[u.Scheme].Open(context.WithoutCancel(ctx), name)
	if err != nil {
		return nil, u.explain(ctx, err)
	}
	buckets.open[name.String()] = b
	return b, nil
}

// ResponseError is an answer of a store that refuses a request, or sends it elsewhere:
// redirects are not followed, because credentials are for one host.
type ResponseError struct {
	Status        int
	Code, Message string // from the store's answer; may be empty
	// Host and Region are where an answer says the object is; may be empty.
	Host, Region string
	// Hint says what to do about a refusal; may be empty.
	Hint string
}

// NewResponseError returns the error for an HTTP response that refuses a request or redirects
// it, with the host or region to which it redirects.
func NewResponseError(answer *http.Response) *ResponseError {
	e := &ResponseError{Status: answer.StatusCode}
	if e.redirects() || e.Status == http.StatusBadRequest {
		e.Region = answer.Header.Get("X-Amz-Bucket-Region")
	}
	if e.redirects() {
		if to, err := answer.Location(); err == nil {
			e.Host = to.Host
		}
	}
	return e
}

func (e *ResponseError) redirects() bool {
	return e.Status >= http.StatusMultipleChoices && e.Status < http.StatusBadRequest
}

// Error says what the store answered, and where the object is if it says that.
func (e *ResponseError) Error() string {
	text := strconv.Itoa(e.Status)
	for _, more := range []string{e.Code, e.Message} {
		if more != "" {
			text += " " + more
		}
	}
	if text == strconv.Itoa(e.Status) {
		text += " " + http.StatusText(e.Status)
	}
	switch {
	case e.Region != "":
		text += fmt.Sprintf(": the bucket is in the region %s: name it, as ?region=%s", e.Region, url.QueryEscape(e.Region))
	case e.redirects():
		text += fmt.Sprintf(": the store sends the request to another address (%s), which is not followed", cmp.Or(e.Host, "not named"))
	}
	return text
}

// Is makes status 404 an fs.ErrNotExist, and 401 and 403 an fs.ErrPermission.
func (e *ResponseError) Is(target error) bool {
	switch e.Status {
	case http.StatusNotFound:
		return target == fs.ErrNotExist
	case http.StatusUnauthorized, http.StatusForbidden:
		return target == fs.ErrPermission
	}
	return false
}

// CheckRange checks that a response has the range r that was asked for, and returns the size of the
// whole object; -1 if the response does not say it. contentRange is the response's header
// Content-Range, empty for none, and answer what its other headers say, of which Size is the length
// of the response itself. The error is ErrNoObject if the response may be of another object.
func CheckRange(r Range, contentRange string, answer Attributes) (size int64, err error) {
	if contentRange == "" {
		switch {
		case answer.isNothing() && r.Length >= 0:
			return 0, ErrNoObject
		case r.Offset > 0:
			return 0, errors.New("the store sends the whole object where a range was asked for: copy the object to a file, and name that")
		case answer.Size == r.Length: // the range, or a whole object of just this size
			return -1, nil
		}
		return answer.Size, nil
	}
	var first, last int64
	span, total, _ := strings.Cut(contentRange, "/")
	n, _ := fmt.Sscanf(span, "bytes %d-%d", &first, &last)
	whole, err := strconv.ParseUint(total, 10, 63)
	if size = int64(whole); total == "*" { // not known
		size, err = -1, nil
	}
	isRange := n == 2 && err == nil && first <= last && (size < 0 || last < size)
	if !isRange || first != r.Offset {
		return 0, fmt.Errorf("the store answers with the range %q where byte %d was asked for", contentRange, r.Offset)
	}
	return size, nil
}

// explain returns an error of a driver with the object's name and what to do about it, and without
// what may be credentials. If ctx has ended, it returns the cause of that instead.
func (u URL) explain(ctx context.Context, err error) error {
	var refused *ResponseError
	switch {
	case ctx.Err() != nil:
		return withName(u.Name(), context.Cause(ctx))
	case errors.Is(err, fs.ErrNotExist):
		return withName(u.Name(), fmt.Errorf("there is no such object or bucket; a folder's name ends with a slash: %w", fs.ErrNotExist))
	case errors.As(err, &refused) && refused.Hint != "":
		return withName(u.Name(), fmt.Errorf("the store refuses it: %s: %s: %w", u.hide(publicText(err)), refused.Hint, fs.ErrPermission))
	case errors.Is(err, fs.ErrPermission):
		return withName(u.Name(), fmt.Errorf("the store refuses it: check the credentials in the environment: %s: %w", u.hide(publicText(err)), fs.ErrPermission))
	}
	if errors.Is(err, errNoLength) {
		return withName(u.Name(), err)
	}
	return withName(u.Name(), newStoreError(u, "", err))
}

var (
	query = regexp.MustCompile(`(://[^\s"'?]*)\?[^\s"']*`)
	user  = regexp.MustCompile(`://[^/\s"'@]*@`)
)

// maxErrorText is the number of bytes of a store's error that are shown.
const maxErrorText = 500

// publicText returns an error's text on one line, shortened, and without the queries and users
// of URLs, which may be credentials. For a request without a response it returns the reason
// alone.
func publicText(err error) string {
	var sent *url.Error
	var refused *ResponseError
	var stalled *stalledError
	switch {
	case errors.As(err, &stalled):
		err = stalled
	case errors.As(err, &sent):
		err = sent.Err
	case errors.As(err, &refused):
		err = refused
	}
	text := strings.Join(strings.Fields(err.Error()), " ")
	text = query.ReplaceAllString(text, "$1?…")
	text = user.ReplaceAllString(text, "://…@")
	if len(text) > maxErrorText {
		text = strings.ToValidUTF8(text[:maxErrorText], "") + "…"
	}
	return text
}

// passing are errors of the system that another attempt, a little later or on another
// machine, may not meet.
var passing = []syscall.Errno{
	syscall.EIO, syscall.ENOSPC, syscall.EDQUOT, syscall.ESTALE, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE, syscall.ETIMEDOUT, syscall.EHOSTDOWN,
}

// Temporary reports whether an operation that failed with err may succeed if it is repeated
// later or on another machine: another process writes the output or an input, a store is
// overloaded or not reached, a disk is full or broken. It is false for what is missing,
// refused or damaged.
func Temporary(err error) bool {
	var errno syscall.Errno
	var failed *storeError
	var broken *brokenError
	var stalled *stalledError
	switch {
	case errors.Is(err, errBusy), errors.Is(err, ErrChanged), errors.Is(err, errNoLength), errors.As(err, &broken), errors.As(err, &stalled):
		return true
	case errors.As(err, &failed):
		return failed.temporary
	}
	return errors.As(err, &errno) && slices.Contains(passing, errno)
}

// storeError is what a store answered, or why it did not. It wraps nothing: a
// connection that broke may be an EPIPE, which is not that of the output's reader.
type storeError struct {
	text      string
	temporary bool
}

func newStoreError(u URL, begin string, err error) *storeError {
	return &storeError{text: begin + u.hide(publicText(err)), temporary: mayPass(err)}
}

func (e *storeError) Error() string { return e.text }

// mayPass reports whether a store may accept later what it refused with err.
func mayPass(err error) bool {
	var refused *ResponseError
	if errors.As(err, &refused) {
		switch refused.Status {
		case http.StatusTooManyRequests, http.StatusRequestTimeout:
			return true
		case http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect:
			return refused.Region == ""
		}
		return refused.Status >= http.StatusInternalServerError
	}
	var network net.Error // a stalledError is one
	isNetwork := errors.As(err, &network)
	return isNetwork || slices.ContainsFunc([]error{io.ErrUnexpectedEOF, ErrNoListing, ErrNoObject, ErrUnconfirmed}, func(e error) bool { return errors.Is(err, e) })
}
