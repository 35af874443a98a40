package rulepack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"robotsbatch/io/rules/captures"
	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
)

// keptPack is a pack that keeps captures: of an authority, of another URL, and as intervals.
func keptPack(t *testing.T) []byte {
	t.Helper()
	name := filepath.Join(t.TempDir(), "kept.rules")
	b, err := Create(context.Background(), name, BuildOptions{History: true})
	must.Do(t, err)
	defer b.Abort()
	var kept [3]uint64
	for i := range kept {
		kept[i], err = b.Keep([]byte(deny(fmt.Sprint("/", i))+"User-agent: a\nAllow: /b\n"), i == 1)
		err = errors.Join(err, b.AddElsewhere([16]byte{byte(i)}, Captures{Rows: []byte{4, 0, 0, 2}, Bodies: kept[i : i+1]}))
	}
	b.Payload(kept[2], 7)
	b.SetCaptured(Captured{Policy: access.Policy{DenyUnresolved: true}, Later: true, Newest: 9, Sources: []SourceKind{CapturesSource}})
	for i := range 20 {
		entry := Entry{Authority: fmt.Appendf(nil, "https://h%d.example", i), Access: access.Rules, Kept: kept[i%2], Status: 200, Fetched: 5}
		switch i % 3 {
		case 0:
			entry.Captures = Captures{Rows: []byte{4, 0, 0, 2, 1, 0, 8}, Bodies: kept[:1]}
		case 1:
			entry.History = []access.Interval{{From: 5, Fetched: 5, Seen: 9, Times: []uint32{5, 6, 9}, Access: access.Rules, Kept: kept[1], Status: 200}}
		}
		err = errors.Join(err, b.Add(entry))
	}
	if err == nil {
		_, err = b.Finish()
	}
	must.Do(t, err)
	return read(t, name)
}

// take lists what a pack keeps, and adds it to a set of captures.
func take(data []byte, folder string) (taken []string, err error) {
	p, err := openCopy(data, Options{})
	if err != nil {
		return nil, err
	}
	defer func() { _ = p.Close() }()
	b, err := Create(context.Background(), filepath.Join(folder, "taken.rules"), BuildOptions{})
	if err != nil {
		return nil, err
	}
	defer b.Abort()
	set := captures.NewSet(captures.Options{Bodies: b})
	defer set.Close()
	payload := func(kept, name uint64) { taken = append(taken, fmt.Sprint("payload ", kept, " ", name)) }
	return taken, b.AddPack(p, payload, func(k *Known) error {
		taken = append(taken, fmt.Sprintf("%s %x %v %v", k.Authority, k.Key, k.Captures, k.Intervals))
		return set.AddKept(k.Authority, k.Key, captures.Kept(k.Captures), []access.Interval{{Times: []uint32{1}, Access: access.Rules, Kept: 1}})
	})
}

// A pack without a history has one interval for each authority, and all of them come in the same memory.
func TestKnownMemoryIsReused(t *testing.T) {
	name := filepath.Join(t.TempDir(), "kept.rules")
	b := must.Get(Create(t.Context(), name, BuildOptions{}))(t)
	defer b.Abort()
	b.SetCaptured(Captured{Sources: []SourceKind{CapturesSource}})
	for i := range 20 {
		must.Do(t, b.Add(Entry{Authority: fmt.Appendf(nil, "https://h%d.example", i), Access: access.NoFile, Status: 404, Fetched: 5}))
	}
	must.Get(b.Finish())(t)
	p := must.Get(openCopy(read(t, name), Options{}))(t)
	defer p.Close()
	memory := make(map[*uint32]bool)
	must.Do(t, p.EachKnown(t.Context(), func(k *Known) error {
		memory[&k.Intervals[0].Times[0]] = true
		return nil
	}))
	must.Be(t, len(memory) == 1, "the times are in %d places", len(memory))
}

