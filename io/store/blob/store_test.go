package blob_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"

	"robotsbatch/io/store/blob"
	"robotsbatch/io/store/blob/blobtest"
	_ "robotsbatch/io/store/blob/stores"
	"robotsbatch/io/store/must"
)

type server struct {
	*blobtest.Server
	t *testing.T
}

func newServer(t *testing.T) *server {
	t.Helper()
	return &server{blobtest.New(t), t}
}

func (s *server) open(key string) *blob.File {
	s.t.Helper()
	f := must.Get(blob.Open(s.t.Context(), s.Name(key)))(s.t)
	s.t.Cleanup(func() { f.Close() })
	return f
}

// stored starts a server that has an object x of n bytes.
func stored(t *testing.T, n int) (s *server, content []byte) {
	t.Helper()
	s, content = newServer(t), noise(n)
	s.Put("x", content)
	return s, content
}

func noise(n int) []byte {
	data := make([]byte, n)
	rand.NewChaCha8([32]byte{1}).Read(data)
	return data
}

func TestObjectInOrder(t *testing.T) {
	s := newServer(t)
	for _, size := range []int{0, 1, 1000, 32 << 10, 32<<10 + 1, 1 << 20, 40<<20 + 17} {
		want := noise(size)
		s.Put("x", want)
		f := s.open("x")
		n, regular := f.Size()
		must.Be(t, n == int64(size) && regular && f.Name() == "s3://bucket/x", "%s has %d bytes, regular %v", f.Name(), n, regular)
		got, err := io.ReadAll(f)
		must.Need(t, err == nil && bytes.Equal(got, want), "%d bytes with error %v, want %d", len(got), err, size)
		gets, bytes := s.Asked()
		must.Be(t, len(gets) <= 9 && (bytes == int64(size) || size <= 0), "%d requests for %d bytes, want at most 9 for %d", len(gets), bytes, size)
	}
}

// TestHeadAlone is what it costs to look at an object's first bytes.
func TestHeadAlone(t *testing.T) {
	s, _ := stored(t, 10<<20)
	f := s.open("x")
	must.Get(io.ReadFull(f, make([]byte, 20<<10)))(t)
	gets, bytes := s.Asked()
	must.Be(t, len(gets) == 1 && bytes <= 64<<10, "%d requests, %d bytes", len(gets), bytes)
}

func TestObjectAnywhere(t *testing.T) {
	s, want := stored(t, 5<<20)
	f := s.open("x")
	random := rand.New(rand.NewPCG(1, 2))
	at := int64(0)
	for range 300 {
		if random.IntN(4) == 0 {
			at = random.Int64N(int64(len(want)) + 10)
		}
		p := make([]byte, random.IntN(300<<10))
		n, err := f.ReadAt(p, at)
		rest := want[min(at, int64(len(want))):]
		must.Need(t, n == min(len(p), len(rest)) && bytes.Equal(p[:n], rest[:n]) && (n >= len(p) || err == io.EOF) && (n != len(p) || err == nil || err == io.EOF),
			"ReadAt(%d bytes at %d) = %d, %v", len(p), at, n, err)
		at += int64(n)
	}
}

// TestArrowLike reads a tail, then messages in order, as an Arrow file is read.
func TestArrowLike(t *testing.T) {
	s, want := stored(t, 30<<20)
	f := s.open("x")
	read := func(n int, at int) {
		p := make([]byte, n)
		_, err := f.ReadAt(p, int64(at))
		must.Need(t, err == nil && bytes.Equal(p, want[at:at+n]), "%d bytes at %d: %v", n, at, err)
	}
	read(10, len(want)-10)
	read(4000, len(want)-4010)
	for at := 8; at+100_000 < len(want); {
		read(300, at)
		read(90_000, at+300)
		at += 300 + 90_000 + 8
	}
	gets, bytes := s.Asked()
	must.Be(t, len(gets) <= 10 && bytes <= int64(len(want))+200<<10, "%d requests, %d bytes: %q", len(gets), bytes, gets)
}

