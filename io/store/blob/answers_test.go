package blob_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"robotsbatch/io/store/blob"
	"robotsbatch/io/store/must"
)

// chunked answers without a Content-Length, as gateways do.
type chunked struct {
	http.ResponseWriter
	begun bool
}

func (w *chunked) WriteHeader(status int) {
	w.begun = true
	w.Header().Del("Content-Length")
	w.ResponseWriter.WriteHeader(status)
	_ = http.NewResponseController(w.ResponseWriter).Flush()
}

func (w *chunked) Write(p []byte) (int, error) {
	if !w.begun {
		w.WriteHeader(http.StatusOK)
	}
	return w.ResponseWriter.Write(p)
}

// newServerWithoutLengths leaves the lengths out of the answers to those methods.
func newServerWithoutLengths(t *testing.T, methods string) *server {
	s := newServer(t)
	s.Meddle(func(w http.ResponseWriter, r *http.Request, store http.Handler) {
		if strings.Contains(methods, r.Method) && !isListing(r) {
			w = &chunked{ResponseWriter: w}
		}
		if store.ServeHTTP(w, r); r.Method == http.MethodHead {
			_, _ = w.Write(nil)
		}
	})
	return s
}

// openFolder opens the folder rules/ of a store.
func (s *server) openFolder() *blob.Folder {
	s.t.Helper()
	return must.Get(blob.OpenFolder(s.t.Context(), must.Get(blob.ParseURL(s.Name("rules/")))(s.t)))(s.t)
}

// An object whose answers have no length is read whole.
func TestAnswersWithoutLength(t *testing.T) {
	for _, methods := range []string{"HEAD", "GET", "HEAD GET"} {
		for _, size := range []int{0, 1, 1000, 3 << 20} {
			t.Run(fmt.Sprint(methods, " ", size), func(t *testing.T) {
				s := newServerWithoutLengths(t, methods)
				want := noise(size)
				s.Put("rules/x", want)
				f := s.open("rules/x")
				n, regular := f.Size()
				must.Be(t, n == int64(size) && regular, "the object has %d bytes, regular %v", n, regular)
				got, err := io.ReadAll(f)
				must.Be(t, err == nil && bytes.Equal(got, want), "%d bytes, error %v", len(got), err)
				const most = 2000
				got, info, err := s.openFolder().ReadUpTo("x", int64(size), nil, most)
				must.Be(t, err == nil && bytes.Equal(got, want[:min(size, most)]) && info.Size == int64(size),
					"as one of a folder: %d bytes of %d, error %v", len(got), info.Size, err)
			})
		}
	}
}

// A gateway may answer that an object is empty when it is asked what it is.
func TestEmptyByItsHeadAlone(t *testing.T) {
	for _, size := range []int{0, 1000} {
		s, _ := stored(t, size)
		s.Meddle(func(w http.ResponseWriter, r *http.Request, store http.Handler) {
			if r.Method == http.MethodHead {
				w.Header().Set("Content-Length", "0")
				return
			}
			store.ServeHTTP(w, r)
		})
		got, err := io.ReadAll(s.open("x"))
		must.Be(t, err == nil && len(got) == size, "%d of %d bytes, error %v", len(got), size, err)
	}
}

// The first byte is not the whole object where the answer does not say so.
func TestPartWithoutRange(t *testing.T) {
	s, _ := stored(t, 1000)
	s.Meddle(func(w http.ResponseWriter, r *http.Request, store http.Handler) {
		if r.Method == http.MethodHead {
			w.Header().Set("Content-Length", "0")
			return
		}
		store.ServeHTTP(&rangeless{w}, r)
	})
	_, err := blob.Open(t.Context(), s.Name("x"))
	must.Say(t, err, "s3://bucket/x: the store does not say how long it is")
}

// rangeless answers without a Content-Range.
type rangeless struct{ http.ResponseWriter }

func (w *rangeless) WriteHeader(status int) {
	w.Header().Del("Content-Range")
	w.ResponseWriter.WriteHeader(status)
}

// An object is refused for the time being where nothing says its length, and where its
// length is not the listed one.
func TestLengthsThatAreNotListed(t *testing.T) {
	for name, test := range map[string]struct {
		methods string // of answers without a length
		listed  int64
		want    string
	}{
		"nowhere":           {"GET", -1, "the store does not say how long it is"},
		"longer":            {"", 4, blob.ErrChanged.Error()},
		"shorter":           {"", 6, blob.ErrChanged.Error()},
		"longer, not said":  {"GET", 4, blob.ErrChanged.Error()},
		"shorter, not said": {"GET", 6, "the connection broke off at byte 5"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServerWithoutLengths(t, test.methods)
			s.Put("rules/x", noise(5))
			_, _, err := s.openFolder().ReadUpTo("x", test.listed, nil, 1000)
			must.Be(t, err != nil && strings.HasPrefix(err.Error(), "s3://bucket/rules/x: "+test.want) && blob.Temporary(err), "error %v", err)
		})
	}
}

