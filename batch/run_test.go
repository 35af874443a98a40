package batch_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"robotsbatch/batch"
	"robotsbatch/batch/evaluate"
	"robotsbatch/batch/internal/batchtest"
	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
)

var bodies, frontier = batchtest.Bodies, batchtest.Frontier

const explained = `[a no_rule_matched][d disallow_rule "Disallow: /" 7 "FooBot"]
[d disallow_rule "Disallow: /private" 2 "*"][d disallow_rule "Disallow: /" 7 "FooBot"]
[a allow_rule "Allow: /private/open" 3 "*"][d disallow_rule "Disallow: /" 7 "FooBot"]
[d disallow_rule "Disallow: /*.gif$" 4 "*"][d disallow_rule "Disallow: /" 7 "FooBot"]
[a no_rule_matched][d disallow_rule "Disallow: /" 7 "FooBot"]
[a no_rule_matched][d disallow_rule "Disallow: /" 7 "FooBot"]
[a no_rule_matched][d disallow_rule "Disallow: /" 7 "FooBot"]
[a no_group][d disallow_rule "Disallow: /x" 2 "FooBot"]
[a robots_txt][a robots_txt]
[a robots_txt][a robots_txt]
[a allow_rule "Allow: /private/open" 3 "*"][d disallow_rule "Disallow: /" 7 "FooBot"]
[a no_group][a no_group]
[a no_robots][a no_robots]
[d disallow_rule "Disallow: /geheim" 2 "*"][d disallow_rule "Disallow: /geheim" 2 "*"]
[- invalid_url][- invalid_url]
[- unsupported_scheme][- unsupported_scheme]
[- invalid_url][- invalid_url]
[- invalid_url][- invalid_url]
[d disallow_rule "Disallow: /private" 2 "*"][d disallow_rule "Disallow: /" 7 "FooBot"]
`

// run runs a job with bodies and some chains.
func run(t *testing.T, src batch.Source, sink batch.Sink, e evaluate.Options, o batch.Options, chains ...string) (batch.Stats, error) {
	t.Helper()
	e.Agents = len(chains)
	return batch.Run(context.Background(), src, sink, evaluators(batchtest.Table(t, bodies, chains...), e), o)
}

// evaluators returns the function that makes a job's evaluators.
func evaluators(origins matcher.Origins, o evaluate.Options) func() batch.Evaluator {
	return func() batch.Evaluator { return evaluate.New(origins, o) }
}

func TestRunExplains(t *testing.T) {
	var sink textSink
	stats := must.Get(run(t, &listSource{columns: []batch.Column{batchtest.URLs(frontier...)}}, &sink, evaluate.Options{Explain: true}, batch.Options{}, "*", "foobot"))(t)
	must.Equal(t, sink.String(), explained)
	want := batch.Stats{
		Rows: 19, Selected: 19, Counters: batch.Counters{Invalid: 3, UnsupportedScheme: 1, NoRobots: 1}, Authorities: 5, WithoutRobots: 1,
		Agents: []batch.Counts{
			{RowCounts: batch.RowCounts{Allowed: 11, Denied: 4, Unknown: 4}}, {RowCounts: batch.RowCounts{Allowed: 4, Denied: 11, Unknown: 4}},
		},
	}
	must.Equal(t, fmt.Sprint(stats), fmt.Sprint(want), "stats")
	must.Be(t, sink.closed && !sink.aborted, "the sink was not closed")
}

// cut makes batches of a few rows each, some of them empty.
func cut(lines []string, size int) []batch.Column {
	columns := []batch.Column{batchtest.URLs()}
	whole := batchtest.URLs(lines...)
	for low := 0; low < len(lines); low += size {
		columns = append(columns, whole.Slice(low, min(low+size, len(lines))))
	}
	return append(columns, batchtest.URLs())
}

// TestRunIsTheSameHoweverItIsCut: the verdict of a row depends on the row alone.
func TestRunIsTheSameHoweverItIsCut(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	verdictOf := make(map[string]string)
	for i, verdict := range strings.Split(strings.TrimSpace(explained), "\n") {
		verdictOf[frontier[i]] = verdict
	}
	lines := make([]string, 1000)
	for i := range lines {
		lines[i] = frontier[rng.IntN(len(frontier))]
	}
	var want strings.Builder
	for _, line := range lines {
		want.WriteString(verdictOf[line] + "\n")
	}
	for _, size := range []int{1, 7, 100, 1000} {
		for _, workers := range []int{1, 2, 8} {
			for _, memory := range []int64{1, 1 << 20} {
				var sink textSink
				o := batch.Options{Workers: workers, Memory: memory}
				must.Get(run(t, &listSource{columns: cut(lines, size)}, &sink, evaluate.Options{Explain: true}, o, "*", "foobot"))(t)
				must.Equal(t, sink.String(), want.String(), "batches of", size, workers, "workers", memory, "bytes: different verdicts")
			}
		}
	}
}

func TestRunEmits(t *testing.T) {
	for emit, want := range map[batch.Emit]string{
		batch.EmitAllowed: strings.Repeat("a\n", 11),
		batch.EmitDenied:  strings.Repeat("d\n", 4),
		batch.EmitUnknown: strings.Repeat("-\n", 4),
	} {
		var sink textSink
		stats := must.Get(run(t, &listSource{columns: cut(frontier, 5)}, &sink, evaluate.Options{}, batch.Options{Emit: emit}, "*"))(t)
		must.Be(t, sink.String() == want && stats.Selected == int64(len(want)/2) && stats.Rows == int64(len(frontier)),
			"emit %d: got %q (%d of %d rows), want %q", emit, sink.String(), stats.Selected, stats.Rows, want)
	}
}

