package main

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"

	"robotsbatch/io/store/compress"
	"robotsbatch/io/store/must"
)

// TestTrailToTheRecord follows rows that were left out back to the bytes of the WARC record
// that decides: its digests, the line and its text. The fetches of a rule pack with a history
// are those.
func TestTrailToTheRecord(t *testing.T) {
	t.Chdir(t.TempDir())
	const hosts, rows = 50, 1000
	var files [2][]byte
	urls := "url,when\n"
	for i := range hosts * 3 {
		host, day := i%hosts, i/hosts
		body := fmt.Sprintf("# %d\nUser-agent: *\nDisallow: /%d/\nContent-Usage: train-ai=n\nContent-Usage: /free train-ai=y\n", i%7, day)
		head, content := "HTTP/1.1 200 OK\r\n\r\n", body
		if host%10 == 9 {
			head, content = fmt.Sprintf("HTTP/1.1 301 Moved\r\nLocation: https://h%d.example/robots.txt\r\n\r\n", host-1), ""
		}
		sum := sha1.Sum([]byte(content))
		at := time.Unix(replayStart+int64(day*aDay), 0).UTC().Format(time.RFC3339)
		record := warcBlock("response", "WARC-Payload-Digest: sha1:"+base32.StdEncoding.EncodeToString(sum[:]),
			[]string{at, fmt.Sprintf("https://h%d.example/robots.txt", host)}, []byte(head+content))
		files[i%2] = must.Get(compress.AppendCompressed(files[i%2], record, compress.Gzip))(t)
	}
	writeText(t, "0.warc.gz", string(files[0]))
	writeText(t, "1.warc.gz", string(files[1]))
	for i := range rows {
		urls += fmt.Sprintf("https://h%d.example/%d/%d,%d\n", i%hosts, i%5, i, replayStart+int64(i%4*aDay))
	}
	writeText(t, "rows.csv", urls+"https://h0.example/free,"+fmt.Sprint(replayStart)+"\n")

	written := func(file string, args ...string) []byte { return runOf(t, file, append(args, "-out", file)...) }
	job := []string{"-in", "rows.csv", "-rules", "*.warc.gz", "-as-of", "column:when", "-use", "train-ai", "-explain", "-with", "authority,robots_url,robots_status,robots_fetched_at,body_digest"}
	permitted := tableOf(t, written("permitted.csv", append(job, "-emit", "permitted")...))
	left := tableOf(t, written("left.csv", append(job, "-emit", "unpermitted")...))
	must.Need(t, len(permitted) == 1 && len(left) == rows, "%d rows are permitted, and %d are not", len(permitted), len(left))
	found := tableOf(t, written("captures.csv", "export", "-rules", "*.warc.gz", "-table", "captures"))
	written("all.rules", "compile", "-rules", "*.warc.gz", "-history")
	kept := make(map[[3]string]int)
	for _, x := range tableOf(t, written("kept.csv", "export", "-rules", "all.rules", "-table", "captures")) {
		kept[[3]string{x["url"], x["fetched_at"], x["body_digest"]}]++
	}
	for _, row := range left {
		if row["authority"]+"/robots.txt" != row["robots_url"] || kept[[3]string{row["robots_url"], row["robots_fetched_at"], row["body_digest"]}] != 1 {
			t.Fatalf("the pack has no such fetch, or several: %v", row)
		}
		n := slices.IndexFunc(found, func(x map[string]string) bool {
			if row["robots_status"] == "301" { // the target's body
				return x["body_digest"] == row["body_digest"]
			}
			return x["url"] == row["robots_url"] && x["fetched_at"] == row["robots_fetched_at"]
		})
		checkTrail(t, row, found[n])
	}
}

// checkTrail compares a row with the record of a capture.
func checkTrail(t *testing.T, row, x map[string]string) {
	t.Helper()
	offset := must.Get(strconv.Atoi(x["record_offset"]))(t)
	member := must.Get(gzip.NewReader(bytes.NewReader(readFile(t, x["source"])[offset:])))(t)
	member.Multistream(false)
	record := must.Get(io.ReadAll(member))(t)
	head, _, _ := strings.Cut(string(record), "\r\n\r\n")
	body := string(record)[strings.LastIndex(strings.TrimSpace(string(record)), "\r\n\r\n")+4:]
	body = strings.TrimSuffix(body, "\r\n\r\n")
	counted, payload := sha256.Sum256([]byte(body)), sha1.Sum([]byte(body))
	if row["body_digest"] != hex.EncodeToString(counted[:]) || x["payload_digest"] != "sha1:"+base32.StdEncoding.EncodeToString(payload[:]) ||
		!strings.Contains(head, "WARC-Payload-Digest: "+x["payload_digest"]+"\r\n") {
		t.Fatalf("%v\n%v\n%s", row, x, record)
	}
	line, text := row["rule_line"], row["rule"]
	if row["allowed"] == "true" {
		line, text = row["use_train_ai_line"], row["use_train_ai_text"]
	}
	number, err := strconv.Atoi(line)
	if lines := strings.Split(body, "\n"); err != nil || text == "" || lines[number-1] != text {
		t.Fatalf("line %s is not %q: %v\n%s", line, text, row, body)
	}
}
