package blob_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"robotsbatch/io/store/blob"
	"robotsbatch/io/store/must"
)

// shortTimeout is the time for which stores may stand still in these tests, each of which
// waits for its end. Half of it must be enough for a connection on a busy
// machine.
const shortTimeout = time.Second

// everyStore runs a test for each kind of store, at one server. Name makes the
// URL of a key in a bucket that no other test has, for buckets stay open.
func everyStore(t *testing.T, host string, test func(t *testing.T, name func(key string) string)) {
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "verysecret", "AWS_EC2_METADATA_DISABLED": "true",
		"AWS_CONFIG_FILE": "/dev/null", "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
		"STORAGE_EMULATOR_HOST": host,
		"AZURE_STORAGE_ACCOUNT": "account", "AZURE_STORAGE_KEY": "dmVyeXNlY3JldA==",
	} {
		t.Setenv(name, value)
	}
	bucket := "b" + strings.NewReplacer(".", "-", ":", "-").Replace(host)
	for scheme, parameters := range map[string]string{
		"s3":     "?region=us-east-1&use_path_style=true&endpoint=http://" + host,
		"gs":     "",
		"azblob": "?protocol=http&domain=" + host,
	} {
		name := func(key string) string { return scheme + "://" + bucket + "/" + key + parameters }
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			test(t, name)
		})
	}
}

// together runs tests at the same time, for they only wait.
func together(t *testing.T, tests map[string]func(t *testing.T)) {
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t)
		})
	}
}

// serve starts a server that answers like none of the stores.
func serve(t *testing.T, answer http.HandlerFunc) (host string) {
	t.Helper()
	over := make(chan bool)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer(w, r)
		if r.Context().Err() == nil && w.Header().Get("Stall") != "" {
			_ = http.NewResponseController(w).Flush()
			select {
			case <-r.Context().Done():
			case <-over:
			}
		}
	}))
	t.Cleanup(func() {
		close(over)
		s.CloseClientConnections()
		s.Close()
	})
	return s.Listener.Addr().String()
}

// wantStalled fails unless err is that of a store that stood still, and names
// what was asked for and waited for.
func wantStalled(t *testing.T, timeout time.Duration, err error, object, owed string) {
	t.Helper()
	must.Need(t, err != nil, "no error")
	for _, want := range []string{object, "waited " + timeout.String() + " for " + owed, "store-timeout"} {
		must.Be(t, strings.Contains(err.Error(), want), "%v: want it to say %q", err, want)
	}
	must.Be(t, !strings.Contains(err.Error(), "verysecret") && !strings.Contains(err.Error(), "endpoint"), "%v: it has what is nobody's business", err)
}

// TestServerThatNeverAnswers accepts connections, and reads no byte of them.
func TestServerThatNeverAnswers(t *testing.T) {
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { l.Close() })
	ctx := blob.WithTimeout(t.Context(), shortTimeout)
	everyStore(t, l.Addr().String(), func(t *testing.T, name func(string) string) {
		const owed = "the first byte of the answer"
		u := must.Get(blob.ParseURL(name("folder/")))(t)
		folder := must.Get(blob.OpenFolder(ctx, u))(t)
		together(t, map[string]func(*testing.T){
			"open": func(t *testing.T) {
				_, err := blob.Open(ctx, name("folder/x"))
				wantStalled(t, shortTimeout, err, blob.Shown(name("folder/x")), owed)
			},
			"create": func(t *testing.T) {
				_, err := blob.Create(ctx, name("out"))
				wantStalled(t, shortTimeout, err, blob.Shown(name("out")), owed)
			},
			"expand": func(t *testing.T) {
				_, err := blob.Expand(ctx, u)
				wantStalled(t, shortTimeout, err, u.Name(), owed)
			},
			"list": func(t *testing.T) {
				wantStalled(t, shortTimeout, folder.List(func(string, blob.Info) error { return nil }), u.Name(), owed)
			},
			"read": func(t *testing.T) {
				_, _, err := folder.ReadUpTo("y", -1, nil, 10)
				wantStalled(t, shortTimeout, err, u.Name()+"y", owed)
			},
		})
	})
}

