package blob_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"robotsbatch/io/store/blob"
	"robotsbatch/io/store/must"
)

// listing answers a request for keys as S3 does.
func listing(w http.ResponseWriter, from, n int, truncated bool, token string) {
	var b strings.Builder
	fmt.Fprintf(&b, `<?xml version="1.0" encoding="UTF-8"?><ListBucketResult><IsTruncated>%v</IsTruncated>`, truncated)
	if token != "" {
		fmt.Fprintf(&b, "<NextContinuationToken>%s</NextContinuationToken>", token)
	}
	for i := range n {
		fmt.Fprintf(&b, `<Contents><Key>r/%09d.txt</Key><LastModified>2026-01-01T00:00:00Z</LastModified><ETag>&quot;d41d8cd98f00b204e9800998ecf8427e&quot;</ETag><Size>12</Size></Contents>`, from+i)
	}
	b.WriteString("</ListBucketResult>")
	w.Header().Set("Content-Type", "application/xml")
	_, _ = w.Write([]byte(b.String()))
}

func isListing(r *http.Request) bool { return strings.Contains(r.URL.RawQuery, "list-type") }

// expand finds what is in the folder r/ of a store that answers listings so.
func expand(t *testing.T, memory int64, answer func(w http.ResponseWriter, r *http.Request)) ([]blob.Object, error) {
	t.Helper()
	s := newServer(t)
	s.Meddle(func(w http.ResponseWriter, r *http.Request, store http.Handler) {
		if isListing(r) {
			answer(w, r)
			return
		}
		store.ServeHTTP(w, r)
	})
	u := must.Get(blob.ParseURL(s.Name("r/")))(t)
	return blob.Expand(blob.WithMemory(t.Context(), memory), u)
}

// Some stores answer with all keys at once, instead of a thousand.
func TestLongAnswerOfKeys(t *testing.T) {
	const n = 20_000
	found, err := expand(t, 1<<30, func(w http.ResponseWriter, _ *http.Request) { listing(w, 0, n, false, "") })
	must.Be(t, err == nil && len(found) == n, "%d keys: %v", len(found), err)
}

// A list that is cut without a token for the rest is an error, and so is one that never
// ends, in pages or in what is kept.
func TestListingsThatAreNotWhole(t *testing.T) {
	defer blob.LimitKeys(5000)()
	page := 0
	next := func(n int) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, _ *http.Request) {
			page++
			listing(w, page*n, n, true, fmt.Sprint(page))
		}
	}
	for name, test := range map[string]struct {
		answer func(http.ResponseWriter, *http.Request)
		want   string
	}{
		"cut":              {func(w http.ResponseWriter, _ *http.Request) { listing(w, 0, 10, true, "") }, "there are more keys, and not how to get them"},
		"pages of keys":    {next(100), "the names of its objects take more than 1 MiB, half of memory: name fewer, such as those of one folder below it, or raise memory"},
		"pages of nothing": {next(0), "lists more than 5000 keys"},
	} {
		found, err := expand(t, 2<<20, test.answer)
		must.Be(t, err != nil && strings.Contains(err.Error(), test.want), "%s: %d objects, error %v", name, len(found), err)
	}
}

// A key that is listed on two pages is one object. An answer that is not the list that was asked
// for is an error, for keys that are not in it would be missing.
func TestListingsOfOtherKeys(t *testing.T) {
	page := func(token string, keys ...string) string {
		text := fmt.Sprintf("<ListBucketResult><IsTruncated>%v</IsTruncated><NextContinuationToken>%s</NextContinuationToken>", token != "", token)
		for _, k := range keys {
			text += "<Contents><Key>" + k + "</Key><Size>12</Size></Contents>"
		}
		return text + "</ListBucketResult>"
	}
	first := page("1", "r/a", "r/b")
	for name, test := range map[string]struct {
		key   string
		pages []string // the last one again and again
		want  string   // "" for r/a and r/b
	}{
		"a page again":      {"r/", []string{first, page("2", "r/a"), page("", "r/b")}, ""},
		"pages in turns":    {"r/", []string{first, page("2", "r/a"), first, page("2", "r/a"), first}, "the same keys again and again"},
		"no prefix":         {"r/", []string{page("", "other/a", "r/a")}, `the store lists "other/a" where it was asked for what is in "r/"`},
		"no prefix, match":  {"folder/*.txt", []string{page("", "x")}, `the store lists "x"`},
		"no delimiter":      {"r/*", []string{page("", "r/a", "r/b/c")}, `the store lists "r/b/c"`},
		"nothing":           {"r/", []string{first, ""}, "not a list of keys"},
		"another document":  {"r/", []string{first, "<html><body>Sign in</body></html>"}, "not a list of keys"},
		"the half of one":   {"r/", []string{first, first[:len(first)/2]}, "not a list of keys"},
		"an error as a 200": {"r/", []string{first, "<Error><Code>InternalError</Code></Error>"}, "not a list of keys"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			asked := 0
			s.Meddle(func(w http.ResponseWriter, r *http.Request, store http.Handler) {
				if !isListing(r) {
					store.ServeHTTP(w, r)
					return
				}
				_, _ = io.WriteString(w, test.pages[min(asked, len(test.pages)-1)])
				asked++
			})
			found, err := blob.Expand(t.Context(), must.Get(blob.ParseURL(s.Name(test.key)))(t))
			switch {
			case test.want != "":
				must.Say(t, err, test.want, len(found), "objects")
				must.Equal(t, blob.Temporary(err), strings.HasPrefix(test.want, "not a list"), "temporary")
			case err != nil || len(found) != 2 || found[0].Stem != "a" || found[1].Stem != "b":
				t.Errorf("found %v, error %v", found, err)
			}
		})
	}
}

