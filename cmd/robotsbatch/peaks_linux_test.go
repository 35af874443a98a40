//go:build !race

package main

import (
	"bufio"
	"context"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"robotsbatch/io/store/must"
)

func init() { programs["robotsbatch-peak"] = peakOf }

// peakOf is robotsbatch that writes the most memory that it had, in KiB, to the file that
// the environment names. The system counts the parent's memory for a child as well.
func peakOf() {
	status := run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	data, err := os.ReadFile("/proc/self/status")
	if err == nil {
		_, rest, _ := strings.Cut(string(data), "VmHWM:")
		size, _, _ := strings.Cut(rest, "kB")
		err = os.WriteFile(os.Getenv("PEAK_FILE"), []byte(strings.TrimSpace(size)), 0o666)
	}
	if err != nil {
		panic(err)
	}
	os.Exit(status)
}

// peakMemory is the -memory of TestPeaks, and peakOver how much more the process may have
// with itself, as the manual's page on memory explains.
const peakMemory, peakOver = 64 << 20, 60 << 20

// peakFolders is the number of folders of which TestPeaks denies one a job.
const peakFolders = 4

var allPeaks = flag.Bool("peaks", false, "measure the peak of every pair of formats, not of a sixth")

// Documents of 24 KB, more of them than the memory has room for, go from every format to
// every format, filtered or decoded, and the process stays within -memory and what the
// program itself takes. A job's output is the input of the next in this format, which
// leaves out rows of another folder.
func TestPeaks(t *testing.T) {
	if testing.Short() {
		t.Skip("it filters some gigabytes")
	}
	workplace(t)
	rules := ""
	for i := range peakFolders {
		rules += fmt.Sprintf("User-agent: bot%c\nDisallow: /private%d\n", 'a'+i, i)
	}
	writeFile(t, "rules/example.com", rules)
	writeDocuments(t, "in.csv", peakMemory+peakOver+20<<20)
	// A row group of more than the memory has: with a limit it would have fewer rows.
	peakMemoryOf(t, math.MaxInt32, "-in", "in.csv", "-columns", "all", "-out", "in.parquet", "-batch-rows", "1000000", "-rules", "rules", "-agent", "bota")
	formats := []string{"parquet", "csv.zst", "arrow", "jsonl.zst", "csv", "jsonl"}
	for i, from := range formats {
		for j, to := range formats {
			if j != (i+1)%len(formats) && !*allPeaks && (from != "parquet" || to != "parquet") {
				continue
			}
			jobs := [][]string{{"-emit", "allowed"}}
			if from == "parquet" && to == "parquet" {
				jobs = append(jobs, []string{"-compression", "zstd"})
			}
			for _, job := range jobs {
				name := "out." + to
				if strings.HasPrefix(from, "jsonl") && !strings.HasPrefix(to, "jsonl") {
					job = append(job, "-columns", "url") // other formats have no place for other keys
				} else if j == i+1 {
					name = "in." + to
				}
				got := peakMemoryOf(t, peakMemory, append(job, "-prefix", fmt.Sprintf("r%d_", i), "-in", "in."+from, "-out", name, "-rules", "rules", "-agent", fmt.Sprintf("bot%c", 'a'+i%peakFolders))...)
				t.Logf("%s to %s %v: %d MiB", from, to, job, got>>20)
				must.Be(t, got <= peakMemory+peakOver, "%s to %s, %v: a peak of %d MiB with -memory %d MiB", from, to, job, got>>20, peakMemory>>20)
			}
		}
	}
}

// peakMemoryOf returns the peak of a job with so much -memory, in bytes.
func peakMemoryOf(t *testing.T, memory int, args ...string) int {
	t.Helper()
	cmd, file := peakCommand(t, memory, args...)
	out, err := cmd.CombinedOutput()
	must.Need(t, err == nil, "%v: %v: %s", args, err, out)
	return readPeak(t, file)
}

// peakCommand is a job with so much -memory that writes its peak to a file.
func peakCommand(t *testing.T, memory int, args ...string) (cmd *exec.Cmd, file string) {
	cmd = exec.Command("robotsbatch-peak", append(args, "-quiet", "-memory", fmt.Sprintf("%dMiB", memory>>20))...)
	file = filepath.Join(t.TempDir(), "peak")
	cmd.Env = append(os.Environ(), "PEAK_FILE="+file)
	return cmd, file
}

// readPeak returns the peak that a job wrote to a file, in bytes.
func readPeak(t *testing.T, file string) int {
	t.Helper()
	data := must.Get(os.ReadFile(file))(t)
	var kib int
	must.Get(fmt.Sscan(string(data), &kib))(t)
	return kib << 10
}

// Half a million captures of one host, with a thousand bodies in turns, stay within -memory.
func TestPeakOfOneHost(t *testing.T) {
	if testing.Short() {
		t.Skip("it reads half a million captures")
	}
	t.Chdir(t.TempDir())
	f := must.Get(os.Create("captures.jsonl"))(t)
	w := bufio.NewWriter(f)
	for i := range 500_000 {
		fmt.Fprintf(w, `{"url":"http://a.test/robots.txt","body":"User-agent: *\nDisallow: /d%d\n","status":200,"fetched_at":%d}`+"\n", i%1000, 1_400_000_000+60*i)
	}
	must.Do(t, errors.Join(w.Flush(), f.Close()))
	writeText(t, "in.csv", "url,t\nhttp://a.test/d1,1400000000\n")
	const memory = 64 << 20
	got := peakMemoryOf(t, memory, "-in", "in.csv", "-rules", "captures.jsonl", "-as-of", "column:t", "-out", "out.csv")
	t.Logf("%d MiB", got>>20)
	must.Be(t, got <= memory+peakOver/2, "a peak of %d MiB with -memory %d MiB", got>>20, memory>>20)
}

// writeDocuments writes a csv with URLs and documents; the documents have size bytes in all. Each
// of peakFolders has one URL in 25. A document is noise twice: it compresses to half, and with
// half the work that words take.
func writeDocuments(t *testing.T, name string, size int) {
	t.Helper()
	f := must.Get(os.Create(name))(t)
	w := bufio.NewWriter(f)
	rng, noise := rand.NewChaCha8([32]byte{1}), make([]byte, 9000)
	fmt.Fprintln(w, "url,text")
	for i := 0; i*24_000 < size; i++ {
		folder := "news"
		if n := rng.Uint64() % 25; n < peakFolders {
			folder = fmt.Sprintf("private%d", n)
		}
		_, _ = rng.Read(noise)
		text := base64.StdEncoding.EncodeToString(noise)
		fmt.Fprintf(w, "https://example.com/%s/%d,%s%s\n", folder, i, text, text)
	}
	must.Do(t, w.Flush())
	must.Do(t, f.Close())
}
