package export_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"robotsbatch/io/report/export"
	"robotsbatch/io/rules/ruleset"
	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
	"robotsbatch/matcher/reference"
	"robotsbatch/matcher/robotstxt"
	"robotsbatch/matcher/usage"
)

const aDay = 24 * 60 * 60

var surveyed = []matcher.Chain{{"GPTBot"}, {"*"}}

// toldBody is a body with what it denies GPTBot and everyone, and by whose rules, and what it
// says of trainAI and usage.SignalUse.
type toldBody struct {
	body       string
	says, uses [2]string
}

var surveyedUses = []usage.Use{trainAI, usage.SignalUse}

var trainAI = usage.Use{Directive: usage.ContentUsage, Key: "train-ai"}

var told = []toldBody{
	{"User-agent: *\nDisallow: /a\n", [2]string{"some everyone", "some everyone"}, [2]string{"- -", "- -"}},
	{"User-agent: *\nContent-Usage: train-ai=n\nDisallow: /a\n", [2]string{"some everyone", "some everyone"}, [2]string{"disallowed -", "disallowed -"}},
	{"User-agent: GPTBot\nDisallow: /\n", [2]string{"all name", "none -"}, [2]string{"- -", "- -"}},
	{"User-agent: GPTBot\nDisallow: /$\n\nUser-agent: *\nDisallow: /*\nContent-Signal: use=full, search=yes\n", [2]string{"some name", "all everyone"}, [2]string{"- -", "- full"}},
	{"User-agent: GPTBot\nUser-agent: *\nDisallow: /*\n", [2]string{"all name", "all everyone"}, [2]string{"- -", "- -"}},
	{"User-agent: GPTBot\nContent-Usage: /a train-ai=y\nContent-Usage: train-ai=n\nUser-agent: *\nDisallow: /*\n", [2]string{"all name", "all everyone"}, [2]string{"mixed -", "- -"}},
	{"User-agent: GPTBot\nDisallow: *\nAllow: /x\n\nUser-agent: *\nAllow: /\n", [2]string{"some name", "none everyone"}, [2]string{"- -", "- -"}},
	{"# nothing\n", [2]string{"none -", "none -"}, [2]string{"- -", "- -"}},
}

// randomHistory are captures of a few hosts, that redirect to each other, at a few times.
func randomHistory(r *rand.Rand, sources int) []reference.Capture {
	url := func() string { return fmt.Sprintf("http://%c.example/robots.txt", 'a'+rune(r.IntN(4))) }
	statuses := []int{200, 200, 200, 200, 200, 404, 403, 451, 503, 500, 301, 301, 304}
	var all []reference.Capture
	for range 1 + r.IntN(24) {
		c := reference.Capture{
			Source: r.IntN(sources), URL: url(), Second: 1 + int64(r.IntN(90))*aDay + int64(r.IntN(2)),
			Status: statuses[r.IntN(len(statuses))], Failed: r.IntN(12) == 0,
		}
		if r.IntN(16) == 0 {
			c.Second = 0
		}
		switch {
		case c.Failed:
		case c.Status == 301:
			c.Target = url()
		case c.Status == 200:
			c.Body = told[r.IntN(len(told))].body
		}
		all = append(all, c)
	}
	slices.SortStableFunc(all, func(x, y reference.Capture) int { return cmp.Compare(x.Second, y.Second) })
	return all
}

// writeHistory writes the captures of each source to a file, and returns the names.
func writeHistory(t *testing.T, folder string, sources int, all []reference.Capture) []string {
	t.Helper()
	names, texts := make([]string, sources), make([]strings.Builder, sources)
	for _, c := range all {
		fields := map[string]any{"url": c.URL, "body": c.Body}
		if c.Second != 0 {
			fields["fetched_at"] = c.Second
		}
		if c.Failed {
			fields["error"] = "timeout"
		} else {
			fields["status"] = c.Status
		}
		if c.Target != "" {
			fields["location"] = c.Target
		}
		must.Do(t, json.NewEncoder(&texts[c.Source]).Encode(fields))
	}
	for i := range names {
		names[i] = filepath.Join(folder, fmt.Sprintf("%d.jsonl", i))
		must.WriteFile(t, names[i], cmp.Or(texts[i].String(), `{"url":"http://none.example/robots.txt","status":404}`+"\n"))
	}
	return names
}

