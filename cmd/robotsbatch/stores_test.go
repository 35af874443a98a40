package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"robotsbatch/batch/manifest"
	"robotsbatch/io/store/blob/blobtest"
	"robotsbatch/io/store/compress"
	"robotsbatch/io/store/must"
)

const sample = "../../bench/corpus/sample"

// runWith runs the program in this process.
func runWith(ctx context.Context, stdin string, args ...string) (status int, stdout, stderr string) {
	var out, err bytes.Buffer
	status = run(ctx, args, strings.NewReader(stdin), &out, &err)
	return status, out.String(), err.String()
}

// mustRun runs the program, which is to succeed, and returns its stdout.
func mustRun(t *testing.T, args ...string) string {
	t.Helper()
	status, stdout, stderr := runWith(t.Context(), "", args...)
	must.Need(t, status == exitDone, "%q: status %d\n%s", args, status, stderr)
	return stdout
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	return must.Get(os.ReadFile(name))(t)
}

// TestObjectsAreFiles has each kind of input and output in a store, and on the
// disk.
func TestObjectsAreFiles(t *testing.T) {
	s := blobtest.New(t)
	folder := t.TempDir()
	frontier := filepath.Join(sample, "frontier.arrow")
	rules := filepath.Join(sample, "rules")
	parquet := filepath.Join(folder, "frontier.parquet")
	mustRun(t, "-in", frontier, "-rules", rules, "-agent", "x", "-prefix", "before_", "-out", parquet, "-batch-rows", "300")
	for _, in := range []string{frontier, filepath.Join(sample, "frontier.arrows"), filepath.Join(sample, "frontier.txt.zst"), parquet} {
		base := filepath.Base(in)
		s.Put("in/"+base, readFile(t, in))
		for _, out := range []string{"out.csv", "out.jsonl.gz", "out.arrow", "out.parquet"} {
			local := filepath.Join(folder, out)
			mustRun(t, "-in", in, "-rules", rules, "-agent", "CCBot", "-out", local)
			mustRun(t, "-in", s.Name("in/"+base), "-rules", rules, "-agent", "CCBot", "-out", s.Name("out/"+out))
			must.Be(t, bytes.Equal(s.Get("out/"+out), readFile(t, local)), "%s to %s: the object is not as the file", base, out)
		}
	}
}

func TestFoldersOfObjects(t *testing.T) {
	s := blobtest.New(t)
	rules := filepath.Join(sample, "rules")
	s.Put("in/a.txt", []byte("https://a.example/\n"))
	s.Put("in/b/c.txt.gz", []byte("https://b.example/\n"))
	s.Put("in/_SUCCESS", nil)
	mustRun(t, "-in", s.Name("in/"), "-rules", rules, "-out", s.Name("out/"))
	for key, want := range map[string]string{"out/a.csv": "https://a.example/", "out/b/c.csv": "https://b.example/"} {
		must.Equal(t, string(s.Get(key)), "url,allowed\n"+want+",true\n", key)
	}
	folder := t.TempDir()
	mustRun(t, "-in", s.Name("in/*.txt"), "-rules", rules, "-out", folder+"/")
	must.Equal(t, string(readFile(t, filepath.Join(folder, "a.csv"))), "url,allowed\nhttps://a.example/,true\n", "a.csv")
	list := filepath.Join(folder, "list")
	must.Do(t, os.WriteFile(list, []byte(s.Name("in/a.txt")+"\n"+s.Name("in/b/")+"\n"), 0o666))
	must.Equal(t, mustRun(t, "-files-from", list, "-rules", rules), "url,allowed\nhttps://a.example/,true\nhttps://b.example/,true\n", "stdout")
	status, _, stderr := runWith(t.Context(), "", "-in", s.Name("in/a.txt"), "-rules", rules, "-emit", "allowed", "-out", s.Name("in/a.txt"))
	must.Be(t, status == exitUsage && strings.Contains(stderr, "would replace an input"), "status %d\n%s", status, stderr)
}

