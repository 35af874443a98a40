// Package blobtest is an object store for tests, which counts what is asked of it
// and fails as it is told to.
package blobtest

import (
	"bytes"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"robotsbatch/io/store/must"
)

// bucket is the name of a server's only bucket.
const bucket = "bucket"

// Server is a store that speaks S3.
type Server struct {
	t       *testing.T
	backend gofakes3.Backend
	url     string

	mu     sync.Mutex
	gets   []string
	bytes  int64
	meddle func(w http.ResponseWriter, r *http.Request, store http.Handler)
}

// New starts a server, and sets the environment so that it is found with
// credentials whose secret is "verysecret".
func New(t *testing.T) *Server {
	t.Helper()
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "verysecret", "AWS_EC2_METADATA_DISABLED": "true",
		"AWS_CONFIG_FILE": "/dev/null", "AWS_SHARED_CREDENTIALS_FILE": "/dev/null", "AWS_MAX_ATTEMPTS": "2",
	} {
		t.Setenv(name, value)
	}
	s := &Server{t: t, backend: s3mem.New()}
	must.Do(t, s.backend.CreateBucket(bucket))
	store := gofakes3.New(s.backend, gofakes3.WithoutVersioning()).Server()
	h := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if meddle := s.count(&w, r); meddle != nil {
			meddle(w, r, store)
			return
		}
		store.ServeHTTP(w, r)
	}))
	h.Config.ErrorLog = log.New(io.Discard, "", 0)
	h.Start()
	t.Cleanup(h.Close)
	s.url = h.URL
	return s
}

// count counts a request, and returns what is to answer it instead of the store.
func (s *Server) count(w *http.ResponseWriter, r *http.Request) func(http.ResponseWriter, *http.Request, http.Handler) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Method == http.MethodGet && !strings.Contains(r.URL.RawQuery, "list-type") {
		s.gets = append(s.gets, r.Header.Get("Range"))
		*w = &counter{*w, s}
	}
	return s.meddle
}

type counter struct {
	http.ResponseWriter
	s *Server
}

func (c *counter) Write(p []byte) (int, error) {
	c.s.mu.Lock()
	c.s.bytes += int64(len(p)) // before they are there, so that nobody asks too early
	c.s.mu.Unlock()
	return c.ResponseWriter.Write(p)
}

func (c *counter) Flush() { c.ResponseWriter.(http.Flusher).Flush() }

// Name is the URL of a key.
func (s *Server) Name(key string) string {
	return "s3://" + bucket + "/" + key + "?region=us-east-1&use_path_style=true&endpoint=" + s.url
}

// Put stores an object.
func (s *Server) Put(key string, data []byte) {
	s.t.Helper()
	if _, err := s.backend.PutObject(bucket, key, nil, bytes.NewReader(data), int64(len(data)), nil); err != nil {
		s.t.Fatal(err)
	}
}

// Get is an object's content, or nil where there is none.
func (s *Server) Get(key string) []byte {
	s.t.Helper()
	x, err := s.backend.GetObject(bucket, key, nil)
	if err != nil {
		return nil
	}
	defer x.Contents.Close()
	data, err := io.ReadAll(x.Contents)
	if err != nil {
		s.t.Fatal(err)
	}
	return data
}

// Remove removes an object.
func (s *Server) Remove(key string) {
	s.t.Helper()
	if _, err := s.backend.DeleteObject(bucket, key); err != nil {
		s.t.Fatal(err)
	}
}

// Meddle sets what answers requests instead of the store; nil for nothing.
func (s *Server) Meddle(f func(w http.ResponseWriter, r *http.Request, store http.Handler)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.meddle = f
}

// Asked is what was asked for since the last call: the ranges, and how many
// bytes of bodies were sent.
func (s *Server) Asked() (gets []string, bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	gets, bytes = s.gets, s.bytes
	s.gets, s.bytes = nil, 0
	return gets, bytes
}

// Cut is for Meddle: bodies end after this number of bytes.
func Cut(after int) func(http.ResponseWriter, *http.Request, http.Handler) {
	return func(w http.ResponseWriter, r *http.Request, store http.Handler) {
		store.ServeHTTP(&cutter{w, after}, r)
	}
}

type cutter struct {
	http.ResponseWriter
	left int
}

func (c *cutter) Write(p []byte) (int, error) {
	if len(p) <= c.left {
		c.left -= len(p)
		return c.ResponseWriter.Write(p)
	}
	n, _ := c.ResponseWriter.Write(p[:c.left])
	c.left = 0
	c.ResponseWriter.(http.Flusher).Flush()
	return n, io.ErrClosedPipe
}
