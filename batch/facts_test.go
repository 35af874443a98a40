package batch

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/robotstxt"
)

// factTable has authorities of which different things are known.
func factTable(chains []matcher.Chain) *matcher.Table {
	var t matcher.Table
	add := func(authority, body string, facts matcher.Facts) {
		f := robotstxt.Parse([]byte(body), robotstxt.Options{})
		facts.Records = matcher.CollectRecords(f, chains)
		t.Add([]byte(authority), matcher.Origin{Access: access.Rules, Tries: matcher.Compile(f, chains), Facts: facts})
	}
	add("http://a.example", bodies["http://a.example"], matcher.Facts{Status: 200, Fetched: 1000})
	add("https://a.example", "User-agent: *\nCrawl-delay: 2\nSitemap: https://a.example/s\n", matcher.Facts{Status: 301, Fetched: 950})
	add("http://b.example:8080", "Sitemap: x\n"+strings.Repeat("Sitemap: "+strings.Repeat("y", 100)+"\n", 100), matcher.Facts{})
	add("http://late.example", "", matcher.Facts{Status: 200, Fetched: 1200})
	t.Add([]byte("http://gone.example"), matcher.Origin{Access: access.AllowAll, Facts: matcher.Facts{Status: 404, Fetched: 899}})
	t.Add([]byte("http://down.example"), matcher.Origin{Access: access.DisallowAll, Facts: matcher.Facts{Fetched: 1}})
	return &t
}

// factSink writes what is known of each row.
type factSink struct{ textSink }

func (s *factSink) Encode(_ *Batch, v *Verdicts) (Chunk, error) {
	var out strings.Builder
	for row := range v.Rows {
		text := "nothing"
		if of := v.FactsOf[row]; of >= 0 {
			text = describeFacts(&v.Facts[of], v.AsOf)
		}
		out.WriteString(text + "\n")
	}
	return Bytes(out.String()), nil
}

func describeFacts(f *matcher.Facts, asOf int64) string {
	age, known := f.Age(asOf)
	text := fmt.Sprint(f.Status, f.Fetched, age, known)
	if f.Records != nil {
		text += fmt.Sprintf(" %v %.30q %v", f.Records.CrawlDelays, f.Records.Sitemaps, f.Records.MoreSitemaps)
	}
	return text
}

// What is known of a row depends on the row alone, however rows are cut, ordered
// and worked on, and the rows that are counted are those that show why.
func TestFactsAreTheSameHoweverRowsAreCut(t *testing.T) {
	const asOf, maxAge = 1000, 100
	chains := []matcher.Chain{{"*"}, {"FooBot"}}
	origins := factTable(chains)
	some := append([]string{
		"http://gone.example/", "http://down.example/x", "http://late.example/1", "http://late.example/2", "http://b.example:8080/",
		"http://nobody.example/", "http://gone.example/robots.txt",
	}, frontier...)
	rng := rand.New(rand.NewPCG(5, 6))
	lines := make([]string, 0, 1500)
	for len(lines) < cap(lines)-10 {
		line := some[rng.IntN(len(some))]
		for range 1 + rng.IntN(8) { // runs of equal authorities
			lines = append(lines, line)
		}
	}
	for _, missing := range []access.Missing{access.MissingAllow, access.MissingNull} {
		for range 3 {
			want, outdated, more := wantedFacts(origins, lines, asOf, maxAge)
			for _, size := range []int{1, 7, 64, 1500} {
				for _, workers := range []int{1, 4} {
					var sink factSink
					o := Options{Agents: 2, Workers: workers, Facts: true, AsOf: asOf, MaxAge: maxAge, Missing: missing}
					stats, err := Run(context.Background(), &listSource{columns: cut(lines, size)}, &sink, origins, o)
					if err != nil {
						t.Fatal(err)
					}
					if sink.String() != want {
						t.Errorf("batches of %d, %d workers: different facts", size, workers)
					}
					if stats.Outdated != outdated || stats.MoreSitemaps != more {
						t.Errorf("%d outdated and %d with more sitemaps, want %d and %d", stats.Outdated, stats.MoreSitemaps, outdated, more)
					}
				}
			}
			rng.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
		}
	}
}

