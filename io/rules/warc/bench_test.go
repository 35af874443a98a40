package warc

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"robotsbatch/io/rules/captures"
	"robotsbatch/io/store/must"
)

// crawl is a gzip file like those of a crawl: for each robots.txt a request, a
// response with a page's worth of headers, and metadata, a member each.
func crawl(authorities int) string {
	r := rand.New(rand.NewPCG(1, 2))
	word := func() string { return fmt.Sprintf("%x", r.Uint64()>>(8*r.IntN(8))) }
	head := "200 OK\nDate: Sun, 01 Mar 2026 12:00:00 GMT\nServer: nginx\nContent-Type: text/plain; charset=utf-8\nConnection: keep-alive\n" +
		"Cache-Control: max-age=3600\nETag: \"%s%s\"\nStrict-Transport-Security: max-age=31536000; includeSubDomains\nX-Frame-Options: SAMEORIGIN\nVary: Accept-Encoding"
	var b strings.Builder
	for i := range authorities {
		name := fmt.Sprintf("https://%s.%d.example/robots.txt", word(), i)
		var body strings.Builder
		body.WriteString("User-agent: *\n")
		for range r.IntN(60) {
			fmt.Fprintf(&body, "Disallow: /%s/%s\n", word(), word())
		}
		id := "WARC-Record-ID: <urn:uuid:" + word() + word() + ">"
		b.WriteString(gzipped(record("request", name, "GET /robots.txt HTTP/1.1\r\nUser-Agent: bot\r\nHost: x\r\n\r\n", id)))
		b.WriteString(gzipped(response(name, fmt.Sprintf(head, word(), word()), body.String(), id, "WARC-Payload-Digest: sha1:"+word()+word())))
		b.WriteString(gzipped(record("metadata", name, "fetchTimeMs: 123\r\ncharset-detected: UTF-8\r\n", id)))
	}
	return b.String()
}

// BenchmarkReader compares reading captures with decompressing alone.
func BenchmarkReader(b *testing.B) {
	file := crawl(2000)
	b.Run("impl=gunzip", func(b *testing.B) {
		b.SetBytes(int64(len(file)))
		for b.Loop() {
			z := must.Get(gzip.NewReader(strings.NewReader(file)))(b)
			must.Get(io.Copy(io.Discard, z))(b)
		}
	})
	b.Run("impl=warc", func(b *testing.B) {
		b.SetBytes(int64(len(file)))
		for b.Loop() {
			w, err := NewReader(strings.NewReader(file), Options{})
			must.Do(b, err)
			var x captures.Capture
			for err == nil {
				err = w.Next(&x)
			}
			if err != io.EOF || w.Stats().Responses != 2000 || w.Stats().Broken != 0 {
				b.Fatal(err, w.Stats())
			}
		}
	})
}