// Another server's page in place of an object's part is an error that may pass, wherever the
// part is. A store that ignores ranges is one that does not.
func TestWholePagesForParts(t *testing.T) {
	page := strings.Repeat("<p>Sign in</p>", 5000)
	for name, test := range map[string]struct {
		size   int
		from   int // number of the first request that is answered by a page
		tagged bool
		want   string
	}{
		"a small object":       {100, 1, false, "the answer does not say of which object it is"},
		"the rest of a larger": {1 << 20, 2, false, "the answer does not say of which object it is"},
		"a store's own":        {1 << 20, 2, true, "the store sends the whole object where a range was asked for"},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := stored(t, test.size)
			asked := 0
			s.Meddle(func(w http.ResponseWriter, r *http.Request, store http.Handler) {
				if r.Method == http.MethodGet {
					asked++
				}
				if asked < test.from {
					store.ServeHTTP(w, r)
					return
				}
				if test.tagged {
					w.Header().Set("ETag", `"x"`)
				}
				_, _ = io.WriteString(&chunked{ResponseWriter: w}, page)
			})
			_, err := io.ReadAll(s.open("x"))
			must.Say(t, err, test.want)
			must.Equal(t, blob.Temporary(err), !test.tagged, "temporary")
		})
	}
}

// A page that answers all requests is no object, also if it has a length.
func TestPageOfAnotherServer(t *testing.T) {
	s := newServer(t)
	s.Meddle(func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		_, _ = io.WriteString(w, "<p>Sign in</p>")
	})
	_, err := io.ReadAll(s.open("x"))
	must.Say(t, err, blob.ErrNoObject.Error())
	must.Equal(t, blob.Temporary(err), true, "temporary")
}

// A range need not say how long the whole object is (RFC 9110 §14.4).
func TestRangesOfUnknownLength(t *testing.T) {
	for _, size := range []int{1000, 3 << 20} {
		s, want := stored(t, size)
		s.Meddle(func(w http.ResponseWriter, r *http.Request, store http.Handler) {
			store.ServeHTTP(withoutTotal{w}, r)
		})
		got, err := io.ReadAll(s.open("x"))
		must.Be(t, err == nil && bytes.Equal(got, want), "%d of %d bytes, error %v", len(got), size, err)
	}
}

// A range is refused if it is another one or if its numbers make no sense.
func TestCheckRange(t *testing.T) {
	for contentRange, want := range map[string]int64{
		"bytes 5-9/20": 20, "bytes 5-9/*": -1, "bytes 5-9": -2, "bytes 5-9/": -2, "bytes 5-9/-1": -2, "bytes 5-9/-5": -2,
		"bytes 5-9/9": -2, "bytes 5-3/20": -2, "bytes 0-4/20": -2, "bytes */20": -2, "bytes 5--9/-9": -2,
	} {
		size, err := blob.CheckRange(blob.Range{Offset: 5, Length: 5}, contentRange, blob.Attributes{Size: 5, Version: "x"})
		if err != nil {
			size = -2
		}
		must.Equal(t, size, want, contentRange)
	}
}

// withoutTotal answers with ranges of objects of unknown length.
type withoutTotal struct{ http.ResponseWriter }

func (w withoutTotal) WriteHeader(status int) {
	if of, _, ok := strings.Cut(w.Header().Get("Content-Range"), "/"); ok {
		w.Header().Set("Content-Range", of+"/*")
	}
	w.ResponseWriter.WriteHeader(status)
}

// An answer that redirects is an error, and nobody else is asked: neither another host nor
// another port of the same one.
func TestRedirectsAreNotFollowed(t *testing.T) {
	var asked atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	t.Cleanup(other.Close)
	port := other.URL[strings.LastIndexByte(other.URL, ':'):]
	for _, to := range []string{other.URL, "http://localhost" + port} {
		for _, status := range []int{http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
			t.Run(fmt.Sprint(to, status), func(t *testing.T) {
				host := serve(t, func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("Location", to+"/x")
					w.WriteHeader(status)
				})
				everyStore(t, host, func(t *testing.T, name func(string) string) {
					_, err := blob.Open(t.Context(), name("x"))
					refusedRedirect(t, err, port, status)
					u := must.Get(blob.ParseURL(name("folder/")))(t)
					folder := must.Get(blob.OpenFolder(t.Context(), u))(t)
					_, _, err = folder.ReadUpTo("x", 0, nil, 10)
					refusedRedirect(t, err, port, status)
					refusedRedirect(t, folder.List(func(string, blob.Info) error { return nil }), port, status)
				})
			})
		}
	}
	t.Cleanup(func() {
		n := asked.Load()
		must.Be(t, n <= 0, "the other host was asked %d times", n)
	})
}