// A page that refuses to list keys is a refusal, also if it is another server's and no XML.
func TestListingIsRefusedByAPage(t *testing.T) {
	s := newServer(t)
	s.Meddle(func(w http.ResponseWriter, r *http.Request, store http.Handler) {
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, "<html><body><center><h1>403 Forbidden</h1></center><hr></body></html>")
	})
	_, err := blob.Expand(t.Context(), must.Get(blob.ParseURL(s.Name("r/")))(t))
	must.Say(t, err, "403 Forbidden")
	must.Equal(t, blob.Temporary(err), false, "temporary")
}

// A store that does not know If-Match shows by its answers that an object is another.
func TestReplacedWithoutIfMatch(t *testing.T) {
	for name, test := range map[string]struct {
		tag  func(version int) string // of the answers
		date func(version int) string
		want bool
	}{
		"another tag":       {func(v int) string { return fmt.Sprintf(`"v%d"`, v) }, func(int) string { return "Thu, 01 Jan 2026 00:00:00 GMT" }, true},
		"a weak tag":        {func(v int) string { return []string{`"v"`, `W/"v"`}[v] }, func(int) string { return "Thu, 01 Jan 2026 00:00:00 GMT" }, false},
		"no tag, same date": {func(int) string { return "" }, func(int) string { return "Thu, 01 Jan 2026 00:00:00 GMT" }, false},
		"no tag, new date":  {func(int) string { return "" }, func(v int) string { return fmt.Sprintf("Thu, 01 Jan 2026 00:00:0%d GMT", v) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			s.Put("x", noise(3<<20))
			var version atomic.Int32
			s.Meddle(func(w http.ResponseWriter, r *http.Request, store http.Handler) {
				r.Header.Del("If-Match")
				v := int(version.Load())
				answer := &tagged{ResponseWriter: w, tag: test.tag(v), date: test.date(v)}
				if store.ServeHTTP(answer, r); !answer.begun { // of a request for what an object is
					answer.WriteHeader(http.StatusOK)
				}
			})
			f := s.open("x")
			must.Get(f.Read(make([]byte, 100)))(t)
			version.Store(1)
			_, err := io.ReadAll(f)
			must.Be(t, errors.Is(err, blob.ErrChanged) == test.want && (test.want || err == nil), "error %v", err)
		})
	}
}

// tagged answers with a tag and a date, or without a tag.
type tagged struct {
	http.ResponseWriter
	tag, date string
	begun     bool
}

func (w *tagged) WriteHeader(status int) {
	w.begun = true
	w.Header().Del("ETag")
	if w.tag != "" {
		w.Header().Set("ETag", w.tag)
	}
	w.Header().Set("Last-Modified", w.date)
	w.ResponseWriter.WriteHeader(status)
}

func (w *tagged) Write(p []byte) (int, error) {
	if !w.begun {
		w.WriteHeader(http.StatusOK)
	}
	return w.ResponseWriter.Write(p)
}

// A store that answers that an object is complete, and does not have it, fails the output.
func TestCompleteWithoutObject(t *testing.T) {
	for name, answer := range map[string]string{
		"no body": "",
		"a body":  `<CompleteMultipartUploadResult><ETag>"x"</ETag></CompleteMultipartUploadResult>`,
	} {
		for _, look := range []int{http.StatusNotFound, http.StatusForbidden} {
			s := newServer(t)
			s.Meddle(func(w http.ResponseWriter, r *http.Request, store http.Handler) {
				switch {
				case r.Method == http.MethodPost && r.URL.Query().Has("uploadId"):
					_, _ = io.WriteString(w, answer)
				case r.Method == http.MethodHead:
					w.WriteHeader(look)
				default:
					store.ServeHTTP(w, r)
				}
			})
			w := must.Get(blob.Create(t.Context(), s.Name("x")))(t)
			_, err := w.Write(noise(blob.PartSize + 1))
			if err == nil {
				err = w.Close()
			}
			confirmed := look == http.StatusForbidden && answer != ""
			must.Equal(t, err == nil, confirmed, name, "and", look, "when it is looked up: error", err)
		}
	}
}

// A store that is asked too much, and says so, is asked again after the time it names.
func TestTooManyRequestsAreTriedAgain(t *testing.T) {
	for _, status := range []int{http.StatusTooManyRequests, http.StatusServiceUnavailable} {
		s := newServer(t)
		s.Put("x", noise(1000))
		var refused atomic.Int64
		s.Meddle(func(w http.ResponseWriter, r *http.Request, store http.Handler) {
			if refused.CompareAndSwap(0, time.Now().UnixNano()) {
				w.Header().Set("Retry-After", "2")
				w.WriteHeader(status)
				return
			}
			store.ServeHTTP(w, r)
		})
		f := s.open("x")
		waited := time.Since(time.Unix(0, refused.Load()))
		must.Be(t, waited >= 2*time.Second, "%d: asked again after %v", status, waited)
		got, err := io.ReadAll(f)
		must.Be(t, err == nil && len(got) == 1000, "%d: %d bytes, error %v", status, len(got), err)
	}
}
