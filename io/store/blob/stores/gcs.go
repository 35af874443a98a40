package stores

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"

	"robotsbatch/io/store/blob"
)

const (
	gcsScope = "https://www.googleapis.com/auth/cloud-platform"
	// gcsTokenTime bounds one request for a token, whose library knows no context.
	gcsTokenTime = 30 * time.Second
	// gcsPause is the pause after the first attempt that failed; each one after
	// it is twice as long.
	gcsPause = 500 * time.Millisecond
	// gcsIncomplete is the status of an upload to which more must be sent.
	gcsIncomplete = http.StatusPermanentRedirect
	// gcsMaxAnswer is the number of bytes of an answer that is not an object's body
	// are read. A page of keys has at most some 2 MiB.
	gcsMaxAnswer = 16 << 20
)

func init() {
	blob.Register("gs", blob.Store{Open: openGCS, Parameters: []string{"anonymous", "universe_domain"}, Ordered: true})
}

// gcsBucket is a bucket of Google Cloud Storage, which speaks the JSON API.
type gcsBucket struct {
	client   blob.Doer
	endpoint string // such as https://storage.googleapis.com
	name     string
	tokens   oauth2.TokenSource // nil: anonymous
}

// openGCS opens a bucket, with the credentials that Google's own tools would find. It needs
// none for an emulator.
func openGCS(ctx context.Context, u *url.URL) (blob.Bucket, error) {
	q := parameters{values: u.Query()}
	b := &gcsBucket{client: blob.WithDeadlines(newClient()), name: u.Host}
	anonymous, domain := q.flag("anonymous"), cmp.Or(q.text("universe_domain"), os.Getenv("GOOGLE_CLOUD_UNIVERSE_DOMAIN"))
	if q.err != nil {
		return nil, q.err
	}
	if emulator := os.Getenv("STORAGE_EMULATOR_HOST"); emulator != "" {
		if !strings.Contains(emulator, "://") {
			emulator = "http://" + emulator
		}
		b.endpoint = strings.TrimSuffix(emulator, "/")
		return b, nil
	}
	if !anonymous {
		ctx = context.WithValue(ctx, oauth2.HTTPClient, &http.Client{Timeout: gcsTokenTime})
		found, err := google.FindDefaultCredentials(ctx, gcsScope)
		if err != nil {
			return nil, err
		}
		b.tokens = found.TokenSource
		if domain == "" {
			if domain, err = found.GetUniverseDomain(); err != nil {
				return nil, err
			}
		}
	}
	b.endpoint = "https://storage." + cmp.Or(domain, "googleapis.com")
	return b, nil
}

// objects is the URL of the bucket's objects, or of one of them.
func (b *gcsBucket) objects(key string, q url.Values) string {
	at := b.endpoint + "/storage/v1/b/" + url.PathEscape(b.name) + "/o"
	if key != "" {
		at += "/" + url.PathEscape(key)
	}
	return at + "?" + q.Encode()
}

// uploads is the URL that a new object is sent to.
func (b *gcsBucket) uploads(key, kind string) string {
	q := url.Values{"uploadType": {kind}, "name": {key}}
	return b.endpoint + "/upload/storage/v1/b/" + url.PathEscape(b.name) + "/o?" + q.Encode()
}

// gcsObject is what the JSON API tells of an object.
type gcsObject struct {
	Name       string    `json:"name"`
	Size       *int64    `json:"size,string"`
	Generation string    `json:"generation"`
	Updated    time.Time `json:"updated"`
}

func (x gcsObject) attributes() blob.Attributes {
	return blob.Attributes{Size: sizeOf(x.Size), Modified: x.Updated, Version: x.Generation}
}

func (b *gcsBucket) Stat(ctx context.Context, key string) (blob.Attributes, error) {
	var x gcsObject
	err := b.getJSON(ctx, b.objects(key, url.Values{"fields": {"name,size,generation,updated"}}), &x, blob.ErrNoObject)
	return x.attributes(), err
}