// replayed is what is known of an authority and an agent at a time.
type replayed struct {
	says         string // how much is denied, and by whose rules
	class        string
	status       int
	first, since int64
	after        int64 // 0 for none
	changes      []string
	// What is said of each use, since when, and its changes.
	uses       [2]string
	usesSince  [2]int64
	usesChange []string
}

func (r *replayed) reached() bool { return r.class != "unreachable" && r.class != "old_copy" }

// stateAt says what is known of an authority at a second.
func stateAt(at *reference.Known, agent int) replayed {
	now := replayed{status: at.Status, uses: [2]string{"-", "-"}}
	switch {
	case at.Access == "rules":
		i := slices.IndexFunc(told, func(b toldBody) bool { return b.body == at.Body })
		now.says, now.class = told[i].says[agent], "with_rules"
		now.uses = [2]string(strings.Fields(told[i].uses[agent]))
		if at.Stale {
			now.class = "old_copy"
		}
	case at.Access == "deny":
		now.says, now.class = "all -", "unreachable"
	case at.Access == "given up":
		now.says, now.class = "none -", "unreachable"
	case at.Access == "allow":
		now.says, now.class = "none -", "other"
	default:
		now.says, now.class = "none -", strings.ReplaceAll(at.Access, " ", "_")
	}
	return now
}

// replay finds it out second by second from all captures up to each. Seconds without an answer
// change nothing but the row at the end, which is since they began.
func replay(all *reference.Captures, authority string, agent int, end int64) (row replayed, ever bool) {
	url := authority + "/robots.txt"
	var known replayed // at the last second with an answer
	answered, first, out, outAfter := int64(-1), int64(-1), int64(-1), int64(0)
	for day := int64(0); day <= end/aDay; day++ {
		for second := day * aDay; second < day*aDay+4 && second <= end; second++ {
			at := all.At(url, second)
			if at.Access == "" {
				continue
			}
			if first < 0 {
				first = second
			}
			now := stateAt(&at, agent)
			before := func() int64 {
				if answered < 0 {
					return 0
				}
				return all.At(url, answered).Second
			}
			row, ever = now, true
			if !now.reached() {
				if out < 0 {
					out, outAfter = second, before()
				}
				continue
			}
			now.after, now.since, now.changes, now.usesChange, now.usesSince = known.after, known.since, known.changes, known.usesChange, known.usesSince
			switch {
			case answered < 0:
				now.since = second
			case now.says != known.says || now.class != known.class:
				now.since, now.after = second, before()
				now.changes = append(now.changes, fmt.Sprintf("%s %s %d → %s %s %d at %d", known.says, known.class, known.status, now.says, now.class, now.status, second))
			}
			for use, said := range now.uses {
				if answered >= 0 && said != known.uses[use] {
					now.usesChange = append(now.usesChange, fmt.Sprintf("%d %s → %s at %d", use, known.uses[use], said, second))
				}
				if answered < 0 || said != known.uses[use] {
					now.usesSince[use] = second
				}
			}
			known, answered, out = now, second, -1
		}
	}
	if out < 0 {
		row = known
	} else {
		row.since, row.after, row.usesSince = out, outAfter, [2]int64{out, out}
		row.changes, row.usesChange = known.changes, known.usesChange
	}
	row.first = max(first, 0)
	return row, ever
}

// historyRows are the rows of a table by authority and agent, in their order.
func historyRows(t *testing.T, table *export.Table, asOf int64, sources ...string) map[string][]map[string]string {
	t.Helper()
	o := ruleset.Options{
		Sources: sources, Chains: surveyed, Memory: 64 << 20, Workers: 2, History: true, AllowNone: true,
	}
	if asOf != 0 {
		o.AsOf = time.Unix(asOf, 0)
	}
	found := must.Get(ruleset.Find(t.Context(), o))(t)
	listing := must.Get(found.List(t.Context()))(t)
	defer listing.Close()
	all := make(map[string][]map[string]string)
	for record, err := range export.Rows(listing, table, export.Options{Rows: 7}) {
		must.Do(t, err)
		for row := range int(record.NumRows()) {
			fields := make(map[string]string)
			for i, column := range record.Columns() {
				fields[record.ColumnName(i)] = "-"
				if column.IsValid(row) {
					fields[record.ColumnName(i)] = column.ValueStr(row)
				}
			}
			key := fields["authority"] + " " + fields["agent"]
			all[key] = append(all[key], fields)
		}
		record.Release()
	}
	return all
}

