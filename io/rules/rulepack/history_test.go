package rulepack

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
)

// deny is a body that disallows a path.
func deny(path string) string { return "User-agent: *\nDisallow: " + path + "\n" }

// buildHistory makes a pack with a history of entries, whose histories are made with the
// bodies that keep has kept.
func buildHistory(t testing.TB, entries func(keep func(string) uint64) []Entry) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "history.rules")
	b := must.Get(Create(context.Background(), name, BuildOptions{History: true, Maker: "robotsbatch test"}))(t)
	defer b.Abort()
	err := addAll(b, entries(func(text string) uint64 {
		return must.Get(b.Keep([]byte(text), false))(t)
	}), 2)
	if err == nil {
		_, err = b.Finish()
	}
	must.Do(t, err)
	return name
}

// historyPack is a pack of smallEntries, of which two have a history.
func historyPack(t testing.TB) []byte {
	return read(t, buildHistory(t, func(keep func(string) uint64) []Entry {
		entries := smallEntries()
		entries[0].History = []access.Interval{
			{From: 100, Fetched: 100, Seen: 150, Times: []uint32{100, 110, 140}, Access: access.AllowAll, Status: 404},
			{From: 200, Fetched: 200, Seen: 290, Times: []uint32{250}, Access: access.Rules, Kept: keep(deny("/a")), Status: 200},
			{From: 300, Fetched: 300, Seen: 300, Access: access.Rules, Kept: keep(deny("/b")), Status: 200, Stale: true},
		}
		entries[1].History = []access.Interval{{From: 0, Seen: 9, Access: access.DisallowAll, Status: 503}}
		return entries
	}))
}

