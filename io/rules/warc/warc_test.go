package warc

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
	"go.uber.org/goleak"

	"robotsbatch/io/rules/captures"
	"robotsbatch/io/store/blob"
	"robotsbatch/io/store/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// record is a WARC record. Fields are lines of its header.
func record(kind, url, block string, fields ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "WARC/1.0\r\nWARC-Type: %s\r\nWARC-Record-ID: <urn:uuid:0>\r\nWARC-Date: 2026-03-01T12:00:00Z\r\n", kind)
	if url != "" {
		fmt.Fprintf(&b, "WARC-Target-URI: %s\r\n", url)
	}
	for _, field := range fields {
		b.WriteString(field + "\r\n")
	}
	fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n%s\r\n\r\n", len(block), block)
	return b.String()
}

// response is a record of an HTTP response; head has its status and its fields,
// separated by lines.
func response(url, head, body string, fields ...string) string {
	block := "HTTP/1.1 " + strings.ReplaceAll(head, "\n", "\r\n") + "\r\n\r\n" + body
	return record("response", url, block, append(fields, "Content-Type: application/http; msgtype=response")...)
}

const (
	url  = "http://a.example/robots.txt"
	text = "User-agent: *\nDisallow: /x\n"
)

// packed is what a compressor makes of s.
func packed[W io.WriteCloser](s string, open func(io.Writer) W) string {
	var b bytes.Buffer
	w := open(&b)
	_, _ = io.WriteString(w, s)
	_ = w.Close()
	return b.String()
}

func gzipped(s string) string  { return packed(s, gzip.NewWriter) }
func zlibbed(s string) string  { return packed(s, zlib.NewWriter) }
func brotlied(s string) string { return packed(s, brotli.NewWriter) }

func deflated(s string) string {
	return packed(s, func(w io.Writer) io.WriteCloser {
		d, _ := flate.NewWriter(w, 6)
		return d
	})
}

func zstded(s string) string {
	w, err := zstd.NewWriter(nil)
	if err != nil {
		panic(err)
	}
	defer w.Close()
	return string(w.EncodeAll([]byte(s), nil))
}

// chunked is a body in chunks of 10 bytes.
func chunked(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		n := min(10, len(s))
		fmt.Fprintf(&b, "%x\r\n%s\r\n", n, s[:n])
		s = s[n:]
	}
	return b.String() + "0\r\n\r\n"
}

// read reads a file to its end and returns a line for each response and each
// thing that is broken.
func read(t testing.TB, r io.Reader, o Options) (lines []string, stats Stats) {
	t.Helper()
	o.Name = "x.warc"
	o.Broken = func(err error) { lines = append(lines, err.Error()) }
	w := must.Get(NewReader(r, o))(t)
	defer w.Close()
	for {
		var x captures.Capture
		if err := w.Next(&x); err == io.EOF {
			return lines, w.Stats()
		} else if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, describe(&x))
	}
}

func describe(x *captures.Capture) string {
	s := fmt.Sprintf("%s %d", x.URL, x.Status)
	if x.Failed {
		s += " failed"
	}
	if x.Revisit {
		s += fmt.Sprintf(" revisit of %s", x.OriginalURL)
		if !x.OriginalTime.IsZero() {
			s += x.OriginalTime.Format(" 15:04")
		}
		if x.Record == captures.NameOf([]byte("urn:uuid:1")) {
			s += " record"
		}
		if x.Digest == captures.NameOf([]byte("sha1:A")) {
			s += " digest"
		}
	}
	if len(x.Location) > 0 {
		s += " -> " + string(x.Location)
	}
	if len(x.Body) > 0 {
		s += fmt.Sprintf(" %.60q", x.Body)
	}
	if x.Cut {
		s += " cut"
	}
	if x.Longer {
		s += " longer"
	}
	return s
}

