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
	u, err := blob.ParseURL(s.Name("rules/"))
	if err != nil {
		s.t.Fatal(err)
	}
	folder, err := blob.OpenFolder(s.t.Context(), u)
	if err != nil {
		s.t.Fatal(err)
	}
	return folder
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
				if got, err := io.ReadAll(f); err != nil || !bytes.Equal(got, want) {
					t.Errorf("%d bytes, error %v", len(got), err)
				}
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
		s := newServer(t)
		s.Put("x", noise(size))
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
			s := newServer(t)
			s.Put("x", noise(test.size))
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
		s := newServer(t)
		want := noise(size)
		s.Put("x", want)
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
		"bytes 5-9/20":  20,
		"bytes 5-9/*":   -1,
		"bytes 5-9":     -2,
		"bytes 5-9/":    -2,
		"bytes 5-9/-1":  -2,
		"bytes 5-9/-5":  -2,
		"bytes 5-9/9":   -2,
		"bytes 5-3/20":  -2,
		"bytes 0-4/20":  -2,
		"bytes */20":    -2,
		"bytes 5--9/-9": -2,
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
			if err = errors.Join(err, w.Close()); err == nil || !strings.Contains(err.Error(), "s3://bucket/x: writing it: the store says that it is complete, and has ") {
				t.Errorf("error %v", err)
			}
		})
	}
}

// Where the store did not say which object was there before, or does not say which is there now, an
// answer that confirms nothing fails the output: the object may be the old one.
func TestObjectIsNotConfirmedNorKnown(t *testing.T) {
	for _, size := range []int{1000, 17 << 20} {
		for _, isPage := range []bool{false, true} {
			s := newServer(t)
			s.Put("x", noise(size))
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
			data := noise(size)
			s := newServer(t)
			s.Put("x", data)
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
