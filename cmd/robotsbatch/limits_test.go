package main

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"robotsbatch/cmd/robotsbatch/internal/config"
	"robotsbatch/io/store/must"
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
		status, _, said := runWith(t.Context(), "", args...)
		must.Equal(t, status, want, args, "exit status", said)
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
	written, most := int64(config.DefaultRows*row), c.BatchMemory()
	must.Be(t, written <= most*4/5, "%d bytes of sitemaps in a batch, of %d that may be written", written, most)
}

// With many processors the default of -memory grows, and batches become smaller, so that all
// workers have two batches each in the quarter of the memory in which batches begin. What was
// asked for stays.
func TestMemoryOfManyWorkers(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(64))
	for _, test := range []struct {
		workers int
		asked   string
		memory  int64
	}{{0, "", 4 << 30}, {8, "", 512 << 20}, {100, "", 4 << 30}, {0, "1GiB", 1 << 30}, {0, "512MiB", 512 << 20}, {2, "", 512 << 20}} {
		c := config.NewRunning()
		c.Workers = test.workers
		for _, f := range c.Flags() {
			if set, ok := f.Value.(func(string) error); ok && f.Name == "memory" && test.asked != "" {
				must.Do(t, set(test.asked))
			}
		}
		c.SetWork()
		must.Equal(t, c.Memory, test.memory, test.workers, "workers, -memory", test.asked, "bytes")
		batches := 2 * c.PieceMemory() * 2 * int64(c.Workers)
		must.Be(t, c.Workers <= 2 || c.PieceMemory() <= 512<<10 || batches <= c.FlightMemory()/4,
			"%d workers, -memory %q: two batches each are %d bytes, of %d", test.workers, test.asked, batches, c.FlightMemory()/4)
	}
}

// A robots.txt that takes more memory to compile than -memory has for it is refused, in a folder
// and in a rule pack, with the -memory that would do, and that does.
func TestBodyBeyondMemory(t *testing.T) {
	t.Chdir(t.TempDir())
	must.Do(t, os.Mkdir("rules", 0o777))
	must.WriteFile(t, "rules/a.example", "User-agent: *\nDisallow: /a\n"+strings.Repeat("Allow: /b\n", 120_000))
	must.WriteFile(t, "urls.txt", "https://a.example/a\n")
	limit := []string{"-robots-limit", "2MiB"}
	status, text := try(t, []string{"compile", "-rules", "rules", "-out", "a.rules"}, limit)
	must.Need(t, status == exitDone, "%v", text)
	enough := regexp.MustCompile(`a\.(?:example|rules).*: compiling a robots.txt of 12\d+ bytes takes \d+ bytes of memory.*-robots-limit.*: use -memory (\d+MiB)\n`)
	for _, args := range [][]string{{"-in", "urls.txt", "-rules", "rules"}, {"-in", "urls.txt", "-rules", "a.rules"}, {"export", "-table", "rules", "-rules", "a.rules", "-out", "x.csv"}} {
		status, text := try(t, args, append(limit, "-memory", "64MiB"))
		found := enough.FindStringSubmatch(text)
		if status == exitDone || found == nil {
			t.Errorf("%q: exit status %d: %s", args, status, text)
			continue
		}
		status, text = try(t, args, append(limit, "-memory", found[1]))
		must.Be(t, status == exitDone, "%q with -memory %s: exit status %d: %s", args, found[1], status, text)
	}
}

// try runs the program and returns its exit status and what it says.
func try(t *testing.T, args, more []string) (int, string) {
	status, out, said := runWith(t.Context(), "", append(args[:len(args):len(args)], more...)...)
	return status, out + said
}