// describe answers questions about objects, of 3 MiB all of them, and says
// whether the request was one.
func describe(w http.ResponseWriter, r *http.Request) bool {
	w.Header().Set("ETag", `"etag"`)
	w.Header().Set("Last-Modified", "Thu, 01 Jan 2026 00:00:00 GMT")
	switch {
	case r.Method == http.MethodHead:
		w.Header().Set("Content-Length", "3145728")
		return true
	case r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/o/") && r.URL.Query().Get("alt") == "":
		_, _ = io.WriteString(w, `{"name": "x", "size": "3145728", "generation": "1", "updated": "2026-01-01T00:00:00Z"}`)
		return true
	case r.Method == http.MethodGet && (r.URL.Query().Has("list-type") || r.URL.Query().Get("comp") == "list"):
		_, _ = io.WriteString(w, `<EnumerationResults><IsTruncated>false</IsTruncated><Blobs/></EnumerationResults>`)
		return true
	case r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/o"):
		_, _ = io.WriteString(w, `{"kind": "storage#objects"}`)
		return true
	}
	return false
}

// sendRange starts to answer a request for a range, with n bytes of it.
func sendRange(w http.ResponseWriter, r *http.Request, bytes int) {
	asked := r.Header.Get("Range")
	if asked == "" {
		asked = r.Header.Get("X-Ms-Range")
	}
	first, last, _ := strings.Cut(strings.TrimPrefix(asked, "bytes="), "-")
	w.Header().Set("Content-Range", "bytes "+first+"-"+last+"/3145728")
	w.WriteHeader(http.StatusPartialContent)
	_, _ = w.Write(make([]byte, bytes))
}

// TestBodyThatStalls has a server that sends 1000 bytes of the first body and
// then stands still, and sends none of the others.
func TestBodyThatStalls(t *testing.T) {
	var first sync.Map // of an object
	host := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if describe(w, r) {
			return
		}
		w.Header().Set("Stall", "yes")
		bytes := 1000
		if _, again := first.LoadOrStore(r.URL.Path, true); again {
			bytes = 0
		}
		sendRange(w, r, bytes)
	})
	ctx := blob.WithTimeout(t.Context(), shortTimeout)
	everyStore(t, host, func(t *testing.T, name func(string) string) {
		read := func(key string, read func(*blob.File) error) func(*testing.T) {
			return func(t *testing.T) {
				f := must.Get(blob.Open(ctx, name(key)))(t)
				defer f.Close()
				wantStalled(t, shortTimeout, read(f), blob.Shown(name(key)), "more of the answer")
			}
		}
		together(t, map[string]func(*testing.T){
			"in order":  read("order/x", func(f *blob.File) error { _, err := io.Copy(io.Discard, f); return err }),
			"at random": read("random/x", func(f *blob.File) error { _, err := f.ReadAt(make([]byte, 5000), 1<<20); return err }),
			"announced": read("announced/x", func(f *blob.File) error {
				f.Expect(blob.Range{Offset: 1 << 20, Length: 1 << 20})
				_, err := f.ReadAt(make([]byte, 5000), 1<<20)
				return err
			}),
		})
	})
}

// readAnswered has each kind of store read n bytes of an object, of which answer sends parts.
func readAnswered(t *testing.T, timeout time.Duration, n int, answer http.HandlerFunc, check func(t *testing.T, object string, err error)) {
	host := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if !describe(w, r) {
			answer(w, r)
		}
	})
	ctx := blob.WithTimeout(t.Context(), timeout)
	everyStore(t, host, func(t *testing.T, name func(string) string) {
		f := must.Get(blob.Open(ctx, name("x")))(t)
		defer f.Close()
		_, err := f.ReadAt(make([]byte, n), 1<<20)
		check(t, blob.Shown(name("x")), err)
	})
}

