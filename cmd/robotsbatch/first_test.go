package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"robotsbatch/io/store/compress"
)

// serveSites starts a server with two sites: that of 127.0.0.1 has a robots.txt, and
// localhost has none. It writes urls.txt, a list of URLs of both and of a site that
// refuses connections.
func serveSites(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: sites")
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/robots.txt" || strings.HasPrefix(r.Host, "localhost") {
			http.NotFound(w, r)
			return
		}
		io.WriteString(w, "User-agent: *\nDisallow: /private\n")
	}))
	ts.Defer(server.Close)
	refusing, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Check(refusing.Close())
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	ts.Check(err)
	ts.Setenv("SITE", "127.0.0.1:"+port)
	ts.Setenv("NONE", "localhost:"+port)
	ts.Setenv("REFUSES", refusing.Addr().String())
	list := fmt.Sprintf("http://127.0.0.1:%s/\nhttp://127.0.0.1:%[1]s/private/x\nhttp://localhost:%[1]s/private/x\nhttp://%[2]s/a\n", port, refusing.Addr())
	ts.Check(os.WriteFile(ts.MkAbs("urls.txt"), []byte(list), 0o666))
}

// fetchSites does what "wget -i LIST --warc-file=NAME" does: it fetches the URLs of a list
// into NAME.warc.gz, which has no record of what could not be fetched.
func fetchSites(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: fetch LIST NAME")
	}
	client := http.Client{Timeout: 10 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	var file []byte
	for url := range strings.Lines(ts.ReadFile(args[0])) {
		url = strings.TrimSpace(url)
		answer, err := client.Get(url)
		if err != nil {
			continue
		}
		body, err := io.ReadAll(answer.Body)
		ts.Check(err)
		answer.Body.Close()
		record := warcRecord([]string{time.Now().UTC().Format(time.RFC3339), url, strconv.Itoa(answer.StatusCode), string(body)})
		file, err = compress.AppendCompressed(file, record, compress.Gzip)
		ts.Check(err)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]+".warc.gz"), file, 0o666))
}
