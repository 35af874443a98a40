package captures

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"robotsbatch/io/store/must"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/reference"
)

// distinct keeps distinct bodies by number.
type distinct []string

func (d *distinct) Keep(body []byte, _ bool) (uint64, error) {
	i := slices.Index(*d, string(body))
	if i < 0 {
		i = len(*d)
		*d = append(*d, string(body))
	}
	return uint64(i) + 1, nil
}

// histories are the decisions of each source by authority.
type histories map[string][]Decision

// resolveHistory adds captures of sources and resolves their history.
func resolveHistory(t testing.TB, asOf time.Time, p access.Policy, captures []reference.Capture) (histories, distinct) {
	t.Helper()
	var bodies distinct
	s := NewSet(Options{Bodies: &bodies})
	defer s.Close()
	add(t, s, captures)
	if len(captures)%2 == 0 {
		s.part = 1 // all captures are judged one by one
	}
	found := make(histories)
	must.Do(t, s.Resolve(context.Background(), asOf, p, true, func(d *Decision) error {
		kept := *d
		kept.History = slices.Clone(d.History)
		for i := range kept.History {
			kept.History[i].Times = slices.Clone(kept.History[i].Times)
		}
		found[string(d.Authority)] = append(found[string(d.Authority)], kept)
		return nil
	}))
	return found, bodies
}

func add(t testing.TB, s *Set, captures []reference.Capture) {
	t.Helper()
	a := &adder{set: s}
	for i, c := range captures {
		x := Capture{URL: []byte(c.URL), Status: c.Status, Failed: c.Failed, Unread: c.Unread, Location: []byte(c.Target), Body: []byte(c.Body)}
		if c.Second != 0 {
			x.Time = time.Unix(c.Second, int64(i%1000)) // those of a second are in order
		}
		must.Do(t, a.Add(&x, c.Source, uint64(i)))
	}
}

// at returns what is known at a second, by the first source that knows anything.
func (h histories) at(authority string, second int64, bodies distinct) (known reference.Known) {
	list := slices.SortedFunc(slices.Values(h[authority]), func(a, b Decision) int { return cmp.Compare(a.Source, b.Source) })
	for _, d := range list {
		for _, i := range d.History {
			if int64(i.From) > second {
				break
			}
			known = reference.Known{Stale: i.Stale, Status: int(i.Status), Second: int64(i.Fetched)}
			for _, t := range i.Times {
				if int64(t) <= second {
					known.Second = int64(t)
				}
			}
			switch i.Access {
			case access.Rules:
				known.Access, known.Body = "rules", bodies[i.Kept-1]
			case access.AllowAll:
				known.Access = "allow"
			case access.NoFile:
				known.Access = "no file"
			case access.Refused:
				known.Access = "refused"
			case access.DisallowAll:
				known.Access = "deny"
			case access.AllowAfterOutage:
				known.Access = "given up"
			case access.Cut:
				known.Access = "cut"
			}
		}
		if known.Access != "" {
			return known
		}
	}
	return known
}

// historyRounds is the number of random histories that are replayed.
var historyRounds = flag.Int("histories", 300, "number of random `histories` to replay")

const aDay = 24 * 60 * 60