// List implements blob.Bucket: a request for one page of keys.
func (b *gcsBucket) List(ctx context.Context, q blob.Query) (blob.Page, error) {
	values := url.Values{"fields": {"kind,nextPageToken,prefixes,items(name,size,generation,updated)"}}
	for name, text := range map[string]string{"prefix": q.Prefix, "delimiter": q.Delimiter, "pageToken": q.Token} {
		if text != "" {
			values.Set(name, text)
		}
	}
	if q.Limit > 0 {
		values.Set("maxResults", strconv.Itoa(q.Limit))
	}
	var list struct {
		Kind, NextPageToken string
		Prefixes            []string
		Items               []gcsObject
	}
	switch err := b.getJSON(ctx, b.objects("", values), &list, blob.ErrNoListing); {
	case err == nil && list.Kind == "" && list.Items == nil && list.Prefixes == nil: // any object looks like an empty list
		return blob.Page{}, blob.ErrNoListing
	case err != nil:
		return blob.Page{}, err
	}
	page := blob.Page{Token: list.NextPageToken}
	for _, x := range list.Items {
		page.Keys = append(page.Keys, blob.Key{Name: x.Name, Attributes: x.attributes()})
	}
	for _, name := range list.Prefixes {
		page.Keys = append(page.Keys, blob.Key{Name: name, IsFolder: true})
	}
	sortKeys(page.Keys)
	return page, nil
}

// Read implements blob.Bucket. A range with a negative length stands for the whole object, and an
// empty version for any.
func (b *gcsBucket) Read(ctx context.Context, key, version string, r blob.Range) (*blob.Body, error) {
	q := url.Values{"alt": {"media"}}
	if version != "" {
		q.Set("generation", version)
	}
	// Without it an object that is stored as gzip comes decompressed.
	header := http.Header{"Accept-Encoding": {"gzip"}}
	if of := rangeHeader(r); of != nil {
		header.Set("Range", *of)
	}
	answer, err := b.send(ctx, http.MethodGet, b.objects(key, q), header, nil)
	if err != nil {
		return nil, err
	}
	modified, _ := http.ParseTime(answer.Header.Get("Last-Modified")) // zero is "not known"
	return newBody(answer.Body, r, answer.Header.Get("Content-Range"), blob.Attributes{
		Size: answer.ContentLength, Modified: modified, Version: answer.Header.Get("X-Goog-Generation"),
	})
}

func (b *gcsBucket) Put(ctx context.Context, key string, data []byte) error {
	return b.confirm(b.send(ctx, http.MethodPost, b.uploads(key, "media"), http.Header{"Content-Type": {contentType}}, data))
}

// StartUpload implements blob.Bucket.
func (b *gcsBucket) StartUpload(ctx context.Context, key string) (blob.Upload, error) {
	answer, err := b.send(ctx, http.MethodPost, b.uploads(key, "resumable"), http.Header{"X-Upload-Content-Type": {contentType}}, []byte{}) // a body, which is empty
	if err := b.discard(answer, err); err != nil {
		return nil, err
	}
	session := answer.Header.Get("Location")
	if session == "" {
		return nil, errors.New("the store names no URL to upload to")
	}
	return &gcsUpload{bucket: b, session: session}, nil
}

// gcsUpload is a resumable upload. Its parts are sent in order.
type gcsUpload struct {
	bucket    *gcsBucket
	session   string // a URL, as good as a credential
	confirmed error  // what Complete returns
}

// Part sends a part, again from where the store stopped if it kept less than was sent. The
// last part completes the object.
func (u *gcsUpload) Part(ctx context.Context, p blob.Part) error {
	end := p.Offset + int64(len(p.Data))
	for at := p.Offset; ; { // the store has all bytes before at
		total := "*"
		if p.Last {
			total = strconv.FormatInt(end, 10)
		}
		header := http.Header{"Content-Range": {fmt.Sprintf("bytes %d-%d/%s", at, end-1, total)}}
		answer, err := u.bucket.send(ctx, http.MethodPut, u.session, header, p.Data[at-p.Offset:])
		if err == nil && p.Last && answer.StatusCode != gcsIncomplete {
			u.confirmed = u.bucket.confirm(answer, nil)
			return nil
		}
		if err := u.bucket.discard(answer, err); err != nil {
			return err
		}
		if answer.StatusCode != gcsIncomplete {
			return errors.New("the store ended the upload too early")
		}
		kept := int64(0)
		if _, text, ok := strings.Cut(answer.Header.Get("Range"), "-"); ok {
			last, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return fmt.Errorf("the store has kept the range %q", answer.Header.Get("Range"))
			}
			kept = last + 1
		}
		switch {
		case kept == end && !p.Last:
			return nil
		case kept <= at || kept >= end: // nothing new, or more than there is to continue from
			return fmt.Errorf("the store has %d bytes after bytes %d to %d were sent", kept, at, end)
		}
		at = kept
	}
}

// Complete returns what the answer to the last part said.
func (u *gcsUpload) Complete(context.Context) error { return u.confirmed }

