package evaluate

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"robotsbatch/batch"
	"robotsbatch/batch/internal/batchtest"
	"robotsbatch/bench/corpus"
	"robotsbatch/bench/ruletable"
	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/robotstxt"
	"robotsbatch/matcher/urls"
)

// BenchmarkSteps measures what each step of the package comment saves: its time divided by
// that of the first step, as the median of several turns. It uses a frontier that is
// grouped by host, the same one shuffled, and one with so many hosts that their rules come
// from main memory.
func BenchmarkSteps(b *testing.B) {
	if testing.Short() {
		b.Skip("makes 400,000 URLs")
	}
	grouped, rules := frontierOf(corpus.Options{Origins: 1000, URLs: 200_000})
	flat, flatRules := frontierOf(corpus.Options{Origins: 40_000, URLs: 200_000, LargestOrigin: 12})
	mixed := slices.Clone(grouped)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
	for _, data := range []struct {
		name  string
		urls  []string
		rules *ruletable.Table
	}{{"grouped", grouped, rules}, {"shuffled", mixed, rules}, {"flat", flat, flatRules}} {
		var batches []*batch.Batch
		for part := range slices.Chunk(data.urls, batch.DefaultRows) {
			batches = append(batches, &batch.Batch{URLs: batchtest.URLs(part...)})
		}
		want := make([]batch.Verdicts, len(batches))
		for i := range batches {
			evaluateEachRow(b, data.rules, batches[i], &want[i])
		}
		b.Run("data="+data.name, func(b *testing.B) {
			evaluators := make([]func(*batch.Batch, *batch.Verdicts), len(steps))
			var v batch.Verdicts
			for n, step := range steps {
				evaluators[n] = step.evaluator(b, data.rules)
				for i := range batches {
					if evaluators[n](batches[i], &v); !slices.Equal(v.Agents[0].Allowed, want[i].Agents[0].Allowed) {
						b.Fatalf("step %s: other verdicts", step.name)
					}
				}
			}
			times := make([][]float64, len(steps)) // for each step, its time divided by the first one's
			for b.Loop() {
				first := 0.0
				for n, evaluate := range evaluators {
					start := time.Now()
					for i := range batches {
						evaluate(batches[i], &v)
					}
					took := float64(time.Since(start).Nanoseconds()) / float64(len(data.urls))
					if n == 0 {
						first = took
					}
					times[n] = append(times[n], took/first)
				}
			}
			for n, step := range steps {
				slices.Sort(times[n])
				b.ReportMetric(times[n][len(times[n])/2], "x-"+step.name)
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// steps are those of the package comment, each including the ones before it.
var steps = []struct {
	name      string
	evaluator func(b *testing.B, rules *ruletable.Table) func(*batch.Batch, *batch.Verdicts)
}{
	{"1-rows", func(b *testing.B, rules *ruletable.Table) func(*batch.Batch, *batch.Verdicts) {
		return func(x *batch.Batch, v *batch.Verdicts) { evaluateEachRow(b, rules, x, v) }
	}},
	{"2-groups", func(b *testing.B, rules *ruletable.Table) func(*batch.Batch, *batch.Verdicts) {
		return evaluateGroupedRows(New(oneByOne{rules}, Options{}))
	}},
	{"3-lookup", func(b *testing.B, rules *ruletable.Table) func(*batch.Batch, *batch.Verdicts) {
		return evaluateGroupedRows(New(rules, Options{}))
	}},
	{"4-prefixes", func(b *testing.B, rules *ruletable.Table) func(*batch.Batch, *batch.Verdicts) {
		e := New(rules, Options{})
		return func(x *batch.Batch, v *batch.Verdicts) { must.Do(b, e.Evaluate(x, v)) }
	}},
}

// evaluateEachRow is step 1.
func evaluateEachRow(b *testing.B, rules *ruletable.Table, x *batch.Batch, v *batch.Verdicts) {
	v.Reset(x.URLs.Len(), batch.Want{Agents: 1})
	var scratch urls.Scratch
	var target matcher.Target
	var o matcher.Origin
	for row := range v.Rows {
		key, path, err := scratch.Split(x.URLs.Value(row))
		if err != nil {
			v.SetNull(row, matcher.ReasonOf(err))
			continue
		}
		must.Do(b, rules.Lookup(key, &o))
		v.Agents[0].Set(row, allowedAlone(&o, &target, path))
	}
}

// allowedAlone decides one path.
func allowedAlone(o *matcher.Origin, target *matcher.Target, path []byte) bool {
	if is, _ := matcher.IsRobotsTxt(path, robotstxt.RFC9309); is || o.Access == access.Unknown {
		return true
	}
	target.Set(path, robotstxt.RFC9309)
	return o.Tries[0].Match(target).Allowed
}

// evaluateGroupedRows is steps 2 and 3: rows are grouped but decided one by one.
func evaluateGroupedRows(e *Evaluator) func(*batch.Batch, *batch.Verdicts) {
	return func(x *batch.Batch, v *batch.Verdicts) {
		v.Reset(x.URLs.Len(), batch.Want{Agents: 1})
		g := &e.groups
		for first := 0; first < v.Rows; first += blockRows {
			r := &rows[int32]{data: x.URLs.Data, offsets: x.URLs.Offsets32[first : min(first+blockRows, v.Rows)+1], first: first}
			groupRows(e, r, v)
			for i := range g.all {
				if i%lookupSize == 0 {
					e.lookup(i, min(i+lookupSize, len(g.all)))
				}
				w := g.walk(i)
				for w.next() {
					for row := w.low; row < w.high; row++ {
						path := e.scratch.Path(r.url(row)[len(g.all[i].written):])
						v.Agents[0].Set(row, allowedAlone(&e.found[i%lookupSize], &e.target, path))
					}
				}
			}
		}
	}
}

// frontierOf generates URLs and the rules of their authorities.
func frontierOf(o corpus.Options) ([]string, *ruletable.Table) {
	c := corpus.New(o)
	var list []string
	var rules ruletable.Table
	var scratch urls.Scratch
	compiled := make(map[int][]matcher.Trie)
	for origin, url := range c.URLs() {
		list = append(list, string(url))
		key, _, err := scratch.Split(url)
		if err != nil || origin.Body < 0 {
			continue
		}
		tries, ok := compiled[origin.Body]
		if !ok {
			body := robotstxt.Parse(c.AppendBody(nil, origin.Body), robotstxt.Options{})
			tries = matcher.Compile(body, []matcher.Chain{{"CCBot"}})
			compiled[origin.Body] = tries
		}
		rules.Add(key, matcher.Origin{Access: access.Rules, Tries: tries})
	}
	return list, &rules
}
