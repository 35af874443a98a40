package stats

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"robotsbatch/matcher/usage"
)

// Sites are counted as a recount of what their authorities state counts them, however they
// are flushed.
func TestUsesAreARecount(t *testing.T) {
	uses := []usage.Use{{Key: "train-ai"}, usage.SignalUse}
	values := []string{"", "allowed", "disallowed", usage.Mixed, "full"}
	months := []string{"2026-01", "2026-02"}
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 1))
		tally := newSiteCounter(Options{Uses: uses, Months: months, Site: ByHost})
		want := make(map[string]int64)
		for site := range 20 {
			host := fmt.Sprintf("s%d.test", site)
			stated := make(map[string][]string) // by agent, use and month
			for _, scheme := range []string{"http", "https"} {
				for agent := range 2 {
					for month := range months {
						access := []string{"rules", "unavailable", "unreachable"}[random.IntN(3)]
						for use := range uses {
							text := ""
							if access == "rules" {
								text = values[random.IntN(len(values))]
							}
							said, err := usage.ParseValues(text)
							if err != nil {
								t.Fatal(err)
							}
							name := fmt.Sprint("A", agent)
							tally.addUse(scheme+"://"+host, host, tally.Agent(name), use, month, said, access)
							key := fmt.Sprint(months[month], " ", name, " ", uses[use])
							if access == "unreachable" {
								text = "unreachable"
							}
							stated[key] = append(stated[key], text)
						}
					}
				}
			}
			for key, texts := range stated {
				want[key+" "+outcomeOf(texts)]++
			}
			if random.IntN(2) == 0 {
				tally.Flush()
			}
		}
		got := make(map[string]int64)
		for _, c := range tally.Table().Counts {
			key := fmt.Sprint(c.Month, " ", c.Agent, " ", c.Use, " ")
			sum := int64(0)
			for _, column := range useFigures[1:] {
				if n := column.of(&c); n > 0 {
					got[key+column.name] = n
					sum += n
				}
			}
			if sum != c.Sites || c.Sites != 20 || c.Reached() != c.Sites-c.Unreachable || c.Stated() != c.Sites-c.Unreachable-c.None {
				t.Fatalf("%d: %+v does not sum up", seed, c)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%d: %v, want %v", seed, got, want)
		}
	}
}

// outcomeOf is what a site states whose authorities state this.
func outcomeOf(texts []string) string {
	reached, found := false, ""
	for _, text := range texts {
		if text == "unreachable" {
			continue
		}
		reached = true
		switch {
		case text == "" || text == found:
		case found == "":
			found = text
		default:
			found = usage.Mixed
		}
	}
	switch {
	case !reached:
		return "unreachable"
	case found == "":
		return "none"
	}
	return found
}

// The formats have the same numbers.
func TestUsesInEveryFormat(t *testing.T) {
	tally := newSiteCounter(Options{Uses: []usage.Use{usage.SignalUse, {Key: "train-ai"}}})
	tally.addUse("https://a.test", "a.test", tally.Agent("*"), 1, 0, usage.Values(0).With(usage.Disallowed), "rules")
	tally.addUse("https://a.test", "a.test", tally.Agent("*"), 0, 0, usage.Values(0).With(usage.Reference), "rules")
	tally.addUse("https://b.test", "b.test", tally.Agent("*"), 1, 0, 0, "unreachable")
	table := tally.Table()
	var text, csv, json strings.Builder
	for _, err := range []error{table.WriteText(&text), table.WriteCSV(&csv), table.WriteJSON(&json)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if want := "all,*,train-ai,2,0,1,0,0,0,0,0,1,0,1,0,0,0,0\n"; !strings.HasSuffix(csv.String(), want) || !strings.Contains(csv.String(), "all,*,signal:use,1,0,0,0,1,") {
		t.Errorf("%s, want %s", csv.String(), want)
	}
	if want := `"use": "train-ai",
    "sites": 2,
    "allowed": 0,
    "disallowed": 1,`; !strings.Contains(json.String(), want) {
		t.Errorf("%s, want %s", json.String(), want)
	}
	lines := strings.Split(text.String(), "\n")
	if got := strings.Join(strings.Fields(lines[len(lines)-2]), " "); got != "* train-ai 2 0 0.00% 1 100.00% 0 0.00% 0 0.00% 0 1" {
		t.Errorf("%s", text.String())
	}
	if !strings.Contains(lines[1], "reference") || strings.Contains(lines[1], "full") {
		t.Errorf("columns %s: want those of grades that some site states", lines[1])
	}
}
