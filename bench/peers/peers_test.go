package main

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// TestMain lets the test's own program stand in for runners: each says its
// verdicts by an argument.
func TestMain(m *testing.M) {
	if len(os.Args) == 8 && os.Args[1] == "fake" {
		if err := fake(os.Args[2], os.Args[6], os.Args[7]); err != nil {
			fmt.Fprintln(os.Stderr, "noise\nfake:", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func fake(verdicts, out, passes string) error {
	if verdicts == "crash" {
		return errors.New("as asked")
	}
	if verdicts == "fickle" {
		n, _ := strconv.Atoi(passes)
		verdicts = strings.Repeat(strconv.Itoa(n&1), 3)
	}
	octets := []byte(verdicts)
	for i := range octets {
		octets[i] -= '0'
	}
	fmt.Printf(`{"name":"x","version":"1","urls":%d,"passes":%s,"cpu_ns_per_url":1e6,"wall_ns_per_url":2e6,"parse_ms":3}`+"\n", len(octets), passes)
	return os.WriteFile(out, octets, 0o666)
}

func TestRun(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, []byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
		return name
	}
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	list := encoder.EncodeAll([]byte("http://h.example/a\nhttp://h.example/%61\nhttp://h.example/b\nhttp://other.example/\n"), nil)
	self := os.Args[0] + "\tfake"
	o := options{
		urls:  write("urls.zst", string(list)),
		rules: filepath.Dir(write("rules/h.example", "User-agent: *\nDisallow: /a\n")),
		agent: "CCBot", count: 2, data: "URLs", commit: "c0ffee", record: filepath.Join(dir, "record"),
		runners: write("runners", "ours\tGo 1\t"+self+"\t001\nraw\tRust 2\t"+self+"\t011\nshort\tC\t"+self+"\t01\n"+
			"crash\tC\t"+self+"\tcrash\nfickle\tC\t"+self+"\tfickle\nabsent\tJava\t\tjavac is not installed\n"),
	}
	if err := run(o); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(o.record, "peers-*.md"))
	if err != nil || len(files) != 1 {
		t.Fatalf("records %q, error %v", files, err)
	}
	page, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"4 URLs, 3 of them in ASCII on hosts with a robots.txt, 1 robots.txt files (1 needed); agent CCBot; medians of 2 rounds.",
		"commit c0ffee",
		"| ours | 1 | Go 1 | 1,000,000 | 1.0 | – | 3.0 |",
		"| raw | 1 | Rust 2 | 1,000,000 | 1.0 | 66.667 % | 3.0 |",
		"| short | | C | not measured: measured 2 URLs of 3, 2 verdicts",
		"not measured: exit status 1: fake: as asked",
		"| fickle | | C | not measured: other verdicts than in the run before |",
		"| absent | | Java | not measured: javac is not installed |",
		"| raw | " + encoding + " | 1 | `http://h.example/%61 (Disallow: /a)` |",
	} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the record has no %q:\n%s", want, page)
		}
	}
	lines, err := os.ReadFile(strings.TrimSuffix(files[0], "md") + "jsonl")
	if err != nil || strings.Count(string(lines), "\n") != 4 {
		t.Errorf("%d lines, want two rounds of two runners (error %v)", strings.Count(string(lines), "\n"), err)
	}
	svg, err := os.ReadFile(filepath.Join(o.record, "peers.svg"))
	if err != nil {
		t.Fatal(err)
	}
	decoder := xml.NewDecoder(strings.NewReader(string(svg)))
	for err == nil {
		_, err = decoder.Token()
	}
	if err != io.EOF {
		t.Errorf("peers.svg: %v", err)
	}
}

func TestRunChecksOurs(t *testing.T) {
	j := newJudge(t.TempDir(), "CCBot")
	if err := os.WriteFile(filepath.Join(j.rules, "h"), []byte("User-agent: *\nDisallow: /"), 0o666); err != nil {
		t.Fatal(err)
	}
	rows := []row{{"h", "http://h/a", "/a"}}
	if err := j.check(rows, []byte{0}); err != nil {
		t.Error(err)
	}
	if err := j.check(rows, []byte{1}); err == nil {
		t.Error("a wrong verdict went unnoticed")
	}
}

func TestNumbers(t *testing.T) {
	for x, want := range map[float64]string{0.04: "0.0", 1.96: "2.0", 9.94: "9.9", 9.96: "10", 12.5: "13", 4321.4: "4,321", 1e6: "1,000,000"} {
		if got := number(x); got != want {
			t.Errorf("number(%v) = %q, want %q", x, got, want)
		}
	}
	if got := share(999_999, 1_000_000); got != "99.999 %" {
		t.Errorf("share %q", got)
	}
	r := runner{results: []result{{CPU: 5}, {CPU: 1}, {CPU: 2}, {CPU: 3}}}
	if got := r.median(cpu); got != 2.5 {
		t.Errorf("median %v, want 2.5", got)
	}
}