// secondText returns a second as a column shows it.
func secondText(second int64) string {
	if second == 0 {
		return "-"
	}
	return time.Unix(second, 0).UTC().Format("2006-01-02 15:04:05Z")
}

// A survey says of each authority and agent what a replay of all captures says, second by
// second: of captures, of packs that were made of them, and of the first source that knew
// the authority.
func TestSurveyIsAReplay(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	changes, useChanges := 0, 0
	for round := range 60 {
		count := 1 + round%2
		captured := randomHistory(r, count)
		all := &reference.Captures{All: captured}
		folder := t.TempDir()
		names := writeHistory(t, folder, count, captured)
		pack := filepath.Join(folder, "h.rules")
		compileHistory(t, pack, names...)
		asOf := int64(0)
		end := slices.MaxFunc(captured, func(x, y reference.Capture) int { return cmp.Compare(x.Second, y.Second) }).Second
		if round%3 == 0 {
			end = int64(1+r.IntN(130))*aDay + 3
			asOf = end
		}
		for _, sources := range [][]string{names, {pack}} {
			what := fmt.Sprintf("round %d, %s as of %d, of %+v", round, sources, asOf, captured)
			survey := historyRows(t, export.Survey(surveyed, nil, surveyedUses, true), asOf, sources...)
			changed := historyRows(t, export.SurveyChanges(surveyed, surveyedUses), asOf, sources...)
			for host := 'a'; host <= 'd'; host++ {
				for agent, chain := range surveyed {
					authority := fmt.Sprintf("http://%c.example", host)
					want, known := replay(all, authority, agent, end)
					key := authority + " " + chain[0]
					if rows := survey[key]; !known || len(rows) != 1 {
						must.Need(t, !known && len(rows) == 0 && len(changed[key]) == 0, "%s: %s: rows %v, want %+v", what, key, rows, want)
						continue
					}
					checkSurveyed(t, what+": "+key, survey[key][0], changed[key], want, count == 1)
					changes += len(want.changes)
					useChanges += len(want.usesChange)
				}
			}
		}
	}
	must.Be(t, changes >= 500 && useChanges >= 200, "only %d changes, and %d of uses", changes, useChanges)
}

