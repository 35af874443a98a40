package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"robotsbatch/io/store/must"
)

// answers is the number of random lists that TestOneAnswer asks about.
var answers = flag.Int("answers", 12, "number of random `lists` in TestOneAnswer")

// A question is a list of rows, and the lines of the robots.txt of each host.
type question struct {
	rows  []string
	rules [3][]string
}

// A way is how a question is asked.
type way struct {
	rules                  string // what holds them: rules, site.rules, captures.jsonl, captures.warc
	in, out                string // endings of inputs and outputs
	inputs, shards         int
	shuffled, killed, emit bool
	args                   []string
}

func pick[T any](random *rand.Rand, values ...T) T { return values[random.IntN(len(values))] }

func randomQuestion(random *rand.Rand) (q question) {
	paths := []string{"/", "/a", "/b?x=%61", "/a/b.gif", "/robots.txt", "/%7Ea", "?a", "/\u00e9", ""}
	for range 1 + random.IntN(40) {
		url := fmt.Sprintf("http://h%d.example%s", random.IntN(4), pick(random, paths...))
		q.rows = append(q.rows, pick(random, url, url, url, url, url, "http://", "ftp:x", "//h0.example/a", " "+url))
	}
	for i := range q.rules {
		for range random.IntN(7) {
			q.rules[i] = append(q.rules[i], pick(random, "User-agent: *", "User-agent: CCBot", "Disallow: /", "Disallow: /a", "Allow: /a/*.gif$",
				"Allow: /a", "Disallow: *?", "Disallow: /~a", "Disallow: /\u00e9", "Disallow:", "Crawl-delay: 2", "# none"))
		}
	}
	return q
}

func randomWay(random *rand.Rand) way {
	inputs := 1 + random.IntN(4)
	out := pick(random, ".csv", ".tsv", ".jsonl", ".arrow", ".arrows", ".parquet", ".csv.zst")
	in := pick(random, ".csv", ".tsv", ".arrow", ".arrows", ".parquet", ".csv.gz")
	if out == ".jsonl" { // other formats have no place for its keys
		in = pick(random, in, ".jsonl", ".jsonl.zst")
	}
	return way{
		rules: pick(random, "rules", "site.rules", "captures.jsonl", "captures.warc"),
		in:    in, out: out, inputs: inputs, shards: 1 + random.IntN(inputs),
		shuffled: random.IntN(2) == 0, killed: random.IntN(3) == 0, emit: random.IntN(3) == 0,
		args: []string{
			"-workers", fmt.Sprint(1 + random.IntN(5)), "-batch-rows", fmt.Sprint(pick(random, 1, 2, 3, 7, 1000)), "-memory", pick(random, "64MiB", "512MiB"),
		},
	}
}

// ask writes the files of a question and returns its answer: the verdict of each row by its
// number, with what was asked in vain.
func (q *question) ask(t *testing.T, w way) (answer map[string]string, err error) {
	t.Helper()
	if err := os.RemoveAll("q"); err != nil {
		return nil, err
	}
	for _, folder := range []string{"q/rules/http", "q/in", "q/out"} {
		if err := os.MkdirAll(folder, 0o777); err != nil {
			return nil, err
		}
	}
	var table, warc bytes.Buffer
	for i, lines := range q.rules {
		host, text := fmt.Sprintf("h%d.example", i), strings.Join(lines, "\n")+"\n"
		must.WriteFile(t, "q/rules/http/"+host, text)
		fmt.Fprintf(&table, "{\"url\":\"http://%s/robots.txt\",\"status\":200,\"body\":%q}\n", host, text)
		warc.Write(warcRecord([]string{"2026-01-01T00:00:00Z", "http://" + host + "/robots.txt", "200 OK", text}))
	}
	must.WriteFile(t, "q/captures.jsonl", table.String())
	must.WriteFile(t, "q/captures.warc", warc.String())
	if w.rules == "site.rules" {
		if err := runQuiet(t.Context(), "compile", "-rules", "q/rules", "-out", "q/site.rules"); err != nil {
			return nil, err
		}
	}
	order := make([]int, len(q.rows))
	for i := range order {
		order[i] = i
	}
	if w.shuffled {
		rand.New(rand.NewPCG(1, 1)).Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
	for i := range w.inputs {
		text := "n,link\n"
		for _, n := range order[i*len(order)/w.inputs : (i+1)*len(order)/w.inputs] {
			text += fmt.Sprintf("%d,\"%s\"\n", n, q.rows[n])
		}
		name := fmt.Sprintf("q/in/%d", i)
		if w.in == ".csv" {
			must.WriteFile(t, name+w.in, text)
			continue
		}
		must.WriteFile(t, "q/list.csv", text)
		if err := runQuiet(t.Context(), "-in", "q/list.csv", "-rules", "q/rules", "-url-column", "link", "-prefix", "made_", "-out", name+w.in); err != nil {
			return nil, err
		}
	}
	emits := []string{"all"}
	if w.emit {
		emits = []string{"allowed", "denied", "unknown"}
	}
	answer = make(map[string]string)
	for _, emit := range emits {
		for shard := range w.shards {
			out := fmt.Sprintf("q/out/%s%d/", emit, shard)
			args := append([]string{
				"-in", "q/in", "-url-column", "link", "-rules", "q/" + w.rules, "-out", out, "-out-format", strings.Split(w.out, ".")[1], "-explain",
				"-agent", "CCBot", "-emit", emit, "-resume",
			}, w.args...)
			if w.shards > 1 {
				args = append(args, "-shard", fmt.Sprintf("%d/%d", shard, w.shards))
			}
			if w.killed {
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Millisecond)
				_ = runQuiet(ctx, args...) // it may have been too late
				cancel()
			}
			if err := runQuiet(t.Context(), args...); err != nil {
				return nil, err
			}
			files, _ := filepath.Glob(out + "[0-9]*")
			for _, file := range files {
				rows, err := answersIn(t, file)
				if err != nil {
					return nil, err
				}
				for _, row := range rows {
					if answer[row["n"]] != "" {
						return nil, fmt.Errorf("%s has row %s again", file, row["n"])
					}
					answer[row["n"]] = strings.Join([]string{row["link"], row["allowed"], row["reason"], row["rule"], row["rule_line"], row["rule_agent"]}, ",")
				}
			}
		}
	}
	return answer, nil
}