// What a pack keeps of captures comes back.
func TestTake(t *testing.T) {
	data := keptPack(t)
	p := must.Get(openCopy(data, Options{}))(t)
	defer func() { _ = p.Close() }()
	must.Do(t, p.Verify())
	c, err := p.Captured()
	want := Captured{Policy: access.Policy{DenyUnresolved: true}, Later: true, Newest: 9, Sources: []SourceKind{CapturesSource}}
	must.Be(t, err == nil && fmt.Sprint(*c) == fmt.Sprint(want), "captured %v, %v", c, err)
	taken, err := take(data, t.TempDir())
	must.Be(t, err == nil && len(taken) == 1+3+20, "%q, %v", taken, err)
	for _, line := range []string{
		"payload 3 7", " 00000000000000000000000000000000 {[4 0 0 2] [1]} []",
		"https://h0.example  {[4 0 0 2 1 0 8] [1]} []",
		fmt.Sprintf("https://h1.example  {[] []} [{5 5 9 [5 6 9] 1 %d false 200}]", uint64(keptLimited+2)),
		"https://h2.example  {[] []} [{0 5 5 [5] 1 1 false 200}]",
	} {
		must.Be(t, slices.Contains(taken, line), "no %q in %q", line, taken)
	}
}

// The entry after those of all authorities is of none.
func TestTakeOfNoAuthority(t *testing.T) {
	forged := forge(t, keptPack(t), func(s *[sectionKinds][]byte) {
		s[capturesSection] = append(bytes.Clone(s[capturesSection]), 100, 4, 4, 0, 0, 2, 0) // 100 authorities later: 4 bytes of rows, no bodies
	})
	_, err := take(forged, t.TempDir())
	must.Be(t, err != nil && strings.HasSuffix(err.Error(), ": captures: some are of no authority"), "error %v", err)
}

// A pack that keeps captures may say anything, with right checksums: that is an error, or other
// captures.
func TestTakeForged(t *testing.T) {
	sound, folder := keptPack(t), t.TempDir()
	random := rand.New(rand.NewPCG(1, 2))
	failed := 0
	for _, kind := range []int{capturesSection, capturesSection, rulesSection, bodiesSection, authoritiesSection, intervalsSection, namesSection} {
		for range 150 {
			forged := forge(t, sound, func(s *[sectionKinds][]byte) {
				s[kind] = bytes.Clone(s[kind])
				s[kind][random.IntN(len(s[kind]))] = byte(random.IntN(256))
			})
			if _, err := take(forged, folder); err != nil {
				failed++
			}
		}
	}
	must.Be(t, failed != 0, "nothing that was forged is an error")
	forged := forge(t, sound, func(s *[sectionKinds][]byte) { s[namesSection] = make([]byte, namesHeaderSize) })
	must.Is(t, must.Err(take(forged, folder)), ErrDamaged, "bodies with names of agents that the pack does not have")
	for n := range 200 { // cut off
		forged := forge(t, sound, func(s *[sectionKinds][]byte) {
			s[capturesSection] = s[capturesSection][:min(n, len(s[capturesSection]))]
		})
		_, _ = take(forged, folder)
	}
}

// tellingPack is a pack that keeps the captures of one authority as its origin or its intervals, or
// as rows.
func tellingPack(t *testing.T, history []access.Interval, rows string) []byte {
	t.Helper()
	name := filepath.Join(t.TempDir(), "telling.rules")
	b, err := Create(context.Background(), name, BuildOptions{History: len(history) > 1})
	must.Do(t, err)
	defer b.Abort()
	b.SetCaptured(Captured{Sources: []SourceKind{CapturesSource}})
	last := &history[len(history)-1]
	for i := range history {
		if x := &history[i]; x.Access == access.Rules {
			x.Kept, err = b.Keep(nil, false) // an empty robots.txt is one
		}
		history[i].Fetched, history[i].Seen, history[i].Times = history[i].From, history[i].From, []uint32{history[i].From}
	}
	entry := Entry{Authority: []byte("https://a.example"), Access: last.Access, Kept: last.Kept, Stale: last.Stale, Status: last.Status, Fetched: last.From, Captures: Captures{Rows: []byte(rows)}}
	if len(history) > 1 {
		entry.History = history
	}
	if last.Kept != 0 && rows != "" {
		entry.Captures.Bodies = []uint64{last.Kept}
	}
	if err = errors.Join(err, b.Add(entry)); err == nil {
		_, err = b.Finish()
	}
	must.Do(t, err)
	return read(t, name)
}