// A store that lists keys without end gets no more memory than there is.
func TestEndlessListing(t *testing.T) {
	s := blobtest.New(t)
	pages := 0
	s.Meddle(func(w http.ResponseWriter, r *http.Request, store http.Handler) {
		if !strings.Contains(r.URL.RawQuery, "list-type") {
			store.ServeHTTP(w, r)
			return
		}
		pages++
		fmt.Fprintf(w, `<?xml version="1.0" encoding="UTF-8"?><ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>%d</NextContinuationToken>`, pages)
		for i := range 1000 {
			fmt.Fprintf(w, `<Contents><Key>r/h%d-%d.%s.example.txt</Key><LastModified>2026-01-01T00:00:00Z</LastModified><Size>12</Size></Contents>`, pages, i, strings.Repeat("a", 200))
		}
		fmt.Fprint(w, "</ListBucketResult>")
	})
	list := filepath.Join(t.TempDir(), "urls.txt")
	must.Do(t, os.WriteFile(list, []byte("https://a.example/\n"), 0o666))
	for name, args := range map[string][]string{
		"inputs":            {"hosts", "-in", s.Name("r/")},
		"a pattern of them": {"hosts", "-in", s.Name("r/*.txt")},
		"rules":             {"hosts", "-in", list, "-rules", s.Name("r/")},
	} {
		status, _, stderr := runWith(t.Context(), "", append(args, "-memory", "16MiB")...)
		must.Be(t, status == 1 && strings.Contains(stderr, "the names of its objects take more than 8 MiB, half of -memory: name fewer, such as those of one folder below it, or raise -memory"),
			"%s: status %d\n%s", name, status, stderr)
	}
}

func TestFileURLs(t *testing.T) {
	folder := must.Get(filepath.Abs(t.TempDir()))(t)
	rules := must.Get(filepath.Abs(filepath.Join(sample, "rules")))(t)
	in := filepath.Join(folder, "a b.txt")
	must.Do(t, os.WriteFile(in, []byte("https://a.example/\n"), 0o666))
	url := "file://" + filepath.ToSlash(folder)
	mustRun(t, "-in", url+"/a%20b.txt", "-rules", "file://"+filepath.ToSlash(rules), "-out", url+"/out.csv")
	must.Equal(t, string(readFile(t, filepath.Join(folder, "out.csv"))), "url,allowed\nhttps://a.example/,true\n", "out.csv")
	for _, command := range [][]string{{"lint", "-counts"}, {"survey", "-as", "text", "-agent", "x"}} {
		wantStatus, want, _ := runWith(t.Context(), "", append(command, rules)...)
		status, got, said := runWith(t.Context(), "", append(command, "file://"+filepath.ToSlash(rules))...)
		must.Be(t, status == wantStatus && got == want && want != "", "%s: status %d, want %d:\n%s%s", command, status, wantStatus, got, said)
	}
}

