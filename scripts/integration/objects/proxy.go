package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
)

// proxy passes requests on as they are: they are signed, with the host that they
// were sent to.
func proxy(from, to, name string) error {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return err
	}
	target := &url.URL{Scheme: "http", Host: "127.0.0.1:" + to}
	p := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = r.In.Host
		},
		ModifyResponse: func(r *http.Response) error {
			q := r.Request.URL.Query()
			if r.Request.Method == http.MethodGet && strings.Count(r.Request.URL.Path, "/") > 1 && !q.Has("list-type") {
				r.Body = &counted{r.Body, 0, file}
			}
			return nil
		},
		ErrorLog: log.New(io.Discard, "", 0),
	}
	return http.ListenAndServe("127.0.0.1:"+from, p)
}

// counted counts the bytes of a body.
type counted struct {
	io.ReadCloser
	bytes int64
	log   io.Writer
}

// Read implements io.Reader.
func (c *counted) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.bytes += int64(n)
	return n, err
}

// Close writes the number of bytes to the log.
func (c *counted) Close() error {
	fmt.Fprintln(c.log, c.bytes)
	return c.ReadCloser.Close()
}
