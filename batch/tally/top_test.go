package tally

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"robotsbatch/io/store/must"
)

// stream draws keys of which few are frequent, and counts them.
func stream(random *rand.Rand, keys, n int, add func(key string, n int64)) map[string]int64 {
	truth := make(map[string]int64)
	zipf := rand.NewZipf(random, 1.1, 4, uint64(keys-1))
	for range n {
		key, times := fmt.Sprintf("https://host%d.example", zipf.Uint64()), 1+random.Int64N(3)
		truth[key] += times
		add(key, times)
	}
	return truth
}

// checkTop holds a Top to the truth: each count is within its error, and no key that is
// not listed is larger than what Unlisted says.
func checkTop(t *testing.T, top *Top, truth map[string]int64) {
	t.Helper()
	listed := make(map[string]bool)
	for _, e := range top.Largest(topKeys + 1) {
		listed[e.Key] = true
		if n := truth[e.Key]; n > e.Count || n < e.Count-e.Error || e.Rows > n {
			t.Fatalf("%s: %d, of which %d may be wrong, %d while listed; the truth is %d", e.Key, e.Count, e.Error, e.Rows, n)
		}
	}
	must.Need(t, len(listed) <= topKeys, "%d keys", len(listed))
	for key, n := range truth {
		must.Need(t, listed[key] || n <= top.Unlisted(), "%s has %d and is not listed, where at most %d may be", key, n, top.Unlisted())
	}
}

func TestTopIsWithinItsError(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for _, keys := range []int{10, topKeys, 3 * topKeys, 100_000} {
		tops := make([]*Top, 3)
		truth := make(map[string]int64)
		for i := range tops {
			top := newTop(1)
			part := stream(random, keys, 15_000, func(key string, n int64) {
				if e := top.Add([]byte(key), n); e != nil {
					e.Rows += n
				}
			})
			checkTop(t, top, part)
			for key, n := range part {
				truth[key] += n
			}
			tops[i] = top
		}
		tops[0].Merge(tops[1])
		tops[0].Merge(tops[2])
		checkTop(t, tops[0], truth)
		exact := len(truth) <= topKeys
		must.Be(t, tops[0].Exact() == exact, "%d keys: exact %t", len(truth), !exact)
		// The most frequent keys are returned in their order.
		var largest []string
		for key := range truth {
			largest = append(largest, key)
		}
		slices.SortFunc(largest, func(a, b string) int { return int(truth[b] - truth[a]) })
		for i, e := range tops[0].Largest(5) {
			must.Be(t, e.Key == largest[i], "%d keys: place %d is %s, want %s", len(truth), i, e.Key, largest[i])
		}
	}
}

func TestSample(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for _, keys := range []int{100, sampleSize, 400_000} {
		one, other := newSample(), newSample()
		truth := make(map[string]Counts)
		for i := range keys {
			key := fmt.Sprintf("https://host%d.example", i)
			rows := 1 + random.Int64N(5)
			denied := random.Int64N(rows + 1)
			for _, s := range []*Sample{one, other} {
				s.Add([]byte(key), rows, denied)
			}
			truth[key] = Counts{2 * rows, 2 * denied}
		}
		one.Merge(other)
		if exact := keys <= sampleSize; (one.Scale() == 1) != exact || one.Len() > sampleSize || exact && one.Len() != keys {
			t.Errorf("%d keys: %d in the sample, of which each stands for %d", keys, one.Len(), one.Scale())
		}
		is := func(c Counts) bool { return c.Denied == c.Rows }
		want := 0
		for _, c := range truth {
			if is(c) {
				want++
			}
		}
		count, deviation := one.Count(is)
		off := float64(count) - float64(want)
		must.Be(t, off <= 4*deviation && off >= -4*deviation, "%d keys: %d are denied, by estimate %d, give or take %.0f", keys, want, count, deviation)
	}
}