// TestRulesFromStores has each kind of rules in a store, and on the disk.
func TestRulesFromStores(t *testing.T) {
	s := blobtest.New(t)
	folder := t.TempDir()
	frontier, rules := filepath.Join(sample, "frontier.txt.zst"), filepath.Join(sample, "rules")
	args := func(rules string) []string {
		return []string{"-in", frontier, "-agent", "CCBot", "-explain", "-rules", rules}
	}
	want := mustRun(t, args(rules)...)
	entries := must.Get(os.ReadDir(rules))(t)
	var captures bytes.Buffer
	for i, entry := range entries {
		body := readFile(t, filepath.Join(rules, entry.Name()))
		key := "rules/" + entry.Name()
		switch i % 4 {
		case 1:
			key += "/robots.txt"
		case 2:
			var compressed bytes.Buffer
			z := gzip.NewWriter(&compressed)
			_, _ = z.Write(body)
			z.Close()
			key, body = key+".txt.gz", compressed.Bytes()
		}
		s.Put(key, body)
	}
	s.Put("rules/", nil)
	must.Equal(t, mustRun(t, args(s.Name("rules/"))...), want, "a folder of objects: other verdicts")
	for _, url := range []string{"https://www.a.example", "https://www.b.example"} {
		response := "HTTP/1.1 200 OK\r\n\r\nUser-agent: *\nDisallow: /x\n"
		fmt.Fprintf(&captures, "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: %s/robots.txt\r\nWARC-Date: 2026-01-01T00:00:00Z\r\nContent-Type: application/http; msgtype=response\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n",
			url, len(response), response)
	}
	s.Put("crawl/a.warc", captures.Bytes())
	s.Put("crawl/_SUCCESS", nil)
	for _, name := range []string{"crawl/", "crawl/a.warc", "crawl/*.warc", "*/a.warc"} {
		status, stdout, stderr := runWith(t.Context(), "https://www.a.example/x\n", "-in", "-", "-rules", s.Name(name))
		must.Be(t, status == exitDone && stdout == "url,allowed\nhttps://www.a.example/x,false\n" && !strings.Contains(stderr, "endpoint"),
			"%s: status %d, %q\n%s", name, status, stdout, stderr)
	}
	s.Put("crawl/a.example/robots.txt", []byte("User-agent: *\nDisallow: /\n"))
	_, _, said := runWith(t.Context(), "https://a.example/\n", "-in", "-", "-rules", s.Name("crawl/"))
	must.Be(t, strings.Contains(said, "s3://bucket/crawl/ has captures, so files in it that are not named as captures are not read, such as s3://bucket/crawl/a.example/robots.txt: "), "%s", said)
	pack := filepath.Join(folder, "site.rules")
	mustRun(t, "compile", "-rules", rules, "-out", pack)
	s.Put("site.rules", readFile(t, pack))
	must.Equal(t, mustRun(t, args(s.Name("site.rules"))...), want, "a pack in a store: other verdicts")
	mustRun(t, "compile", "-rules", rules, "-out", s.Name("made.rules"))
	must.Be(t, bytes.Equal(s.Get("made.rules"), readFile(t, pack)), "a pack that is made in a store: other bytes")
	local, stored := mustRun(t, "verify", pack), mustRun(t, "verify", s.Name("made.rules"))
	must.Be(t, strings.ReplaceAll(local, pack, "s3://bucket/made.rules") == stored, "verify says %s\nof the object, and %s\nof the file", stored, local)
	again := filepath.Join(folder, "again.rules")
	mustRun(t, "compile", "-rules", s.Name("rules/"), "-out", again)
	must.Equal(t, mustRun(t, args(again)...), want, "a pack of a folder of objects: other verdicts")
	status, stdout, _ := runWith(t.Context(), "", "explain", "-rules", s.Name("rules/"), "-agent", "CCBot", "https://blogbook4.net.example/import%2F/recipe-family-83798.html")
	must.Be(t, status == exitFailed && strings.Contains(stdout, "  file        s3://bucket/rules/blogbook4.net.example") && !strings.Contains(stdout, "endpoint"),
		"status %d\n%s", status, stdout)
}

// A folder in a store is checked as one on the disk is, with the robots.txt at its root.
func TestLintFolderInStore(t *testing.T) {
	s := blobtest.New(t)
	s.Put("rules/a.example", []byte("User-agent: *\nDisallow: a\n"))
	s.Put("rules/robots.txt", []byte("User-agent: *\nDisallow: own\n"))
	status, stdout, stderr := runWith(t.Context(), "", "lint", s.Name("rules/"))
	must.Be(t, status == exitFailed && strings.Contains(stdout, "s3://bucket/rules/robots.txt:2:") && strings.Contains(stdout, "s3://bucket/rules/a.example:2:"),
		"status %d, %s\n%s", status, stdout, stderr)
}

// -resume keeps outputs while the robots.txt that decided them are in their store as they were.
func TestResumeWithRulesInStore(t *testing.T) {
	s := blobtest.New(t)
	s.Put("rules/a.example", []byte("User-agent: *\nDisallow: /a\n"))
	folder := t.TempDir()
	in, out := filepath.Join(folder, "in"), filepath.Join(folder, "out")
	must.Do(t, os.Mkdir(in, 0o777))
	must.Do(t, os.WriteFile(filepath.Join(in, "list.txt"), []byte("https://a.example/a\n"), 0o666))
	run := func() string {
		status, _, stderr := runWith(t.Context(), "", "-in", in, "-rules", s.Name("rules/"), "-out", out+"/", "-resume")
		must.Need(t, status == exitDone, "status %d\n%s", status, stderr)
		return stderr
	}
	run()
	got := run()
	must.Be(t, strings.Contains(got, "resuming: 1 of 1 output done already"), "the output is made again: %s", got)
	s.Put("rules/a.example", []byte("User-agent: *\nDisallow: /other\n"))
	must.Be(t, strings.Contains(run(), "s3://bucket/rules/a.example has changed"), "the change is not said")
}

