package evaluate

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"testing"
	"weak"

	"github.com/zeebo/xxh3"

	"robotsbatch/batch"
	"robotsbatch/batch/internal/batchtest"
	"robotsbatch/bench/ruletable"
	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
)

// oneByOne hides LookupAll.
type oneByOne struct{ matcher.Origins }

// counting counts bulk lookups.
type counting struct {
	*ruletable.Table
	keys int
}

func (c *counting) LookupAll(keys []matcher.Key, origins []matcher.Origin) (int, error) {
	c.keys += len(keys)
	return c.Table.LookupAll(keys, origins)
}

// manyAuthorities returns a table of authorities, and rows with URLs of them and of others.
// The rows come in runs of any length, mostly short, and in every form.
func manyAuthorities(t testing.TB, rng *rand.Rand) (*ruletable.Table, [][]byte) {
	bodies := map[string]string{}
	for i := range 2000 {
		scheme := []string{"http", "https"}[i%2]
		bodies[fmt.Sprintf("%s://host%d.example", scheme, i)] = fmt.Sprintf(
			"User-agent: *\nDisallow: /a%d\nDisallow: /*.pdf$\nAllow: /a%d/*x\nDisallow: /\nAllow: /b", i%7, i%7)
	}
	forms := []string{
		"http://host%d.example", "https://host%d.example", "https://HOST%d.example", " http://user@host%d.example:80",
		"https://host%d.example:443", "http://host%d.example:8080", "http://host%d..example", "gopher://host%d.example",
	}
	paths := []string{"/", "", "?q", "/a1", "/a2/x", "/a3/y.pdf", "/b", "/b/c.pdf", "/robots.txt", "/robots.txt#x", "/b%2E ", "/b\tc"}
	var rows [][]byte
	for len(rows) < 5000 {
		authority := fmt.Sprintf(forms[rng.IntN(len(forms))], rng.IntN(5000))
		for range 1 + rng.IntN(1+rng.IntN(12)) {
			rows = append(rows, []byte(authority+paths[rng.IntN(len(paths))]))
		}
	}
	return batchtest.Table(t, bodies, "*"), rows
}

// TestBulkLookup compares verdicts and statistics with and without bulk lookups, for
// columns of every kind.
func TestBulkLookup(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	origins, rows := manyAuthorities(t, rng)
	plain := batchtest.Column(rows...)
	nulls, dictionary := batchtest.Column(append([][]byte{nil}, rows...)...), plain
	for range 10_000 {
		dictionary.Indices = append(dictionary.Indices, int32(rng.IntN(len(rows))))
	}
	lines := batchtest.Column(append([][]byte{[]byte("http://host1.example/\n")}, rows...)...)
	for name, c := range map[string]batch.Column{"plain": plain, "nulls": nulls, "dictionary": dictionary, "lines": lines} {
		for _, o := range []Options{{}, {Explain: true}, {Columns: columnsOf(1)}} {
			var got, want batch.Verdicts
			counted := counting{Table: origins}
			ahead := New(&counted, o)
			single := New(oneByOne{origins}, o)
			for number, b := range []*batch.Batch{{URLs: c}, {URLs: c}, {URLs: c.Slice(100, 777)}} {
				for e, v := range map[*Evaluator]*batch.Verdicts{ahead: &got, single: &want} {
					must.Do(t, e.Evaluate(b, v))
				}
				must.Need(t, reflect.DeepEqual(got, want), "%s, batch %d, %+v: other verdicts", name, number, o)
			}
			must.Need(t, counted.keys >= 300, "%s: %d authorities were looked up in bulk", name, counted.keys)
			must.Need(t, len(got.Authorities) >= 10 && len(got.Unknown) >= 50, "%s: %d authorities and %d unknown ones", name, len(got.Authorities), len(got.Unknown))
		}
	}
}

// failingBulk returns an error for one authority.
type failingBulk struct {
	*ruletable.Table
	authority string
}

func (f failingBulk) LookupAll(keys []matcher.Key, origins []matcher.Origin) (int, error) {
	for i := range keys {
		if string(keys[i].Text) == f.authority {
			return i, fmt.Errorf("%s cannot be had", f.authority)
		}
	}
	return f.Table.LookupAll(keys, origins)
}

// TestBulkLookupErrorNamesRow: an error of a bulk lookup names its row.
func TestBulkLookupErrorNamesRow(t *testing.T) {
	var rows [][]byte
	for i := range 600 {
		rows = append(rows, fmt.Appendf(nil, "http://host%d.example/", i))
	}
	e := New(failingBulk{batchtest.Table(t, nil, "*"), "http://host400.example"}, Options{})
	err := e.Evaluate(&batch.Batch{FirstRow: 1000, URLs: batchtest.Column(rows...)}, new(batch.Verdicts))
	must.Be(t, err != nil && err.Error() == "row 1400: http://host400.example cannot be had", "the error is %v", err)
}

// TestEvaluatorLetsGoOfBatch: an evaluator does not keep a batch in memory until the next
// one.
func TestEvaluatorLetsGoOfBatch(t *testing.T) {
	origins, rows := manyAuthorities(t, rand.New(rand.NewPCG(8, 9)))
	rows = append(rows, []byte("https://host1.example/a1/x")) // the rules of this host are used
	for _, o := range []Options{{}, {Explain: true}, {Columns: columnsOf(1)}} {
		e := New(origins, o)
		evaluated := func() weak.Pointer[byte] {
			c := batchtest.Column(rows...)
			must.Do(t, e.Evaluate(&batch.Batch{URLs: c}, new(batch.Verdicts)))
			return weak.Make(&c.Data[0])
		}()
		runtime.GC()
		must.Be(t, evaluated.Value() == nil, "%+v: the bytes are still there", o)
		runtime.KeepAlive(e)
	}
}

