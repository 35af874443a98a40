package main

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"

	"robotsbatch/io/store/blob/blobtest"
	"robotsbatch/io/store/compress"
	"robotsbatch/io/store/must"
)

// archiveFiles is the number of WARC files, of 650 records each, of which some are read.
var archiveFiles = flag.Int("warcs", 5, "number of WARC `files` from which single records are read")

// archived is a record in an archive.
type archived struct {
	host, file                  string
	offset, length, day, status int
}

// index is a record as a line of an index in csv.
func (a archived) index() string {
	return fmt.Sprintf("https://%s/robots.txt,%s,%d,,%s,%d,%d\n", a.host, a.time().Format(time.RFC3339), a.status, a.file, a.offset, a.length)
}

func (a archived) time() time.Time { return time.Unix(replayStart+int64(a.day*aDay), 0).UTC() }

const indexHeader = "url,fetch_time,fetch_status,fetch_redirect,warc_filename,warc_record_offset,warc_record_length\n"

// writeArchive writes WARC files with a response and another record for each of many hosts,
// of which every tenth redirects.
func writeArchive(t *testing.T, files int, put func(name string, data []byte)) (all []archived) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	for n := range files {
		var data []byte
		member := func(record []byte) (offset int) {
			offset = len(data)
			data = must.Get(compress.AppendCompressed(data, record, compress.Gzip))(t)
			return offset
		}
		name := fmt.Sprintf("crawl/seg/%d.warc.gz", n)
		for i := range 650 {
			host := n*650 + i
			x := archived{host: fmt.Sprintf("h%d.example", host), file: name, day: host % 20, status: 200}
			fields := []string{x.time().Format(time.RFC3339), "https://" + x.host + "/robots.txt", "200 OK", ""}
			for range 1 + random.IntN(120) {
				fields[3] += fmt.Sprintf(`Disallow: /%x\n`, random.Uint64())
			}
			fields[3] = `User-agent: *\nDisallow: /x\n` + fields[3]
			switch host % 10 {
			case 3:
				x.status, fields[2] = 404, "404 Not Found"
			case 7:
				x.status, fields[2], fields[3] = 301, "301 Moved", fmt.Sprintf("https://h%d.example/robots.txt", host-1)
			}
			x.offset = member(warcRecord(fields))
			x.length = len(data) - x.offset
			member(warcBlock("metadata", "X: y", fields[:2], []byte("fetchTimeMs: 7")))
			all = append(all, x)
		}
		put(name, data)
	}
	return all
}

// TestRecordsOfAnIndex reads records that an index names, from a folder and from a store, and
// compares verdicts with those of the whole files, and what is read with what the records have.
func TestRecordsOfAnIndex(t *testing.T) {
	t.Chdir(t.TempDir())
	store := blobtest.New(t)
	all := writeArchive(t, *archiveFiles, func(name string, data []byte) {
		store.Put(name, data)
		must.WriteFile(t, name, string(data))
	})
	random := rand.New(rand.NewPCG(3, 4))
	var scattered, together []archived
	for start := 0; start < len(all); start += 26 { // with a redirect's target
		at := start + 1 + random.IntN(25)
		if scattered = append(scattered, all[at]); all[at].status == 301 {
			scattered = append(scattered, all[at-1])
		}
	}
	together = all[:len(all)/26]
	base := regexp.MustCompile(`/x\?`).ReplaceAllString(store.Name("x"), "/?")
	for name, chosen := range map[string][]archived{"scattered": scattered, "together": together} {
		urls, wanted := "", 0
		random.Shuffle(len(chosen), func(i, j int) { chosen[i], chosen[j] = chosen[j], chosen[i] })
		index := indexHeader
		for _, x := range chosen {
			urls += "https://" + x.host + "/x\nhttps://" + x.host + "/y\n"
			index += x.index()
			wanted += x.length
		}
		must.WriteFile(t, "urls.txt", urls)
		must.WriteFile(t, "index.csv", index)
		job := []string{"-in", "urls.txt", "-explain", "-with", "robots_status,robots_fetched_at,body_digest", "-rules"}
		started := time.Now()
		want := mustRun(t, append(job, "crawl/seg/*.warc.gz")...)
		whole := time.Since(started)
		got := mustRun(t, append(job, "index.csv", "-warc-base", ".")...)
		must.Need(t, got == want, "%s, of a folder:\n%s\nwant\n%s", name, got, want)
		store.Asked()
		started = time.Now()
		got = mustRun(t, append(job, "index.csv", "-warc-base", base)...)
		single := time.Since(started)
		gets, bytes := store.Asked()
		must.Need(t, got == want, "%s, of a store:\n%s\nwant\n%s", name, got, want)
		t.Logf("%s: %d records of %d in %d files, %d bytes: %d requests, %d bytes, %.1f s; whole files take %.1f s",
			name, len(chosen), len(all), *archiveFiles, wanted, len(gets), bytes, single.Seconds(), whole.Seconds())
		must.Be(t, float64(bytes) <= 1.3*float64(wanted) && (name != "together" || len(gets) <= len(chosen)/5),
			"%s: %d requests for %d bytes, of %d records with %d", name, len(gets), bytes, len(chosen), wanted)
	}
}