func TestRevisits(t *testing.T) {
	const (
		same        = "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
		notModified = "WARC-Profile: http://netpreserve.org/warc/1.0/revisit/server-not-modified"
		http        = "Content-Type: application/http"
	)
	all := []string{
		same, http, "WARC-Payload-Digest: sha1:A", "WARC-Refers-To: <urn:uuid:1>",
		"WARC-Refers-To-Target-URI: <http://b.example/>", "WARC-Refers-To-Date: 2026-02-01T11:00:00Z",
	}
	for name, test := range map[string]struct {
		block  string
		fields []string
		want   string
	}{
		"all":              {"", all, "200 revisit of http://b.example/ 11:00 record digest"},
		"header":           {"HTTP/1.1 203 OK\r\n\r\n", all, "203 revisit of http://b.example/ 11:00 record digest"},
		"nothing":          {"", nil, "200 revisit of "},
		"bad date":         {"", []string{same, "WARC-Refers-To-Date: yesterday"}, "200 revisit of "},
		"not modified":     {"", []string{notModified}, "304"},
		"its header":       {"HTTP/1.1 304 Not Modified\r\n\r\n", all, "304"},
		"other status":     {"HTTP/1.1 503 Busy\r\n\r\n", all, "503"},
		"redirect":         {"HTTP/1.1 301 Moved\r\nLocation: /a\r\n\r\n", all, "301 -> /a"},
		"redirect to none": {"HTTP/1.1 301 Moved\r\n\r\n", all, "301 failed"},
		"cut header":       {"HTTP/1.1 404 NF", all, "404"},
		"no HTTP":          {"<html>", all, "200 revisit of http://b.example/ 11:00 record digest"},
		"other block":      {"HTTP/1.1 503 Busy\r\n\r\n", []string{"Content-Type: text/plain"}, "200 revisit of "},
	} {
		t.Run(name, func(t *testing.T) {
			got, _ := read(t, strings.NewReader(record("revisit", url, test.block, test.fields...)+response(url, "200 OK", text)), Options{})
			compare(t, got, []string{url + " " + test.want, fmt.Sprintf("%s 200 %q", url, text)})
		})
	}
}