// failing has no rules for http://broken.example.
type failing struct{ matcher.Origins }

func (f failing) Lookup(authority []byte, o *matcher.Origin) error {
	if string(authority) == "http://broken.example" {
		return errors.New("damaged")
	}
	return f.Origins.Lookup(authority, o)
}

// TestAfterAnError: paths that were undecided when a lookup failed once changed bits of the next
// batch.
func TestAfterAnError(t *testing.T) {
	bodies, bad, good := map[string]string{}, []string{}, []string{}
	for i := range 200 {
		authority := fmt.Sprintf("http://host%d.example", i)
		bodies[authority] = "User-agent: *\nDisallow: /*secret"
		bad = append(bad, authority+"/secret")
		good = append(good, authority+"/open", authority+"/secret")
	}
	origins := failing{batchtest.Table(t, bodies, "*")}
	used, fresh := New(origins, Options{Agents: 1}), New(origins, Options{Agents: 1})
	var got, want batch.Verdicts
	for n := 1; n < len(bad); n += 7 {
		batch := batch.Batch{URLs: batchtest.URLs(append(bad[:n:n], "http://broken.example/")...)}
		err := used.Evaluate(&batch, &got)
		must.Need(t, err != nil, "no error")
		batch.URLs = batchtest.URLs(good...)
		must.Do(t, errors.Join(used.Evaluate(&batch, &got), fresh.Evaluate(&batch, &want)))
		must.Need(t, bytes.Equal(got.Agents[0].Allowed, want.Agents[0].Allowed), "%d rows before the error: other verdicts after it", n)
	}
}

// TestEvaluateAllocatesNothing: an evaluator that has seen a similar batch allocates
// nothing, for rows grouped or not, with escapes, wildcards, ports and upper case, and for
// several agents.
func TestEvaluateAllocatesNothing(t *testing.T) {
	var lines []string
	for i := range 500 {
		lines = append(lines,
			fmt.Sprintf("http://a.example/private/%d?q=%%2f", i),
			fmt.Sprintf("HTTP://A.EXAMPLE:80/%d%%41%%zz.gif", i),
			fmt.Sprintf("http://user@a.example/%%7e%d#top", i),
			fmt.Sprintf("http://b.example:8080/%d?a b", i),
			fmt.Sprintf("https://unknown.example/%d", i),
			"http://a.example/%72obots.txt", "not a URL", "gopher://x/")
	}
	c := batchtest.URLs(lines...)
	table := batchtest.Table(t, bodies, "*", "foobot")
	b := &batch.Batch{URLs: c}
	for _, test := range []struct {
		combine batch.Combine
		most    float64
	}{{batch.CombineNone, 0}, {batch.CombineAnyDenied, 6}} { // a few for each distinct list
		e := New(table, Options{Agents: 2, Combine: test.combine})
		var v batch.Verdicts
		n := testing.AllocsPerRun(10, func() { must.Do(t, e.Evaluate(b, &v)) })
		must.Be(t, n <= test.most, "combine %d: %v allocations for %d URLs", test.combine, n, c.Len())
	}
	e := New(table, Options{Agents: 2})
	var target matcher.Target
	path := []byte("/private/%6fpen?x=%2F")
	origin := matcher.Origin{}
	must.Do(t, e.origins.Lookup([]byte("http://a.example"), &origin))
	if n := testing.AllocsPerRun(100, func() {
		target.Set(path, 0)
		origin.Tries[0].Allowed(&target)
		origin.Tries[0].Match(&target)
	}); n != 0 {
		t.Errorf("%v allocations for a match", n)
	}
}

// A sample is that of the lowest hashes, whoever adds them in whatever order, each once.
func TestMisses(t *testing.T) {
	name := func(hash int) string { return fmt.Sprintf("https://%05d.example", hash) }
	for _, count := range []int{0, 1, mostMisses - 1, mostMisses, mostMisses + 1, 1000} {
		var m Misses
		var adding sync.WaitGroup
		for start := range 4 {
			adding.Go(func() {
				for i := range count {
					hash := (i*7 + start*count/4) % max(count, 1)
					if count%7 == 0 {
						hash = (i + start) % count
					}
					m.add([]byte(name(hash)), uint64(hash))
				}
			})
		}
		adding.Wait()
		var want []string
		for hash := range min(count, mostMisses) {
			want = append(want, name(hash))
		}
		got := m.Authorities()
		must.Be(t, slices.Equal(got, want), "of %d: %d: %.3q", count, len(got), got)
	}
}

// Every run has the same sample: those with the lowest hashes.
func TestMissesOfEachRun(t *testing.T) {
	var all []string
	column := batch.Column{Offsets32: []int32{0}}
	for i := range 1000 {
		all = append(all, fmt.Sprintf("https://%d.example", i))
		column.Data = append(column.Data, all[i]+"/x"...)
		column.Offsets32 = append(column.Offsets32, int32(len(column.Data)))
	}
	var m Misses
	var v batch.Verdicts
	must.Do(t, New(new(ruletable.Table), Options{Misses: &m}).Evaluate(&batch.Batch{URLs: column}, &v))
	slices.SortFunc(all, func(a, b string) int { return cmp.Compare(xxh3.HashString(a), xxh3.HashString(b)) })
	want := all[:mostMisses]
	slices.Sort(want)
	got := m.Authorities()
	must.Be(t, slices.Equal(got, want), "%d: %.3q, want %.3q", len(got), got, want)
}