// What tells captures is damage where it says something else than they mean, and so are rows that
// are as no captures are: an authority that is closed stays so, or is an error.
func TestTakeContradiction(t *testing.T) {
	const rules, deny, none, allow = access.Rules, access.DisallowAll, access.NoFile, access.AllowAll
	type interval struct {
		outcome access.Outcome
		status  uint16
		stale   bool
	}
	for name, test := range map[string]struct {
		history []interval
		rows    string
		sound   bool
	}{
		"503":                        {history: []interval{{deny, 503, false}}, sound: true},
		"no answer":                  {history: []interval{{deny, 0, false}}, sound: true},
		"an empty body":              {history: []interval{{rules, 200, false}}, sound: true},
		"a body without a status":    {history: []interval{{rules, 0, false}}, sound: true},
		"404":                        {history: []interval{{none, 404, false}}, sound: true},
		"a redirect to nowhere":      {history: []interval{{allow, 301, false}}, sound: true},
		"304 alone":                  {history: []interval{{deny, 304, false}}, sound: true},
		"given up":                   {history: []interval{{deny, 503, false}, {access.AllowAfterOutage, 502, false}}, sound: true},
		"304 renews":                 {history: []interval{{rules, 200, false}, {deny, 503, false}, {rules, 304, false}}, sound: true},
		"closed by 200":              {history: []interval{{deny, 200, false}}},
		"closed by 204":              {history: []interval{{deny, 204, false}, {deny, 503, false}}},
		"closed by 404":              {history: []interval{{deny, 404, false}}},
		"closed by 301":              {history: []interval{{deny, 301, false}}},
		"closed by a renewal":        {history: []interval{{rules, 200, false}, {deny, 304, false}}},
		"no file by 200":             {history: []interval{{none, 200, false}}},
		"rules of 503":               {history: []interval{{rules, 503, false}}},
		"rules of a redirect":        {history: []interval{{rules, 301, false}}},
		"rules of a 304 alone":       {history: []interval{{rules, 304, false}}},
		"stale rules":                {history: []interval{{rules, 200, true}}},
		"what was cut":               {history: []interval{{access.Cut, 0, false}, {deny, 503, false}}},
		"rows: 200 with a body":      {history: []interval{{rules, 200, false}}, rows: "\x04\xc8\x01\x00\x02", sound: true},
		"rows: 503":                  {history: []interval{{deny, 503, false}}, rows: "\x00\xf7\x03\x02", sound: true},
		"rows: no answer":            {history: []interval{{deny, 0, false}}, rows: "\x01\x00\x02", sound: true},
		"rows: 304":                  {history: []interval{{deny, 304, false}}, rows: "\x00\xb0\x02\x02", sound: true},
		"rows: 301":                  {history: []interval{{allow, 301, false}}, rows: "\x02\xad\x02" + sixteen + "\x02", sound: true},
		"rows: a body that is gone":  {history: []interval{{deny, 0, false}}, rows: "\x80\xc8\x01\x02", sound: true},
		"rows: all before is gone":   {history: []interval{{deny, 0, false}}, rows: "\x81\xc8\x01\x02", sound: true},
		"rows: a revisit of nothing": {history: []interval{{deny, 0, false}}, rows: "\x82\xc8\x01" + sixteen + "\x05\x02", sound: true},
		"rows: a 503 that is gone":   {history: []interval{{deny, 503, false}}, rows: "\x80\xf7\x03\x02"},
		"rows: a revisit of a 503":   {history: []interval{{deny, 503, false}}, rows: "\x82\xf7\x03" + sixteen + "\x05\x02"},
		"rows: gone with a target":   {history: []interval{{deny, 0, false}}, rows: "\x83\xc8\x01" + sixteen + "\x02"},
		"rows: 200 without a body":   {history: []interval{{deny, 503, false}}, rows: "\x00\xc8\x01\x02"},
		"rows: no status":            {history: []interval{{deny, 503, false}}, rows: "\x00\x00\x02"},
		"rows: as one before":        {history: []interval{{deny, 503, false}}, rows: "\x20\x02"},
		"rows: 503 with a body":      {history: []interval{{rules, 200, false}}, rows: "\x04\xf7\x03\x00\x02"},
		"rows: no answer, a body":    {history: []interval{{rules, 200, false}}, rows: "\x05\x00\x00\x02"},
		"rows: 503 with a target":    {history: []interval{{deny, 503, false}}, rows: "\x02\xf7\x03" + sixteen + "\x02"},
		"rows: a 200 after the body": {history: []interval{{rules, 200, false}}, rows: "\x04\xc8\x01\x00\x02\x20\x02"},
	} {
		var history []access.Interval
		for i, x := range test.history {
			history = append(history, access.Interval{From: uint32(5 + 40*24*60*60*i), Access: x.outcome, Status: x.status, Stale: x.stale})
		}
		data := tellingPack(t, history, test.rows)
		p := must.Get(openCopy(data, Options{}))(t)
		must.Do(t, p.Verify())
		visited := 0
		err := p.EachKnown(context.Background(), func(k *Known) error {
			visited++
			return captures.Kept(k.Captures).Check()
		})
		must.Be(t, (err == nil) == test.sound && (!test.sound || visited == 1), "%s: verified, %d visited: %v", name, visited, err)
		_, err = take(data, t.TempDir())
		must.Be(t, (err == nil) == test.sound && (err == nil || test.rows != "" || errors.Is(err, ErrDamaged)), "%s: taken: %v", name, err)
		_ = p.Close()
	}
}