func refusedRedirect(t *testing.T, err error, port string, status int) {
	t.Helper()
	passes := status == http.StatusFound || status == http.StatusTemporaryRedirect
	must.Be(t, err != nil && strings.Contains(err.Error(), port+"), which is not followed") && blob.Temporary(err) == passes, "error %v", err)
}

// Of a bucket in another region, the message says which.
func TestRedirectToRegion(t *testing.T) {
	s := newServer(t)
	s.Meddle(func(w http.ResponseWriter, r *http.Request, store http.Handler) {
		w.Header().Set("X-Amz-Bucket-Region", "eu-central-1")
		w.Header().Set("Location", "http://bucket.s3.eu-central-1.amazonaws.com/x")
		w.WriteHeader(http.StatusTemporaryRedirect)
	})
	_, err := blob.Open(t.Context(), s.Name("x"))
	must.Be(t, err != nil && strings.Contains(err.Error(), "the bucket is in the region eu-central-1: name it, as ?region=eu-central-1") && !blob.Temporary(err),
		"error %v", err)
}

// A store that loses an object after it was taken fails the output.
func TestSmallObjectIsLost(t *testing.T) {
	for name, kept := range map[string][]byte{"all": nil, "its content": {}} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			s.Meddle(func(w http.ResponseWriter, r *http.Request, store http.Handler) {
				if store.ServeHTTP(w, r); r.Method == http.MethodPut {
					s.Remove("x")
					if kept != nil {
						s.Put("x", kept)
					}
				}
			})
			w := must.Get(blob.Create(t.Context(), s.Name("x")))(t)
			_, err := w.Write([]byte("some bytes"))
			must.Say(t, errors.Join(err, w.Close()), "s3://bucket/x: writing it: the store says that it is complete, and has ")
		})
	}
}

// Where the store did not say which object was there before, or does not say which is there now, an
// answer that confirms nothing fails the output: the object may be the old one.
func TestObjectIsNotConfirmedNorKnown(t *testing.T) {
	for _, size := range []int{1000, 17 << 20} {
		for _, isPage := range []bool{false, true} {
			s, _ := stored(t, size)
			var completed atomic.Bool
			s.Meddle(func(w http.ResponseWriter, r *http.Request, store http.Handler) {
				isLarge := size > blob.PartSize
				switch {
				case !isLarge && r.Method == http.MethodPut, r.Method == http.MethodPost && r.URL.Query().Has("uploadId"):
					completed.Store(true)
				case r.Method == http.MethodHead && !completed.Load() && !isPage:
					w.WriteHeader(http.StatusConflict)
				case r.Method == http.MethodHead && completed.Load() && isPage:
					w.Header().Set("Content-Length", strconv.Itoa(size))
				default:
					store.ServeHTTP(w, r)
				}
			})
			w := must.Get(blob.Create(t.Context(), s.Name("x")))(t)
			must.Get(w.Write(noise(size)))(t)
			must.Say(t, w.Close(), blob.ErrUnconfirmed.Error(), size, isPage)
		}
	}
}

// An answer that neither refuses nor confirms an object fails the output, unless another
// object is there than before.
func TestObjectIsNotConfirmed(t *testing.T) {
	for _, size := range []int{1000, 17 << 20} {
		for _, completes := range []bool{false, true} {
			s, data := stored(t, size)
			s.Meddle(func(w http.ResponseWriter, r *http.Request, store http.Handler) {
				isLarge := size > blob.PartSize
				isComplete := !isLarge && r.Method == http.MethodPut || r.Method == http.MethodPost && r.URL.Query().Has("uploadId")
				switch {
				case isComplete && completes:
					store.ServeHTTP(httptest.NewRecorder(), r)
				case !isComplete:
					store.ServeHTTP(w, r)
				}
			})
			w := must.Get(blob.Create(t.Context(), s.Name("x")))(t)
			_, err := w.Write(append([]byte("another"), data[7:]...))
			if err = errors.Join(err, w.Close()); completes != (err == nil) || !completes && (!strings.Contains(err.Error(), blob.ErrUnconfirmed.Error()) || !blob.Temporary(err)) {
				t.Errorf("%d bytes, it completes: %v; error %v", size, completes, err)
			}
		}
	}
}

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
	return blob.Expand(blob.WithMemory(t.Context(), memory), must.Get(blob.ParseURL(s.Name("r/")))(t))
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
			s, _ := stored(t, 3<<20)
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
		s, _ := stored(t, 1000)
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
