package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/io/store/must"
)

// firstLines are a header and n lines of csv.
func firstLines(csv string, n int) string {
	lines := strings.SplitAfter(csv, "\n")
	return strings.Join(lines[:min(n+1, len(lines))], "")
}

// TestLimit: the rows of -limit are the first of the job without it, in each format and
// through each way of writing it, and the summary is that of a list of these rows alone.
func TestLimit(t *testing.T) {
	rules := must.Get(filepath.Abs(filepath.Join(sample, "rules")))(t)
	frontier := must.Get(filepath.Abs(filepath.Join(sample, "frontier.arrow")))(t)
	t.Chdir(t.TempDir())
	job := func(in, out string, flags ...string) string {
		return mustRun(t, append([]string{"-in", in, "-rules", rules, "-agent", "CCBot", "-agent", "GPTBot", "-explain", "-with", "crawl_delay", "-batch-rows", "70", "-out", out}, flags...)...)
	}
	asCSV := func(table string) string {
		if filepath.Ext(table) == ".jsonl" {
			return "\n" + string(readFile(t, table))
		}
		return mustRun(t, "-in", table, "-rules", rules, "-prefix", "x_", "-out", "-", "-out-format", "csv", "-quiet")
	}
	for _, in := range []string{"in.arrow", "in.arrows", "in.parquet", "in.csv", "in.jsonl"} {
		mustRun(t, "-in", frontier, "-rules", rules, "-prefix", "before_", "-columns", "all", "-batch-rows", "300", "-out", in)
	}
	all := asCSV("in.arrow")
	few := make(map[int]map[string]any) // the summaries of lists of the first rows alone
	for _, n := range []int{1, 70, 283, 300, 1 << 30} {
		must.WriteFile(t, "few.csv", firstLines(all, n))
		mustRun(t, "-in", "few.csv", "-rules", rules, "-agent", "CCBot", "-agent", "GPTBot", "-out", "few.out.csv", "-summary-json", "s.json")
		if few[n] = summaryOf(t, "s.json"); n < 1<<30 {
			few[n]["limit"] = float64(n)
		}
	}
	for i, in := range []string{"in.arrow", "in.arrows", "in.parquet", "in.csv", "in.jsonl"} {
		for k, ending := range []string{"arrow", "arrows", "parquet", "csv", "jsonl"} {
			out := "out." + ending
			if in == "in.jsonl" && ending != "jsonl" || testing.Short() && i != k && k != (i+1)%4 { // the former has no place for its keys
				continue
			}
			job(in, out)
			whole := asCSV(out)
			for _, n := range []int{1, 70, 283, 300, 1 << 30} {
				if testing.Short() && n != 283 && n != 300 && (ending != "parquet" || in != "in.parquet") {
					continue
				}
				job(in, out, "-limit", strconv.Itoa(n), "-summary-json", "s.json")
				got, want := asCSV(out), firstLines(whole, n)
				must.Need(t, got == want, "%s to %s, %d rows:\n%.2000s\nwant\n%.2000s", in, out, n, got, want)
				limited := summaryOf(t, "s.json")
				for _, key := range []string{"inputs", "outputs", "seconds", "urls_per_second", "started_at", "finished_at", "notes", "rules_html"} {
					delete(limited, key)
					delete(few[n], key)
				}
				must.Equal(t, asJSON(t, limited), asJSON(t, few[n]), in, "to", out, n, "rows: summary")
			}
			job(in, out, "-emit", "denied")
			denied := asCSV(out)
			job(in, out, "-emit", "denied", "-limit", "283")
			got := asCSV(out)
			must.Be(t, len(got) > len(firstLines(got, 0)) && strings.HasPrefix(denied, got) && len(got) < len(denied), "%s to %s, those denied:\n%.2000s\nof\n%.2000s", in, out, got, denied)
		}
	}
}

func summaryOf(t *testing.T, name string) (summary map[string]any) {
	t.Helper()
	must.Do(t, json.Unmarshal(readFile(t, name), &summary))
	return summary
}

func asJSON(t *testing.T, x any) string {
	t.Helper()
	text := must.Get(json.MarshalIndent(x, "", " "))(t)
	return string(text)
}

// TestLimitOfSeveral: the rows of all inputs count, in one output or in many; outputs after the
// limit are not written, an input after it need not be readable, and no manifest is left.
func TestLimitOfSeveral(t *testing.T) {
	t.Chdir(t.TempDir())
	must.Do(t, os.Mkdir("in", 0o777))
	must.WriteFile(t, "robots.txt", "User-agent: *\nDisallow: /x\n")
	for name, urls := range map[string]string{"1": "https://a.example/\nhttps://a.example/x\n\n", "2": "https://a.example/x2\nhttps://a.example/y\n", "3": "https://a.example/z\n"} {
		must.WriteFile(t, filepath.Join("in", name+".txt"), urls)
	}
	must.WriteFile(t, "in/4.csv", "n,m\n1,2\n")
	job := []string{"-in", "in", "-rules", "robots.txt", "-for", "a.example", "-out"}
	status, out, said := runWith(t.Context(), "", append(job, "-", "-limit", "3")...)
	want := "url,allowed\nhttps://a.example/,true\nhttps://a.example/x,false\nhttps://a.example/x2,false\n"
	must.Be(t, status == exitDone && out == want, "status %d\n%s\nwant\n%s%s", status, out, want, said)
	must.Be(t, strings.Contains(said, "robotsbatch: only the first 3 rows for everyone (*): 1 allowed, 2 denied"), "%v", said)
	for range 20 {
		mustRun(t, append(job, "out/", "-limit", "4", "-workers", "2", "-batch-rows", "1")...)
	}
	entries := must.Get(os.ReadDir("out"))(t)
	must.Equal(t, strings.Join(cli.Map(entries, os.DirEntry.Name), " "), "1.csv 2.csv", "outputs")
	status, _, said = runWith(t.Context(), "", append(job, "out/", "-limit", "6")...)
	must.Be(t, status != exitDone && strings.Contains(said, "in/4.csv"), "status %d: %s", status, said)
	for _, flag := range []string{"-resume", "-manifest", "-shard 0/2", "-weight n"} {
		status, _, said := runWith(t.Context(), "", append(append(job, "out/", "-limit", "4"), strings.Fields(flag)...)...)
		name, _, _ := strings.Cut(flag, " ")
		must.Be(t, status == exitUsage && strings.Contains(said, name+" is about all rows, and -limit leaves most of them out"), "%s: status %d: %s", flag, status, said)
	}
}
