package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"robotsbatch/io/store/budget"
	"robotsbatch/io/store/must"
)

// Whatever memory is refused to a batch, no output is left, a message names the input or what is
// written, and says that more memory helps, the status is that of a failure, and -resume makes what is
// missing. There is another number of requests in each run, because some depend on what is under way.
func TestEveryReserveFails(t *testing.T) {
	defer func() { budget.Fault = nil }()
	t.Chdir(t.TempDir())
	for _, folder := range []string{"rules", "in"} {
		must.Do(t, os.Mkdir(folder, 0o777))
	}
	// The second is large enough for its compiling to count.
	must.WriteFile(t, "rules/a.example", "User-agent: *\nDisallow: /1\n")
	must.WriteFile(t, "rules/b.example", "User-agent: *\n"+strings.Repeat("Disallow: /0\n", 300))
	text := "url,text,n\n"
	for i := range 60 {
		text += fmt.Sprintf("http://%c.example/%d,%s,%d\n", 'a'+i/30, i%2, strings.Repeat("text ", i), i)
	}
	must.WriteFile(t, "list.csv", text)
	endings := []string{"csv", "jsonl.zst", "arrow", "arrows", "parquet"}
	for _, ending := range endings {
		mustRun(t, "-in", "list.csv", "-rules", "rules", "-prefix", "made_", "-columns", "all", "-batch-rows", "20", "-out", "in."+ending, "-quiet")
	}
	stream := string(readFile(t, "in.arrows"))
	const end = "\xff\xff\xff\xff\x00\x00\x00\x00" // of an Arrow stream
	// only has one run whose at-th request is refused, and returns the number of requests, and
	// whether a pipe's answer has its end.
	only := func(at int64, args []string) (requests int64, status int, ended bool, said string) {
		var made atomic.Int64
		budget.Fault = func() error {
			if made.Add(1) == at {
				return &budget.MemoryError{What: "what is refused", Need: 2, Limit: 1}
			}
			return nil
		}
		status, answer, said := runWith(t.Context(), stream, args...)
		budget.Fault = nil
		return made.Load(), status, strings.HasSuffix(answer, end), said
	}
	var jobs [][]string
	for i, in := range endings {
		for k, out := range endings {
			if in == "jsonl.zst" && out != in {
				continue // others have no place for its keys
			}
			job := []string{"-in", "in." + in, "-rules", "rules", "-out", "out/x." + out, "-batch-rows", "16", "-workers", fmt.Sprint(1 + (i+k)%3), "-quiet", "-resume"}
			// Reading and writing ask for memory together only between formats of one kind.
			alike := in != "csv" && out[:3] == in[:3]
			if alike || in == "csv" || (i+k)%2 == 0 {
				jobs = append(jobs, job)
			}
			if alike || in != "csv" && (i+k)%2 == 1 {
				jobs = append(jobs, append(slices.Clone(job), "-emit", "denied"))
			}
		}
		jobs = append(jobs, []string{"hosts", "-in", "in." + in, "-out", "out/x.parquet", "-quiet"})
	}
	mustRun(t, "compile", "-rules", "rules", "-out", "b.rules", "-quiet")
	must.WriteFile(t, "captures.jsonl", `{"url":"http://b.example/robots.txt","body":"`+strings.Repeat(`Disallow: /0\n`, 300)+`"}`+"\n")
	jobs = append(jobs, []string{"-in", "in.csv", "-rules", "captures.jsonl", "-out", "out/x.csv", "-quiet"},
		[]string{"pipe", "-rules", "rules"}, []string{"export", "-table", "rules", "-rules", "rules", "-out", "out/x.arrow", "-quiet"},
		[]string{"survey", "-agent", "x", "-rules", "rules", "-out", "out/x.parquet", "-quiet"},
		[]string{"diff", "rules", "b.rules", "-in", "in.csv", "-out", "out/x.csv", "-quiet"},
		[]string{"diff", "rules", "b.rules", "-out", "out/x.csv", "-quiet"},
		[]string{"compile", "-rules", "rules", "-out", "out/x.rules", "-quiet"})
	for i, args := range jobs {
		if testing.Short() && i%9 != 0 {
			continue
		}
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			refused := 0
			for at := int64(1); ; at++ {
				must.Do(t, os.RemoveAll("out"))
				must.Do(t, os.Mkdir("out", 0o777))
				requests, status, ended, said := only(at, args)
				left, _ := filepath.Glob("out/*")
				if status == exitDone {
					must.Need(t, len(left) != 0 || ended, "it passes and writes nothing")
					if requests < at {
						t.Logf("%d of %d requests failed the job", refused, requests)
						return
					}
					continue // who asked does without
				}
				refused++
				left = slices.DeleteFunc(left, func(name string) bool { return strings.HasSuffix(name, ".manifest.jsonl") })
				must.Need(t, refused <= 1000, "it never passes")
				if status != exitFailed || len(left) > 0 || ended || !strings.Contains(said, "what is refused takes 2 bytes") || !strings.Contains(said, ": use -memory ") ||
					!strings.Contains(said, "in.") && !strings.Contains(said, "x.") && !strings.Contains(said, ": batch ") && !strings.Contains(said, " rules: ") && !strings.Contains(said, " captures.jsonl: ") {
					t.Errorf("request %d: status %d, %q is left: %s", at, status, left, said)
				}
				if slices.Contains(args, "-resume") {
					_, status, _, said := only(0, args)
					must.Be(t, status == exitDone, "request %d, then again: status %d: %s", at, status, said)
				}
			}
		})
	}
}
