package stores_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"robotsbatch/io/store/blob"
	_ "robotsbatch/io/store/blob/stores"
	"robotsbatch/io/store/must"
)

// gcs is a server that speaks what the driver needs of Google's JSON API. Its
// pages are of two keys, and of a part it keeps only whole quarters of a MiB,
// and no more than most bytes, as the real one may.
type gcs struct {
	url  string
	most int

	mu         sync.Mutex
	objects    map[string][]byte
	generation map[string]int
	sessions   map[string][]byte // of uploads, by key
	aborted    int
	busy       int  // requests that are still to be answered by 503
	loses      bool // requests that complete an object are answered by an empty page
	requests   []*http.Request
	lists      func(w http.ResponseWriter, token string) // instead of the server, if it is not nil
}

func newGCS(t *testing.T) *gcs {
	t.Helper()
	s := &gcs{most: 1 << 30, objects: make(map[string][]byte), generation: make(map[string]int), sessions: make(map[string][]byte)}
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	s.url = h.URL
	t.Setenv("STORAGE_EMULATOR_HOST", h.URL)
	return s
}

// name is the URL of a key, in a bucket that no other test has.
func (s *gcs) name(key string) string { return "gs://" + s.bucket() + "/" + key }

func (s *gcs) bucket() string { return "b" + s.url[strings.LastIndexByte(s.url, ':')+1:] }

func (s *gcs) put(key string, data []byte) {
	s.objects[key] = data
	s.generation[key]++
}

func (s *gcs) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	objects := "/storage/v1/b/" + s.bucket() + "/o"
	q := r.URL.Query()
	switch {
	case s.busy > 0:
		s.busy--
		w.WriteHeader(http.StatusServiceUnavailable)
	case s.loses && (q.Get("uploadType") == "media" || r.Method == http.MethodPut && !strings.HasSuffix(r.Header.Get("Content-Range"), "/*")):
	case r.URL.Path == objects && s.lists != nil:
		s.lists(w, q.Get("pageToken"))
	case r.URL.Path == objects:
		s.list(w, q.Get("prefix"), q.Get("delimiter"), q.Get("pageToken"))
	case strings.HasPrefix(r.URL.Path, objects+"/"):
		s.get(w, r, strings.TrimPrefix(r.URL.Path, objects+"/"))
	case r.URL.Path == "/upload"+objects && q.Get("uploadType") == "media":
		data, _ := io.ReadAll(r.Body)
		s.put(q.Get("name"), data)
		s.get(w, r, q.Get("name"))
	case r.URL.Path == "/upload"+objects:
		s.sessions[q.Get("name")] = []byte{}
		w.Header().Set("Location", s.url+"/session/"+q.Get("name"))
	case r.Method == http.MethodDelete:
		s.aborted++
		w.WriteHeader(499)
	default:
		s.part(w, r, strings.TrimPrefix(r.URL.Path, "/session/"))
	}
}

