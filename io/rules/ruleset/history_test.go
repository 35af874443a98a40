package ruleset

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"robotsbatch/batch/option"
	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
)

// historyOf writes a rule pack with a history.
func historyOf(t *testing.T, name string, sources ...string) {
	t.Helper()
	found := must.Get(Find(t.Context(), Options{Sources: sources, Memory: 1 << 26, Workers: 2, History: true}))(t)
	must.Get(found.Compile(t.Context(), name))(t)
}

// denying is a body that disallows one path.
func denying(path string) string { return "User-agent: *\nDisallow: " + path + "\n" }

// said is what is known of an authority, with the paths that are denied.
func said(o *matcher.Origin) string {
	text := fmt.Sprint(o.Access)
	if o.Access == access.Rules {
		var target matcher.Target
		for _, path := range []string{"/1", "/2", "/3", "/4", "/x"} {
			target.Set([]byte(path), 0)
			if !o.Trie(0).Allowed(&target) {
				text += " " + path
			}
		}
	}
	return text
}

// What a history says of a time is what the same sources say as of that time: captures,
// packs that were made of them, and both beside folders, in any order.
func TestHistoryIsEachAsOf(t *testing.T) {
	files(t, map[string]string{
		"hosts/b.example": rules,
		"1.warc":          warcOf(denying("/1"), 0, "a.example", "b.example") + warcOf(denying("/2"), 5, "a.example"),
		"2.warc":          warcOf(denying("/3"), 2, "a.example", "c.example") + warcOf(denying("/4"), 8, "a.example", "b.example", "c.example"),
	})
	historyOf(t, "1.rules", "1.warc")
	historyOf(t, "2.rules", "2.warc")
	historyOf(t, "both.rules", "1.warc", "2.warc")
	historyOf(t, "hosts.rules", "1.warc", "hosts", "2.warc")
	asOfs := map[string]string{ // the captures that a pack was made of
		"1.rules": "1.warc", "2.rules": "2.warc", "both.rules": "1.warc 2.warc", "hosts.rules": "1.warc hosts 2.warc",
	}
	for _, sources := range []string{
		"1.warc", "1.warc 2.warc", "2.warc 1.warc", "1.rules", "both.rules", "1.rules 2.rules", "2.rules 1.rules", "hosts 1.warc", "1.warc hosts 2.warc",
		"1.rules hosts 2.rules", "hosts.rules", "1.rules 2.warc", "2.warc 1.rules",
	} {
		set, _ := open(t, Options{Sources: strings.Fields(sources), History: true})
		timelines, err := set.Historical()
		must.Do(t, err)
		var made []string
		for _, source := range strings.Fields(sources) {
			if from, ok := asOfs[source]; ok {
				source = from
			}
			made = append(made, strings.Fields(source)...)
		}
		for day := range 12 {
			at := time.Date(2026, 2, 27+day, 12, 0, 0, 0, time.UTC)
			then, _ := open(t, Options{Sources: made, AsOf: at, AllowNone: true})
			packs, _ := open(t, Options{Sources: strings.Fields(sources), AsOf: at, AllowNone: true})
			for _, authority := range []string{"http://a.example", "http://b.example", "http://c.example", "http://d.example"} {
				var want, fromPacks, got matcher.Origin
				must.Do(t, errors.Join(then.Lookup([]byte(authority), &want), packs.Lookup([]byte(authority), &fromPacks)))
				spans, err := timelines.AppendSpans(nil, []byte(authority))
				if now := matcher.SpanAt(spans, at.Unix()); err == nil && now >= 0 {
					err = timelines.OpenSpan([]byte(authority), &spans[now], &got)
				}
				if err != nil || said(&got) != said(&want) || said(&fromPacks) != said(&want) {
					t.Errorf("%s: %s on %s: %s, and %s of packs, want %s, %v", sources, authority, at.Format(time.DateOnly), said(&got), said(&fromPacks), said(&want), err)
				}
			}
		}
	}
}

// Rules that know nothing of other times are refused by name.
func TestHistoryNeedsAHistory(t *testing.T) {
	files(t, map[string]string{"1.warc": warcOf(rules, 0, "a.example"), "hosts/b.example": rules})
	packOf(t, "plain.rules", "1.warc")
	set, _ := open(t, Options{Sources: []string{"hosts", "plain.rules"}, History: true})
	if _, err := set.Historical(); !errors.As(err, new(*option.UsageError)) || !strings.Contains(err.Error(), "plain.rules") {
		t.Errorf("a pack without a history: %v", err)
	}
	historyOf(t, "history.rules", "1.warc")
	_, err := Find(t.Context(), Options{Sources: []string{"1.warc", "history.rules", "1.warc"}, History: true})
	must.Be(t, errors.As(err, new(*option.UsageError)) && strings.Contains(err.Error(), "history.rules"), "a pack between captures: %v", err)
}