// checkSurveyed compares a row of a survey and those of changes with what is wanted. Of
// several sources the last fetch before a change may be an earlier one that said the same.
func checkSurveyed(t *testing.T, what string, row map[string]string, changed []map[string]string, want replayed, exact bool) {
	t.Helper()
	got := fmt.Sprint(row["blocked"], " ", row["by"], " ", row["class"], " first ", row["first_seen"], " since ", row["since"], " changes ", row["changes"])
	wanted := fmt.Sprint(want.says, " ", want.class, " first ", secondText(want.first), " since ", secondText(want.since), " changes ", len(want.changes))
	must.Need(t, got == wanted && row["last_seen"] == row["fetched_at"], "%s:\n got %s\nwant %s", what, got, wanted)
	after := row["since_after"]
	must.Need(t, after == secondText(want.after) || !exact && (after < secondText(want.after) || after == "-"), "%s: since_after %s, want %s", what, after, secondText(want.after))
	for use, u := range surveyedUses {
		must.Need(t, row[u.Column()] == want.uses[use] && row[u.Column()+"_since"] == secondText(want.usesSince[use]), "%s: %s is %s since %s, want %s since %s", what, u, row[u.Column()], row[u.Column()+"_since"], want.uses[use], secondText(want.usesSince[use]))
	}
	var list, uses []string
	var access []map[string]string
	for _, c := range changed {
		at := must.Get(time.Parse("2006-01-02 15:04:05Z", c["changed_at"]))(t)
		if c["change"] == "use" {
			use := slices.IndexFunc(surveyedUses, func(u usage.Use) bool { return u.String() == c["use"] })
			uses = append(uses, fmt.Sprintf("%d %s → %s at %d", use, c["old_use"], c["new_use"], at.Unix()))
			continue
		}
		access = append(access, c)
		must.Need(t, c["use"] == "-" && c["old_use"] == "-" && c["new_use"] == "-", "%s: %v has a use", what, c)
		status := func(text string) string { return strings.ReplaceAll(text, "-", "0") }
		list = append(list, fmt.Sprintf("%s %s %s %s → %s %s %s %s at %d", c["old_blocked"], c["old_by"], c["old_class"], status(c["old_status"]),
			c["new_blocked"], c["new_by"], c["new_class"], status(c["new_status"]), at.Unix()))
		levels := []string{"none", "some", "all"}
		kind := map[int]string{-1: "opened", 0: "other", 1: "closed"}[cmp.Compare(slices.Index(levels, c["new_blocked"]), slices.Index(levels, c["old_blocked"]))]
		must.Need(t, c["change"] == kind, "%s: %v, want a change %s", what, c, kind)
	}
	must.Need(t, slices.Equal(list, want.changes), "%s:\n got %q\nwant %q", what, list, want.changes)
	must.Need(t, slices.Equal(uses, want.usesChange), "%s:\n got uses %q\nwant %q", what, uses, want.usesChange)
	changed = access
	if n := len(changed); n > 0 && want.reached() {
		last := changed[n-1]
		must.Need(t, last["changed_at"] == row["since"] && last["old_fetched_at"] == row["since_after"], "%s: the last change is %v", what, last)
	}
}

// compileHistory makes a rule pack with a history.
func compileHistory(t *testing.T, name string, sources ...string) {
	t.Helper()
	found, err := ruleset.Find(t.Context(), ruleset.Options{
		Sources: sources, Memory: 64 << 20, Workers: 2, History: true, AllowNone: true,
	})
	must.Do(t, err)
	compile(t, found, name)
}

var changedUses = []usage.Use{{Directive: usage.ContentUsage, Key: "train-ai"}, {Directive: usage.ContentSignal, Key: "search"}}

// changesOf are the rows of the comparison of two sources.
func changesOf(t *testing.T, older, newer export.RuleSide) ([]string, export.Changed) {
	t.Helper()
	var changed export.Changed
	var got []string
	for record, err := range export.Changes(older, newer, changedUses, 2, &changed) {
		must.Do(t, err)
		for _, row := range recordRows(record) {
			f := parse(row)
			what := f["old_blocked"] + ">" + f["new_blocked"]
			if f["change"] == "use" {
				what = f["use"] + " " + f["old_use"] + ">" + f["new_use"]
			}
			got = append(got, strings.Join([]string{
				strings.TrimPrefix(f["authority"], "http://"), f["agent"], f["change"], what, f["old_access"] + ">" + f["new_access"],
			}, " "))
		}
		record.Release()
	}
	return got, changed
}