// sixteen is a key.
const sixteen = "0123456789abcdef"

// The names of another pack are as a Builder makes them: in lower case, and not empty.
func TestTakeNames(t *testing.T) {
	sound := keptPack(t)
	for text, fails := range map[string]bool{"a": false, "b": false, "b.\xc3": false, "A": true, "aB": true, "": true} {
		forged := forge(t, sound, func(s *[sectionKinds][]byte) {
			head := slices.Clone(s[namesSection][:namesHeaderSize+8])
			head[namesHeaderSize] = byte(len(text))
			s[namesSection] = append(head, text...)
		})
		_, err := take(forged, t.TempDir())
		must.Be(t, fails == errors.Is(err, ErrDamaged), "%q: %v", text, err)
	}
}

// deny is a body that disallows a path.
func deny(path string) string { return "User-agent: *\nDisallow: " + path + "\n" }

// buildHistory makes a pack with a history of entries, whose histories are made with the
// bodies that keep has kept.
func buildHistory(t testing.TB, entries func(keep func(string) uint64) []Entry) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "history.rules")
	b := must.Get(Create(context.Background(), name, BuildOptions{History: true, Maker: "robotsbatch test"}))(t)
	defer b.Abort()
	err := addAll(b, entries(func(text string) uint64 { return must.Get(b.Keep([]byte(text), false))(t) }), 2)
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

// A pack tells an authority that had no fetch before its moment from one that nobody knows, and any
// entry of another source counts before that. With a history it has what held later.
func TestNotYet(t *testing.T) {
	for _, history := range []bool{false, true} {
		testNotYet(t, history)
	}
}

func testNotYet(t *testing.T, withHistory bool) {
	const later, known, nobody = "https://later.example", "https://known.example", "https://nobody.example"
	history := []access.Interval{{From: 9, Fetched: 9, Seen: 9, Access: access.DisallowAll}}
	if !withHistory {
		history = nil
	}
	name := build(t, []Entry{
		{Authority: []byte(later), History: history},
		{Authority: []byte(known), History: history},
		{Authority: []byte(known), Access: access.AllowAll, Source: 1},
	}, BuildOptions{History: withHistory}, 1)
	p := mustOpen(t, name, Options{Chains: testChains})
	keys := []matcher.Key{{Text: []byte(later)}, {Text: []byte(known)}, {Text: []byte(nobody)}}
	all := make([]matcher.Origin, len(keys))
	must.Get(p.LookupAll(keys, all))(t)
	for i, want := range []matcher.Origin{{NotYet: true}, {Access: access.AllowAll}, {}} {
		var one matcher.Origin
		err := p.Lookup(keys[i].Text, &one)
		must.Be(t, err == nil && one.Access == want.Access && one.NotYet == want.NotYet && all[i].NotYet == want.NotYet && all[i].Access == want.Access, "%s: %+v and %+v, %v", keys[i].Text, one, all[i], err)
	}
	_, is, err := p.Authority([]byte(later))
	must.Be(t, !is && err == nil && p.Info().Authorities == 1, "%v, %v, %d authorities", is, err, p.Info().Authorities)
	must.Do(t, p.Verify())
	if withHistory {
		must.Equal(t, spansText(t, p, later), "9 fetched [9] access 3 status 0")
		must.Equal(t, spansText(t, p, known), "0 fetched [0] access 2 status 0\n9 fetched [9] access 3 status 0")
	}
}
