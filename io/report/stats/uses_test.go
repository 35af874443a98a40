package stats

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"robotsbatch/io/report/export"
	"robotsbatch/io/store/must"
	"robotsbatch/matcher/usage"
)

// Sites are counted as a recount of what their authorities state counts them, however they
// are flushed.
func TestUsesAreARecount(t *testing.T) {
	uses := []usage.Use{{Key: "train-ai"}, usage.SignalUse}
	values := []string{"", "allowed", "disallowed", usage.Mixed, "full", "unreadable"}
	months := []string{"2026-01", "2026-02"}
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 1))
		tally := newSiteCounter(Options{Uses: uses, History: history(months...), Site: ByHost})
		want := make(map[string]int64)
		for site := range 20 {
			host := fmt.Sprintf("s%d.test", site)
			stated := make(map[string][]string) // by agent, use and month
			for _, scheme := range []string{"http", "https"} {
				for agent := range 2 {
					for month := range months {
						class := []export.Class{export.WithRules, export.NoFile, export.Unreachable}[random.IntN(3)]
						for use := range uses {
							text := ""
							if class == export.WithRules {
								text = values[random.IntN(len(values))]
							}
							said := must.Get(usage.ParseValues(text))(t)
							name := fmt.Sprint("A", agent)
							tally.add(scheme+"://"+host, host, tally.subject(tally.agent(name, ""), use), month, useStateOf(class, said))
							key := fmt.Sprint(months[month], " ", name, " ", uses[use])
							if class == export.Unreachable {
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
				if n := column.Of(&c); n > 0 {
					got[key+column.Name] = n
					sum += n
				}
			}
			if n := c.Classes[export.Unreachable]; n > 0 {
				got[key+"unreachable"] = n
			}
			must.Need(t, sum == c.Reached() && c.Sites() == 20 && c.Reached() == 20-c.Classes[export.Unreachable] && c.Base == sum && c.Stated() == sum-c.None,
				"%d: %+v does not sum up", seed, c)
		}
		must.Need(t, fmt.Sprint(got) == fmt.Sprint(want), "%d: %v, want %v", seed, got, want)
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
	add := func(site string, use int, class export.Class, said usage.Values) {
		tally.add("https://"+site, site, tally.subject(tally.agent("*", ""), use), 0, useStateOf(class, said))
	}
	add("a.test", 1, export.WithRules, usage.Values(0).With(usage.Disallowed))
	add("a.test", 0, export.WithRules, usage.Values(0).With(usage.Reference))
	add("b.test", 1, export.Unreachable, 0)
	table := tally.Table()
	var text, csv, json strings.Builder
	for _, err := range []error{table.WriteText(&text), table.WriteCSV(&csv), table.WriteJSON(&json)} {
		must.Do(t, err)
	}
	if want := "all,*,train-ai,2,1,1,0,0,0,0,0,1,reached,1,1,1,0,0,1,1,0,0,0,0,0,0,0,0,0,0,0\n"; !strings.HasSuffix(csv.String(), want) || !strings.Contains(csv.String(), "all,*,signal:use,1,1,1,0,0,0,0,0,0,reached,1,1,1,0,0,0,0,0,0,1,1,") {
		t.Errorf("%s, want %s", csv.String(), want)
	}
	if want := `"base": 1,
    "stated": 1,
    "stated_share": 1,
    "allowed": 0,`; !strings.Contains(json.String(), want) {
		t.Errorf("%s, want %s", json.String(), want)
	}
	lines := strings.Split(text.String(), "\n")
	got := strings.Join(strings.Fields(lines[len(lines)-2]), " ")
	must.Be(t, got == "* train-ai 1 1 100.00% 0 0.00% 1 100.00% 0 0.00% 0 0.00% 0", "%s", text.String())
	must.Be(t, strings.Contains(lines[2], "reference") && !strings.Contains(lines[2], "full"), "columns %s: want those of grades that some site states", lines[2])
}
