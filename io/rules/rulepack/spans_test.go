package rulepack

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"robotsbatch/bench/corpus"
	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
)

// longHistories is a pack of authorities with up to 50 intervals each, whose fetches have up
// to 40 times, and of some without a robots.txt; and the authorities.
func longHistories(t testing.TB, rng *rand.Rand) (pack []byte, authorities [][]byte) {
	c := corpus.New(corpus.Options{Origins: 200, Missing: -1, Bare: true})
	name := buildHistory(t, func(keep func(string) uint64) (entries []Entry) {
		for o := range c.Origins() {
			e := Entry{Authority: o.Authority(), Access: access.AllowAll, Status: 404}
			at := uint32(1 + rng.IntN(100))
			for range 1 + rng.IntN([]int{1, 3, 50}[rng.IntN(3)]) {
				i := access.Interval{From: at, Fetched: at, Access: access.AllowAll, Status: 404}
				if rng.IntN(3) > 0 {
					i.Access, i.Status, i.Kept = access.Rules, 200, keep(deny(fmt.Sprint("/", rng.IntN(9))))
				}
				for range rng.IntN(1 + rng.IntN(40)) {
					at += uint32(1 + rng.IntN(1<<rng.IntN(20)))
					i.Times = append(i.Times, at)
				}
				i.Seen = at
				at += 1 + uint32(rng.IntN(100))
				e.History = append(e.History, i)
			}
			entries, authorities = append(entries, e), append(authorities, e.Authority)
		}
		for _, e := range sameBucket(60) { // one that is larger than those that are searched by fingerprints
			e.History = []access.Interval{{Access: access.DisallowAll, Status: 503, Seen: 7}}
			entries, authorities = append(entries, e), append(authorities, e.Authority)
		}
		return entries
	})
	return read(t, name), authorities
}

// spansAlike compares AppendAllSpans and OpenAllSpans with AppendSpans and OpenSpan, key by
// key, in a pack of its own. It returns how many keys were found before an error.
func spansAlike(t testing.TB, all, single *Pack, authorities [][]byte) int {
	t.Helper()
	keys := make([]matcher.Key, len(authorities))
	for i, a := range authorities {
		keys[i] = matcher.Key{Text: a, Hash: matcher.HashOf(a)}
	}
	before := []matcher.Span{{From: 99}}
	ends := make([]int, len(keys))
	spans, at, err := all.AppendAllSpans(before, keys, ends)
	want := slices.Clone(before)
	for i, a := range authorities {
		var wantErr error
		if want, wantErr = single.AppendSpans(want, a); wantErr != nil {
			must.Need(t, err != nil && at == i && err.Error() == wantErr.Error(), "%s, key %d: error %v for key %d, want %v", a, i, err, at, wantErr)
			return i
		}
		must.Need(t, err == nil || at != i, "%s, key %d: error %v, want none", a, i, err)
		must.Need(t, len(want) <= len(spans) && slices.Equal(spans[:len(want)], want) && ends[i] == len(want), "%s, key %d: spans up to %d: %+v, want %+v", a, i, ends[i], spans, want)
	}
	must.Need(t, err == nil, "key %d: error %v, want none", at, err)
	pointers, owners := make([]*matcher.Span, len(spans)), make([]matcher.Key, len(spans))
	for i := range spans {
		if i%7 > 0 {
			pointers[i] = &spans[i]
		}
	}
	pointers[0] = nil
	origins := make([]matcher.Origin, len(spans))
	for i := range origins {
		origins[i].Access, origins[i].Facts.Status = access.DisallowAll, 999 // of somebody else
	}
	at, err = all.OpenAllSpans(owners, pointers, origins)
	for i, s := range pointers {
		var o matcher.Origin
		var wantErr error
		if s != nil {
			wantErr = single.OpenSpan(nil, s, &o)
		}
		if wantErr != nil {
			must.Need(t, err != nil && at == i && err.Error() == wantErr.Error(), "span %d: error %v for %d, want %v", i, err, at, wantErr)
			return len(authorities)
		}
		got := &origins[i]
		must.Need(t, got.Access == o.Access && got.Stale == o.Stale && got.Facts == o.Facts && decisions(got.Tries, testPaths) == decisions(o.Tries, testPaths), "span %d: %+v, want %+v", i, *got, o)
	}
	must.Need(t, err == nil, "span %d: error %v, want none", at, err)
	return len(authorities)
}