// randomCaptures are captures of a few hosts, that redirect to each other, at a few
// times, of which some are the same.
func randomCaptures(random *rand.Rand) []reference.Capture {
	hosts := 1 + random.IntN(4)
	url := func() string { return fmt.Sprintf("http://%c/robots.txt", 'a'+rune(random.IntN(hosts+1))) }
	statuses := []int{200, 200, 404, 410, 401, 451, 500, 503, 503, 429, 301, 302, 301, 304, 304, 0, 204, -1, 999}
	captures := make([]reference.Capture, 1+random.IntN(20))
	for i := range captures {
		c := reference.Capture{
			Source: random.IntN(2), URL: url(), Second: 1 + int64(random.IntN(90))*aDay + int64(random.IntN(2)),
			Status: statuses[random.IntN(len(statuses))], Failed: random.IntN(8) == 0,
		}
		if random.IntN(12) == 0 {
			c.Second = 0
		}
		c.Unread = c.Failed && random.IntN(2) == 0
		switch {
		case c.Failed:
		case c.Status/100 == 3 && c.Status != 304:
			c.Target = url()
			if random.IntN(6) == 0 {
				c.Target = ""
			}
		case c.Status/100 == 2 || c.Status == 0:
			c.Body = fmt.Sprintf("User-agent: *\nDisallow: /%d\n", random.IntN(3))
		}
		captures[i] = c
	}
	slices.SortStableFunc(captures, func(a, b reference.Capture) int { return cmp.Compare(a.Second, b.Second) })
	return captures
}

// A history says of each second what a replay of all captures up to it says.
func TestHistoryIsAReplayUpToEachTime(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for round := range *historyRounds {
		policy := access.Policy{Allow429: random.IntN(4) == 0, DenyUnresolved: random.IntN(4) == 0}
		captures := randomCaptures(random)
		replay := reference.Captures{All: captures, Allow429: policy.Allow429, DenyUnresolved: policy.DenyUnresolved}
		history, bodies := resolveHistory(t, time.Time{}, policy, captures)
		for host := 'a'; host < 'f'; host++ {
			authority := fmt.Sprintf("http://%c", host)
			for day := range int64(125) {
				for second := day * aDay; second < day*aDay+4; second++ {
					want := replay.At(authority+"/robots.txt", second)
					got := history.at(authority, second, bodies)
					want = reference.Known{Access: want.Access, Body: want.Body, Stale: want.Stale, Second: want.Second, Status: want.Status}
					must.Need(t, got == want, "round %d: %s on day %d, second %d: %+v, want %+v\n%+v\n%+v", round, authority, day, second, got, want, captures, history[authority])
				}
			}
		}
	}
}

// What a history says of the newest time is what Resolve says without one. Of an authority that was
// fetched only later, it has what held from its first fetch on.
func TestHistoryEndsWithTheNewest(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 1000 {
		captures := randomCaptures(random)
		asOf := time.Time{}
		switch random.IntN(5) {
		case 0, 1:
			asOf = time.Unix(int64(random.IntN(1+random.IntN(120)))*aDay, 0)
		case 2:
			asOf = time.Date(2250, 1, 1, 0, 0, 0, 0, time.UTC) // captures have no such time
		}
		history, bodies := resolveHistory(t, asOf, access.Policy{}, captures)
		var other distinct
		s := NewSet(Options{Bodies: &other})
		add(t, s, captures)
		count := 0
		err := s.Resolve(context.Background(), asOf, access.Policy{}, false, func(d *Decision) error {
			count++
			list := history[string(d.Authority)]
			must.Need(t, len(list) != 0, "%s is missing", d.Authority)
			first := slices.MinFunc(list, func(a, b Decision) int { return cmp.Compare(a.Source, b.Source) })
			if d.Access == access.Unknown {
				from := first.History[0].From
				want := (&reference.Captures{All: captures}).At(string(d.Authority)+"/robots.txt", int64(from))
				got := histories{string(d.Authority): list}.at(string(d.Authority), int64(from), bodies)
				same := got.Access == want.Access && got.Body == want.Body && got.Status == want.Status || got.Access == "cut" && want.Status/100 == 3
				must.Be(t, len(list) == 1 && first.Access == d.Access && int64(from) == d.Fetched.Unix() && time.Unix(int64(from), 0).After(asOf) && same,
					"%+v, want %+v, which is %+v\n%+v", list, *d, want, captures)
				return nil
			}
			if first.Access != d.Access || first.Stale != d.Stale || first.Status != d.Status || first.Source != d.Source ||
				!first.Fetched.Equal(d.Fetched.Truncate(time.Second)) || d.Access == access.Rules && bodies[first.Kept-1] != other[d.Kept-1] {
				t.Fatalf("%s: %+v, want %+v\n%+v", d.Authority, first, *d, captures)
			}
			return nil
		})
		must.Need(t, err == nil && count == len(history), "%d authorities, want %d, %v", len(history), count, err)
		s.Close()
	}
}