// runQuiet runs the program.
func runQuiet(ctx context.Context, args ...string) error {
	if status, _, said := runWith(ctx, "", append(args, "-quiet")...); status != exitDone {
		return fmt.Errorf("%q: status %d: %s", args, status, said)
	}
	return nil
}

// answersIn reads an output, of which the program itself makes csv or jsonl.
func answersIn(t *testing.T, file string) (rows []map[string]string, err error) {
	t.Helper()
	read := "q/read.csv"
	if strings.Contains(file, ".jsonl") {
		read = "q/read.jsonl"
	}
	if err := runQuiet(t.Context(), "-in", file, "-url-column", "link", "-rules", "q/rules", "-prefix", "read_", "-out", read); err != nil {
		return nil, err
	}
	if read == "q/read.csv" {
		return tableOf(t, readFile(t, read)), nil
	}
	for line := range bytes.Lines(readFile(t, read)) {
		var object map[string]any
		if err := json.Unmarshal(line, &object); err != nil {
			return nil, err
		}
		row := make(map[string]string)
		for key, value := range object {
			if value != nil {
				row[key] = fmt.Sprint(value)
			}
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// reduced removes what is not needed for a failure.
func reduced[T any](items []T, fails func([]T) bool) []T {
	for size := (len(items) + 1) / 2; size > 0; size /= 2 {
		for at := 0; at < len(items); {
			if fewer := slices.Delete(slices.Clone(items), at, min(at+size, len(items))); fails(fewer) {
				items = fewer
			} else {
				at += size
			}
		}
	}
	return items
}

// However a list is asked about, there is one answer: whatever holds the rules and the list,
// in whatever order and batches, by however many workers, in shards, and when it was stopped
// and resumed. A list with two is reduced to the rows and lines that it takes.
func TestOneAnswer(t *testing.T) {
	t.Chdir(t.TempDir())
	n := must.Short(min(*answers, 2), *answers)
	plain := way{rules: "rules", in: ".csv", out: ".csv", inputs: 1, shards: 1}
	for seed := range uint64(n) {
		random := rand.New(rand.NewPCG(seed, 43))
		q := randomQuestion(random)
		want := must.Get(q.ask(t, plain))(t)
		for range 4 {
			w := randomWay(random)
			differ := func(q question) bool {
				want := must.Get(q.ask(t, plain))(t)
				got, err := q.ask(t, w)
				return err != nil || !maps.Equal(got, want)
			}
			if got, err := q.ask(t, w); err == nil && maps.Equal(got, want) {
				continue
			}
			q.rows = reduced(q.rows, func(rows []string) bool { return len(rows) > 0 && differ(question{rows, q.rules}) })
			for i := range q.rules {
				q.rules[i] = reduced(q.rules[i], func(lines []string) bool {
					fewer := q
					fewer.rules[i] = lines
					return differ(fewer)
				})
			}
			want, _ = q.ask(t, plain)
			got, err := q.ask(t, w)
			t.Fatalf("seed %d, %+v\nrows  %q\nrules %q\ngot   %v, %v\nwant  %v", seed, w, q.rows, q.rules, got, err, want)
		}
	}
}
