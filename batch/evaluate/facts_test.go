package evaluate

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"robotsbatch/batch"
	"robotsbatch/batch/internal/batchtest"
	"robotsbatch/bench/ruletable"
	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/domains"
	"robotsbatch/matcher/robotstxt"
	"robotsbatch/matcher/urls"
)

var bodies, frontier = batchtest.Bodies, batchtest.Frontier

// factTable returns a table of authorities with different facts.
func factTable(chains []matcher.Chain) *ruletable.Table {
	var t ruletable.Table
	add := func(authority, body string, facts matcher.Facts) {
		f := robotstxt.Parse([]byte(body), robotstxt.Options{})
		facts.Records = matcher.CollectRecords(f, matcher.NewAgents(chains))
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

// factsOfRows evaluates lines in batches of a size. It returns the facts of each row, and
// the numbers of rows that are outdated and that have more sitemaps.
func factsOfRows(t *testing.T, e *Evaluator, lines []string, size int) (text string, outdated, more int) {
	t.Helper()
	var out strings.Builder
	var v batch.Verdicts
	for part := range slices.Chunk(lines, size) {
		must.Do(t, e.Evaluate(&batch.Batch{URLs: batchtest.URLs(part...)}, &v))
		outdated, more = outdated+int(v.Outdated), more+int(v.SitemapsCut)
		for row := range v.Rows {
			out.WriteString(rowText(&v, row) + "\n")
		}
	}
	return out.String(), outdated, more
}

// TestFactsAreTheSameHoweverRowsAreCut: the facts of a row depend on the row alone, in any
// order and with any batches, and the counts agree with the rows.
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
			want, outdated, more := wantedFacts(origins, lines, columnsOf(2), asOf, maxAge)
			o := Options{Agents: 2, Columns: columnsOf(2), AsOf: asOf, MaxAge: maxAge, Missing: missing}
			for _, size := range []int{1, 7, 64, 1500} {
				got, gotOutdated, gotMore := factsOfRows(t, New(origins, o), lines, size)
				must.Equal(t, got, want, "batches of", size, "different facts")
				must.Be(t, gotOutdated == outdated && gotMore == more, "%d outdated and %d with more sitemaps, want %d and %d", gotOutdated, gotMore, outdated, more)
			}
			rng.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
		}
	}
}

// wantedFacts looks up each row by itself.
func wantedFacts(origins matcher.Origins, lines []string, columns []batch.VerdictColumn, asOf, maxAge int64) (text string, outdated, more int) {
	var out strings.Builder
	var scratch urls.Scratch
	for _, line := range lines {
		var o matcher.Origin
		authority, _, err := scratch.Split([]byte(line))
		if err == nil {
			_ = origins.Lookup(authority, &o) // a table's Lookup never fails
		}
		h := &batch.Host{Authority: authority, HasRules: o.Access == access.Rules, Time: asOf}
		switch {
		case err != nil:
			h = nil
		case o.Access != access.Unknown:
			h.Facts = &o.Facts
		}
		out.WriteString(hostText(columns, h) + "\n")
		if o.Facts.Fetched != 0 && asOf-o.Facts.Fetched > maxAge {
			outdated++
		}
		if o.Facts.Records != nil && o.Facts.Records.MoreSitemaps {
			more++
		}
	}
	return out.String(), outdated, more
}

// TestURLKeys: a row's key depends on its URL alone, in any order and block, and is null
// where there is no URL.
func TestURLKeys(t *testing.T) {
	lines := slices.Repeat(slices.Concat(frontier, []string{"  https://www.x.co.uk:443/B?b&a  ", "mailto:a@x.test", "http://x.test"}), 3)
	var scratch urls.Scratch
	var want []string
	for _, line := range lines {
		if _, _, err := scratch.Split([]byte(line)); err != nil {
			want = append(want, "-")
			continue
		}
		authority, rest, _ := scratch.SplitAuthority(urls.Trim([]byte(line)))
		want = append(want, fmt.Sprintf("%q", domains.AppendSURTKey(nil, authority, rest)))
	}
	must.Be(t, slices.Contains(want, `"uk,co,x)/b?a&b"`), "there is no key of %s in %s", lines[len(frontier)], want)
	columns := columnsOf(1, "url_surtkey")
	for _, blockRows := range []int{1, 7, 4096} {
		e := New(new(ruletable.Table), Options{Columns: columns})
		e.blockRows = blockRows
		var v batch.Verdicts
		b := batch.Batch{URLs: batchtest.URLs(lines...)}
		must.Do(t, e.Evaluate(&b, &v))
		for row := range lines {
			must.Equal(t, rowText(&v, row), want[row], "blocks of", blockRows, lines[row])
		}
	}
}