// Captures that say the same are one interval, from the first to the last of them.
func TestEqualNeighboursAreOneInterval(t *testing.T) {
	const url = "http://a/robots.txt"
	var captures []reference.Capture
	for i := range 10 {
		captures = append(captures, reference.Capture{URL: url, Second: int64(100 + i), Status: 200, Body: "User-agent: *\n"})
	}
	captures = append(captures, reference.Capture{URL: url, Second: 200, Status: 404})
	history, _ := resolveHistory(t, time.Time{}, access.Policy{}, captures)
	want := []access.Interval{
		{From: 100, Fetched: 100, Seen: 109, Times: []uint32{100, 101, 102, 103, 104, 105, 106, 107, 108, 109}, Access: access.Rules, Kept: 1, Status: 200},
		{From: 200, Fetched: 200, Seen: 200, Times: []uint32{200}, Access: access.NoFile, Status: 404},
	}
	got := history["http://a"][0].History
	must.DeepEqual(t, got, want)
}

// Of an authority that changes without end, the newest intervals are kept, and the first
// stands for the others: it is no time before the first capture.
func TestHistoryHasABound(t *testing.T) {
	var captures []reference.Capture
	const many = 2*maxIntervals + 1000
	for i := range int64(many) {
		captures = append(captures, reference.Capture{URL: "http://a/robots.txt", Second: 1 + i, Status: 404 + int(i%2)})
	}
	history, _ := resolveHistory(t, time.Time{}, access.Policy{}, captures)
	got := history["http://a"][0].History
	must.Be(t, len(got) == maxIntervals && got[len(got)-1].From == many && got[1].From == many-maxIntervals+2, "%d intervals, the second from %d, the last from %d", len(got), got[1].From, got[len(got)-1].From)
	must.Be(t, got[0].Access == access.Cut && got[0].From == 1 && got[0].Fetched == 0, "the first: %+v", got[0])
}

// Where the newest intervals follow an outage, the copy from before it is still known.
func TestCopyFromBeforeTheBound(t *testing.T) {
	captures := []reference.Capture{{URL: "http://a/robots.txt", Second: 7, Status: 200, Body: "User-agent: *\n"}}
	for i := range int64(2*maxIntervals + 1000) {
		captures = append(captures, reference.Capture{URL: "http://a/robots.txt", Second: 8 + i, Status: 500 + int(i%2)})
	}
	captures = append(captures, reference.Capture{URL: "http://a/robots.txt", Second: 8 + 30*aDay, Status: 503})
	history, _ := resolveHistory(t, time.Time{}, access.Policy{}, captures)
	got := history["http://a"][0].History
	last, before := got[len(got)-1], got[len(got)-2]
	must.Be(t, len(got) == maxIntervals && last.Stale && last.From == 8+30*aDay && slices.Equal(last.Times, []uint32{7}), "%d intervals, the last %+v", len(got), last)
	must.Be(t, before.Access == access.DisallowAll && slices.Equal(before.Times, []uint32{before.From}), "the one before: %+v", before)
}

