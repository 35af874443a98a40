package batch

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
)

var bodies = map[string]string{
	"http://a.example":             "User-agent: *\nDisallow: /private\nAllow: /private/open\nDisallow: /*.gif$\n\nUser-agent: FooBot\nDisallow: /\n",
	"https://a.example":            "User-agent: FooBot\nDisallow: /x\n",
	"http://b.example:8080":        "",
	"http://xn--bcher-kva.example": "User-agent: *\nDisallow: /geheim\n",
}

var frontier = []string{
	"http://a.example/",
	"http://a.example/private/x",
	"http://a.example/private/open#top",
	"HTTP://A.Example:80/pic.gif",
	"http://a.example/pic.gif?x",
	"http://a.example",
	"http://a.example?private",
	"https://a.example/x",
	"https://a.example/robots.txt",
	"http://a.example/robots.txt",
	"http://user@a.example/private/%6Fpen",
	"http://b.example:8080/any",
	"http://b.example/any",
	"http://Bücher.example/geheim",
	"mailto:x",
	"gopher://a.example/",
	"http://a.example/a\rb",
	"",
	" http://a.example/private \t",
}

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

func run(t *testing.T, src Source, sink Sink, o Options, chains ...string) (Stats, error) {
	t.Helper()
	o.Agents = len(chains)
	return Run(context.Background(), src, sink, table(t, bodies, chains...), o)
}

func TestRunExplains(t *testing.T) {
	var sink textSink
	stats, err := run(t, &listSource{columns: []Column{urls(frontier...)}}, &sink, Options{Explain: true}, "*", "foobot")
	if err != nil {
		t.Fatal(err)
	}
	if sink.String() != explained {
		t.Errorf("got\n%s\nwant\n%s", sink.String(), explained)
	}
	want := Stats{
		Rows: 19, Selected: 19, Invalid: 3, UnsupportedScheme: 1, Authorities: 5, WithoutRobots: 1,
		Agents: []Counts{{Allowed: 11, Denied: 4, Unknown: 4}, {Allowed: 4, Denied: 11, Unknown: 4}},
	}
	if got := fmt.Sprint(stats); got != fmt.Sprint(want) {
		t.Errorf("stats %v, want %v", got, want)
	}
	if !sink.closed || sink.aborted {
		t.Error("the sink was not closed")
	}
}

// cut makes batches of a few rows each, some of them empty.
func cut(lines []string, size int) []Column {
	columns := []Column{urls()}
	whole := urls(lines...)
	for low := 0; low < len(lines); low += size {
		columns = append(columns, whole.Slice(low, min(low+size, len(lines))))
	}
	return append(columns, urls())
}

// The verdict of a row depends on the row alone.
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
				o := Options{Explain: true, Workers: workers, Memory: memory}
				if _, err := run(t, &listSource{columns: cut(lines, size)}, &sink, o, "*", "foobot"); err != nil {
					t.Fatal(err)
				}
				if sink.String() != want.String() {
					t.Errorf("batches of %d, %d workers, %d octets: different verdicts", size, workers, memory)
				}
			}
		}
	}
}

func TestRunEmits(t *testing.T) {
	for emit, want := range map[Emit]string{
		EmitAllowed: strings.Repeat("a\n", 11),
		EmitDenied:  strings.Repeat("d\n", 4),
		EmitUnknown: strings.Repeat("-\n", 4),
	} {
		var sink textSink
		stats, err := run(t, &listSource{columns: cut(frontier, 5)}, &sink, Options{Emit: emit}, "*")
		if err != nil {
			t.Fatal(err)
		}
		if sink.String() != want || stats.Selected != int64(len(want)/2) || stats.Rows != int64(len(frontier)) {
			t.Errorf("emit %d: got %q (%d of %d rows), want %q", emit, sink.String(), stats.Selected, stats.Rows, want)
		}
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
		if _, err := run(t, &listSource{columns: []Column{urls(lines...)}}, &sink, Options{Explain: true, Missing: access.Missing(missing)}, "*"); err != nil {
			t.Fatal(err)
		}
		if sink.String() != want {
			t.Errorf("missing %d: got %q, want %q", missing, sink.String(), want)
		}
	}
}

// failingOrigins fails for one authority.
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
		var origins matcher.Origins = table(t, bodies, "*")
		if test.origins != nil {
			origins = test.origins(origins)
		}
		var sink textSink
		_, err := Run(context.Background(), test.src, &sink, origins, Options{Workers: 3})
		if err == nil || err.Error() != test.want {
			t.Errorf("%s: error %v, want %s", test.name, err, test.want)
		}
		if sink.closed || !sink.aborted {
			t.Errorf("%s: the sink was not aborted", test.name)
		}
	}
}

func TestRunStopsWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	src := &listSource{columns: cut(frontier, 1)}
	var sink textSink
	o := Options{Workers: 2, Progress: func(s Stats) {
		if s.Rows == 3 {
			cancel()
		}
	}}
	if _, err := Run(ctx, src, &sink, table(t, bodies, "*"), o); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want a cancelled context", err)
	}
	if sink.closed || !sink.aborted {
		t.Error("the sink was not aborted")
	}
}

// Rows far apart in a column are evaluated alike whatever lies between: the
// blocks of the row loop, nulls, octets that no URL may have.
func TestRowsDoNotDependOnTheirNeighbours(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	lines := append([]string{"http://a.example/x\nb", "http://a.example/\x00"}, frontier...)
	evaluate := func(c Column) string {
		var sink textSink
		if _, err := run(t, &listSource{columns: []Column{c}}, &sink, Options{Explain: true}, "*", "foobot"); err != nil {
			t.Fatal(err)
		}
		short := Options{}
		var letters textSink
		if _, err := run(t, &listSource{columns: []Column{c}}, &letters, short, "*", "foobot"); err != nil {
			t.Fatal(err)
		}
		return sink.String() + letters.String()
	}
	var alone [][]string
	for _, s := range lines {
		alone = append(alone, strings.Split(evaluate(urls(s)), "\n"))
	}
	for range 20 {
		rows := 1 + rng.IntN(3*blockRows)
		values, picked := make([][]byte, rows), make([]int, rows)
		last := 0
		for i := range values {
			if rng.IntN(3) == 0 {
				last = rng.IntN(len(lines))
			}
			picked[i] = last
			values[i] = []byte(lines[last])
		}
		got := strings.Split(evaluate(column(values...)), "\n")
		for i := range values {
			if got[i] != alone[picked[i]][0] || got[rows+i] != alone[picked[i]][1] {
				t.Fatalf("row %d, %q: %s and %s, alone %s", i, values[i], got[i], got[rows+i], alone[picked[i]])
			}
		}
	}
}

// A benchmark may put something else in the evaluator's place.
func TestRunEvaluatesInstead(t *testing.T) {
	var sink textSink
	o := Options{Workers: 2, Evaluate: func(b *Batch, v *Verdicts) error {
		v.reset(b.URLs.Len(), Options{Agents: 1})
		v.Agents[0].allow(0, v.Rows)
		return nil
	}}
	stats, err := Run(context.Background(), &listSource{columns: cut(frontier, 5)}, &sink, nil, o)
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.Repeat("a\n", len(frontier)); sink.String() != want {
		t.Errorf("got %q, want %q", sink.String(), want)
	}
	if len(stats.Agents) != 1 || stats.Agents[0].Allowed != int64(len(frontier)) {
		t.Errorf("stats %v", stats)
	}
}