// wantedFacts looks every row up by itself.
func wantedFacts(origins matcher.Origins, lines []string, asOf, maxAge int64) (text string, outdated, more int64) {
	var out strings.Builder
	var scratch matcher.Scratch
	for _, line := range lines {
		var o matcher.Origin
		authority, _, reason := scratch.Split([]byte(line))
		if reason == matcher.NoReason {
			_ = origins.Lookup(authority, &o) // a table's never fails
		}
		if o.Access == access.Unknown {
			out.WriteString("nothing\n")
			continue
		}
		out.WriteString(describeFacts(&o.Facts, asOf) + "\n")
		if o.Facts.Fetched != 0 && asOf-o.Facts.Fetched > maxAge {
			outdated++
		}
		if o.Facts.Records != nil && o.Facts.Records.MoreSitemaps {
			more++
		}
	}
	return out.String(), outdated, more
}

// Without columns of facts, outdated rows are counted still; and without a time,
// nothing is.
func TestOutdatedRows(t *testing.T) {
	chains := []matcher.Chain{{"*"}}
	lines := []string{"http://gone.example/", "no URL", "http://down.example/x", "http://a.example/", "http://late.example/"}
	for _, test := range []struct{ asOf, maxAge, want int64 }{
		{0, 1, 0}, {1000, 101, 1}, {1000, 100, 2}, {1000, 0, 0}, {1000 + DefaultMaxAge, 0, 2}, {1001 + DefaultMaxAge, 0, 3}, {1 << 40, 0, 4},
	} {
		stats, err := Run(context.Background(), &listSource{columns: cut(lines, 2)}, &textSink{}, factTable(chains), Options{AsOf: test.asOf, MaxAge: test.maxAge})
		if err != nil {
			t.Fatal(err)
		}
		if stats.Outdated != test.want {
			t.Errorf("%+v: %d outdated", test, stats.Outdated)
		}
	}
}

func TestVerdictColumns(t *testing.T) {
	names := func(o ColumnOptions) string {
		columns, err := VerdictColumns(o)
		if err != nil {
			return err.Error()
		}
		var list []string
		for _, column := range columns {
			list = append(list, column.Name)
		}
		return strings.Join(list, " ")
	}
	with := []ColumnKind{AgeColumn, CrawlDelayColumn, SitemapsColumn}
	for _, test := range []struct {
		options ColumnOptions
		want    string
	}{
		{ColumnOptions{Agents: []string{"*"}}, "allowed"},
		{ColumnOptions{Agents: []string{"*"}, With: with}, "allowed age crawl_delay sitemaps"},
		{ColumnOptions{Agents: []string{"CCBot", "*"}, With: with, Prefix: "r_"}, "r_allowed_ccbot r_allowed_all r_age r_crawl_delay_ccbot r_crawl_delay_all r_sitemaps"},
		{ColumnOptions{Agents: []string{"*"}, Explain: true, With: []ColumnKind{StatusColumn, FetchedColumn}}, "allowed reason rule rule_line rule_agent robots_status robots_fetched_at"},
		{ColumnOptions{Agents: []string{"A-1", "a_1"}}, `agents "A-1" and "a_1" would both be written as column "allowed_a_1": leave one out`},
		{ColumnOptions{Agents: []string{"x", "Line-X"}, Explain: true}, `agents "x" and "Line-X" would both be written as column "rule_line_x": leave one out`},
	} {
		if got := names(test.options); got != test.want {
			t.Errorf("%+v:\n%s\nwant\n%s", test.options, got, test.want)
		}
	}
	for kind := CrawlDelayColumn; kind <= AgeColumn; kind++ {
		if got, err := ParseWith(columnNames[kind]); got != kind || err != nil {
			t.Errorf("%s is %d, %v", columnNames[kind], got, err)
		}
	}
	for _, name := range []string{"", "allowed", "rule", "Age", "age "} {
		if kind, err := ParseWith(name); err == nil || !strings.Contains(err.Error(), "crawl_delay, sitemaps, robots_status, robots_fetched_at, age") {
			t.Errorf("%q is %d, %v", name, kind, err)
		}
	}
}

// Facts cost no memory once an evaluator has seen a batch like it.
func TestFactsAllocateNothing(t *testing.T) {
	var lines []string
	for i := range 300 {
		lines = append(lines, fmt.Sprintf("http://gone.example/%d", i), fmt.Sprintf("http://b.example:8080/%d", i), "http://a.example/", "no URL")
	}
	e := NewEvaluator(factTable([]matcher.Chain{{"*"}}), Options{Facts: true, AsOf: 1000})
	b, v := &Batch{URLs: urls(lines...)}, Verdicts{}
	if n := testing.AllocsPerRun(10, func() {
		if err := e.Evaluate(b, &v); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations for %d URLs", n, len(lines))
	}
}