// A robots.txt that is not the listed one any more ends the job with 75, whatever its length,
// and so does one that an answer leaves empty.
func TestRulesReplacedAfterTheListing(t *testing.T) {
	const before, after = "User-agent: *\nDisallow: /d\n", "User-agent: *\nDisallow: /e\n"
	for name, now := range map[string]string{"same length": after, "longer": after + after, "empty": ""} {
		t.Run(name, func(t *testing.T) {
			s := blobtest.New(t)
			s.Put("rules/a.example", []byte(before))
			s.Meddle(func(w http.ResponseWriter, r *http.Request, store http.Handler) {
				if strings.HasSuffix(r.URL.Path, "a.example") {
					s.Put("rules/a.example", []byte(now))
				}
				store.ServeHTTP(w, r)
			})
			status, stdout, stderr := runWith(t.Context(), "https://a.example/d\n", "-in", "-", "-rules", s.Name("rules/"))
			must.Be(t, status == exitRetry && !strings.Contains(stdout, "true") && strings.Contains(stderr, "s3://bucket/rules/a.example: it was written to while it was read"), "status %d, %q\n%s", status, stdout, stderr)
		})
	}
}

// TestCompressedRulesUnderAPlainName has bodies in a store that are gzip and zstd, and one that
// takes more bytes than are read of a plain one.
func TestCompressedRulesUnderAPlainName(t *testing.T) {
	s := blobtest.New(t)
	noise := make([]byte, 600<<10) // not compressible
	_, _ = rand.NewChaCha8([32]byte{1}).Read(noise)
	for i := range noise {
		noise[i] |= 0x80
	}
	rules := "User-agent: *\nDisallow: /d\n#"
	for host, codec := range map[string]compress.Codec{"a.example": compress.Gzip, "b.example.txt": compress.Zstd} {
		packed := must.Get(compress.AppendCompressed(nil, []byte(rules), codec))(t)
		s.Put("rules/"+host, packed)
	}
	long := must.Get(compress.AppendCompressed(nil, append([]byte(rules), noise...), compress.Gzip))(t)
	s.Put("rules/c.example", long)
	status, stdout, stderr := runWith(t.Context(), "http://a.example/d\nhttp://b.example/d\nhttp://c.example/d\n", "-in", "-", "-rules", s.Name("rules/"))
	must.Be(t, status == 0 && strings.Count(stdout, ",false\n") == 3, "status %d:\n%s%s", status, stdout, stderr)
	s.Put("rules/a.example", long[:1000])
	status, stdout, stderr = runWith(t.Context(), "http://a.example/d\n", "-in", "-", "-rules", s.Name("rules/"))
	must.Be(t, status == exitFailed && strings.Contains(stderr, "s3://bucket/rules/a.example: gzip: the compressed data is cut off"),
		"damaged: status %d:\n%s%s", status, stdout, stderr)
}

func TestRulesThatAreNoneInStores(t *testing.T) {
	s := blobtest.New(t)
	s.Put("rules/a.example", nil)
	s.Put("rules/a.example.txt", []byte("User-agent: *"))
	s.Put("a.txt", []byte("x"))
	s.Put("cut.rules", []byte("robotsbatch rules"))
	for name, want := range map[string]string{
		"rules/": "s3://bucket/rules/a.example and s3://bucket/rules/a.example.txt are both for", "none/": "the folder has no objects", "missing.rules": "there is no such object",
		"a.txt": "neither a rule pack nor captures", "*.txt": "has no captures", "*.none": "no object matches",
	} {
		status, _, stderr := runWith(t.Context(), "https://a.example/\n", "-in", "-", "-rules", s.Name(name))
		must.Be(t, status != exitDone && strings.Contains(stderr, want), "%s: status %d, want it to say %q\n%s", name, status, want, stderr)
	}
}