// spansText is what a pack says of an authority at all times, a span a line.
func spansText(t *testing.T, p *Pack, authority string) string {
	t.Helper()
	spans := must.Get(p.AppendSpans(nil, []byte(authority)))(t)
	var lines []string
	for _, s := range spans {
		var o matcher.Origin
		must.Do(t, p.OpenSpan([]byte(authority), &s, &o))
		times := must.Get(p.AppendTimes(nil, []byte(authority), &s))(t)
		line := fmt.Sprintf("%d fetched %d access %d status %d", s.From, times, o.Access, o.Facts.Status)
		if o.Access == access.Rules {
			line += fmt.Sprintf(" stale %v denied", o.Stale)
			for _, path := range []string{"/a", "/b", "/c"} {
				if !allows(&o.Tries[0], path) {
					line += " " + path
				}
			}
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func allows(trie *matcher.Trie, path string) bool {
	var target matcher.Target
	target.Set([]byte(path), 0)
	return trie.Allowed(&target)
}

// A pack with a history says what was put into it, at every time.
func TestHistoryComesBack(t *testing.T) {
	const a, b, c = "https://a.example", "https://b.example", "https://c.example"
	name := buildHistory(t, func(keep func(string) uint64) []Entry {
		return []Entry{
			{Authority: []byte(a), Access: access.Rules, Kept: keep(deny("/b")), Fetched: 350, Status: 200, History: []access.Interval{
				{From: 100, Fetched: 100, Seen: 150, Times: []uint32{100, 101, 149, 150}, Access: access.AllowAll, Status: 404},
				{From: 200, Fetched: 200, Seen: 290, Times: []uint32{0, 200, 200, 204, 290, 291}, Access: access.Rules, Kept: keep(deny("/a")), Status: 200},
				{From: 300, Fetched: 300, Seen: 350, Access: access.Rules, Kept: keep(deny("/b")), Status: 200, Stale: true},
			}},
			{Authority: []byte(b), Access: access.DisallowAll, Status: 503, Fetched: 7},
			body(c, deny("/c")),
		}
	})
	p := mustOpen(t, name, Options{Chains: []matcher.Chain{{"*"}}})
	for authority, want := range map[string]string{
		a: "100 fetched [100 101 149 150] access 2 status 404\n" +
			"200 fetched [200 204 290] access 1 status 200 stale false denied /a\n" +
			"300 fetched [300 350] access 1 status 200 stale true denied /b",
		b:                "0 fetched [7] access 3 status 503",
		c:                "0 fetched [0] access 1 status 0 stale false denied /c",
		"https://nobody": "",
	} {
		must.Equal(t, spansText(t, p, authority), want, authority)
	}
	var o matcher.Origin
	err := p.Lookup([]byte(a), &o)
	must.Be(t, err == nil && !allows(&o.Tries[0], "/b") && o.Facts.Fetched == 350 && !o.Stale, "without a time: %+v, %v", o, err)
	info := p.Info()
	must.Be(t, info.Version == historyVersion && info.History && info.Intervals == 5, "%+v", info)
	must.Do(t, p.Verify())
}

// With AsOf a pack is looked up at that time.
func TestHistoryAsOf(t *testing.T) {
	const a = "https://a.example"
	name := buildHistory(t, func(keep func(string) uint64) []Entry {
		return []Entry{{Authority: []byte(a), Access: access.AllowAll, Status: 404, History: []access.Interval{
			{From: 100, Fetched: 90, Seen: 150, Times: []uint32{90, 100, 120, 150}, Access: access.AllowAll, Status: 404},
			{From: 200, Fetched: 200, Seen: 290, Access: access.Rules, Kept: keep(deny("/a")), Status: 200},
		}}}
	})
	for _, test := range []struct {
		asOf    uint32
		access  access.Outcome
		fetched int64
	}{{99, access.Unknown, 0}, {100, access.AllowAll, 100}, {119, access.AllowAll, 100}, {120, access.AllowAll, 120}, {149, access.AllowAll, 120}, {150, access.AllowAll, 150}, {199, access.AllowAll, 150}, {200, access.Rules, 200}, {1 << 31, access.Rules, 290}} {
		p := mustOpen(t, name, Options{Chains: []matcher.Chain{{"*"}}, AsOf: test.asOf})
		var one matcher.Origin
		var all [1]matcher.Origin
		err := p.Lookup([]byte(a), &one)
		if err == nil {
			_, err = p.LookupAll([]matcher.Key{{Text: []byte(a)}}, all[:])
		}
		must.Be(t, err == nil && one.Access == test.access && one.Facts.Fetched == test.fetched && all[0].Access == test.access, "at %d: %+v, %v", test.asOf, one, err)
	}
}

// At a time before the history of a source the next one decides.
func TestHistoryOfSeveralSources(t *testing.T) {
	const a = "https://a.example"
	name := buildHistory(t, func(keep func(string) uint64) []Entry {
		entry := func(source uint32, from ...uint32) Entry {
			e := Entry{Authority: []byte(a), Access: access.AllowAll, Source: source}
			for _, f := range from {
				e.History = append(e.History, access.Interval{From: f, Fetched: f, Seen: f, Access: access.AllowAll, Status: uint16(400 + source)})
			}
			return e
		}
		return []Entry{entry(2, 10, 20, 30), entry(0, 40, 50), entry(1, 25, 35, 45), {Authority: []byte(a), Access: access.DisallowAll, Source: 3}, entry(4, 5)}
	})
	want := "0 fetched [0] access 3 status 0\n" +
		"10 fetched [10] access 2 status 402\n20 fetched [20] access 2 status 402\n" +
		"25 fetched [25] access 2 status 401\n35 fetched [35] access 2 status 401\n" +
		"40 fetched [40] access 2 status 400\n50 fetched [50] access 2 status 400"
	must.Equal(t, spansText(t, mustOpen(t, name, Options{}), a), want)
}

// A pack without a history is what it was before there were any.
func TestPackWithoutHistoryHasNothingOfIt(t *testing.T) {
	p := mustOpen(t, build(t, testEntries(), BuildOptions{}, 1), Options{})
	info := p.Info()
	must.Be(t, info.Version == version && !info.History && len(info.Sections) == intervalsSection-1, "%+v", info)
}

// A history that cannot be is refused.
func TestHistoryOutOfOrder(t *testing.T) {
	b := must.Get(Create(context.Background(), filepath.Join(t.TempDir(), "x.rules"), BuildOptions{History: true}))(t)
	defer b.Abort()
	for _, history := range [][]access.Interval{
		{{From: 2, Access: access.AllowAll}, {From: 2, Access: access.AllowAll}},
		{{From: 2}},
		{{From: 2, Access: access.Rules}},
		make([]access.Interval, maxIntervals+1),
	} {
		must.Fail(t, b.Add(Entry{Authority: []byte("https://a.example"), Access: access.AllowAll, History: history}), len(history), "intervals are taken")
	}
}

// A pack without a history tells an authority that had no fetch before its moment from one
// that nobody knows, and any entry of another source counts before that.
func TestNotYet(t *testing.T) {
	const later, known, nobody = "https://later.example", "https://known.example", "https://nobody.example"
	name := build(t, []Entry{
		{Authority: []byte(later)},
		{Authority: []byte(known)},
		{Authority: []byte(known), Access: access.AllowAll, Source: 1},
	}, BuildOptions{}, 1)
	p := mustOpen(t, name, Options{Chains: testChains})
	keys := []matcher.Key{{Text: []byte(later)}, {Text: []byte(known)}, {Text: []byte(nobody)}}
	all := make([]matcher.Origin, len(keys))
	must.Get(p.LookupAll(keys, all))(t)
	for i, want := range []matcher.Origin{{NotYet: true}, {Access: access.AllowAll}, {}} {
		var one matcher.Origin
		if err := p.Lookup(keys[i].Text, &one); err != nil || one.Access != want.Access || one.NotYet != want.NotYet || all[i].NotYet != want.NotYet || all[i].Access != want.Access {
			t.Errorf("%s: %+v and %+v, %v", keys[i].Text, one, all[i], err)
		}
	}
	_, is, err := p.Authority([]byte(later))
	must.Be(t, !is && err == nil && p.Info().Authorities == 1, "%v, %v, %d authorities", is, err, p.Info().Authorities)
	must.Do(t, p.Verify())
}