// TestRegisteredDomains: a row's registered domain depends on its URL alone.
func TestRegisteredDomains(t *testing.T) {
	lines := slices.Concat(frontier, []string{"http://www.x.co.uk/", "http://10.0.0.1/", "http://a.www.x.co.uk/", "http://nobody.example/1", "http://www.x.co.uk/2"})
	lines = slices.Repeat(lines, 3)
	var scratch urls.Scratch
	var want []string
	for _, line := range lines {
		domain := ""
		if authority, _, err := scratch.Split([]byte(line)); err == nil {
			domain = domains.Registered(domains.Host(authority))
		}
		want = append(want, domain)
	}
	for _, columns := range [][]batch.VerdictColumn{columnsOf(1, "registered_domain"), columnsOf(1, "registered_domain", "age")} {
		for _, size := range []int{1, 4, 100} {
			e := New(factTable([]matcher.Chain{{"*"}}), Options{Columns: columns})
			e.blockRows = 16
			var got []string
			var v batch.Verdicts
			for part := range slices.Chunk(lines, size) {
				must.Do(t, e.Evaluate(&batch.Batch{URLs: batchtest.URLs(part...)}, &v))
				for _, of := range v.Columns[0].Of {
					if of < 0 {
						got = append(got, "")
					} else {
						got = append(got, v.Columns[0].Texts[of])
					}
				}
			}
			must.EqualSlices(t, got, want, "batches of", size)
		}
	}
}

// TestOutdatedRows: outdated rows are counted even without columns of facts, but not
// without a time.
func TestOutdatedRows(t *testing.T) {
	chains := []matcher.Chain{{"*"}}
	lines := []string{"http://gone.example/", "no URL", "http://down.example/x", "http://a.example/", "http://late.example/"}
	for _, test := range []struct {
		asOf, maxAge int64
		want         int
	}{
		{0, 1, 0}, {1000, 101, 1}, {1000, 100, 2}, {1000, 0, 0}, {1000 + DefaultMaxAge, 0, 2}, {1001 + DefaultMaxAge, 0, 3}, {1 << 40, 0, 4},
	} {
		e := New(factTable(chains), Options{AsOf: test.asOf, MaxAge: test.maxAge})
		_, outdated, _ := factsOfRows(t, e, lines, 2)
		must.Be(t, outdated == test.want, "%+v: %d outdated", test, outdated)
	}
}

// factNames are the columns that robots.txt decides.
var factNames = []string{"crawl_delay", "sitemaps", "robots_status", "robots_fetched_at", "robots_until", "age", "body_kind"}

// TestFactsAllocateNothing: facts take no memory once the evaluator has seen a similar
// batch.
func TestFactsAllocateNothing(t *testing.T) {
	var lines []string
	for i := range 300 {
		lines = append(lines, fmt.Sprintf("http://gone.example/%d", i), fmt.Sprintf("http://b.example:8080/%d", i), "http://a.example/", "no URL")
	}
	e := New(factTable([]matcher.Chain{{"*"}}), Options{Columns: columnsOf(1, factNames...), AsOf: 1000})
	b, v := &batch.Batch{URLs: batchtest.URLs(lines...)}, batch.Verdicts{}
	must.Equal(t, testing.AllocsPerRun(10, func() { must.Do(t, e.Evaluate(b, &v)) }), 0, "allocations for all URLs")
}