// TestColumnsThatAreFetched reads one column of twenty, of several row groups.
func TestColumnsThatAreFetched(t *testing.T) {
	s := blobtest.New(t)
	folder := t.TempDir()
	var text strings.Builder
	text.WriteString("url")
	for column := range 19 {
		fmt.Fprintf(&text, ",c%d", column)
	}
	text.WriteString("\n")
	const rows = 20_000
	for row := range rows {
		fmt.Fprintf(&text, "https://www.host%d.example/%x", row/100, row*7919)
		for column := range 19 {
			fmt.Fprintf(&text, ",%016x", uint64(row+1)*uint64(column+1)*0x9E3779B97F4A7C15)
		}
		text.WriteString("\n")
	}
	csv, parquet := filepath.Join(folder, "wide.csv"), filepath.Join(folder, "wide.parquet")
	must.Do(t, os.WriteFile(csv, []byte(text.String()), 0o666))
	rules := filepath.Join(sample, "rules")
	mustRun(t, "-in", csv, "-rules", rules, "-out", parquet)
	data := readFile(t, parquet)
	s.Put("wide.parquet", data)
	got := mustRun(t, "-in", s.Name("wide.parquet"), "-rules", rules, "-columns", "verdict", "-prefix", "again_", "-out-format", "csv")
	must.Equal(t, strings.Count(got, "\n"), rows+1)
	gets, bytes := s.Asked()
	must.Be(t, len(gets) <= 10 && bytes <= int64(len(data))/8, "%d requests for %d of %d bytes: %q", len(gets), bytes, len(data), gets)
	got = mustRun(t, "-in", s.Name("wide.parquet"), "-rules", rules, "-prefix", "again_", "-out-format", "csv", "-batch-rows", "1000")
	must.Equal(t, strings.Count(got, "\n"), rows+1)
	gets, bytes = s.Asked()
	must.Be(t, len(gets) <= 30 && bytes <= int64(len(data))*11/10, "%d requests for %d of %d bytes", len(gets), bytes, len(data))
}

// Whatever request a store refuses, and whenever it is gone: each output is whole or absent, a
// message names an object and no secret, and another run makes what is missing. A connection
// that broke is not taken for a reader that closed a pipe.
func TestEveryRequestFails(t *testing.T) {
	s := blobtest.New(t)
	s.Put("in/0.txt", []byte("http://a.example/0\nhttp://a.example/1\n"))
	s.Put("in/1.csv", []byte("url,x\nhttp://a.example/1,x\n"))
	s.Put("rules/a.example", []byte("User-agent: *\nDisallow: /1\n"))
	want := map[string]string{
		"out/0.csv": "url,allowed\nhttp://a.example/0,true\nhttp://a.example/1,false\n",
		"out/1.csv": "url,x,allowed\nhttp://a.example/1,x,false\n",
	}
	job := func(refuse bool, at int64) (made int64) {
		var requests atomic.Int64
		s.Meddle(func(w http.ResponseWriter, r *http.Request, store http.Handler) {
			switch n := requests.Add(1); {
			case refuse && n == at:
				http.Error(w, "<Error><Code>AccessDenied</Code></Error>", http.StatusForbidden)
			case !refuse && at > 0 && n >= at:
				panic(http.ErrAbortHandler)
			default:
				store.ServeHTTP(w, r)
			}
		})
		status, _, stderr := runWith(t.Context(), "", "-in", s.Name("in/"), "-rules", s.Name("rules/"), "-out", s.Name("out/"), "-quiet")
		failed := map[bool]int{true: exitFailed, false: exitRetry}[refuse]
		must.Be(t, status == exitDone || status == failed && strings.Contains(stderr, "s3://bucket/") && !strings.Contains(stderr, "verysecret"),
			"refused: %v, request %d: status %d\n%s", refuse, at, status, stderr)
		for name, text := range want {
			got := s.Get(name)
			must.Be(t, string(got) == text || got == nil && status != exitDone, "refused: %v, request %d: status %d: %s is %q", refuse, at, status, name, got)
		}
		return requests.Load()
	}
	empty := func() {
		for _, name := range []string{"out/0.csv", "out/1.csv"} {
			s.Remove(name)
		}
	}
	all := job(false, 0)
	t.Logf("%d requests", all)
	step := must.Short(11, int64(1))
	for at := int64(1); at <= all; at += step {
		for _, refuse := range []bool{false, true} {
			empty()
			job(refuse, at)
			job(false, 0)
		}
	}
}

func TestWaitForStoreIsInterrupted(t *testing.T) {
	s := blobtest.New(t)
	s.Put("in.txt", []byte("https://a.example/\n"))
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan bool)
	s.Meddle(func(w http.ResponseWriter, r *http.Request, store http.Handler) {
		cancel()
		select {
		case <-r.Context().Done():
		case <-over:
		}
	})
	status, _, stderr := runWith(ctx, "", "-in", s.Name("in.txt"), "-rules", filepath.Join(sample, "rules"))
	close(over)
	must.Be(t, status == exitFailed && strings.Contains(stderr, "stopped (context canceled); what was written to standard output is incomplete"),
		"status %d\n%s", status, stderr)
}

