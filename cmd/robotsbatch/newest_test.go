package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"robotsbatch/io/report"
)

// cell counts rows of two verdicts, and their weights.
type cell struct{ rows, weight int64 }

// runOf runs the program and returns a file that it writes.
func runOf(t *testing.T, file string, args ...string) []byte {
	t.Helper()
	var said bytes.Buffer
	if status := run(t.Context(), args, nil, &said, &said); status != exitDone {
		t.Fatalf("%q: exit status %d: %s", args, status, &said)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// crossed are the counts of a summary's agent, by both verdicts.
func crossed(t *testing.T, a *report.Agent) map[string]cell {
	t.Helper()
	if a.Newest == nil {
		t.Fatalf("%s is not compared", a.Agent)
	}
	cells := make(map[string]cell)
	splits := map[string]struct {
		Allowed, Denied, Unknown int64
		Weight                   struct{ Allowed, Denied, Unknown int64 }
	}{}
	data, err := json.Marshal(a.Newest)
	if err == nil {
		err = json.Unmarshal(data, &splits)
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range splits {
		then := strings.TrimPrefix(name, "of_")
		cells[then+" allowed"] = cell{s.Allowed, s.Weight.Allowed}
		cells[then+" denied"] = cell{s.Denied, s.Weight.Denied}
		cells[then+" unknown"] = cell{s.Unknown, s.Weight.Unknown}
	}
	return cells
}

// joined are the same counts of two outputs, whose rows have a weight. verdict finds an
// agent's verdict in a row.
func joined(t *testing.T, then, now []byte, verdict func(row map[string]string) string) map[string]cell {
	t.Helper()
	cells := make(map[string]cell)
	for _, x := range []string{"allowed", "denied", "unknown"} {
		for _, y := range []string{"allowed", "denied", "unknown"} {
			cells[x+" "+y] = cell{}
		}
	}
	older, newer := tableOf(t, then), tableOf(t, now)
	for i := range older {
		weight, _ := strconv.ParseInt(older[i]["weight"], 10, 64)
		key := verdict(older[i]) + " " + verdict(newer[i])
		c := cells[key]
		cells[key] = cell{c.rows + 1, c.weight + weight}
	}
	return cells
}

func tableOf(t *testing.T, data []byte) []map[string]string {
	t.Helper()
	records, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var rows []map[string]string
	for _, record := range records[1:] {
		row := make(map[string]string)
		for i, name := range records[0] {
			row[name] = record[i]
		}
		rows = append(rows, row)
	}
	return rows
}

// worded is a verdict of a column.
func worded(value string) string {
	return map[string]string{"true": "allowed", "false": "denied", "": "unknown"}[value]
}

// What -compare-newest counts is what two jobs give that are joined row by row, one of
// the rows' own times and one of the newest: of captures and packs, agents in columns,
// combined and in lists.
func TestCompareNewestIsTwoJobs(t *testing.T) {
	random := rand.New(rand.NewPCG(41, 42))
	t.Chdir(t.TempDir())
	captured := "url,status,fetched_at,body\n"
	for range 80 {
		captured += fmt.Sprintf("https://%c.example/robots.txt,%d,%s,\"User-agent: A\nDisallow: /%d\n\nUser-agent: *\nDisallow: /%d\n\"\n",
			'a'+rune(random.IntN(6)), []int{200, 200, 200, 404, 503}[random.IntN(5)], dayText(t, fmt.Sprint(random.IntN(80))), random.IntN(3), random.IntN(3))
	}
	writeText(t, "captures.csv", captured)
	pages := "url,when,weight\nnothing,,5\n"
	for range 600 {
		weight := fmt.Sprint(random.IntN(1000) - 100)
		if random.IntN(9) == 0 {
			weight = "many"
		}
		when := dayText(t, fmt.Sprint(random.IntN(100)))
		if random.IntN(15) == 0 {
			when = "never"
		}
		pages += fmt.Sprintf("https://%c.example/%d,%s,%s\n", 'a'+rune(random.IntN(7)), random.IntN(3), when, weight)
	}
	writeText(t, "pages.csv", pages)
	runOf(t, "h.rules", "compile", "-rules", "captures.csv", "-history", "-out", "h.rules", "-quiet")
	column := func(name string) func(map[string]string) string {
		return func(row map[string]string) string { return worded(row[name]) }
	}
	member := func(agent, list, known string) func(map[string]string) string {
		return func(row map[string]string) string {
			switch {
			case row[known] == "":
				return "unknown"
			case slices.Contains(strings.Fields(row[list]), agent):
				return "denied"
			}
			return "allowed"
		}
	}
	for _, test := range []struct {
		flags string
		of    []func(map[string]string) string
	}{
		{"-agent A", []func(map[string]string) string{column("allowed")}},
		{"-agent A -agent B -agent *", []func(map[string]string) string{column("allowed_a"), column("allowed_b"), column("allowed_all")}},
		{"-agent A -agent B -agents-as any-denied", []func(map[string]string) string{column("allowed"), member("A", "denied_by", "allowed"), member("B", "denied_by", "allowed")}},
		{"-agent A -agent B -agents-as all-denied", []func(map[string]string) string{column("allowed"), member("A", "denied_by", "allowed"), member("B", "denied_by", "allowed")}},
		{"-agent A -assume missing=null -assume=before-first=use", []func(map[string]string) string{column("allowed")}},
		{"-agent A -ever-denied", []func(map[string]string) string{column("allowed")}},
	} {
		for _, rules := range []string{"captures.csv", "h.rules"} {
			flags := append(strings.Fields(test.flags), "-in", "pages.csv", "-rules", rules, "-quiet")
			then := runOf(t, "then.csv", append(flags, "-as-of", "column:when", "-out", "then.csv")...)
			plain := slices.DeleteFunc(slices.Clone(flags), func(s string) bool { return s == "-assume=before-first=use" || s == "-ever-denied" })
			now := runOf(t, "now.csv", append(plain, "-out", "now.csv")...)
			data := runOf(t, "summary.json", append(flags, "-as-of", "column:when", "-compare-newest", "-weight", "weight", "-workers", "3",
				"-batch-rows", "50", "-summary-json", "summary.json", "-out", "both.csv")...)
			if both, err := os.ReadFile("both.csv"); err != nil || !bytes.Equal(both, then) {
				t.Errorf("%s: another output, %v", test.flags, err)
			}
			var summary report.Summary
			if err := json.Unmarshal(data, &summary); err != nil {
				t.Fatal(err)
			}
			if len(summary.Agents) != len(test.of) {
				t.Fatalf("%s: %d agents", test.flags, len(summary.Agents))
			}
			for i := range summary.Agents {
				got, want := crossed(t, &summary.Agents[i]), joined(t, then, now, test.of[i])
				if fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("%s of %s, %s:\n got %v\nwant %v", test.flags, rules, summary.Agents[i].Agent, got, want)
				}
				if got["allowed denied"].rows == 0 && !strings.Contains(test.flags, "ever") || got["denied allowed"].weight == 0 {
					t.Errorf("%s: %v shows little", test.flags, got)
				}
			}
		}
	}
}