func TestExpect(t *testing.T) {
	s, want := stored(t, 20<<20)
	f := s.open("x")
	ranges := []blob.Range{{Offset: 10 << 20, Length: 3 << 20}, {Offset: 1 << 20, Length: 1000}, {Offset: 1<<20 + 5000, Length: 2000}, {Offset: 30 << 20, Length: 10}}
	f.Expect(ranges...)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for _, r := range ranges[:3] {
				for at := r.Offset; at < r.Offset+r.Length; at += 900 {
					p := make([]byte, min(900, r.Offset+r.Length-at))
					if _, err := f.ReadAt(p, at); err != nil || !bytes.Equal(p, want[at:at+int64(len(p))]) {
						t.Errorf("%d: %v", at, err)
						return
					}
				}
			}
		})
	}
	group.Wait()
	gets, bytes := s.Asked()
	must.Be(t, len(gets) == 2 && bytes <= 3<<20+8000, "%d requests, %d bytes", len(gets), bytes)
	for _, r := range ranges {
		f.Done(r)
	}
	must.Get(f.ReadAt(make([]byte, 100), 10<<20))(t)
	gets, _ = s.Asked()
	must.Be(t, len(gets) == 1, "%d requests after Done", len(gets))
}

func TestBrokenBodiesAreReopened(t *testing.T) {
	s, want := stored(t, 3<<20)
	s.Meddle(blobtest.Cut(300_000))
	f := s.open("x")
	got, err := io.ReadAll(f)
	must.Be(t, err == nil && bytes.Equal(got, want), "%d bytes with error %v", len(got), err)
	gets, bytes := s.Asked()
	must.Be(t, len(gets) >= 10 && bytes == int64(len(want)), "%d requests, %d bytes: no byte is to be read twice", len(gets), bytes)
}

func TestBodyThatNeverComes(t *testing.T) {
	s, _ := stored(t, 3<<20)
	s.Meddle(blobtest.Cut(0))
	f := s.open("x")
	_, err := io.ReadAll(f)
	must.Be(t, err != nil && strings.HasPrefix(err.Error(), "s3://bucket/x: the connection broke off at byte 0: "), "error %v", err)
}

func TestReplacedMeanwhile(t *testing.T) {
	for name, replace := range map[string]func(*server){
		"same length": func(s *server) { s.Put("x", make([]byte, 3<<20)) },
		"shorter":     func(s *server) { s.Put("x", noise(1000)) },
		"removed":     func(s *server) { s.Remove("x") },
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := stored(t, 3<<20)
			f := s.open("x")
			must.Get(f.Read(make([]byte, 100)))(t)
			replace(s)
			// The store that stands in does not know If-Match of readings.
			s.Meddle(func(w http.ResponseWriter, r *http.Request, store http.Handler) {
				if want := r.Header.Get("If-Match"); r.Method == http.MethodGet && name == "same length" && want != "" {
					http.Error(w, "<Error><Code>PreconditionFailed</Code></Error>", http.StatusPreconditionFailed)
					return
				}
				store.ServeHTTP(w, r)
			})
			_, err := io.ReadAll(f)
			must.Be(t, errors.Is(err, blob.ErrChanged) && strings.Contains(err.Error(), "s3://bucket/x"), "error %v", err)
		})
	}
}

func TestCancelledWait(t *testing.T) {
	s, _ := stored(t, 3<<20)
	asked := make(chan bool, 10)
	over := make(chan bool)
	defer close(over)
	s.Meddle(func(w http.ResponseWriter, r *http.Request, store http.Handler) {
		if r.Method == http.MethodGet {
			asked <- true
			select {
			case <-r.Context().Done():
			case <-over:
			}
			return
		}
		store.ServeHTTP(w, r)
	})
	ctx, cancel := context.WithCancelCause(t.Context())
	f := must.Get(blob.Open(ctx, s.Name("x")))(t)
	defer f.Close()
	enough := errors.New("that is enough")
	go func() {
		<-asked
		cancel(enough)
	}()
	must.Is(t, must.Err(f.Read(make([]byte, 1))), enough)
}

func TestOpenMissing(t *testing.T) {
	s := newServer(t)
	_, err := blob.Open(t.Context(), s.Name("folder/missing"))
	must.Be(t, errors.Is(err, fs.ErrNotExist) && strings.Contains(err.Error(), "s3://bucket/folder/missing") && !strings.Contains(err.Error(), "endpoint"),
		"error %v", err)
}

