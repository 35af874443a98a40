package export_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"robotsbatch/io/report/export"
	"robotsbatch/io/rules/ruleset"
	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
	"robotsbatch/matcher/robotstxt"
	"robotsbatch/matcher/usage"
)

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
				write(t, filepath.Join(folder, "http", test.host), body)
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
	write(t, filepath.Join(folder, "http", "a.test"), "User-agent: *\nDisallowed: /\n")
	write(t, filepath.Join(folder, "http", "b.test"), "User-agent: *\nDisallow: /b\n")
	google := must.Get(ruleset.Find(t.Context(), ruleset.Options{Sources: []string{folder}, Chains: agents, Memory: 64 << 20, Workers: 1, Profile: robotstxt.Google}))(t)
	listing := must.Get(google.List(t.Context()))(t)
	defer listing.Close()
	got, _ = changesOf(t, export.RuleSide{Listing: list(t, folder), Agents: agents[:1]}, export.RuleSide{Listing: listing, Profile: robotstxt.Google, Agents: agents[:1]})
	must.EqualSlices(t, got, []string{"a.test * closed none>all rules>rules"})
}