func list(t *testing.T, source string) *ruleset.Listing {
	t.Helper()
	l := must.Get(find(t, source).List(t.Context()))(t)
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func TestChanges(t *testing.T) {
	older, newer := t.TempDir(), t.TempDir()
	for _, test := range []struct{ host, older, newer string }{
		{"same.test", "User-agent: *\nDisallow: /\n", "User-agent: *\nDisallow: /\n"},
		{"comment.test", "User-agent: *\nDisallow: /\n", "# now with a comment\nUser-agent: *\nDisallow: /\n"},
		{"closed.test", "", "User-agent: foo\nDisallow: /\n"},
		{"opened.test", "User-agent: *\nDisallow: /\n", "User-agent: *\nDisallow: /$\n"},
		{"rules.test", "User-agent: *\nDisallow: /a\n", "User-agent: *\nDisallow: /b\n"},
		{"added.test", "-", "User-agent: *\n"},
		{"removed.test", "User-agent: *\nDisallow: /\n", "-"},
		{"stated.test", "User-agent: Foo\nAllow: /\n", "User-agent: Foo\nAllow: /\nContent-Usage: train-ai=n\n"},
		{"unsaid.test", "User-agent: *\nContent-Signal: search=yes\n", "-"},
		{"paths.test", "User-agent: *\nContent-Usage: /a train-ai=y\n", "User-agent: *\nContent-Usage: /b train-ai=y\n"},
		{"moved.test", "User-agent: *\nContent-Usage: train-ai=y, x=1\n", "User-agent: *\n# moved\nContent-Usage: /a search=y\nContent-Usage: train-ai=y\nContent-Usage: /a train-ai=y\n"},
		{"as.test", "User-agent: *\nContent-Usage: train-ai=y, x=1\n", "User-agent: *\n# moved\nContent-Usage: x=2, train-ai=y\n"},
	} {
		for folder, body := range map[string]string{older: test.older, newer: test.newer} {
			if body != "-" {
				must.WriteFile(t, filepath.Join(folder, "http", test.host), body)
			}
		}
	}
	agents := []matcher.Chain{{"*"}, {"Foo"}}
	want := []string{
		"added.test * added >none >rules", "added.test Foo added >none >rules",
		"closed.test Foo closed none>all rules>rules",
		"moved.test * use train-ai allowed>allowed rules>rules", "moved.test Foo use train-ai allowed>allowed rules>rules",
		"opened.test * opened all>some rules>rules", "opened.test Foo opened all>some rules>rules",
		"paths.test * use train-ai allowed>allowed rules>rules", "paths.test Foo use train-ai allowed>allowed rules>rules",
		"removed.test * removed all> rules>", "removed.test Foo removed all> rules>",
		"rules.test * rules some>some rules>rules", "rules.test Foo rules some>some rules>rules",
		"stated.test Foo use train-ai >disallowed rules>rules",
		"unsaid.test * removed none> rules>", "unsaid.test * use signal:search allowed> rules>",
		"unsaid.test Foo removed none> rules>", "unsaid.test Foo use signal:search allowed> rules>",
	}
	pack := filepath.Join(t.TempDir(), "new.rules")
	compile(t, find(t, newer), pack)
	for _, side := range []string{newer, pack} {
		got, changed := changesOf(t, export.RuleSide{Listing: list(t, older), Agents: agents}, export.RuleSide{Listing: list(t, side), Agents: agents})
		must.Be(t, slices.Equal(got, want), "%s:\n%s", side, strings.Join(got, "\n"))
		if s := fmt.Sprint(changed.Authorities, changed.Different, *changed.Stating, changed.Agents, changed.Uses); s != "12 6 4 [{* 0 1 1 1 2} {Foo 1 1 1 1 2}] "+
			"[{* train-ai 0 2 0} {* signal:search 0 0 1} {Foo train-ai 1 2 0} {Foo signal:search 0 0 1}]" {
			t.Error(s)
		}
	}
	// Two agents of the same rules.
	got, _ := changesOf(t, export.RuleSide{Listing: list(t, newer), Agents: agents[:1]}, export.RuleSide{Listing: list(t, pack), Agents: agents[1:]})
	want = []string{"closed.test * closed none>all rules>rules", "stated.test * rules none>none rules>rules", "stated.test * use train-ai >disallowed rules>rules"}
	must.Be(t, slices.Equal(got, want), "%q", got)
	// Two profiles: RFC 9309 reads another key than Google does.
	folder := t.TempDir()
	must.WriteFile(t, filepath.Join(folder, "http", "a.test"), "User-agent: *\nDisallowed: /\n")
	must.WriteFile(t, filepath.Join(folder, "http", "b.test"), "User-agent: *\nDisallow: /b\n")
	google := must.Get(ruleset.Find(t.Context(), ruleset.Options{Sources: []string{folder}, Chains: agents, Memory: 64 << 20, Workers: 1, Profile: robotstxt.Google}))(t)
	listing := must.Get(google.List(t.Context()))(t)
	defer listing.Close()
	got, _ = changesOf(t, export.RuleSide{Listing: list(t, folder), Agents: agents[:1]}, export.RuleSide{Listing: listing, Profile: robotstxt.Google, Agents: agents[:1]})
	must.EqualSlices(t, got, []string{"a.test * closed none>all rules>rules"})
}
