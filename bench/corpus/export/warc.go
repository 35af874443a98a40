package export

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
	"golang.org/x/sync/errgroup"

	"robotsbatch/bench/corpus"
)

// crawl writes captures as crawlers do: a request, a response and metadata for each, every
// record as a gzip member.
type crawl struct {
	corpus *corpus.Corpus
	out    *bufio.Writer
	gzip   *gzip.Writer
	record []byte
	block  []byte
	body   []byte
}

// Crawl writes a capture of each origin to WARC files in a folder. With 60 rules in a robots.txt
// of a bare corpus a response takes about 3,000 bytes, with its headers.
func Crawl(folder string, c *corpus.Corpus, files int) error {
	var group errgroup.Group
	group.SetLimit(2)
	captures := c.Options().Origins
	for file := range files {
		group.Go(func() error {
			return toFile(filepath.Join(folder, fmt.Sprintf("crawl-%05d.warc.gz", file)), func(f *os.File) error {
				w := &crawl{corpus: c, out: bufio.NewWriterSize(f, 1<<20), gzip: gzip.NewWriter(nil)}
				w.member("warcinfo", "", "application/warc-fields", time.Unix(1_700_000_000, 0), "software: bench/corpus\r\nformat: WARC File Format 1.0\r\n")
				for i := captures * file / files; i < captures*(file+1)/files; i++ {
					w.capture(i)
				}
				return w.out.Flush()
			})
		})
	}
	return group.Wait()
}

// capture writes the three records of a capture.
func (w *crawl) capture(i int) {
	o := w.corpus.Origin(i)
	url, when := robotsURL(&o), time.Unix(1_700_000_000+int64(i%864000), 0)
	w.member("request", url, "application/http; msgtype=request", when,
		"GET /robots.txt HTTP/1.1\r\nUser-Agent: CCBot/2.0 (https://commoncrawl.org/faq/)\r\nAccept: text/plain,text/*;q=0.9,*/*;q=0.5\r\n"+
			"Accept-Language: en-US,en;q=0.5\r\nAccept-Encoding: br,gzip\r\nHost: "+o.Host+"\r\nConnection: Keep-Alive\r\n\r\n")
	status, location := "200 OK", ""
	w.body = w.body[:0]
	if o.Body >= 0 {
		w.body = w.corpus.AppendBody(w.body, o.Body)
	} else {
		status, location = w.answer(i)
		if location == "" {
			w.body = append(w.body, "<!DOCTYPE html>\n<html><head><title>"...)
			w.body = append(append(w.body, status...), "</title></head>\n<body>\n"...)
			for k := range 20 {
				w.body = fmt.Appendf(w.body, "<p class=\"line-%d\">The page %s was not found on this server: %x</p>\n", k, url, uint32(i*(k+7))*2654435761)
			}
			w.body = append(w.body, "</body></html>\n"...)
		}
	}
	w.block = fmt.Appendf(w.block[:0], "HTTP/1.1 %s\r\nDate: %s\r\nServer: nginx/1.18.0 (Ubuntu)\r\nContent-Type: text/plain; charset=utf-8\r\n"+
		"X-Crawler-Content-Length: %d\r\nContent-Length: %d\r\nConnection: keep-alive\r\nCache-Control: max-age=3600, must-revalidate\r\n"+
		"ETag: \"%x-%x\"\r\nLast-Modified: %s\r\nStrict-Transport-Security: max-age=31536000; includeSubDomains\r\nX-Frame-Options: SAMEORIGIN\r\n"+
		"X-Content-Type-Options: nosniff\r\nVary: Accept-Encoding\r\nX-Crawler-Content-Encoding: gzip\r\n",
		status, when.UTC().Format(time.RFC1123), len(w.body)/3, len(w.body), i*7919, len(w.body), when.UTC().Format(time.RFC1123))
	if location != "" {
		w.block = append(append(append(w.block, "Location: "...), location...), "\r\n"...)
	}
	w.block = append(append(w.block, "\r\n"...), w.body...)
	w.member("response", url, "application/http; msgtype=response", when, string(w.block))
	w.member("metadata", url, "application/warc-fields", when, fmt.Sprintf("fetchTimeMs: %d\r\ncharset-detected: UTF-8\r\nlanguages-cld2: {\"reliable\":true}\r\n", i%997))
}

// answer returns the answer of a host without a robots.txt: mostly 404, else a redirect to
// the robots.txt of another host or to a page.
func (w *crawl) answer(i int) (status, location string) {
	switch k := i * 7 % 100; {
	case k < 52:
		return "404 Not Found", ""
	case k < 82:
		to := w.corpus.Origin((i + 1) % w.corpus.Options().Origins)
		return "301 Moved Permanently", robotsURL(&to)
	case k < 90:
		return "302 Found", "/login"
	case k < 95:
		return "403 Forbidden", ""
	case k < 99:
		return "503 Service Unavailable", ""
	}
	return "429 Too Many Requests", ""
}

// member writes a record as a gzip member.
func (w *crawl) member(kind, url, contentType string, when time.Time, block string) {
	r := fmt.Appendf(w.record[:0], "WARC/1.0\r\nWARC-Type: %s\r\nWARC-Date: %s\r\nWARC-Record-ID: <urn:uuid:%08x-%04x-4000-8000-%012x>\r\nContent-Length: %d\r\nContent-Type: %s\r\n",
		kind, when.UTC().Format(time.RFC3339), len(url)*7919, len(block)&0xFFFF, when.UnixNano()/1000, len(block), contentType)
	if url != "" {
		r = fmt.Appendf(r, "WARC-IP-Address: 192.0.2.%d\r\nWARC-Target-URI: %s\r\n", len(block)%250, url)
		r = fmt.Appendf(r, "WARC-Payload-Digest: sha1:%s\r\nWARC-Block-Digest: sha1:%s\r\n", digest(len(block), url), digest(len(url), url))
	}
	r = append(append(append(r, "\r\n"...), block...), "\r\n\r\n"...)
	w.record = r
	w.gzip.Reset(w.out)
	_, _ = w.gzip.Write(r) // an error shows at the end
	_ = w.gzip.Close()
}

// digest returns a text that looks like a SHA-1 in base 32.
func digest(seed int, text string) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	var b strings.Builder
	state := uint64(seed)*2654435761 + uint64(len(text))
	for i := range 32 {
		state = state*6364136223846793005 + uint64(text[i%len(text)]) + 1442695040888963407
		b.WriteByte(letters[state>>59])
	}
	return b.String()
}