// TestVerifyObjects checks objects by what they hold themselves.
func TestVerifyObjects(t *testing.T) {
	s := blobtest.New(t)
	rules := filepath.Join(sample, "rules")
	mustRun(t, "compile", "-rules", rules, "-out", s.Name("site.rules"))
	said := map[string]string{"site.rules": "intact: every checksum is right"}
	for _, out := range []string{"out.csv.zst", "out.jsonl.gz", "out.arrow", "out.arrows", "out.parquet"} {
		mustRun(t, "-in", filepath.Join(sample, "frontier.arrow"), "-rules", rules, "-out", s.Name(out))
		said[out] = "readable to its end"
	}
	for key, want := range said {
		got := mustRun(t, "verify", s.Name(key))
		must.Be(t, strings.Contains("\n"+got, "\ns3://bucket/"+key+": "+want) && !strings.Contains(got, "endpoint"), "%s: %s", key, got)
		data := bytes.Clone(s.Get(key))
		data[len(data)/2] ^= 1
		key = "changed/" + key
		s.Put(key, data)
		status, stdout, stderr := runWith(t.Context(), "", "verify", s.Name(key))
		must.Be(t, status == exitFailed && stdout == "" && strings.Contains(stderr, "s3://bucket/"+key) && !strings.Contains(stderr, "endpoint"),
			"%s changed: status %d, %s%s", key, status, stdout, stderr)
	}
	status, _, stderr := runWith(t.Context(), "", "verify", s.Name("folder/"))
	must.Be(t, status == exitFailed && strings.Contains(stderr, "s3://bucket/folder/_robotsbatch.manifest.jsonl: there is no manifest: name the files"), "a folder: status %d, %s", status, stderr)
	status, _, stderr = runWith(t.Context(), "", "verify", "-for", "a.example", s.Name("nowhere.rules"))
	must.Be(t, status == exitFailed && !strings.Contains(stderr, "endpoint"), "no object: status %d, %s", status, stderr)
	t.Setenv("AWS_MAX_ATTEMPTS", "1")
	s.Meddle(func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	status, _, stderr = runWith(t.Context(), "", "verify", s.Name("out.arrow"))
	must.Be(t, status == exitRetry && strings.Contains(stderr, "1 of 1 file is unread"), "a store that is down: status %d, %s", status, stderr)
}

// A store that is down is waited for once: what looks up an input asks it, and opening does not.
func TestInputOfStoreThatIsDown(t *testing.T) {
	s := blobtest.New(t)
	t.Setenv("AWS_MAX_ATTEMPTS", "1")
	var requests atomic.Int64
	s.Meddle(func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		requests.Add(1)
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	status, _, stderr := runWith(t.Context(), "", "-in", s.Name("a.csv"), "-rules", filepath.Join(sample, "rules"))
	must.Be(t, status == exitRetry && requests.Load() == 1, "status %d after %d requests: %s", status, requests.Load(), stderr)
}

func TestSecretsInURLs(t *testing.T) {
	rules := filepath.Join(sample, "rules")
	for _, args := range [][]string{
		{"-in", "s3://id:hush@bucket/a", "-rules", rules},
		{"-in", "s3://bucket/a?X-Amz-Signature=hush", "-rules", rules},
		{"-in", "https://bucket.example/a?sig=hush", "-rules", rules},
		{"-in", "-", "-rules", "azblob://c/a?sv=1&sig=hush"},
		{"-in", "-", "-rules", rules, "-out", "gs://hush@bucket/a.csv"},
		{"-in", "-", "-rules", rules, "-summary-json", "gs://hush@bucket/a.csv"},
		{"-in", "-", "-rules", rules, "s3://id:hush@bucket/a?sig=hush"},
		{"-files-from", "-", "-rules", rules},
		{"explain", "-rules", "s3://id:hush@bucket/a", "https://a.example/"},
		{"compile", "-rules", "s3://id:hush@bucket/a", "-out", "x.rules"},
		{"compile", "-rules", rules, "-out", "s3://id:hush@bucket/a"},
	} {
		status, _, stderr := runWith(t.Context(), "s3://id:hush@bucket/a?sig=hush\n", args...)
		must.Be(t, status == exitUsage && !strings.Contains(stderr, "hush"), "%q: status %d\n%s", args, status, stderr)
	}
}

// What is written where a parameter's value belongs may be a password, too.
func TestSecretsAsParameters(t *testing.T) {
	blobtest.New(t) // for its environment
	rules := filepath.Join(sample, "rules")
	for _, name := range []string{
		"file://user:hushhush@h/x", "s3://id:hush/hush@bucket/a", "s3://b/k?region=hushhush%00x&endpoint=http://127.0.0.1:9",
		"s3://b/k?region=hush hush&endpoint=http://127.0.0.1:9", "s3://b/k?profile=hushhush", "s3://b/k?region=a&endpoint=hushhush",
		"s3://b/k?rate_limiter_capacity=hushhush", "s3://b/k?request_checksum_calculation=hushhush", "gs://b/k?anonymous=hushhush",
		"azblob://c/b?storage_account=x&domain=127.0.0.1:9&protocol=http&cdn=hushhush", "azblob://c/b?storage_account=x&protocol=hushhush",
	} {
		for _, args := range [][]string{
			{"-in", name, "-rules", rules},
			{"-in", "-", "-rules", name},
			{"-in", "-", "-rules", rules, "-out", name},
			{"-in", "-", "-rules", rules, "-out-format", "csv", "-out", name},
			{"-in", "-", "-rules", rules, "-summary-json", name},
			{"-in", "-", "-rules", rules, "-report", name},
			{"-in", "-", "-rules", rules, "-agents", name},
			{"-in", "-", "-rules", rules, "-fetch-list", name},
			{"-files-from", name, "-rules", rules},
			{"compile", "-rules", name, "-out", filepath.Join(t.TempDir(), "x.rules")},
			{"hosts", "-in", name, "-rules", rules},
			{"verify", name},
			{"verify", "-for", "a.example", name},
			{"verify", "-merge", name},
			{"survey", "-as", "text", name},
			{name},
		} {
			status, stdout, stderr := runWith(t.Context(), "https://a.example/\n", args...)
			must.Be(t, status != exitDone && !strings.Contains(stdout+stderr, "hush"), "%q: status %d\n%s%s", args, status, stdout, stderr)
		}
	}
}

// Shards write one folder of a store, each with a manifest, which verify -merge makes one of.
func TestShardsInStore(t *testing.T) {
	s := blobtest.New(t)
	frontier, rules := filepath.Join(sample, "frontier.arrow"), filepath.Join(sample, "rules")
	for _, name := range []string{"1", "2", "3", "4", "5"} {
		s.Put("in/"+name+".arrow", readFile(t, frontier))
	}
	shard := func(which string) string {
		t.Helper()
		status, _, stderr := runWith(t.Context(), "", "-in", s.Name("in/"), "-rules", rules, "-out", s.Name("out/"), "-shard", which)
		must.Need(t, status == exitDone, "shard %s: status %d\n%s", which, status, stderr)
		return stderr
	}
	merge := func(want int, says string) {
		t.Helper()
		status, _, stderr := runWith(t.Context(), "", "verify", "-merge", s.Name("out/"))
		must.Need(t, status == want && strings.Contains(stderr, says) && !strings.Contains(stderr, "endpoint"), "verify -merge: status %d\n%s", status, stderr)
	}
	status, _, stderr := runWith(t.Context(), "", "-in", s.Name("in/"), "-rules", rules, "-out", s.Name("out/"), "-resume")
	want := "s3://bucket/out/ is in an object store: a folder there (with a slash at its end) has a manifest, and goes on from it, with -shard 0/1\n"
	must.Be(t, status == exitUsage && strings.Contains(stderr, want), "-resume: status %d\n%s", status, stderr)
	shard("0/2")
	merge(exitRetry, "s3://bucket/out/: the job is incomplete: of 2 shards, missing: 1")
	shard("1/2")
	merge(exitDone, "2 shards make a whole: 10,000 rows")
	text := string(s.Get("out/" + manifest.FolderName))
	must.Be(t, strings.Count(text, `{"output":`) == 5 && !strings.Contains(text, "endpoint"), "the manifest:\n%s", text)
	verify := func(want int, says string) {
		t.Helper()
		status, stdout, stderr := runWith(t.Context(), "", "verify", s.Name("out/"))
		must.Be(t, status == want && strings.Contains(stdout+stderr, says) && !strings.Contains(stdout+stderr, "endpoint"),
			"verify: status %d, %s\n%s", status, stdout, stderr)
	}
	verify(exitDone, "5 files intact, 10,000 rows")
	must.Equal(t, mustRun(t, "verify", s.Name("out/"+manifest.FolderName)), "5 files intact, 10,000 rows\n", "verify of the manifest")
	said := shard("0/2") + shard("1/2")
	must.Be(t, strings.Count(said, "done already") == 2 && strings.Contains(said, "0 URLs a second"), "a second time:\n%s", said)
	s.Remove("out/3.arrow")
	s.Put("out/3.arrow", []byte("other"))
	s.Put("out/6.arrow", []byte("other"))
	verify(exitFailed, "s3://bucket/out/6.arrow: the manifest does not list it")
	verify(exitFailed, "1 of 5 files is damaged")
	s.Remove("out/6.arrow")
	merge(exitFailed, "s3://bucket/out/3.arrow is not what was written: run shard ")
	said = shard("0/2") + shard("1/2")
	must.Be(t, strings.Count(said, "s3://bucket/out/3.arrow is not what was written: it is done again") == 1, "after a change:\n%s", said)
	merge(exitDone, "10,000 rows")
}

// Stores have no locks. Of two runs of one shard at a time, the one whose output appears
// last wins: merge takes the outputs if the last manifest is of them, and otherwise names
// the shard, which then mends it.
func TestShardTwiceInStore(t *testing.T) {
	s := blobtest.New(t)
	frontier, rules := filepath.Join(sample, "frontier.arrow"), filepath.Join(sample, "rules")
	for _, name := range []string{"1", "2", "3"} {
		s.Put("in/"+name+".arrow", readFile(t, frontier))
	}
	// A run that reads a manifest while another writes it ends with 75: it is worth another try.
	shard := func() (status int, stderr string) {
		for range 10 {
			status, _, stderr = runWith(t.Context(), "", "-in", s.Name("in/"), "-rules", rules, "-out", s.Name("out/"), "-shard", "0/1")
			if status != exitRetry || !strings.Contains(stderr, "it was written to while it was read") {
				break
			}
		}
		return status, stderr
	}
	var group sync.WaitGroup
	for range 3 {
		group.Go(func() {
			status, stderr := shard()
			must.Be(t, status == exitDone, "status %d\n%s", status, stderr)
		})
	}
	group.Wait()
	first := s.Get("out/1.arrow")
	status, _, stderr := runWith(t.Context(), "", "verify", "-merge", s.Name("out/"))
	if status != exitDone {
		must.Need(t, status == exitFailed && strings.Contains(stderr, "is not what was written: run shard 0 again"), "verify -merge: status %d\n%s", status, stderr)
		status, stderr := shard()
		must.Need(t, status == exitDone, "status %d\n%s", status, stderr)
		mustRun(t, "verify", "-merge", s.Name("out/"))
	}
	for _, name := range []string{"1", "2", "3"} {
		got := s.Get("out/" + name + ".arrow")
		must.Be(t, len(got) != 0 && bytes.Equal(got, first), "%s: two runs write other bytes", name)
	}
}

// A run that was overtaken does not make merge take another's output for its own.
func TestShardOvertakenInStore(t *testing.T) {
	s := blobtest.New(t)
	rules := filepath.Join(sample, "rules")
	s.Put("in/1.txt", []byte("https://a.example/\n"))
	s.Put("in/2.txt", []byte("https://c.example/\n"))
	shard := func() {
		t.Helper()
		status, _, stderr := runWith(t.Context(), "", "-in", s.Name("in/"), "-rules", rules, "-out", s.Name("out/"), "-shard", "0/1")
		must.Need(t, status == exitDone, "status %d\n%s", status, stderr)
	}
	shard()
	own := s.Get("out/1.csv")
	must.Need(t, len(own) != 0, "there is no output")
	s.Remove("out/1.csv")
	s.Put("out/1.csv", []byte("url,allowed\nhttps://b.example/,true\n")) // by a run that saw another input, and was killed
	status, _, stderr := runWith(t.Context(), "", "verify", "-merge", s.Name("out/"))
	must.Be(t, status == exitFailed && strings.Contains(stderr, "s3://bucket/out/1.csv is not what was written: run shard 0 again"),
		"verify -merge: status %d\n%s", status, stderr)
	shard()
	mustRun(t, "verify", "-merge", s.Name("out/"))
	got := s.Get("out/1.csv")
	must.Be(t, bytes.Equal(got, own), "the output is %q", got)
}
