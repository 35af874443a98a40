package tally

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"robotsbatch/batch"
	"robotsbatch/batch/evaluate"
	"robotsbatch/batch/internal/batchtest"
	"robotsbatch/bench/ruletable"
	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/robotstxt"
	"robotsbatch/matcher/urls"
)

const asOf = 1_800_000_000

// newEvaluator decides for CCBot and everyone.
func newEvaluator() *evaluate.Evaluator {
	chains := []matcher.Chain{{"CCBot"}, {"*"}}
	var t ruletable.Table
	add := func(authority, body string, fetched int64) {
		f := robotstxt.Parse([]byte(body), robotstxt.Options{})
		t.Add([]byte(authority), matcher.Origin{
			Access: access.Rules, Tries: matcher.Compile(f, chains), Facts: matcher.Facts{Fetched: fetched},
		})
	}
	add("https://a.test", "User-agent: *\nDisallow: /private\nUser-agent: CCBot\nDisallow: /p\nDisallow: /q\nAllow: /private/open\n", asOf-60)
	add("https://b.test", "User-agent: *\nDisallow: /private\n", asOf-2*86400)
	add("https://c.test:8443", "User-agent: *\nDisallow: /"+strings.Repeat("é", 300)+"\n", 0)
	t.Add([]byte("http://down.test"), matcher.Origin{Access: access.DisallowAll, Facts: matcher.Facts{Fetched: 1}})
	return evaluate.New(&t, evaluate.Options{Agents: len(chains), Explain: true, Columns: Columns, AsOf: asOf})
}

// truth is what a Tally should say, counted row by row.
type truth struct {
	rows, denied, rules map[string]int64
	reasons             [2]map[string]int64
	ages                map[string]int64
}

func (c *truth) add(lines []string, v *batch.Verdicts) {
	var scratch urls.Scratch
	for row, line := range lines {
		age := "unknown"
		if of := v.Columns[0].At(row); of >= 0 && v.Columns[0].Ints[of] > 0 {
			age = fmt.Sprint(asOf - v.Columns[0].Ints[of])
		}
		c.ages[age]++
		key, _, err := scratch.Split([]byte(line))
		if err == nil {
			c.rows[string(key)]++
		}
		any := false
		for i := range v.Agents {
			a := &v.Agents[i]
			c.reasons[i][a.Reasons[row].String()]++
			denied := a.Valid[row>>3]>>(row&7)&1 == 1 && a.Allowed[row>>3]>>(row&7)&1 == 0
			any = any || denied
			if a.Reasons[row] == matcher.DisallowRule {
				e := a.Explanations[a.Rules[row]]
				c.rules[e.Agent+"\n"+e.Text]++
			}
		}
		if any {
			c.denied[string(key)]++
		}
	}
}

// A tally of batches in any order says what counting row by row does.
func TestTally(t *testing.T) {
	forms := []string{
		"https://a.test/", "https://a.test/private/x", "https://a.test/private/open", "https://A.test:443/q", "https://b.test/private", "https://b.test?private",
		"https://b.test", " https://b.test/x\t", "https://c.test:8443/" + strings.Repeat("é", 300), "http://down.test/x", "http://down.test/robots.txt", "https://other.test/",
		"mailto:x", "", "nothing", "https://a.test/a\rb", "https://a.testing/private",
	}
	random := rand.New(rand.NewPCG(9, 10))
	evaluator := newEvaluator()
	tallies := []*Tally{New(2), New(2), New(2)}
	want := truth{rows: map[string]int64{}, denied: map[string]int64{}, rules: map[string]int64{}, ages: map[string]int64{}}
	want.reasons = [2]map[string]int64{{}, {}}
	var v batch.Verdicts
	for i := range 60 {
		var lines []string
		for range random.IntN(200) {
			line := forms[random.IntN(len(forms))]
			for range 1 + random.IntN(4) {
				lines = append(lines, line)
			}
		}
		b := &batch.Batch{URLs: batchtest.URLs(lines...)}
		must.Do(t, Wrap(evaluator, tallies[i%3]).Evaluate(b, &v))
		want.add(lines, &v)
	}
	got := tallies[0]
	got.Merge(tallies[1])
	got.Merge(tallies[2])

	sameCounts(t, "rows", got.Largest, want.rows)
	sameCounts(t, "denied", got.Denying, want.denied)
	clipped := make(map[string]int64)
	for key, n := range want.rules {
		agent, rule, _ := strings.Cut(key, "\n")
		clipped[string(batch.AppendClipped([]byte(agent+"\n"), rule, mostKey))] += n
	}
	sameCounts(t, "rules", got.Rules, clipped)
	for i := range got.Reasons {
		for reason, n := range got.Reasons[i] {
			name := matcher.Reason(reason).String()
			must.Be(t, n == want.reasons[i][name] || n <= 0, "agent %d: %s %d times, want %d", i, name, n, want.reasons[i][name])
		}
	}
	n := got.Ages[0]
	must.Be(t, n == want.ages["60"] && n != 0, "%d rows of less than an hour, want %d", n, want.ages["60"])
	n = got.Ages[3]
	must.Be(t, n == want.ages[fmt.Sprint(2*86400)] && n != 0, "%d rows of two days, want %d", n, want.ages[fmt.Sprint(2*86400)])
	n = got.Ages[len(got.Ages)-1]
	must.Be(t, n == want.ages["unknown"] && n != 0, "%d rows of unknown age, want %d", n, want.ages["unknown"])
	n, deviation := got.Authorities.Count(func(c Counts) bool { return c.Denied > 0 })
	must.Be(t, int(n) == len(want.denied) && deviation == 0, "%d authorities deny, want %d", n, len(want.denied))
	checkEntries(t, got)
}

// sameCounts checks that a Top has just these keys and counts.
func sameCounts(t *testing.T, what string, top *Top, want map[string]int64) {
	t.Helper()
	got := make(map[string]int64)
	for _, e := range top.Largest(topKeys) {
		got[e.Key] = e.Count
	}
	must.Be(t, maps.Equal(got, want) && top.Exact() && len(want) != 0, "%s: %v, want %v", what, got, want)
}

// checkEntries checks what comes with the keys.
func checkEntries(t *testing.T, got *Tally) {
	t.Helper()
	for _, e := range got.Denying.Largest(topKeys) {
		must.Be(t, e.Key != "https://a.test" || e.Denied[0]+e.Denied[1] >= e.Count && e.Denied[1] != 0 && strings.HasPrefix(e.Example, "Disallow: /") && e.Rows > e.Count,
			"%+v", e)
		must.Be(t, e.Key != "http://down.test" || e.Example == "" && e.Denied[0] == e.Count, "%+v", e)
	}
	for _, e := range got.Rules.Largest(topKeys) {
		must.Be(t, e.Example != "" && e.Rows == e.Count && e.Denied[0]+e.Denied[1] == e.Count, "%+v", e)
		must.Be(t, len(e.Key) <= 2*mostKey+1, "a key of %d bytes", len(e.Key))
	}
	must.Be(t, slices.IsSortedFunc(got.Rules.Largest(9), func(a, b Entry) int { return cmp.Compare(b.Count, a.Count) }), "the largest are not sorted")
}

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
		n := truth[e.Key]
		must.Need(t, n <= e.Count && n >= e.Count-e.Error && e.Rows <= n, "%s: %d, of which %d may be wrong, %d while listed; the truth is %d", e.Key, e.Count, e.Error, e.Rows, n)
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
