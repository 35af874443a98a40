package main

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"

	"robotsbatch/io/store/compress"
	"robotsbatch/io/store/must"
)

// setRecord is a record of the set of WARC files, as it is written.
type setRecord struct {
	file int    // one of the set's, from 0
	text string // the record
	// damaged: its checksum is wrong in a gzip file. In
	// others it is left out, for they have nothing that would show.
	damaged bool
	// cut: it is the last of its file, and its end is missing.
	cut bool
}

// warcSet collects records of every kind that the semantics name.
type warcSet struct {
	version string // of the records
	file    int    // into which the next records go
	date    string
	records []setRecord
	urls    strings.Builder // a line each
}

const (
	setRules = "User-agent: *\nDisallow: /x\n"
	setFiles = 3
)

func (s *warcSet) add(kind, url, contentType, block string, fields ...string) {
	var b strings.Builder
	fmt.Fprintf(&b, "WARC/%s\r\nWARC-Type: %s\r\nWARC-Record-ID: <urn:uuid:0>\r\nWARC-Date: %s\r\nWARC-Target-URI: %s\r\nContent-Type: %s\r\n",
		s.version, kind, s.date, url, contentType)
	for _, field := range fields {
		b.WriteString(field + "\r\n")
	}
	fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n%s\r\n\r\n", len(block), block)
	s.records = append(s.records, setRecord{file: s.file, text: b.String()})
}

// respond adds a response; head is its status and fields by "|".
func (s *warcSet) respond(url, head, body string, fields ...string) {
	block := "HTTP/1.1 " + strings.ReplaceAll(head, "|", "\r\n") + "\r\n\r\n" + body
	s.add("response", url, "application/http; msgtype=response", block, fields...)
}

// host adds a response for the robots.txt of a host, about which will be asked.
func (s *warcSet) host(name, head, body string, fields ...string) {
	s.ask(name)
	s.respond("http://"+name+".example/robots.txt", head, body, fields...)
}

func (s *warcSet) ask(name string) { fmt.Fprintf(&s.urls, "http://%s.example/x\n", name) }

// moved adds a redirect for the robots.txt of a host.
func (s *warcSet) moved(name, location string) { s.host(name, "301 Moved|Location: "+location, "") }

// at sets the day of March 2026, or before, of the records that follow.
func (s *warcSet) at(date string) { s.date = date + "T12:00:00Z" }

// newWARCSet is the set in a version of WARC.
func newWARCSet(version string) *warcSet {
	s := &warcSet{version: version}
	s.at("2026-03-01")
	s.addBodies()
	s.addOutcomes()
	s.addRedirects()
	s.addSeveral()
	s.addOthers()
	s.addBroken()
	return s
}

func (s *warcSet) addBodies() {
	s.host("plain", "200 OK", setRules)
	s.host("empty", "200 OK|Content-Length: 0", "")
	s.host("html", "200 OK", "<html><body>User-agent</body></html>")
	encoded := encodedRules()
	for _, name := range slices.Sorted(maps.Keys(encoded)) {
		s.host(name, "200 OK|Content-Encoding: "+name, encoded[name])
	}
	chunked := fmt.Sprintf("%x\r\n%s\r\n%x;ext=1\r\n%s\r\n0\r\nTrailer: a\r\n\r\n", 10, setRules[:10], len(setRules)-10, setRules[10:])
	s.host("chunked", "200 OK|Transfer-Encoding: chunked", chunked)
	coded := encoded["gzip"]
	s.host("chunked-gzip", "200 OK|Transfer-Encoding: chunked|Content-Encoding: gzip", fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(coded), coded))
	s.host("stored-decoded", "200 OK|Content-Encoding: gzip|Transfer-Encoding: chunked|Content-Length: 7", setRules)
	s.host("transfer-gzip", "200 OK|Transfer-Encoding: gzip", coded)
	s.host("transfer-gzip-chunked", "200 OK|Transfer-Encoding: gzip, chunked", fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(coded), coded))
	s.host("folded", "200 OK|Transfer-Encoding: gzip,|\t chunked", fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(coded), coded))
	s.host("undeclared-gzip", "200 OK", coded)
	s.host("undeclared-twice", "200 OK|Content-Encoding: gzip", gzipOf(encoded["zstd"]))
	s.host("undeclared-cut", "200 OK", coded[:30])
	s.host("undeclared-damaged", "200 OK", coded[:3]+strings.Repeat("\xFF", 30))
	s.host("longer", "200 OK|Content-Length: 14", setRules)
	s.host("interim", "100 Continue||HTTP/1.1 200 OK", setRules)
	const limit = 512_000
	comment := func(bytes int) string { return strings.Repeat("#", bytes-1) + "\n" }
	s.host("limit", "200 OK", comment(limit-len(setRules))+setRules)
	s.host("limit-cuts", "200 OK", comment(limit+1-len(setRules))+strings.TrimSuffix(setRules, "\n")+"/and/more\n")
	s.host("limit-between", "200 OK", setRules+comment(limit-len(setRules))+"Allow: /x\n")
	s.host("limit-utf16", "200 OK", utf16Of(comment((limit-2)/2-len(setRules)+1)+strings.TrimSuffix(setRules, "\n")+"\n# more"))
	s.host("truncated", "200 OK", setRules+"Disallow: /\nAllow: /x/y", "WARC-Truncated: length")
	s.host("short", "200 OK|Content-Length: 999", setRules)
}