func TestRefused(t *testing.T) {
	s, _ := stored(t, 3)
	for _, test := range []struct {
		status     int
		code, want string
	}{
		{http.StatusForbidden, "InvalidAccessKeyId", "check AWS_ACCESS_KEY_ID"},
		{http.StatusForbidden, "SignatureDoesNotMatch", "check AWS_SECRET_ACCESS_KEY"},
		{http.StatusForbidden, "RequestTimeTooSkewed", "the clock of this machine is wrong"},
		{http.StatusForbidden, "AccessDenied", "the credentials are valid, but may not do this here"},
		{http.StatusForbidden, "Strange", "check the credentials in the environment: 403 Strange no"},
		{http.StatusBadRequest, "ExpiredToken", "the session has ended"},
	} {
		s.Meddle(func(w http.ResponseWriter, r *http.Request, store http.Handler) { // an answer to HEAD has no body
			http.Error(w, "<Error><Code>"+test.code+"</Code><Message>no</Message></Error>", test.status)
		})
		_, err := blob.Open(t.Context(), s.Name("x"))
		must.Be(t, errors.Is(err, fs.ErrPermission) && strings.Contains(err.Error(), "the store refuses it: ") && strings.Contains(err.Error(), test.want),
			"%s: error %v", test.code, err)
	}
}

// A bucket of another region is answered with 301, or with 400 for the signature's region.
func TestOtherRegion(t *testing.T) {
	s := newServer(t)
	for _, status := range []int{http.StatusMovedPermanently, http.StatusBadRequest} {
		s.Meddle(func(w http.ResponseWriter, r *http.Request, store http.Handler) {
			w.Header().Set("X-Amz-Bucket-Region", "eu-central-1")
			w.WriteHeader(status)
		})
		_, err := blob.Open(t.Context(), s.Name("x"))
		want := "the bucket is in the region eu-central-1: name it, as ?region=eu-central-1"
		must.Be(t, err != nil && strings.Contains(err.Error(), want), "%d: error %v", status, err)
	}
}

func TestUpload(t *testing.T) {
	s := newServer(t)
	for _, size := range []int{0, 1, 100_000, 50<<20 + 3} {
		key := fmt.Sprint("out/", size)
		s.Put(key, []byte("before"))
		w := must.Get(blob.Create(t.Context(), s.Name(key)))(t)
		want := noise(size)
		n, err := w.Write(want)
		must.Need(t, n == size && err == nil, "Write = %d, %v", n, err)
		got := s.Get(key)
		must.Be(t, string(got) == "before", "before Close there are %d bytes", len(got))
		must.Do(t, w.Close())
		w.Abort()
		got = s.Get(key)
		must.Be(t, bytes.Equal(got, want), "%d bytes were written, want %d", len(got), size)
	}
}

func TestUploadGivenUp(t *testing.T) {
	for name, giveUp := range map[string]func(blob.Writer, context.CancelFunc){
		"abort":           func(w blob.Writer, cancel context.CancelFunc) { w.Abort() },
		"cancelled":       func(w blob.Writer, cancel context.CancelFunc) { cancel(); w.Abort() },
		"cancelled close": func(w blob.Writer, cancel context.CancelFunc) { cancel(); _ = w.Close() },
	} {
		for _, size := range []int{0, 1000, 40 << 20} {
			t.Run(fmt.Sprint(name, size), func(t *testing.T) {
				s := newServer(t)
				var mu sync.Mutex
				var started, aborted int
				s.Meddle(func(w http.ResponseWriter, r *http.Request, store http.Handler) {
					mu.Lock()
					switch {
					case r.Method == http.MethodPost && strings.Contains(r.URL.RawQuery, "uploads"):
						started++
					case r.Method == http.MethodDelete && strings.Contains(r.URL.RawQuery, "uploadId"):
						aborted++
					}
					mu.Unlock()
					store.ServeHTTP(w, r)
				})
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				w := must.Get(blob.Create(ctx, s.Name("x")))(t)
				must.Get(w.Write(noise(size)))(t)
				giveUp(w, cancel)
				must.Be(t, s.Get("x") == nil, "there is an object")
				must.Be(t, started == aborted && (size <= 16<<20 || started != 0), "%d uploads started, %d taken back", started, aborted)
			})
		}
	}
}

// TestUploadFails has connections that break, which the operating system may
// call EPIPE, as it does a pipe without a reader.
func TestUploadFails(t *testing.T) {
	s := newServer(t)
	w := must.Get(blob.Create(t.Context(), s.Name("x")))(t)
	s.Meddle(func(w http.ResponseWriter, r *http.Request, store http.Handler) { panic(http.ErrAbortHandler) })
	_, _ = w.Write(noise(1000))
	err := w.Close()
	must.Be(t, err != nil && strings.HasPrefix(err.Error(), "s3://bucket/x: writing it: ") && errors.Unwrap(errors.Unwrap(err)) == nil, "error %v", err)
	must.Be(t, s.Get("x") == nil, "there is an object")
}