func TestResponses(t *testing.T) {
	whole := fmt.Sprintf("%s 200 %q", url, text)
	length := fmt.Sprintf("\nContent-Length: %d", len(text))
	lost := url + " 0 failed" // the record is broken
	planted := response("https://victim.example/robots.txt", "404 Not Found", "")
	for _, test := range []struct {
		name, file string
		want       []string
	}{
		{"empty", "", nil},
		{"200", response(url, "200 OK"+length, text), []string{whole}},
		{"no length", response(url, "200 OK", text), []string{whole}},
		{"no reason", response(url, "200", text), []string{whole}},
		{"HTTP/2", record("response", url, "HTTP/2 200\r\nA: b\r\n\r\n"+text), []string{whole}},
		{"LF alone in the record's header", strings.Replace(response(url, "200 OK", text), "\r\n", "\n", 8), []string{whole}},
		{"LF alone in the HTTP header", record("response", url, "HTTP/1.1 200 OK\nA: b\n\n"+text), []string{whole}},
		{"URI in angle brackets", response("<"+url+">", "200 OK", text), []string{whole}},
		{"WARC 1.1 with fractions of a second", strings.NewReplacer("/1.0", "/1.1", ":00Z", ":00.123456Z").Replace(response(url, "200 OK", text)), []string{whole}},
		{"fields in any case", strings.Replace(response(url, "200 OK", text), "Content-Length", "content-length", 1), []string{whole}},
		{"folded field", response(url, "200 OK", text, "Note: a\r\n Content-Length: 3"), []string{whole}},
		{"404 with a body", response(url, "404 Not Found", "no"), []string{url + " 404"}},
		{"204", response(url, "204 No Content", ""), []string{url + " 204"}},
		{"503", response(url, "503 Busy", "no"), []string{url + " 503"}},
		{"000", response(url, "000 None", text), []string{url + " -1"}},
		{"301", response(url, "301 Moved\nLocation: /b", ""), []string{url + " 301 -> /b"}},
		{"200 without empty line", record("response", url, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"), []string{"*so the body is missing*", lost}},
		{"404 cut in its first line", record("response", url, "HTTP/1.1 404 NF"), []string{url + " 404"}},
		{"empty", record("response", url, ""), []string{"*no HTTP*", lost}},
		{"301 whose target is cut", record("response", url, "HTTP/1.1 301 Moved\r\nLocation: /b"), []string{"*ends within a line*", lost}},
		{"header without empty line", record("response", url, "HTTP/1.1 301 Moved\r\nLocation: /b\r\n"), []string{url + " 301 -> /b"}},
		{"another path", response("https://b.example/c?d", "200 OK", text), []string{strings.Replace(whole, url, "https://b.example/c?d", 1)}},

		{"chunked", response(url, "200 OK\nTransfer-Encoding: chunked", chunked(text)), []string{whole}},
		{"chunked, stored without", response(url, "200 OK\nTransfer-Encoding: chunked", text), []string{whole}},
		{"chunked, cut", response(url, "200 OK\nTransfer-Encoding: chunked", chunked(text)[:20]), []string{url + ` 200 "User-agent: " cut`}},
		{"chunked, cut in its first chunk", response(url, "200 OK\nTransfer-Encoding: chunked", "1a\r\n"), []string{"*there is no body*", lost}},
		{"chunked, without a chunk", response(url, "200 OK\nTransfer-Encoding: chunked", ""), []string{url + ` 200 cut`}},
		{"gzip", response(url, "200 OK\nContent-Encoding: gzip", gzipped(text)), []string{whole}},
		{"x-gzip, in other case", response(url, "200 OK\nContent-Encoding: X-GZIP", gzipped(text)), []string{whole}},
		{"gzip, chunked", response(url, "200 OK\nContent-Encoding: gzip\nTransfer-Encoding: chunked", chunked(gzipped(text))), []string{whole}},
		{"gzip, stored without, length of the coded body", response(url, "200 OK\nContent-Encoding: gzip\nContent-Length: 9", text), []string{whole}},
		{"gzip, stored without, a byte order mark", response(url, "200 OK\nContent-Encoding: gzip", "\xEF\xBB\xBF"+text), []string{fmt.Sprintf("%s 200 %q", url, "\xEF\xBB\xBF"+text)}},
		{"gzip, stored without, Cyrillic in windows-1251", response(url, "200 OK\nContent-Encoding: gzip", "# \xE4\xEB\xFF\n"+text), []string{fmt.Sprintf("%s 200 %q", url, "# \xE4\xEB\xFF\n"+text)}},
		{"gzip, chunked, stored without both", response(url, "200 OK\nContent-Encoding: gzip\nTransfer-Encoding: chunked", text), []string{whole}},
		{"gzip, cut", response(url, "200 OK\nContent-Encoding: gzip", gzipped(text)[:30]), []string{"*" + url + " 200* cut"}},
		{"gzip, empty", response(url, "200 OK\nContent-Encoding: gzip\nContent-Length: 0", ""), []string{url + " 200"}},
		{"gzip, no body where one should be", response(url, "200 OK\nContent-Encoding: gzip\nContent-Length: 300", ""), []string{"*there is no body*", lost}},
		{"no body where one should be", response(url, "200 OK\nContent-Length: 50", ""), []string{"*there is no body*", lost}},
		{"no body, truncated", response(url, "200 OK", "", "WARC-Truncated: time"), []string{"*there is no body*", lost}},
		{"gzip of nothing", response(url, fmt.Sprintf("200 OK\nContent-Encoding: gzip\nContent-Length: %d", len(gzipped(""))), gzipped("")), []string{url + " 200"}},
		{"a part from the beginning", response(url, "206 Partial Content\nContent-Range: bytes 0-27/28", text), []string{strings.Replace(whole, "200", "206", 1)}},
		{"a part from the beginning, of more", response(url, "206 Partial Content\nContent-Range: bytes 0-27/29", text), []string{strings.Replace(whole, "200", "206", 1) + " cut"}},
		{"a part from the middle", response(url, "206 Partial Content\nContent-Range: bytes 9-36/37", text), []string{"*a part that begins at byte 9", lost}},
		{"the same, in another case", response(url, "206 Partial Content\nContent-Range: Bytes 9-36/37", text), []string{"*a part that begins at byte 9", lost}},
		{"the same, as in Range", response(url, "206 Partial Content\nContent-Range: bytes=9-36/37", text), []string{"*a part that begins at byte 9", lost}},
		{"a part of one byte", response(url, "206 Partial Content\nContent-Range: bytes 0-0/37", "U"), []string{url + ` 206 "U" cut`}},
		{"a part of unknown size", response(url, "206 Partial Content\nContent-Range: bytes 0-27/*", text), []string{strings.Replace(whole, "200", "206", 1) + " cut"}},
		{"a part of an unknown place", response(url, "206 Partial Content", text), []string{"*no Content-Range says which", lost}},
		{"a part that is not of bytes", response(url, "206 Partial Content\nContent-Range: bytes */37", text), []string{"*no Content-Range says which", lost}},
		{"several parts", response(url, "206 Partial Content\nContent-Type: multipart/byteranges; boundary=b", text), []string{"*several parts", lost}},
		{"no part, by its status", response(url, "200 OK\nContent-Range: bytes 9-36/37", text), []string{whole}},
		{"deflate", response(url, "200 OK\nContent-Encoding: deflate", zlibbed(text)), []string{whole}},
		{"deflate without zlib's header", response(url, "200 OK\nContent-Encoding: deflate", deflated(text)), []string{whole}},
		{"br", response(url, "200 OK\nContent-Encoding: br", brotlied(text)), []string{whole}},
		{"br, stored without", response(url, "200 OK\nContent-Encoding: br", text), []string{whole}},
		{"br, stored without, a letter of which byte 64 is the third", response(url, "200 OK\nContent-Encoding: br", "#"+strings.Repeat("д", 30)+"x日"+text), []string{fmt.Sprintf("%s 200 %q", url, "#"+strings.Repeat("д", 30)+"x日"+text)}},
		{"br, stored without, Cyrillic over byte 64", response(url, "200 OK\nContent-Encoding: br", "#"+strings.Repeat("д", 32)+text), []string{fmt.Sprintf("%s 200 %q", url, "#"+strings.Repeat("д", 32)+text)}},
		{"zstd", response(url, "200 OK\nContent-Encoding: zstd", zstded(text)), []string{whole}},
		{"one in another", response(url, "200 OK\nContent-Encoding: gzip, br", brotlied(gzipped(text))), []string{whole}},
		{"twice the same", response(url, "200 OK\nContent-Encoding: gzip\nContent-Encoding: gzip", gzipped(gzipped(text))), []string{whole}},
		{"bytes after a gzip body", response(url, "200 OK\nContent-Encoding: gzip", gzipped(text)+"\r\njunk"), []string{whole}},
		{"several gzip members", response(url, "200 OK\nContent-Encoding: gzip", gzipped(text[:9])+gzipped(text[9:])), []string{whole}},
		{"gzip under another name", response(url, "200 OK\nContent-Encoding: br", gzipped(text)), []string{whole}},
		{"compress", response(url, "200 OK\nContent-Encoding: compress", "\x1F\x9D\x90body"), []string{"*offset 0: record of *taken as a fetch without an answer: *compress coding*", lost}},
		{"compress that is none", response(url, "200 OK\nContent-Encoding: compress", "\x1F\x9D\x90\xFF\xFF\xFF\xFF"), []string{"*cannot be decoded*", lost}},

		{"transfer gzip", response(url, "200 OK\nTransfer-Encoding: gzip", gzipped(text)), []string{whole}},
		{"transfer gzip, chunked", response(url, "200 OK\nTransfer-Encoding: gzip, chunked", chunked(gzipped(text))), []string{whole}},
		{"transfer gzip, chunked, in two fields", response(url, "200 OK\nTransfer-Encoding: gzip\nTransfer-Encoding: chunked", chunked(gzipped(text))), []string{whole}},
		{"transfer chunked, gzip", response(url, "200 OK\nTransfer-Encoding: Chunked , x-gzip;q=1", gzipped(chunked(text))), []string{whole}},
		{"transfer chunked, gzip, stored in the other order", response(url, "200 OK\nTransfer-Encoding: chunked, gzip", chunked(gzipped(text))), []string{whole}},
		{"transfer gzip, chunked, stored dechunked", response(url, "200 OK\nTransfer-Encoding: gzip, chunked", gzipped(text)), []string{whole}},
		{"transfer gzip, chunked, stored without gzip", response(url, "200 OK\nTransfer-Encoding: gzip, chunked", chunked(text)), []string{whole}},
		{"transfer gzip, chunked, stored without both", response(url, "200 OK\nTransfer-Encoding: gzip, chunked", text), []string{whole}},
		{"transfer deflate", response(url, "200 OK\nTransfer-Encoding: deflate", zlibbed(text)), []string{whole}},
		{"transfer compress, chunked", response(url, "200 OK\nTransfer-Encoding: compress, chunked", chunked("\x1F\x9D\x90body")), []string{"*offset 0: record of *taken as a fetch without an answer: *compress coding*", lost}},
		{"content br, transfer gzip, chunked", response(url, "200 OK\nTransfer-Encoding: gzip, chunked\nContent-Encoding: br", chunked(gzipped(brotlied(text)))), []string{whole}},
		{"transfer gzip, chunked, cut", response(url, "200 OK\nTransfer-Encoding: gzip, chunked", chunked(gzipped(text))[:40]), []string{"*" + url + " 200* cut"}},
		{"transfer identity", response(url, "200 OK\nTransfer-Encoding: identity", text), []string{whole}},

		{"folded Transfer-Encoding", response(url, "200 OK\nTransfer-Encoding: gzip,\n\t chunked", chunked(gzipped(text))), []string{whole}},
		{"folded Content-Encoding", response(url, "200 OK\nContent-Encoding:\n gzip\nA: b", gzipped(text)), []string{whole}},
		{"folded Location", response(url, "301 Moved\nLocation:\n \n /b\n", ""), []string{url + " 301 -> /b"}},
		{"folded field that does not matter", response(url, "200 OK\nNote: a\n Content-Encoding: gzip\n Content-Length: 3", text), []string{whole}},
		{"folded first line", response(url, "200 OK\n Content-Encoding: gzip", text), []string{whole}},
		{"folded field of the record", strings.Replace(response(url, "200 OK", text), "Target-URI: ", "Target-URI:\r\n ", 1), []string{whole}},

		{"longer than its Content-Length", response(url, "200 OK\nContent-Length: 14", text), []string{whole + " longer"}},
		{"gzip, longer than its Content-Length", response(url, "200 OK\nContent-Encoding: gzip\nContent-Length: 14", gzipped(text)), []string{whole + " longer"}},
		{"gzip, shorter than its Content-Length", response(url, "200 OK\nContent-Encoding: gzip\nContent-Length: 999", gzipped(text)), []string{whole}},
		{"chunked, Content-Length does not count", response(url, "200 OK\nTransfer-Encoding: chunked\nContent-Length: 3", chunked(text)), []string{whole}},

		{"100 before the response", record("response", url, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nLink: a\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"+text), []string{whole}},
		{"100 alone", response(url, "100 Continue", text), []string{url + " 100"}},

		{"unknown coding", response(url, "200 OK\nContent-Encoding: utf-8", text), []string{whole}},

		{"WARC-Truncated", response(url, "200 OK", text, "WARC-Truncated: length"), []string{whole + " cut"}},
		{"shorter than its Content-Length", response(url, "200 OK\nContent-Length: 99", text), []string{whole + " cut"}},

		{"others are skipped", record("warcinfo", "", "a: b\r\n") + record("request", url, "GET / HTTP/1.1\r\n\r\n", "Content-Type: application/http; msgtype=request") +
			record("revisit", "dns:a.example", "") + record("metadata", url, "x") + record("conversion", url, "x") +
			record("response", "dns:a.example", "1.2.3.4", "Content-Type: text/dns") + record("resource", "urn:text:a", text) +
			response(url, "200 OK", text), []string{whole}},
		{"of another type", record("response", url, "x", "Content-Type: text/plain") + response(url, "200 OK", text), []string{"*offset 0: *no HTTP*", lost, whole}},
		{"without a type", strings.Replace(response(url, "200 OK", text), "WARC-Type", "Type", 1) + response(url, "200 OK", text), []string{"*offset 0: *skipped: the record has no WARC-Type", whole}},
		{"without a URL", record("response", "", "x") + response(url, "200 OK", text), []string{"*offset 0: *skipped: the response has no WARC-Target-URI", whole}},
		{"type in capitals", strings.Replace(response(url, "200 OK", text), "response", "RESPONSE", 1), []string{whole}},
		{"body alone", record("resource", url, text, "Content-Type: text/plain"), []string{whole}},
		{"image of a page", record("resource", url, text, "Content-Type: image/png"), nil},
		{"body alone, cut", record("resource", url, text, "WARC-Truncated: length"), []string{whole + " cut"}},
		{"body alone, cut before its first byte", record("resource", url, "", "WARC-Truncated: length"), []string{"*there is no body*", lost}},

		{"header with a line that is none", response(url, "200 OK\nno colon\nLocation: /", text), []string{whole}},
		{"two lengths", response(url, "200 OK\nContent-Length: 3\nContent-Length: 4", text), []string{whole}},
		{"no HTTP", record("response", url, "<html>") + response(url, "200 OK", text), []string{"*offset 0: *no HTTP*", lost, whole}},
		{"gzip that is none", response(url, "200 OK\nContent-Encoding: gzip", strings.Repeat("\x00\x01", 20)) + response(url, "200 OK", text), []string{"*offset 0: *cannot be decoded*", lost, whole}},
		{"gzip cut within its header", response(url, "200 OK\nContent-Encoding: gzip", "\x1F\x8B\x08"), []string{"*cannot be decoded*", lost}},
		{"long HTTP header", response(url, "200 OK\nA: "+strings.Repeat("a", maxHeader), text) + response(url, "200 OK", text), []string{"*HTTP header has more than*", lost, whole}},
		{"long record header", response(url, "200 OK", text, "A: "+strings.Repeat("a", 2*readSize)) + response(url, "200 OK", text), []string{"*record's header has more than*", lost, whole}},
		{"no date", strings.Replace(response(url, "200 OK", text), "WARC-Date", "Date", 1) + response(url, "200 OK", text), []string{"*no WARC-Date*", lost, whole}},
		{"bad date", strings.Replace(response(url, "200 OK", text), "2026-", "26-", 1) + response(url, "200 OK", text), []string{"*is no time*", lost, whole}},
		{"date beyond all times", strings.Replace(response(url, "200 OK", text), "2026-", "2106-", 1) + response(url, "200 OK", text), []string{"*is no time*", lost, whole}},
		{"broken, and not a response", strings.Replace(record("request", url, "GET / HTTP/1.1\r\n\r\n"), "WARC-Date: 2026-", "WARC-Date: 26-", 1) + response(url, "200 OK", text), []string{"*record skipped: *is no time*", whole}},
		{"a record in the block of one without a date", strings.Replace(response(url, "200 OK", "\r\n"+planted), "WARC-Date", "Date", 1) + response(url, "200 OK", text), []string{"*no WARC-Date*", lost, whole}},
		{"a record in the block of one with a long header", response(url, "200 OK", "\r\n"+planted, "A: "+strings.Repeat("a", 2*readSize)) + response(url, "200 OK", text), []string{"*record's header has more than*", lost, whole}},
		{"a record in the block of one with many fields", response(url, "200 OK", "\r\n"+planted, strings.Repeat("A: b\r\n", maxHeader/6)+"C: d") + response(url, "200 OK", text), []string{"*record's header has more than*", lost, whole}},
		{"no length of the record", strings.Replace(response(url, "200 OK", text), "Content-Length", "Length", 1) + response(url, "200 OK", text), []string{"*no Content-Length*", lost, whole}},
		{"length beyond all", strings.Replace(response(url, "200 OK", text), "Content-Length: 4", "Content-Length: 99999999999999", 1) + response(url, "200 OK", text), []string{"*is no length*", lost, whole}},
		{"negative length", strings.Replace(response(url, "200 OK", text), "Content-Length: ", "Content-Length: -", 1) + response(url, "200 OK", text), []string{"*is no length*", lost, whole}},
		{"no WARC", "hello\r\n\r\n" + response(url, "200 OK", text), []string{"*no WARC record*", whole}},
		{"cut within the block", response(url, "200 OK", text)[:250], []string{"*offset 0: record of \"" + url + "\" taken as a fetch without an answer: *ends within*", lost}},
		{"cut within the header", response(url, "200 OK", text)[:50], []string{"*ends within*"}},
		{"cut before the last line ends", strings.TrimSpace(response(url, "200 OK", text)) + "\n", []string{whole}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, _ := read(t, strings.NewReader(test.file), Options{})
			compare(t, got, test.want)
		})
	}
}

// compare compares lines; of one of want that starts with "*" the parts between
// stars have to come in turn.
func compare(t testing.TB, got, want []string) {
	t.Helper()
	must.Need(t, len(got) == len(want), "%d lines, want %d:\n%s", len(got), len(want), strings.Join(got, "\n"))
	for i := range want {
		ok, rest := got[i] == want[i], got[i]
		if strings.HasPrefix(want[i], "*") {
			ok = true
			for _, part := range strings.Split(want[i], "*") {
				var found bool
				_, rest, found = strings.Cut(rest, part)
				ok = ok && found
			}
		}
		if !ok {
			t.Errorf("line %d:\n%s\nwant\n%s", i, got[i], want[i])
		}
	}
}

// some is records of all kinds, in some number.
func some() []string {
	var all []string
	for i := range 20 {
		name := fmt.Sprintf("http://%d.example/robots.txt", i)
		all = append(all, record("request", name, "GET /robots.txt HTTP/1.1\r\n\r\n"))
		switch i % 4 {
		case 0:
			all = append(all, response(name, "200 OK", text+strings.Repeat("# and more\n", 50*i)))
		case 1:
			all = append(all, response(name, "200 OK\nContent-Encoding: gzip", gzipped(text)))
		case 2:
			all = append(all, response(name, "301 Moved\nLocation: /b", ""))
		case 3:
			all = append(all, response(name, "404 Not Found", "<html>"))
		}
	}
	return all
}

// forms are the same records in files of all compressions.
func forms(records []string) map[string]string {
	plain := strings.Join(records, "")
	members, frames := "", ""
	for _, r := range records {
		members += gzipped(r)
		frames += zstded(r)
	}
	return map[string]string{
		"plain": plain, "gzip": members, "gzip, one member": gzipped(plain),
		"zstd": frames, "zstd, one frame": zstded(plain),
	}
}

func TestForms(t *testing.T) {
	records := some()
	want, stats := read(t, strings.NewReader(strings.Join(records, "")), Options{})
	must.Need(t, stats == (Stats{Records: 40, Responses: 20}), "stats %+v", stats)
	for form, file := range forms(records) {
		t.Run(form, func(t *testing.T) {
			for name, r := range map[string]io.Reader{
				"seeker": strings.NewReader(file), "stream": io.MultiReader(strings.NewReader(file)),
				"one byte": iotest.OneByteReader(strings.NewReader(file)), "data with EOF": iotest.DataErrReader(strings.NewReader(file)),
			} {
				got, gotStats := read(t, r, Options{})
				must.Be(t, strings.Join(got, "\n") == strings.Join(want, "\n") && gotStats == stats,
					"%s: %+v\n%s\nwant\n%s", name, gotStats, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

// TestBrokenMember: members before and after one that is broken are read, and it is a fetch
// without an answer where its URL can be.
func TestBrokenMember(t *testing.T) {
	records := some()
	plain, _ := read(t, strings.NewReader(strings.Join(records, "")), Options{})
	for name, damage := range map[string]func(string) string{
		"bytes in the middle": func(s string) string { return s[:len(s)/2] + "\xFF\xFF\xFF\xFF" + s[len(s)/2+4:] },
		"checksum":            func(s string) string { return s[:len(s)-8] + "\x00\x01\x02\x03" + s[len(s)-4:] },
		"magic":               func(s string) string { return "\x00\x00" + s[2:] },
		"cut":                 func(s string) string { return s[:len(s)/2] },
		"cut in the checksum": func(s string) string { return s[:len(s)-3] },
		"only the first byte": func(s string) string { return s[:1] },
		"wrong length of the record": func(string) string {
			return gzipped(strings.Replace(records[9], "Content-Length: ", "Content-Length: 1", 1))
		},
	} {
		t.Run(name, func(t *testing.T) {
			const at = 9 // the response of authority 4
			var file string
			var offset int
			for i, r := range records {
				member := gzipped(r)
				if i == at {
					offset = len(file)
					member = damage(member)
				}
				file += member
			}
			got, stats := read(t, strings.NewReader(file), Options{})
			lost := []string{fmt.Sprintf("*x.warc: offset %d: record skipped*", offset)}
			if strings.Contains(name, "checksum") || strings.Contains(name, "length") {
				lost = []string{fmt.Sprintf("*x.warc: offset %d: record of *taken as a fetch without an answer*", offset), "http://4.example/robots.txt 0 failed"}
			}
			compare(t, got, slices.Replace(slices.Clone(plain), at/2, at/2+1, lost...))
			must.Be(t, stats.Broken == 1 && stats.Responses == int64(18+len(lost)), "stats %+v", stats)
		})
	}
}

// What follows a damaged frame is lost, and its record, which may be damaged, is a fetch without an
// answer. The message says so.
func TestBrokenFrame(t *testing.T) {
	broken := []byte(zstded(response(url, "200 OK", text)))
	broken[len(broken)/2] ^= 0xFF
	got, _ := read(t, strings.NewReader(zstded(response(url, "200 OK", text))+string(broken)+zstded(response(url, "200 OK", text))), Options{})
	whole := fmt.Sprintf("%s 200 %q", url, text)
	compare(t, got, []string{whole, whole, "*offset 262: record of *; the rest of the file is not read*", url + " 0 failed"})

	// The frame before what is no frame is whole.
	for _, rest := range []string{"no frame of zstd", strings.Repeat("\x00", 64)} {
		got, _ := read(t, strings.NewReader(zstded(response(url, "200 OK", text))+rest), Options{})
		compare(t, got, []string{whole, "*offset 262: record skipped*; the rest of the file is not read*"})
	}
}

// TestLimit: no more than one byte above the limit is read of any body.
func TestLimit(t *testing.T) {
	body := strings.Repeat("a", 100_000)
	for coding, code := range map[string]func(string) string{
		"": strings.Clone, "gzip": gzipped, "deflate": zlibbed, "br": brotlied, "zstd": zstded,
	} {
		for _, limit := range []int{1, 99_999, 100_000, 100_001} {
			head := "200 OK"
			if coding != "" {
				head += "\nContent-Encoding: " + coding
			}
			for _, file := range []string{
				response(url, head, code(body)), response(url, head+"\nTransfer-Encoding: chunked", chunked(code(body))),
			} {
				w := must.Get(NewReader(strings.NewReader(file), Options{BodySize: limit + 1}))(t)
				var x captures.Capture
				must.Do(t, w.Next(&x))
				if want := min(len(body), limit+1); len(x.Body) != want || x.Cut {
					t.Errorf("%q, limit %d: %d bytes, cut %t", coding, limit, len(x.Body), x.Cut)
				}
				w.Close()
			}
		}
	}
}

// TestFailingFile: failing to read the file is an error, whatever its form.
func TestFailingFile(t *testing.T) {
	failure := errors.New("the disk is gone")
	for form, file := range forms(some()) {
		for _, n := range []int{0, 3, len(file) / 2, len(file)} {
			w, err := NewReader(io.MultiReader(strings.NewReader(file[:n]), iotest.ErrReader(failure)), Options{})
			for err == nil {
				var x captures.Capture
				err = w.Next(&x)
			}
			must.Is(t, err, failure, form, "after", n, "bytes")
			if w != nil {
				w.Close()
			}
		}
	}
}

// A file with records that is cut while it is open is an error that names it.
func TestRecordsOfACutFile(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "1.warc")
	must.Do(t, os.WriteFile(name, make([]byte, 100), 0o600))
	file := &recordFile{opened: func(string, blob.Info) {}, name: name, shown: "1.warc"}
	defer file.close()
	must.Get((&extent{file: file, start: 0, end: 50}).read(t.Context()))(t)
	must.Do(t, os.Truncate(name, 60))
	_, err := (&extent{file: file, start: 50, end: 100}).read(t.Context())
	must.Say(t, err, "1.warc: it was written to while it was read")
}

// TestDamage cuts and flips: nothing panics, and what is lost is counted.
func TestDamage(t *testing.T) {
	for form, file := range forms(some()[:8]) {
		t.Run(form, func(t *testing.T) {
			step := 1 + len(file)/200
			for i := 0; i < len(file); i += step {
				_, cut := read(t, strings.NewReader(file[:i]), Options{})
				must.Be(t, cut.Responses <= 4, "cut at %d: %+v", i, cut)
				flipped := []byte(file)
				flipped[i] ^= 0x55
				_, got := read(t, bytes.NewReader(flipped), Options{})
				if strings.HasPrefix(form, "gzip") || strings.HasPrefix(form, "zstd") {
					must.Be(t, got.Records >= 8 || got.Broken != 0, "byte %d flipped: %+v, nothing broken", i, got)
				}
			}
		})
	}
}

func FuzzWARC(f *testing.F) {
	for _, file := range forms(some()[:6]) {
		f.Add([]byte(file))
	}
	for coded, code := range map[string]func(string) string{"gzip": gzipped, "deflate": deflated, "br": brotlied, "zstd": zstded} {
		f.Add([]byte(response(url, "200 OK\nContent-Encoding: "+coded, code(text))))
	}
	f.Add([]byte(response(url, "200 OK\nTransfer-Encoding: chunked", chunked(text))))
	f.Add([]byte(response(url, "200 OK\nTransfer-Encoding: gzip,\n chunked", chunked(gzipped(text)))))
	f.Fuzz(func(t *testing.T, file []byte) {
		const limit = 1000
		streamed, first := read(t, io.MultiReader(bytes.NewReader(file)), Options{BodySize: limit + 1})
		w := must.Get(NewReader(bytes.NewReader(file), Options{BodySize: limit + 1}))(t)
		defer w.Close()
		for {
			var x captures.Capture
			if err := w.Next(&x); err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			must.Need(t, len(x.Body) <= limit+1, "a body of %d bytes", len(x.Body))
		}
		must.Need(t, first.Broken != 0 || w.Stats() == first, "%+v, as a stream %+v\n%s", w.Stats(), first, strings.Join(streamed, "\n"))
	})
}