func encodedRules() map[string]string {
	encode := func(w io.WriteCloser, b *bytes.Buffer) string {
		_, _ = io.WriteString(w, setRules)
		_ = w.Close()
		return b.String()
	}
	var gz, z, br bytes.Buffer
	zst, err := compress.AppendCompressed(nil, []byte(setRules), compress.Zstd)
	if err != nil {
		panic(err)
	}
	return map[string]string{
		"gzip": encode(gzip.NewWriter(&gz), &gz), "deflate": encode(zlib.NewWriter(&z), &z), "br": encode(brotli.NewWriter(&br), &br), "zstd": string(zst),
	}
}

func gzipOf(body string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, body)
	_ = w.Close()
	return b.String()
}

// utf16Of encodes ASCII as UTF-16 with a byte order mark.
func utf16Of(ascii string) string {
	body := []byte{0xFF, 0xFE}
	for i := range len(ascii) {
		body = append(body, ascii[i], 0)
	}
	return string(body)
}

func (s *warcSet) addOutcomes() {
	for _, status := range []string{"204 No Content", "206 Partial|Content-Range: bytes 0-26/27", "304 Not Modified", "400 Bad", "401 No", "403 Forbidden", "404 Not Found", "410 Gone", "429 Slow", "451 Legal", "500 Error", "503 Busy", "600 Odd", "100 Continue"} {
		s.host("s"+status[:3], status, "User-agent: *\nDisallow: /x\n")
	}
}

func (s *warcSet) addRedirects() {
	for _, hops := range []int{1, 5, 6} {
		for i := range hops {
			s.file = i % setFiles
			s.moved(fmt.Sprintf("hop%d-of-%d", i, hops), fmt.Sprintf("http://hop%d-of-%d.example/robots.txt", i+1, hops))
		}
		s.file = setFiles - 1
		s.host(fmt.Sprintf("hop%d-of-%d", hops, hops), "200 OK", setRules)
	}
	s.file = 1
	s.moved("relative", "other/rules.txt")
	s.respond("http://relative.example/other/rules.txt", "200 OK", setRules)
	s.moved("path", "/rules?a=b#c")
	s.respond("http://path.example/rules?a=b", "200 OK", setRules)
	s.moved("no-scheme", "//plain.example/robots.txt")
	s.moved("to-https", "https://to-https.example/robots.txt")
	s.respond("https://to-https.example/robots.txt", "200 OK", setRules)
	s.moved("to-404", "http://s404.example/robots.txt")
	s.moved("to-503", "http://s503.example/robots.txt")
	s.moved("to-nothing", "http://nobody.example/robots.txt")
	s.moved("to-no-url", "http://[/")
	s.host("no-location", "302 Found", "")
	s.moved("itself", "http://itself.example/robots.txt")
	s.moved("loop-a", "http://loop-b.example/robots.txt")
	s.moved("loop-b", "http://loop-a.example/robots.txt")
	for _, status := range []string{"302 Found", "303 See", "307 Temporary", "308 Permanent"} {
		s.host("moved"+status[:3], status+"|Location: http://plain.example/robots.txt", "")
	}
}

func (s *warcSet) addSeveral() {
	s.file = 0
	s.host("newest-rules", "200 OK", setRules)
	s.host("newest-gone", "404 Not Found", "")
	s.at("2026-02-01")
	s.file = 2
	s.respond("http://newest-rules.example/robots.txt", "404 Not Found", "")
	s.respond("http://newest-gone.example/robots.txt", "200 OK", setRules)
	s.host("good-then-down", "200 OK", setRules)
	s.host("down-for-long", "503 Busy", "")
	s.at("2026-01-01")
	s.host("stale", "200 OK", setRules)
	s.at("2026-01-02")
	s.respond("http://stale.example/robots.txt", "503 Busy", "")
	s.respond("http://down-for-long.example/robots.txt", "500 Error", "")
	s.at("2026-02-20")
	s.respond("http://stale.example/robots.txt", "500 Error", "")
	s.respond("http://good-then-down.example/robots.txt", "500 Error", "")
	s.at("2026-03-01")
	s.host("schemes", "404 Not Found", "")
	s.respond("https://schemes.example/robots.txt", "200 OK", setRules)
	s.respond("http://schemes.example:8080/robots.txt", "200 OK", "User-agent: *\nDisallow: /\n")
	s.urls.WriteString("https://schemes.example/x\nhttp://schemes.example:8080/\nhttp://schemes.example:8081/\n")
	s.respond("http://SPELLING.example:80/robots.txt", "200 OK", setRules)
	s.ask("spelling")
}