func TestRunMissing(t *testing.T) {
	lines := []string{"http://unknown.example/", "http://unknown.example/robots.txt"}
	for missing, want := range []string{
		access.MissingAllow: "[a no_robots]\n[a robots_txt]\n",
		access.MissingDeny:  "[d no_robots]\n[a robots_txt]\n",
		access.MissingNull:  "[- no_robots]\n[a robots_txt]\n",
	} {
		var sink textSink
		must.Get(run(t, &listSource{columns: []batch.Column{batchtest.URLs(lines...)}}, &sink, evaluate.Options{Explain: true, Missing: access.Missing(missing)}, batch.Options{}, "*"))(t)
		must.Equal(t, sink.String(), want, "missing", missing)
	}
}

// failingOrigins returns an error for one authority.
type failingOrigins struct{ matcher.Origins }

func (f failingOrigins) Lookup(authority []byte, o *matcher.Origin) error {
	if strings.HasPrefix(string(authority), "gone:") || string(authority) == "http://b.example" {
		return errors.New("rules/b.example: permission denied")
	}
	return f.Origins.Lookup(authority, o)
}

func TestRunErrorsNameBatchAndRow(t *testing.T) {
	columns := cut(frontier, 5)
	for _, test := range []struct {
		name    string
		src     *listSource
		origins func(matcher.Origins) matcher.Origins
		want    string
	}{
		{"decode", &listSource{columns: columns, fail: map[int]error{2: errors.New("offsets are broken")}}, nil, "list: batch 2: offsets are broken"},
		{"panic", &listSource{columns: columns, panics: map[int]bool{3: true}}, nil, "list: batch 3: internal error, please report it: a broken piece"},
		{"rules", &listSource{columns: columns}, func(o matcher.Origins) matcher.Origins { return failingOrigins{o} }, "list: batch 3: row 12: rules/b.example: permission denied"},
	} {
		var origins matcher.Origins = batchtest.Table(t, bodies, "*")
		if test.origins != nil {
			origins = test.origins(origins)
		}
		var sink textSink
		_, err := batch.Run(context.Background(), test.src, &sink, evaluators(origins, evaluate.Options{}), batch.Options{Workers: 3})
		must.Be(t, err != nil && err.Error() == test.want, "%s: error %v, want %s", test.name, err, test.want)
		must.Be(t, !sink.closed && sink.aborted, "%s: the sink was not aborted", test.name)
	}
}

func TestRunStopsWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	src := &listSource{columns: cut(frontier, 1)}
	var sink textSink
	o := batch.Options{Workers: 2, Progress: func(s batch.Stats) {
		if s.Rows == 3 {
			cancel()
		}
	}}
	must.Is(t, must.Err(batch.Run(ctx, src, &sink, evaluators(batchtest.Table(t, bodies, "*"), evaluate.Options{}), o)), context.Canceled)
	must.Be(t, !sink.closed && sink.aborted, "the sink was not aborted")
}

// failing is an evaluator that returns errors from some batch on.
type failing struct{ left int }

func (f *failing) Evaluate(b *batch.Batch, v *batch.Verdicts) error {
	v.Reset(b.URLs.Len(), batch.Want{Agents: 1})
	if f.left--; f.left < 0 {
		return errors.New("row 0: no rules")
	}
	return nil
}

// TestRunWithoutBatches: a job without batches counts zero for each agent; the number of
// agents comes from an evaluator.
func TestRunWithoutBatches(t *testing.T) {
	stats, err := run(t, &listSource{}, &textSink{}, evaluate.Options{}, batch.Options{}, "*", "foobot")
	must.Be(t, err == nil && len(stats.Agents) == 2 && stats.Rows == 0, "%+v, %v", stats, err)
	var sink textSink
	_, err = batch.Run(context.Background(), &listSource{}, &sink, func() batch.Evaluator { return &failing{} }, batch.Options{})
	must.Be(t, err != nil && !sink.closed && sink.aborted, "error %v; the sink is closed: %v, aborted: %v", err, sink.closed, sink.aborted)
}

// once is an evaluator that is good for no batch after one at which it failed.
type once struct {
	batch.Evaluator
	t      *testing.T
	failed bool
}

func (o *once) Evaluate(b *batch.Batch, v *batch.Verdicts) error {
	if o.failed {
		o.t.Error("an evaluator that failed is used again")
	}
	err := o.Evaluator.Evaluate(b, v)
	o.failed = err != nil
	return err
}

// TestOutputsAfterAnError: an output that fails leaves the evaluators of the others as they are.
func TestOutputsAfterAnError(t *testing.T) {
	newEvaluator := evaluators(failingOrigins{batchtest.Table(t, bodies, "*")}, evaluate.Options{})
	pool := batch.NewPool(func() batch.Evaluator { return &once{newEvaluator(), t, false} }, batch.Options{Workers: 1})
	defer pool.Close()
	for _, url := range []string{"http://b.example/", "http://a.example/"} {
		lane := pool.Lane(t.Context())
		var sink textSink
		_, err := lane.Run(&listSource{columns: []batch.Column{batchtest.URLs(url)}}, &sink, nil)
		must.Equal(t, url == "http://b.example/", err != nil, url, "error", err)
		lane.Close()
	}
}