// TestStaleRules: the last good copy decides like any other rules. If none of its rules
// decides, the reason says that it is stale (RFC 9309 §2.3.1.4).
func TestStaleRules(t *testing.T) {
	const authority = "http://a.example"
	rules := batchtest.Table(t, map[string]string{authority: "User-agent: x\nDisallow: /no\nAllow: /no/yes\n"}, "x", "y")
	var origin matcher.Origin
	must.Do(t, rules.Lookup([]byte(authority), &origin))
	origin.Stale = true
	rules.Add([]byte(authority), origin)

	for _, test := range []struct {
		path string
		x, y matcher.Reason
	}{
		{"/no", matcher.DisallowRule, matcher.StaleRules},
		{"/no/yes", matcher.AllowRule, matcher.StaleRules},
		{"/other", matcher.StaleRules, matcher.StaleRules},
		{"/robots.txt", matcher.RobotsTxt, matcher.RobotsTxt},
	} {
		t.Run(test.path, func(t *testing.T) {
			e := New(rules, Options{Agents: 2, Explain: true})
			var v batch.Verdicts
			must.Do(t, e.Evaluate(&batch.Batch{URLs: batchtest.URLs(authority + test.path)}, &v))
			x, y := v.Agents[0].Reasons[0], v.Agents[1].Reasons[0]
			must.Be(t, x == test.x && y == test.y, "reasons %v and %v, want %v and %v", x, y, test.x, test.y)
			must.Equal(t, v.Agents[0].Allowed[0]&1 == 0, test.x == matcher.DisallowRule)
		})
	}
}

// columnsOf returns columns by their names, those of all agents; all of hosts that have a
// name without any.
func columnsOf(agents int, names ...string) []batch.VerdictColumn {
	all := names == nil
	if all {
		names = batch.WithNames()
	}
	var columns []batch.VerdictColumn
	for _, name := range names {
		kind, err := batch.ParseWith(name)
		if err != nil {
			panic(err)
		}
		if all && kind.OfURL != nil {
			continue // no host decides it: see TestURLKeys
		}
		columns = append(columns, batch.VerdictColumn{Name: name, Kind: kind})
		for agent := 1; agent < agents && kind.PerAgent; agent++ {
			columns = append(columns, batch.VerdictColumn{Name: name, Kind: kind, Agent: agent})
		}
	}
	return columns
}

// rowText has the values of a row.
func rowText(v *batch.Verdicts, row int) string {
	var texts []string
	for i := range v.Columns {
		c := &v.Columns[i]
		texts = append(texts, valueText(c, c.At(row)))
	}
	return strings.Join(texts, " ")
}

// hostText has the values of a row of a host; nil for none.
func hostText(columns []batch.VerdictColumn, h *batch.Host) string {
	var texts []string
	for _, c := range columns {
		values, of := batch.Values{Kind: c.Kind, Agent: c.Agent}, int32(-1)
		if h != nil && c.Kind.Value != nil && (h.Facts != nil || c.Kind.ByAuthority) {
			of = values.Add(c.Kind.Value(h, c.Agent))
		}
		texts = append(texts, valueText(&values, of))
	}
	return strings.Join(texts, " ")
}

func valueText(c *batch.Values, of int32) string {
	if of < 0 {
		return "-"
	}
	switch c.Kind.Type {
	case batch.BoolType:
		return fmt.Sprint(of > 0)
	case batch.FloatType:
		return fmt.Sprint(c.Floats[of])
	case batch.TextType:
		return fmt.Sprintf("%q", c.Texts[of])
	case batch.ListType:
		return fmt.Sprintf("%.30q", c.Lists[of].Words)
	}
	return fmt.Sprint(c.Ints[of])
}

// A column whose name is known at run time alone, with a nullable boolean for each agent,
// needs nothing but its kind: the evaluator sets its rows.
func TestColumnsMadeAtRunTime(t *testing.T) {
	kind := &batch.ColumnKind{Name: "use_train_ai", Type: batch.BoolType, PerAgent: true}
	columns := must.Get(batch.VerdictColumns(batch.ColumnOptions{Agents: []string{"*", "CCBot"}, With: []*batch.ColumnKind{kind}}))(t)
	var v batch.Verdicts
	e := New(batchtest.Table(t, bodies, "*", "CCBot"), Options{Agents: 2, Columns: columns})
	must.Do(t, e.Evaluate(&batch.Batch{URLs: batchtest.URLs(frontier...)}, &v))
	v.Columns[1].Of[0] = v.Columns[1].Add(batch.Value{Known: true, Int: 1})
	got := rowText(&v, 0)
	must.Be(t, got == "- true" && len(v.Columns) == 2, "the first row has %s", got)
	values, err := v.Values(&columns[3])
	must.Be(t, err == nil && columns[3].Name == "use_train_ai_ccbot" && values.At(0) == 1 && values.At(1) == -1, "%s is %+v, %v", columns[3].Name, values, err)
}