// TestIndexesThatAreWrong: a row whose record is another one is counted and named, and its host
// is denied; answers without a record are those of the row. Indexes are CDXJ and Parquet, too, and
// what a row does not say is left to the record.
func TestIndexesThatAreWrong(t *testing.T) {
	t.Chdir(t.TempDir())
	all := writeArchive(t, 1, func(name string, data []byte) {
		must.WriteFile(t, name, string(data))
	})
	index, dashes, cdxj, cdx, urls := indexHeader, indexHeader, "", " CDX b a s S V g\n", ""
	for i, x := range all[:10] {
		index += x.index()
		dashes += strings.Replace(x.index(), x.time().Format(time.RFC3339), "-", 1)
		status := []string{fmt.Sprint(x.status), "-", "200 OK"}[i%3]
		cdxj += fmt.Sprintf(`example,h %s {"url": "https://%s/robots.txt", "status": "%s", "length": "%d", "offset": "%d", "filename": "%s", "mime": {}}`+"\n",
			x.time().Format("20060102150405"), x.host, status, x.length, x.offset, x.file)
		cdx += fmt.Sprintf("%s https://%s/robots.txt - %d %d %s\n", x.time().Format("20060102150405"), x.host, x.length, x.offset, x.file)
		urls += "https://" + x.host + "/x\n"
	}
	must.WriteFile(t, "urls.txt", urls)
	must.WriteFile(t, "index.csv", index)
	must.WriteFile(t, "index.cdxj", cdxj)
	must.WriteFile(t, "index.cdx", cdx)
	must.WriteFile(t, "dashes.csv", dashes)
	must.WriteFile(t, "robots.txt", "")
	job := []string{"-in", "urls.txt", "-explain", "-rules"}
	want := mustRun(t, append(job, "crawl/seg/0.warc.gz")...)
	mustRun(t, "-in", "index.csv", "-rules", "robots.txt", "-for", "a.example", "-out", "index.parquet")
	for _, name := range []string{"index.csv", "index.cdxj", "index.cdx", "dashes.csv", "index.parquet"} {
		must.Equal(t, mustRun(t, append(job, name, "-warc-base", ".")...), want, name)
	}
	must.WriteFile(t, "cut.cdxj", cdxj[:len(cdxj)-30]) // within the object of the last host, after its URL
	status, out, said := runWith(t.Context(), "", append(job, "cut.cdxj", "-warc-base", ".")...)
	must.Be(t, status == exitDone && strings.Contains(out, "https://"+all[9].host+"/x,false,unreachable,") && strings.Contains(said, "cut.cdxj: line 10 taken as a fetch without an answer: it is not a JSON object"),
		"status %d, %s\n%s", status, out, said)

	change := func(host int, old, changed string) { // of the row of a host
		row := all[host].index()
		must.Need(t, strings.Contains(row, old), "%q is not in %s", old, row)
		index = strings.Replace(index, row, strings.Replace(row, old, changed, 1), 1)
	}
	change(0, fmt.Sprintf(",%d\n", all[0].length), fmt.Sprintf(",%d\n", all[0].length-9))
	change(1, fmt.Sprintf(",%d,%d\n", all[1].offset, all[1].length), fmt.Sprintf(",%d,%d\n", all[2].offset, all[2].length))
	change(2, all[2].time().Format(time.RFC3339), all[3].time().Format(time.RFC3339))
	change(3, fmt.Sprintf("%s,%d,%d", all[3].file, all[3].offset, all[3].length), ",,")
	change(4, fmt.Sprintf(",%d,", all[4].offset), ",99999999999,")
	change(5, fmt.Sprintf(",%d,", all[5].offset), ",,")
	change(6, ",200,", ",404,")
	change(7, fmt.Sprintf(",301,,%s,%d,%d", all[7].file, all[7].offset, all[7].length), ",301,https://h8.example/robots.txt,,,")
	must.WriteFile(t, "wrong.csv", index)
	status, out, said = runWith(t.Context(), "", append(job, "wrong.csv", "-warc-base", ".")...)
	var reasons []string
	for _, row := range tableOf(t, []byte(out)) {
		reasons = append(reasons, row["reason"])
	}
	wrong := []string{"unreachable", "unreachable", "unreachable", "unavailable", "unreachable", "unreachable", "unreachable", "disallow_rule", "disallow_rule", "disallow_rule"}
	must.Be(t, status == exitDone && slices.Equal(reasons, wrong), "%q\nwant %q", reasons, wrong)
	for _, text := range []string{
		`offset 0: record of "https://h0.example/robots.txt" taken as a fetch without an answer`, `the record is not the one of "https://h1.example/robots.txt"`,
		`and not at 2026-01-04T00:00:00Z`, "the file ends before it", "row 5 taken as a fetch without an answer: it names a WARC file, but not both the offset",
		`"https://h6.example/robots.txt", which is taken as a fetch without an answer: its status is 200, and not 404`, "6 broken",
	} {
		must.Be(t, strings.Contains(said, text), "it is not said that %s:\n%s", text, said)
	}
	for file, text := range map[string]string{"": "-warc-base", "../a.warc": "is no name of a file below", "b.warc": "no such file"} {
		flags := append(job, "missing.csv", "-warc-base", ".")
		if file == "" {
			flags, file = flags[:len(flags)-2], "crawl/seg/0.warc.gz"
		}
		must.WriteFile(t, "missing.csv", indexHeader+strings.Replace(all[0].index(), all[0].file, file, 1))
		status, _, said := runWith(t.Context(), "", flags...)
		must.Be(t, status != exitDone && strings.Contains(said, text), "%s: status %d, %s", file, status, said)
	}
}