// Abort cancels the upload; the store removes what was sent.
func (u *gcsUpload) Abort(ctx context.Context) error {
	const cancelled = 499 // the status that confirms it
	err := u.bucket.discard(u.bucket.send(ctx, http.MethodDelete, u.session, nil, nil))
	var refused *blob.ResponseError
	if errors.As(err, &refused) && refused.Status == cancelled {
		return nil
	}
	return err
}

// getJSON requests a URL and decodes its JSON response into *into. If the response is something
// else, it returns other.
func (b *gcsBucket) getJSON(ctx context.Context, at string, into any, other error) error {
	answer, err := b.send(ctx, http.MethodGet, at, nil, nil)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, gcsMaxAnswer))
	if err == nil && json.Unmarshal(text, into) != nil {
		return other
	}
	return err
}

// discard reads the rest of a response and closes it, so that its connection is used again. It
// returns err, if that is set, or the error of closing.
func (b *gcsBucket) discard(answer *http.Response, err error) error {
	if err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, gcsMaxAnswer))
	return answer.Body.Close()
}

// confirm closes the response to a request that completes an object, and returns
// blob.ErrUnconfirmed if it does not describe one. It returns err, if that is set.
func (b *gcsBucket) confirm(answer *http.Response, err error) error {
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	var x gcsObject
	if json.NewDecoder(io.LimitReader(answer.Body, gcsMaxAnswer)).Decode(&x) != nil || x.Generation == "" {
		return blob.ErrUnconfirmed
	}
	return nil
}

// send sends a request, with data as its body unless that is nil, and repeats it if that may
// help. It returns a response with a status of success.
func (b *gcsBucket) send(ctx context.Context, method, at string, header http.Header, data []byte) (*http.Response, error) {
	for attempt := 1; ; attempt++ {
		answer, wait, err := b.try(ctx, method, at, header, data)
		if err == nil || wait < 0 || attempt == attempts {
			return answer, err
		}
		pause := min(gcsPause<<(attempt-1), maxPause)
		select {
		case <-time.After(max(wait, pause/2+rand.N(pause))):
		case <-ctx.Done():
			return nil, err
		}
	}
}

// try sends a request once. After an error, wait is the least time before the next try, or
// negative if none can help.
func (b *gcsBucket) try(ctx context.Context, method, at string, header http.Header, data []byte) (answer *http.Response, wait time.Duration, err error) {
	const never = -1
	var body io.Reader
	if data != nil {
		body = bytes.NewReader(data)
	}
	request, err := http.NewRequestWithContext(ctx, method, at, body)
	if err != nil {
		return nil, never, err
	}
	for name, values := range header {
		request.Header[name] = values
	}
	request.Header.Set("User-Agent", "robotsbatch")
	if err := b.authorize(request); err != nil {
		return nil, never, err
	}
	answer, err = b.client.Do(request)
	switch {
	case ctx.Err() != nil && err != nil:
		return nil, never, err
	case err != nil:
		return nil, 0, err
	case answer.StatusCode < http.StatusMultipleChoices || answer.StatusCode == gcsIncomplete && method == http.MethodPut:
		return answer, 0, nil
	}
	defer answer.Body.Close()
	switch answer.StatusCode {
	case http.StatusRequestTimeout, http.StatusTooManyRequests,
		http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		wait = retryAfter(answer.Header)
	default:
		wait = never
	}
	return nil, wait, gcsError(answer)
}

// authorize adds a token to a request. It may have to fetch one first.
func (b *gcsBucket) authorize(request *http.Request) error {
	if b.tokens == nil {
		return nil // anonymous, or an emulator's
	}
	type result struct {
		token *oauth2.Token
		err   error
	}
	got := make(chan result, 1)
	go func() { // Token knows no context
		token, err := b.tokens.Token()
		got <- result{token, err}
	}()
	select {
	case r := <-got:
		if r.err == nil {
			r.token.SetAuthHeader(request)
		}
		return r.err
	case <-request.Context().Done():
		return request.Context().Err()
	}
}

// gcsError returns the error for a response that refuses a request, with the reason from its
// JSON body.
func gcsError(answer *http.Response) error {
	refused := blob.NewResponseError(answer)
	text, _ := io.ReadAll(io.LimitReader(answer.Body, 4<<10)) // more is no reason
	var said struct {
		Error struct {
			Message string
			Errors  []struct{ Reason string }
		}
	}
	if json.Unmarshal(text, &said) == nil {
		refused.Message = said.Error.Message
		if len(said.Error.Errors) > 0 {
			refused.Code = said.Error.Errors[0].Reason
		}
	}
	return refused
}