func TestCreateInMissingBucket(t *testing.T) {
	s := newServer(t)
	name := strings.Replace(s.Name("x"), "bucket", "elsewhere", 1)
	must.Is(t, must.Err(blob.Create(t.Context(), name)), fs.ErrNotExist)
}

func TestExpand(t *testing.T) {
	s := newServer(t)
	for _, key := range []string{
		"a.arrow", "b/1.arrow", "b/2.arrow", "b/c/3.arrow", "b/_SUCCESS", "b/.hidden/4.arrow", "b/c/", "d?.arrow", "part=1/x.parquet", "part=2/y.parquet", "part%203/z.parquet",
	} {
		s.Put(key, []byte(key))
	}
	for _, test := range []struct {
		key, want string // stems
	}{
		{"a.arrow", "a.arrow"},
		{"missing", "missing"}, // who opens it finds out
		{"b/", "1.arrow 2.arrow c/3.arrow"},
		{"", "a.arrow b/1.arrow b/2.arrow b/c/3.arrow d?.arrow part%203/z.parquet part=1/x.parquet part=2/y.parquet"},
		{"b/*.arrow", "1.arrow 2.arrow"},
		{"b/*", "1.arrow 2.arrow c/3.arrow"},
		{"*/[12].arrow", "b/1.arrow b/2.arrow"},
		{"*/*/3.arrow", "b/c/3.arrow"},
		{"**/[1-3].arrow", "b/1.arrow b/2.arrow b/c/3.arrow"},
		{"b/**", "1.arrow 2.arrow c/3.arrow"},
		{"**/c/3.arrow", "b/c/3.arrow"},
		{"part=*/*.parquet", "part=1/x.parquet part=2/y.parquet"},
		{"part=?/", "part=1/x.parquet part=2/y.parquet"},
		{"d?.arrow", "d?.arrow"},
		{"b/_*", "_SUCCESS"},
		{"b/x*", ""},
		{"c/", ""},
	} {
		found, err := blob.Expand(t.Context(), must.Get(blob.ParseURL(s.Name(test.key)))(t))
		var stems []string
		for _, x := range found {
			stems = append(stems, x.Stem)
		}
		got := strings.Join(stems, " ")
		must.Be(t, got == test.want && (err != nil) == (test.want == ""), "%s is %s, want %s; error %v", test.key, got, test.want, err)
	}
}

func TestFolder(t *testing.T) {
	s := newServer(t)
	s.Put("rules/a.example", []byte("User-agent: *"))
	s.Put("rules/b.example", nil)
	s.Put("rules/c.example/robots.txt", noise(700<<10))
	folder := s.openFolder()
	var keys []string
	must.Do(t, folder.List(func(key string, _ blob.Info) error { keys = append(keys, key); return nil }))
	must.Equal(t, strings.Join(keys, " "), "a.example b.example c.example/robots.txt", "keys")
	for key, want := range map[string][]byte{"a.example": []byte("User-agent: *"), "b.example": nil, "c.example/robots.txt": noise(700 << 10)[:500<<10]} {
		got, info, err := folder.ReadUpTo(key, -1, []byte("x"), 500<<10)
		must.Be(t, err == nil && string(got) == "x"+string(want) && info.Size >= int64(len(want)), "%s: %d bytes, error %v", key, len(got), err)
	}
	_, _, err := folder.ReadUpTo("d.example", -1, nil, 10)
	must.Be(t, errors.Is(err, fs.ErrNotExist), "error %v", err)
	enough := errors.New("enough")
	must.Is(t, folder.List(func(string, blob.Info) error { return enough }), enough, "List")
}

// TestManyReaders has so many objects open at once that each is to be read in
// small blocks.
func TestManyReaders(t *testing.T) {
	s, want := stored(t, 3<<20)
	var files []*blob.File
	for range 16 {
		f := s.open("x")
		must.Get(io.ReadFull(f, make([]byte, 100<<10)))(t)
		files = append(files, f)
	}
	s.Asked()
	for _, f := range files {
		rest, err := io.ReadAll(f)
		must.Need(t, err == nil && bytes.Equal(rest, want[100<<10:]), "%d bytes, error %v", len(rest), err)
	}
	gets, _ := s.Asked()
	for _, asked := range gets {
		var first, last int
		_, err := fmt.Sscanf(asked, "bytes=%d-%d", &first, &last)
		must.Be(t, err == nil && last-first < 3<<20/2, "asked for %s", asked)
	}
}