// TestResumeWithAnIndex: outputs are kept while the WARC files that an index names are those of
// the run before, and made again when one was replaced.
func TestResumeWithAnIndex(t *testing.T) {
	t.Chdir(t.TempDir())
	store := blobtest.New(t)
	all := writeArchive(t, 3, func(name string, data []byte) {
		store.Put(name, data)
		must.WriteFile(t, name, string(data))
	})
	index, urls := indexHeader, ""
	for _, x := range []archived{all[0], all[700], all[701], all[1300]} {
		index += x.index()
		urls += "https://" + x.host + "/x\n"
	}
	must.WriteFile(t, "urls.txt", urls)
	must.WriteFile(t, "index.csv", index)
	base := regexp.MustCompile(`/x\?`).ReplaceAllString(store.Name("x"), "/?")
	for n, base := range []string{".", base} {
		job := []string{"-in", "urls.txt", "-rules", "index.csv", "-warc-base", base, "-out", "out/", "-resume"}
		for _, want := range []string{"first run|changed since", "1 of 1 output done already", "the rules in index.csv have changed since the last run", "1 of 1 output done already"} {
			if strings.HasPrefix(want, "the rules") {
				time.Sleep(10 * time.Millisecond) // for another time
				store.Put(all[700].file, append(readFile(t, all[700].file), make([]byte, n+1)...))
				must.WriteFile(t, all[700].file, string(readFile(t, all[700].file)))
			}
			status, _, said := runWith(t.Context(), "", job...)
			must.Be(t, status == exitDone && regexp.MustCompile(want).MatchString(said), "%s: status %d, want %s:\n%s", base, status, want, said)
		}
	}
}

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
	must.WriteFile(t, "0.warc.gz", string(files[0]))
	must.WriteFile(t, "1.warc.gz", string(files[1]))
	for i := range rows {
		urls += fmt.Sprintf("https://h%d.example/%d/%d,%d\n", i%hosts, i%5, i, replayStart+int64(i%4*aDay))
	}
	must.WriteFile(t, "rows.csv", urls+"https://h0.example/free,"+fmt.Sprint(replayStart)+"\n")

	written := func(file string, args ...string) []byte {
		mustRun(t, append(args, "-out", file)...)
		return readFile(t, file)
	}
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
		must.Need(t, row["authority"]+"/robots.txt" == row["robots_url"] && kept[[3]string{row["robots_url"], row["robots_fetched_at"], row["body_digest"]}] == 1,
			"the pack has no such fetch, or several: %v", row)
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
	lines := strings.Split(body, "\n")
	must.Need(t, err == nil && text != "" && lines[number-1] == text, "line %s is not %q: %v\n%s", line, text, row, body)
}