// TestStallIsSurvived has a server that stands still in the first body of each
// object, and none of the others.
func TestStallIsSurvived(t *testing.T) {
	var first sync.Map // of an object
	readAnswered(t, 4*shortTimeout, 1<<20, func(w http.ResponseWriter, r *http.Request) {
		if _, again := first.LoadOrStore(r.URL.Path, true); again {
			sendRange(w, r, 1<<20-100_000)
			return
		}
		w.Header().Set("Stall", "yes")
		sendRange(w, r, 100_000)
	}, func(t *testing.T, _ string, err error) { must.Do(t, err) })
}

// TestUploadThatStalls has a server that takes what it is sent and then says
// nothing, for small objects and for parts of large ones.
func TestUploadThatStalls(t *testing.T) {
	var host string
	host = serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case describe(w, r), r.Method == http.MethodDelete:
		case r.Method == http.MethodPost && r.URL.Query().Has("uploads"):
			_, _ = io.WriteString(w, `<InitiateMultipartUploadResult><UploadId>1</UploadId></InitiateMultipartUploadResult>`)
		case r.Method == http.MethodPost && r.URL.Query().Get("uploadType") == "resumable":
			w.Header().Set("Location", "http://"+host+"/session")
		default:
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		}
	})
	const timeout = 3 * shortTimeout // a busy machine takes long to sign a part
	ctx := blob.WithTimeout(t.Context(), timeout)
	everyStore(t, host, func(t *testing.T, name func(string) string) {
		for _, size := range []int{1000, 2*blob.PartSize + 1} {
			w := must.Get(blob.Create(ctx, name("out")))(t)
			_, err := w.Write(make([]byte, size))
			if err == nil {
				err = w.Close()
			} else {
				w.Abort()
			}
			wantStalled(t, timeout, err, blob.Shown(name("out"))+": writing it: ", "the first byte of the answer")
		}
	})
}

// TestAttemptsShareTheTimeout has a server that always says that it is busy,
// which the drivers, left alone, take for longer than the timeout.
func TestAttemptsShareTheTimeout(t *testing.T) {
	host := serve(t, func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	ctx := blob.WithTimeout(t.Context(), shortTimeout)
	everyStore(t, host, func(t *testing.T, name func(string) string) {
		_, err := blob.Open(ctx, name("x"))
		wantStalled(t, shortTimeout, err, blob.Shown(name("x")), "another answer than 503 Service Unavailable")
	})
}

// TestProgressExtendsTheWait has a server that takes longer for a body than the
// timeout, but sends some of it all the time.
func TestProgressExtendsTheWait(t *testing.T) {
	const pieces = 24
	readAnswered(t, shortTimeout, pieces*1000, func(w http.ResponseWriter, r *http.Request) {
		sendRange(w, r, 0)
		for range pieces {
			_, _ = w.Write(make([]byte, 1000))
			_ = http.NewResponseController(w).Flush()
			time.Sleep(shortTimeout / 16)
		}
	}, func(t *testing.T, _ string, err error) { must.Do(t, err) })
}

// TestTrickleIsAStall has a server that sends some bytes all the time, too few to come to
// an end.
func TestTrickleIsAStall(t *testing.T) {
	readAnswered(t, shortTimeout, 100_000, func(w http.ResponseWriter, r *http.Request) {
		sendRange(w, r, 0)
		for r.Context().Err() == nil {
			_, _ = w.Write(make([]byte, 10))
			_ = http.NewResponseController(w).Flush()
			time.Sleep(shortTimeout / 16)
		}
	}, func(t *testing.T, object string, err error) {
		wantStalled(t, shortTimeout, err, object, "more of the answer")
	})
}

// TestStallEndsWithTheContext is a wait that somebody else ends first.
func TestStallEndsWithTheContext(t *testing.T) {
	host := serve(t, func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	enough := errors.New("that is enough")
	everyStore(t, host, func(t *testing.T, name func(string) string) {
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(shortTimeout/8, func() { cancel(enough) })
		must.Is(t, must.Err(blob.Open(ctx, name("x"))), enough)
	})
}