func (s *gcs) get(w http.ResponseWriter, r *http.Request, key string) {
	data, ok := s.objects[key]
	generation := strconv.Itoa(s.generation[key])
	switch {
	case !ok, r.URL.Query().Has("generation") && r.URL.Query().Get("generation") != generation:
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"error": {"code": 404, "message": "No such object", "errors": [{"reason": "notFound"}]}}`)
	case r.URL.Query().Get("alt") == "media":
		http.ServeContent(w, r, "", lastModified, bytes.NewReader(data))
	default:
		_ = json.NewEncoder(w).Encode(object(key, data, generation))
	}
}

func object(key string, data []byte, generation string) map[string]string {
	return map[string]string{"name": key, "size": strconv.Itoa(len(data)), "generation": generation, "updated": "2026-01-01T00:00:00.5Z"}
}

func (s *gcs) list(w http.ResponseWriter, prefix, delimiter, token string) {
	var keys []string
	for key := range s.objects {
		rest, ok := strings.CutPrefix(key, prefix)
		if at := strings.Index(rest, cmp.Or(delimiter, "\x00")); ok && at >= 0 {
			key = prefix + rest[:at+1]
		}
		if ok && key > token && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	var answer struct {
		Kind          string              `json:"kind"`
		NextPageToken string              `json:"nextPageToken,omitempty"`
		Prefixes      []string            `json:"prefixes,omitempty"`
		Items         []map[string]string `json:"items,omitempty"`
	}
	answer.Kind = "storage#objects"
	if len(keys) > 2 {
		keys, answer.NextPageToken = keys[:2], keys[1]
	}
	for _, key := range keys {
		if delimiter != "" && strings.HasSuffix(key, delimiter) {
			answer.Prefixes = append(answer.Prefixes, key)
			continue
		}
		answer.Items = append(answer.Items, object(key, s.objects[key], "1"))
	}
	_ = json.NewEncoder(w).Encode(answer)
}

// part takes a part of an upload, from where the upload is.
func (s *gcs) part(w http.ResponseWriter, r *http.Request, key string) {
	data, _ := io.ReadAll(r.Body)
	var first, last int
	var total string
	_, err := fmt.Sscanf(r.Header.Get("Content-Range"), "bytes %d-%d/%s", &first, &last, &total)
	kept, ok := s.sessions[key]
	if !ok || err != nil || last-first+1 != len(data) || first > len(kept) {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	data = append(kept[:first:first], data...)
	if total == strconv.Itoa(len(data)) && len(data)-len(kept) <= s.most {
		delete(s.sessions, key)
		s.put(key, data)
		s.get(w, r, key)
		return
	}
	data = data[:min(len(data), len(kept)+s.most)]
	s.sessions[key] = data[:len(data)&^(256<<10-1)]
	if n := len(s.sessions[key]); n > 0 {
		w.Header().Set("Range", fmt.Sprintf("bytes=0-%d", n-1))
	}
	w.WriteHeader(http.StatusPermanentRedirect)
}

func noise(n int) []byte {
	data := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(data)
	return data
}

func TestGCSReads(t *testing.T) {
	s := newGCS(t)
	want := noise(5<<20 + 17)
	for _, key := range []string{"a/b.arrow", "strange %2F?#+ü.gz"} {
		s.put(key, want)
		u := must.Get(blob.ParseURL(s.name(key)))(t)
		f := must.Get(blob.Open(t.Context(), u.String()))(t)
		defer f.Close()
		got, err := io.ReadAll(f)
		must.Be(t, err == nil && bytes.Equal(got, want), "%s: %d bytes, error %v", key, len(got), err)
		p := make([]byte, 1000)
		_, err = f.ReadAt(p, 3<<20)
		must.Be(t, err == nil && bytes.Equal(p, want[3<<20:3<<20+1000]), "%s: ReadAt: %v", key, err)
	}
	for _, r := range s.requests {
		// Else what is stored as gzip comes decompressed.
		must.Be(t, r.URL.Query().Get("alt") != "media" || r.Header.Get("Accept-Encoding") == "gzip", "%s accepts %q", r.URL, r.Header.Get("Accept-Encoding"))
	}
	must.Is(t, must.Err(blob.Open(t.Context(), s.name("none"))), fs.ErrNotExist)
}

func TestGCSObjectIsReplaced(t *testing.T) {
	s := newGCS(t)
	s.put("x", noise(3<<20))
	f := must.Get(blob.Open(t.Context(), s.name("x")))(t)
	defer f.Close()
	s.put("x", noise(3<<20))
	must.Is(t, must.Err(io.ReadAll(f)), blob.ErrChanged)
}

func TestGCSLists(t *testing.T) {
	s := newGCS(t)
	for _, key := range []string{"a.txt", "b/1.txt", "b/2.txt", "b/3.txt", "b/c/4.txt", "b/c/5.txt", "d.txt"} {
		s.put(key, []byte(key))
	}
	for key, want := range map[string]string{
		"": "a.txt b/1.txt b/2.txt b/3.txt b/c/4.txt b/c/5.txt d.txt", "b/": "1.txt 2.txt 3.txt c/4.txt c/5.txt",
		"b/*.txt": "1.txt 2.txt 3.txt", "*/*/5.txt": "b/c/5.txt", "?.txt": "a.txt d.txt",
	} {
		u := must.Get(blob.ParseURL(s.name(key)))(t)
		found, err := blob.Expand(t.Context(), u)
		var stems []string
		for _, x := range found {
			stems = append(stems, x.Stem)
		}
		got := strings.Join(stems, " ")
		must.Be(t, got == want && err == nil, "%q is %s, want %s; error %v", key, got, want, err)
	}
}

// An answer that is not a list of keys is an error, for keys that are not in it would be missing.
// An empty page is none, and a key without a length has an unknown one.
func TestGCSListings(t *testing.T) {
	const first = `{"kind": "storage#objects", "nextPageToken": "1", "items": [{"name": "rules/a", "generation": "1"}]}`
	for second, want := range map[string]string{
		`{"kind": "storage#objects"}`: "",
		`{"items": []}`:               "",
		`{}`:                          blob.ErrNoListing.Error(),
		`null`:                        blob.ErrNoListing.Error(),
		`{"error": {"code": 503, "message": "Backend"}`: blob.ErrNoListing.Error(),
		`{"error": {"code": 503}}`:                      blob.ErrNoListing.Error(),
		`{"items": "a"}`:                                blob.ErrNoListing.Error(),
		`{"items": [{"name": "rules/b", "size": "x"}]}`: blob.ErrNoListing.Error(),
		`<html>`: blob.ErrNoListing.Error(),
		``:       blob.ErrNoListing.Error(),
		first:    "the same keys again and again",
	} {
		s := newGCS(t)
		s.lists = func(w http.ResponseWriter, token string) {
			_, _ = io.WriteString(w, map[bool]string{true: first, false: second}[token == ""])
		}
		folder := must.Get(blob.OpenFolder(t.Context(), must.Get(blob.ParseURL(s.name("rules/")))(t)))(t)
		err := folder.List(func(key string, info blob.Info) error {
			must.Equal(t, info.Size, -1, key)
			return nil
		})
		if want == "" {
			must.Do(t, err)
			continue
		}
		must.Say(t, err, want, second)
		must.Equal(t, blob.Temporary(err), second != first, second, "temporary")
	}
}

func TestGCSWrites(t *testing.T) {
	for _, size := range []int{0, 1, 1 << 20, blob.PartSize, blob.PartSize + 1, 2 * blob.PartSize, 2*blob.PartSize + 300_000} {
		for _, most := range []int{1 << 30, 5 << 20} {
			s := newGCS(t)
			s.most = most
			if size == 1 {
				s.busy = 1
			}
			want := noise(size)
			w := must.Get(blob.Create(t.Context(), s.name("out/x")))(t)
			must.Get(w.Write(want))(t)
			must.Be(t, s.objects["out/x"] == nil, "there is an object before Close")
			err := w.Close()
			must.Be(t, err == nil, "%d bytes: %v", size, err)
			must.Be(t, bytes.Equal(s.objects["out/x"], want), "%d bytes were written, want %d", len(s.objects["out/x"]), size)
		}
	}
}

// An answer that does not describe the new object fails the output, where the old one is still there.
func TestGCSObjectIsNotConfirmed(t *testing.T) {
	for _, size := range []int{1000, blob.PartSize + 1000} {
		s := newGCS(t)
		s.put("x", noise(size))
		w := must.Get(blob.Create(t.Context(), s.name("x")))(t)
		must.Get(w.Write(noise(size)))(t)
		s.mu.Lock()
		s.loses = true
		s.mu.Unlock()
		must.Say(t, w.Close(), blob.ErrUnconfirmed.Error(), size)
	}
}

func TestGCSUploadIsGivenUp(t *testing.T) {
	s := newGCS(t)
	w := must.Get(blob.Create(t.Context(), s.name("x")))(t)
	must.Get(w.Write(noise(2*blob.PartSize + 1)))(t)
	w.Abort()
	must.Be(t, s.objects["x"] == nil && s.aborted == 1, "aborted %d times, %d objects", s.aborted, len(s.objects))
}

// A page in place of what the store knows of an object is another server's, and may pass.
func TestGCSAnswersOfOthers(t *testing.T) {
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>Sign in</html>") }))
	t.Cleanup(h.Close)
	t.Setenv("STORAGE_EMULATOR_HOST", h.URL)
	err := must.Err(blob.Open(t.Context(), "gs://page/x"))
	must.Say(t, err, "x: "+blob.ErrNoObject.Error())
	must.Equal(t, blob.Temporary(err), true, "temporary")
}

// TestGCSIsBusy has fewer refusals than attempts.
func TestGCSIsBusy(t *testing.T) {
	s := newGCS(t)
	s.put("x", noise(10))
	s.busy = 2
	info, err := blob.Stat(t.Context(), s.name("x"))
	must.Be(t, err == nil && info.Size == 10 && !info.Modified.IsZero() && info.Version == "1", "Stat = %+v, %v", info, err)
}