// TestSpansOfMany takes the spans of authorities all at once: of known and unknown ones,
// several times, so that their buckets were checked before or not.
func TestSpansOfMany(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 9))
	data, authorities := longHistories(t, rng)
	authorities = append(authorities, []byte("https://nobody.example"), make([]byte, MaxAuthority+1), nil)
	all, single := mustOpenCopy(t, data), mustOpenCopy(t, data)
	for _, n := range []int{0, 1, matcher.AtOnce - 1, matcher.AtOnce, matcher.AtOnce + 1, 1000} {
		some := make([][]byte, n)
		for i := range some {
			some[i] = authorities[rng.IntN(len(authorities))]
		}
		got := spansAlike(t, all, single, some)
		must.Need(t, got == n, "%d of %d keys", got, n)
	}
}

func mustOpenCopy(t *testing.T, data []byte) *Pack {
	t.Helper()
	return must.Get(openCopy(data, Options{Chains: []matcher.Chain{{"*"}}}))(t)
}

// TestSpansOfManyBroken takes spans of packs that were changed, sealed again or not: errors
// come with the key that AppendSpans fails for.
func TestSpansOfManyBroken(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 9))
	sound, authorities := longHistories(t, rng)
	eachBroken(t, rng, sound, authorities, spansAlike)
}

// TestSpansOfChangedPack takes spans of a pack that is written to behind its checks: any
// answer or error will do, but no panic.
func TestSpansOfChangedPack(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 9))
	sound, authorities := longHistories(t, rng)
	keys := make([]matcher.Key, len(authorities))
	for i, a := range authorities {
		keys[i] = matcher.Key{Text: a, Hash: matcher.HashOf(a)}
	}
	ends, origins := make([]int, len(keys)), make([]matcher.Origin, 0)
	failed := 0
	for range 200 {
		data := slices.Clone(sound)
		p := mustOpenCopy(t, data)
		_, i, err := p.AppendAllSpans(nil, keys, ends)
		must.Need(t, err == nil, "key %d: %v", i, err)
		for range 1 + rng.IntN(100) {
			p.intervals[rng.IntN(len(p.intervals))] = byte(rng.Uint32())
			p.starts[rng.IntN(len(p.starts))] ^= 1 << rng.IntN(8)
		}
		spans, _, err := p.AppendAllSpans(nil, keys, ends)
		pointers := make([]*matcher.Span, len(spans))
		for i := range spans {
			pointers[i] = &spans[i]
		}
		origins = slices.Grow(origins[:0], len(spans))[:len(spans)]
		_, openErr := p.OpenAllSpans(nil, pointers, origins)
		var timesErr error
		for i := range spans {
			_, e := p.AppendTimes(nil, nil, &spans[i])
			timesErr = errors.Join(timesErr, e)
		}
		if errors.Join(err, openErr, timesErr) != nil {
			failed++
		}
	}
	must.Be(t, failed >= 20, "only %d of 200 changed packs failed", failed)
}

// TestSpansOfManyAllocs has taking and opening spans allocate nothing once there is room.
func TestSpansOfManyAllocs(t *testing.T) {
	data, authorities := longHistories(t, rand.New(rand.NewPCG(8, 9)))
	p := mustOpenCopy(t, data)
	keys := make([]matcher.Key, len(authorities))
	for i, a := range authorities {
		keys[i] = matcher.Key{Text: a, Hash: matcher.HashOf(a)}
	}
	ends, origins := make([]int, len(keys)), make([]matcher.Origin, len(keys))
	first := make([]*matcher.Span, len(keys))
	var spans []matcher.Span
	take := func() {
		var err error
		if spans, _, err = p.AppendAllSpans(spans[:0], keys, ends); err != nil {
			t.Fatal(err)
		}
		for i := range keys {
			first[i] = &spans[ends[i]-1]
		}
		must.Get(p.OpenAllSpans(keys, first, origins))(t)
	}
	take()
	must.Equal(t, testing.AllocsPerRun(100, take), 0, "it allocates")
}