// A redirect that was captured once keeps few of the many changes of what it leads to. So does
// what leads to that redirect. Neither leads nowhere at a time before.
func TestHistoryOfARedirectHasABound(t *testing.T) {
	const many = 1001 // the last is a 404, which lasts
	captures := []reference.Capture{
		{URL: "http://a/robots.txt", Second: 1, Status: 301, Target: "http://b/robots.txt"},
		{URL: "http://b/robots.txt", Second: 1, Status: 301, Target: "http://c/robots.txt"},
	}
	for i := range int64(many) {
		captures = append(captures, reference.Capture{URL: "http://c/robots.txt", Second: 1 + i, Status: 404 + 96*int(i%2)})
	}
	history, _ := resolveHistory(t, time.Time{}, access.Policy{}, captures)
	for _, authority := range []string{"http://a", "http://b"} {
		got := history[authority][0].History
		must.Need(t, len(got) == mostIntervals(1) && got[0].From == 1 && got[0].Access == access.Cut && got[1].From == uint32(2+many-len(got)), "%s has %d intervals, the first %+v, the second from %d on", authority, len(got), got[0], got[1].From)
		for i := range got[1:] {
			must.Equal(t, got[1+i].Access, []access.Outcome{access.NoFile, access.DisallowAll}[(got[1+i].From+1)%2], authority, "from", got[1+i].From, "on")
		}
	}
}

// Of an outage at most three failures count, whether they have a time or not.
func TestLongOutage(t *testing.T) {
	const many = 4 * leastHeld / recordHead
	timed, unread := answer("http://a", 503, 0), unread("http://a", 0)
	for name, captures := range map[string][]Capture{"timed": {timed}, "unread": {unread}, "alternate": {timed, unread}} {
		var bodies distinct
		s := NewSet(Options{Bodies: &bodies, Memory: 1 << 10, Folder: t.TempDir()})
		a := &adder{set: s}
		for i := range many {
			x := captures[i%len(captures)]
			x.Time = x.Time.Add(time.Duration(i) * 10 * time.Minute)
			must.Do(t, a.Add(&x, 0, uint64(i)))
		}
		err := s.Resolve(context.Background(), time.Time{}, access.Policy{}, false, func(*Decision) error { return nil })
		must.Be(t, err == nil, "%s: %v", name, err)
		s.Close()
	}
}

// What is known of targets, what revisits refer to, and the times of captures must fit into
// memory.
func TestMemoryHasABound(t *testing.T) {
	const most = leastHeld
	for what, test := range map[string]struct {
		count   int64
		capture func(i int64) Capture
	}{
		"changes of what redirects lead to": {most / changeSize, func(i int64) Capture {
			b := fmt.Appendf(nil, "http://b%d/robots.txt", i%64)
			if i < 64 {
				return Capture{URL: fmt.Appendf(nil, "http://a%d/robots.txt", i), Status: 301, Location: b}
			}
			return Capture{URL: b, Time: time.Unix(i, 0), Status: 404 + 96*int(i/64%2)}
		}},
		"captures of http://a": {most/timeMemory + 1, func(i int64) Capture {
			return Capture{URL: []byte("http://a/robots.txt"), Time: time.Unix(1+i, 0), Status: 404}
		}},
		"redirects and revisits of captures": {most / revisitedSize, func(i int64) Capture {
			x := Capture{URL: fmt.Appendf(nil, "http://a%d/robots.txt", i), Status: 200, Revisit: true, Digest: Name(1 + i)}
			if i%2 == 0 {
				x = Capture{URL: fmt.Appendf(nil, "http://a%d/robots.txt", i), Status: 301, Location: fmt.Appendf(nil, "http://b%d/robots.txt", i%2000)}
			}
			return x
		}},
	} {
		for _, count := range []int64{test.count / 2, 2 * test.count} {
			var bodies distinct
			s := NewSet(Options{Bodies: &bodies, Memory: 1 << 10, Folder: t.TempDir()})
			a := &adder{set: s}
			var err error
			for i := range count {
				x := test.capture(i)
				if err == nil {
					err = a.Add(&x, 0, uint64(i))
				}
			}
			if err == nil {
				err = s.Resolve(context.Background(), time.Time{}, access.Policy{}, true, func(*Decision) error { return nil })
			}
			s.Close()
			isRefused := err != nil && strings.Contains(err.Error(), what) && strings.Contains(err.Error(), "raise memory")
			must.Be(t, (count >= test.count || err == nil) && (count <= test.count || isRefused), "%s: %d captures: %v", what, count, err)
		}
	}
}