func (s *warcSet) addOthers() {
	s.file = 1
	for _, name := range []string{"request", "revisit", "metadata", "dns", "page"} {
		s.ask("only-" + name)
	}
	s.add("warcinfo", "", "application/warc-fields", "software: test\r\n")
	s.add("request", "http://only-request.example/robots.txt", "application/http; msgtype=request", "GET /robots.txt HTTP/1.1\r\n\r\n")
	s.add("revisit", "http://only-revisit.example/robots.txt", "application/http; msgtype=response", "HTTP/1.1 200 OK\r\n\r\n")
	s.add("metadata", "http://only-metadata.example/robots.txt", "application/warc-fields", "fetchTimeMs: 3\r\n")
	s.add("response", "dns:only-dns.example", "text/dns", "20260301120000\r\nonly-dns.example. 1 IN A 192.0.2.1\r\n")
	s.respond("http://only-page.example/index.html", "200 OK", "<html>")
	s.respond("<http://brackets.example/robots.txt>", "200 OK", setRules)
	s.ask("brackets")
}

func (s *warcSet) addBroken() {
	s.file = 2
	change := func(name, old, changed string) {
		s.host(name, "200 OK", setRules)
		last := &s.records[len(s.records)-1]
		last.text = strings.Replace(last.text, old, changed, 1)
	}
	change("no-date", "WARC-Date", "Date")
	change("bad-date", s.date, "yesterday")
	change("no-http", "HTTP/1.1 200 OK", "<html>, no HTTP")
	change("no-status", " 200 OK", " abc OK")
	change("no-length", "Content-Length", "Length")
	change("long", "Content-Length: ", "Content-Length: 9")
	s.host("bad-gzip", "200 OK|Content-Encoding: gzip", strings.Repeat("\x00\x01", 40))
	s.host("damaged", "200 OK", setRules)
	s.records[len(s.records)-1].damaged = true
	s.host("after-broken", "200 OK", setRules)
	s.host("cut-off", "200 OK", setRules)
	s.records[len(s.records)-1].cut = true
}

// write writes the set's files, and returns their names.
func (s *warcSet) write(t *testing.T, folder, ending string, codec compress.Codec) {
	t.Helper()
	files := make([][]byte, setFiles)
	for _, r := range s.records {
		data := []byte(r.text)
		if codec != compress.None {
			data = must.Get(compress.AppendCompressed(nil, data, codec))(t)
		}
		switch {
		case r.damaged && codec != compress.Gzip:
			continue
		case r.damaged:
			data[len(data)-8] ^= 1 // of the checksum
		case r.cut:
			data = data[:len(data)*2/3]
		}
		files[r.file] = append(files[r.file], data...)
	}
	for i, data := range files {
		must.Do(t, os.WriteFile(filepath.Join(folder, fmt.Sprintf("set-%d%s", i, ending)), data, 0o666))
	}
}

// TestWARCSet reads the set in every form, as captures and as a pack of them.
// What comes of it is in testdata/warcset: the verdicts, and what is said.
func TestWARCSet(t *testing.T) {
	folder := must.Get(filepath.Abs("testdata/warcset"))(t)
	for _, version := range []string{"1.0", "1.1"} {
		for _, form := range []struct {
			name, ending string
			codec        compress.Codec
			damaged, cut string // the reasons for the hosts of these records; a zstd frame that is cut has nothing
		}{
			{"plain", ".warc", compress.None, "true,no_robots,,,,,", "false,unreachable,,,,,2026-03-01 12:00:00Z"},
			{"gzip", ".warc.gz", compress.Gzip, "false,unreachable,,,,,2026-03-01 12:00:00Z", "false,unreachable,,,,,2026-03-01 12:00:00Z"},
			{"zstd", ".warc.zst", compress.Zstd, "true,no_robots,,,,,", "true,no_robots,,,,,"},
		} {
			t.Run("WARC "+version+", "+form.name, func(t *testing.T) {
				t.Chdir(t.TempDir())
				set := newWARCSet(version)
				set.write(t, ".", form.ending, form.codec)
				must.Do(t, os.WriteFile("urls.txt", []byte(set.urls.String()), 0o666))
				pattern := "set-*" + form.ending
				table, said := runSet(t, "-in", "urls.txt", "-rules", pattern, "-explain", "-with", "robots_status,robots_fetched_at", "-out-format", "csv")
				golden(t, filepath.Join(folder, "verdicts.csv"), strings.NewReplacer("//damaged.example/x,"+form.damaged+"\n", "//damaged.example/x,\n", "//cut-off.example/x,"+form.cut+"\n", "//cut-off.example/x,\n").Replace(table))
				golden(t, filepath.Join(folder, "messages-"+form.name+".txt"), messages(said))
				runSet(t, "compile", "-rules", pattern, "-out", "set.rules", "-quiet")
				again, _ := runSet(t, "-in", "urls.txt", "-rules", "set.rules", "-explain", "-with", "robots_status,robots_fetched_at", "-out-format", "csv")
				must.Equal(t, again, table, "pack of it")
			})
		}
	}
}

