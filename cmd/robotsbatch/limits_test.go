package main

import (
	"bytes"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"robotsbatch/cmd/robotsbatch/internal/config"
	"robotsbatch/matcher"
)

// A job whose heap is held to -memory by the garbage collector itself leaves no
// goroutine behind, whatever the formats, also when it fails; CI runs this with
// the race detector, too.
func TestJobUnderMemoryLimit(t *testing.T) {
	const memory = "64MiB"
	t.Setenv("GOMEMLIMIT", memory) // so that the job leaves the limit as it is
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(64 << 20))
	ignore := goleak.IgnoreCurrent()
	sample := filepath.FromSlash("../../bench/corpus/sample")
	folder := t.TempDir()
	pack := filepath.Join(folder, "site.rules")
	job := func(want int, args ...string) {
		t.Helper()
		var stderr bytes.Buffer
		if got := run(t.Context(), args, strings.NewReader(""), new(bytes.Buffer), &stderr); got != want {
			t.Fatalf("%v: exit status %d: %s", args, got, &stderr)
		}
	}
	job(exitDone, "compile", "-rules", filepath.Join(sample, "rules"), "-out", pack, "-memory", memory)
	frontier := filepath.Join(sample, "frontier.arrow")
	for _, rules := range []string{filepath.Join(sample, "rules"), pack} {
		in := frontier
		for i, ending := range []string{"parquet", "arrows", "csv.zst", "tsv.gz", "jsonl.gz", "arrow"} {
			out := filepath.Join(folder, "out."+ending)
			args := []string{"-in", in, "-rules", rules, "-agent", "CCBot", "-agent", "GPTBot", "-explain", "-memory", memory, "-workers", "4", "-batch-rows", "100", "-quiet", "-out", out}
			if i > 0 {
				args = append(args, "-columns", "url")
			}
			job(exitDone, args...)
			in = out
		}
	}
	list := filepath.Join(sample, "frontier.txt.zst")
	job(exitDone, "-in", list, "-rules", pack, "-emit", "allowed", "-memory", memory, "-batch-rows", "100", "-quiet", "-out", filepath.Join(folder, "out.txt.gz"))
	job(exitFailed, "-in", frontier, "-in", list, "-rules", pack, "-memory", memory, "-out", filepath.Join(folder, "never.csv"))
	goleak.VerifyNone(t, ignore)
}

// A robots.txt with as many sitemaps as are kept must not end a job that asks for
// nothing special, also when all rows of a batch come under it: the list as jsonl
// has it leaves a fifth of what a batch may be written as.
func TestSitemapsFitTheMemory(t *testing.T) {
	c := config.NewRunning()
	const row = matcher.MaxSitemapBytes + matcher.MaxSitemaps*len(`"",`)
	if written, most := int64(config.DefaultRows*row), c.BatchMemory(); written > most*4/5 {
		t.Errorf("%d bytes of sitemaps in a batch, of %d that may be written", written, most)
	}
}