// golden compares text with that of a file, or writes the file where -update is
// given.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		must.Do(t, os.WriteFile(file, []byte(got), 0o666))
		return
	}
	want := must.Get(os.ReadFile(file))(t)
	must.Equal(t, got, string(want), filepath.Base(file), "differs")
}

// runSet runs the program and returns what it wrote and what it said.
func runSet(t *testing.T, args ...string) (out, said string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	status := run(context.Background(), args, strings.NewReader(""), &stdout, &stderr)
	must.Need(t, status == exitDone, "%v: status %d\n%s", args, status, &stderr)
	return stdout.String(), stderr.String()
}

// messages are what is said of the captures, without what differs from run to
// run: offsets in compressed files are those of a compressor's version.
func messages(said string) string {
	var kept []string
	offset := regexp.MustCompile(`(\.(?:gz|zst): offset) \d+`)
	for line := range strings.Lines(said) {
		if strings.Contains(line, "warc") {
			kept = append(kept, offset.ReplaceAllString(line, "$1 …"))
		}
	}
	return strings.Join(kept, "")
}

// makeWARC is the program mkwarc of the test scripts. It writes a WARC file of
// responses, each described by a line: time, URL, status, and the body with "\n"
// for line ends or, of a redirect, the Location. The id of a record is "id:TIME URL", and the
// digest of a body is "text:" and the body as in the line. The status "revisit" makes a
// revisit, without a block, with the fields of its header separated by "|" as body, and "revisit-STATUS" one with
// an HTTP header of that status.
func makeWARC() {
	out := flag.String("o", "", "file to write")
	gz := flag.Bool("gz", false, "gzip, a member a record")
	zst := flag.Bool("zst", false, "zstd, a frame a record")
	cut := flag.Int("cut", 0, "bytes to cut off the end")
	flag.Parse()
	lines, err := os.ReadFile(flag.Arg(0))
	if err != nil {
		log.Fatal(err)
	}
	var file []byte
	for line := range strings.Lines(string(lines)) {
		record := warcRecord(strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 4))
		codec := compress.None
		if *gz {
			codec = compress.Gzip
		} else if *zst {
			codec = compress.Zstd
		}
		if codec == compress.None {
			file = append(file, record...)
		} else if file, err = compress.AppendCompressed(file, record, codec); err != nil {
			log.Fatal(err)
		}
	}
	if err := os.WriteFile(*out, file[:len(file)-*cut], 0o666); err != nil {
		log.Fatal(err)
	}
}

func warcRecord(fields []string) []byte {
	var block bytes.Buffer
	if status, is := strings.CutPrefix(fields[2], "revisit"); is {
		if status != "" {
			fmt.Fprintf(&block, "HTTP/1.1 %s\r\n\r\n", status[1:])
		}
		return warcBlock("revisit", strings.ReplaceAll(fields[3], "|", "\r\n"), fields, block.Bytes())
	}
	fmt.Fprintf(&block, "HTTP/1.1 %s\r\n", fields[2])
	if strings.HasPrefix(fields[2], "3") {
		fmt.Fprintf(&block, "Location: %s\r\n\r\n", fields[3])
	} else {
		body := strings.ReplaceAll(fields[3], `\n`, "\n")
		fmt.Fprintf(&block, "Content-Length: %d\r\n\r\n%s", len(body), body)
	}
	return warcBlock("response", "WARC-Payload-Digest: text:"+strings.ReplaceAll(fields[3], "\n", `\n`), fields, block.Bytes())
}

func warcBlock(kind, more string, fields []string, block []byte) []byte {
	return fmt.Appendf(nil, "WARC/1.0\r\nWARC-Type: %s\r\nWARC-Record-ID: <id:%[2]s %[3]s>\r\nWARC-Date: %[2]s\r\nWARC-Target-URI: %[3]s\r\n%s\r\n"+
		"Content-Type: application/http; msgtype=response\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", kind, fields[0], fields[1], more, len(block), block)
}
