package captures

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/robotstxt"
)

var start = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

// day is a time so many days after start.
func day(n int) time.Time { return start.AddDate(0, 0, n) }

func options() Options { return Options{Chains: []matcher.Chain{{matcher.Everyone}}} }

const denyX = "User-agent: *\nDisallow: /x\n"

func page(url, body string, days int) Capture {
	return Capture{URL: []byte(url), Status: 200, Body: []byte(body), Time: day(days)}
}

func answer(url string, status, days int) Capture {
	return Capture{URL: []byte(url), Status: status, Time: day(days)}
}

func moved(url, location string, days int) Capture {
	return Capture{URL: []byte(url), Status: 301, Location: location, Time: day(days)}
}

func collect(captures ...Capture) *Collector {
	c := NewCollector(options())
	for i := range captures {
		c.Add(&captures[i])
	}
	return c
}

// describe is what an authority's origin says, as one word or two.
func describe(t testing.TB, o *Origins, authority string) string {
	t.Helper()
	var origin matcher.Origin
	origin.Stale = true // Lookup has to set all of it
	if err := o.Lookup([]byte(authority), &origin); err != nil {
		t.Fatal(err)
	}
	text := [...]string{"unknown", "rules", "allow", "deny"}[origin.Access]
	if origin.Stale {
		text = "stale " + text
	}
	if origin.Access != access.Rules {
		if origin.Tries != nil {
			t.Error("tries without rules")
		}
		return text
	}
	var target matcher.Target
	target.Set([]byte("/x"), robotstxt.RFC9309)
	if allowed, _ := origin.Tries[0].Allowed(&target); !allowed {
		text += " /x"
	}
	return text
}

// chain is redirects from an authority "http://0.example" over as many hops.
func chain(hops int, last Capture) []Capture {
	var all []Capture
	for i := range hops {
		all = append(all, moved(fmt.Sprintf("http://%d.example/robots.txt", i), fmt.Sprintf("http://%d.example/robots.txt", i+1), 0))
	}
	last.URL = fmt.Appendf(nil, "http://%d.example/robots.txt", hops)
	return append(all, last)
}

func TestDecidingCapture(t *testing.T) {
	const a, b = "http://a.example/robots.txt", "https://b.example/robots.txt"
	long := "http://a.example/" + strings.Repeat("x", 3000)
	ok := page(a, denyX, 0)
	tests := []struct {
		name     string
		captures []Capture
		asOf     int // days after start; -1 for the newest
		want     string
	}{
		{"nothing known", nil, -1, "unknown"},
		{"only another scheme is known", []Capture{page("https://a.example/robots.txt", denyX, 0)}, -1, "unknown"},
		{"only a page is known", []Capture{page("http://a.example/index.html", denyX, 0)}, -1, "unknown"},
		{"2xx", []Capture{ok}, -1, "rules /x"},
		{"2xx without a body", []Capture{answer(a, 204, 0)}, -1, "rules"},
		{"no status is 200", []Capture{{URL: []byte(a), Body: []byte(denyX)}}, -1, "rules /x"},
		{"authority as written otherwise", []Capture{page("HTTP://A.Example.:80/robots.txt#x", denyX, 0)}, -1, "rules /x"},
		{"4xx", []Capture{answer(a, 404, 0)}, -1, "allow"},
		{"429", []Capture{answer(a, 429, 0)}, -1, "deny"},
		{"5xx", []Capture{answer(a, 503, 0)}, -1, "deny"},
		{"an error", []Capture{{URL: []byte(a), Failed: true, Status: 200, Body: []byte(denyX)}}, -1, "deny"},
		{"the newest", []Capture{answer(a, 404, 1), ok}, -1, "allow"},
		{"the newest, other way round", []Capture{ok, answer(a, 404, 1)}, -1, "allow"},
		{"the newest not after as-of", []Capture{answer(a, 404, 2), ok}, 1, "rules /x"},
		{"all are after as-of", []Capture{answer(a, 404, 2), page(a, denyX, 3)}, 1, "unknown"},
		{"at the same time, the last", []Capture{answer(a, 404, 0), ok}, -1, "rules /x"},
		{"3xx to rules", []Capture{moved(a, b, 0), page(b, denyX, 0)}, -1, "rules /x"},
		{"3xx to rules that come before", []Capture{page(b, denyX, 0), moved(a, b, 0)}, -1, "rules /x"},
		{"3xx to another path", []Capture{moved(a, "/other?q#f", 0), page("http://a.example/other?q", denyX, 0)}, -1, "rules /x"},
		{"3xx to a relative path", []Capture{moved(a, "other", 0), page("http://a.example/other", denyX, 0)}, -1, "rules /x"},
		{"3xx without scheme", []Capture{moved(a, "//b.example/robots.txt", 0), page("http://b.example/robots.txt", denyX, 0)}, -1, "rules /x"},
		{"3xx to a long URL", []Capture{moved(a, long, 0), page(long, denyX, 0)}, -1, "rules /x"},
		{"3xx to a URL with a bad escape", []Capture{moved(a, "https://b.example/%zz", 0), page("https://b.example/%zz", denyX, 0)}, -1, "rules /x"},
		{"3xx to 4xx", []Capture{moved(a, b, 0), answer(b, 410, 0)}, -1, "allow"},
		{"3xx to 5xx", []Capture{moved(a, b, 0), answer(b, 500, 0)}, -1, "deny"},
		{"3xx to what is not in the source", []Capture{moved(a, b, 0)}, -1, "allow"},
		{"3xx to what is in it only later", []Capture{moved(a, b, 0), answer(b, 500, 2)}, 1, "allow"},
		{"3xx to no URL", []Capture{moved(a, "http://[/", 0)}, -1, "allow"},
		{"3xx without Location", []Capture{moved(a, "", 0)}, -1, "allow"},
		{"304", []Capture{{URL: []byte(a), Status: 304, Location: b}, answer(b, 500, 0)}, -1, "allow"},
		{"3xx to itself", []Capture{moved(a, a, 0)}, -1, "allow"},
		{"3xx to each other", []Capture{moved(a, b, 0), moved(b, a, 0)}, -1, "allow"},
		{"unreachable for 30 days: last good copy", []Capture{ok, answer(a, 500, 1)}, 31, "stale rules /x"},
		{"unreachable for 30 days: none", []Capture{answer(a, 500, 1)}, 31, "allow"},
		{"unreachable for 29 days", []Capture{ok, answer(a, 500, 1)}, 30, "deny"},
		{"3xx to stale rules", []Capture{moved(a, b, 1), page(b, denyX, 0), answer(b, 500, 1)}, 31, "stale rules /x"},
		{"3xx, then unreachable: last good copy of the target", []Capture{moved(a, b, 0), page(b, denyX, 0), answer(a, 500, 1)}, 31, "stale rules /x"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var asOf time.Time
			if test.asOf >= 0 {
				asOf = day(test.asOf)
			}
			o := collect(test.captures...).Finish(asOf, access.Policy{})
			if got := describe(t, o, "http://a.example"); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

func TestHops(t *testing.T) {
	for hops, want := range []string{"rules /x", "rules /x", "rules /x", "rules /x", "rules /x", "rules /x", "allow", "allow"} {
		o := collect(chain(hops, page("", denyX, 0))...).Finish(time.Time{}, access.Policy{})
		if got := describe(t, o, "http://0.example"); got != want {
			t.Errorf("%d hops: %s, want %s", hops, got, want)
		}
		for i := 1; i <= hops; i++ { // those nearer have fewer hops
			if got := describe(t, o, fmt.Sprintf("http://%d.example", i)); hops-i <= access.MaxHops && got != "rules /x" {
				t.Errorf("%d hops, authority %d: %s", hops, i, got)
			}
		}
	}
}

func TestPolicies(t *testing.T) {
	const a = "http://a.example/robots.txt"
	deny, allow := access.Policy{DenyUnresolved: true}, access.Policy{Allow429: true}
	tests := []struct {
		name     string
		captures []Capture
		policy   access.Policy
		want     string
	}{
		{"unresolved", []Capture{moved(a, "", 0)}, deny, "deny"},
		{"unresolved at the second hop", []Capture{moved(a, "/b", 0), moved("http://a.example/b", "/c", 0)}, deny, "deny"},
		{"unresolved is not unreachable for 30 days", []Capture{page(a, denyX, 0), moved(a, "/b", 1), answer("http://z.example/", 200, 40)}, deny, "deny"},
		{"429", []Capture{answer(a, 429, 0)}, allow, "allow"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			o := collect(test.captures...).Finish(time.Time{}, test.policy)
			if got := describe(t, o, "http://a.example"); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

// TestOrder: the order in which captures come does not matter.
func TestOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	all := chain(7, page("", denyX, 0))
	for i := 1; i <= 40; i++ { // no two at the same time
		url := fmt.Sprintf("http://%d.example/robots.txt", r.IntN(12))
		switch r.IntN(4) {
		case 0:
			all = append(all, page(url, denyX, i))
		case 1:
			all = append(all, answer(url, 500, i))
		case 2:
			all = append(all, answer(url, 404, i))
		case 3:
			all = append(all, moved(url, fmt.Sprintf("http://%d.example/robots.txt", r.IntN(12)), i))
		}
	}
	table := func() string {
		o := collect(all...).Finish(time.Time{}, access.Policy{})
		var b strings.Builder
		for i := range 12 {
			fmt.Fprintln(&b, i, describe(t, o, fmt.Sprintf("http://%d.example", i)))
		}
		return b.String()
	}
	want := table()
	for range 20 {
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		if got := table(); got != want {
			t.Fatalf("in another order:\n%swant:\n%s", got, want)
		}
	}
}

func TestBodies(t *testing.T) {
	limit := robotstxt.DefaultLimit
	filler := strings.Repeat("# 456789\n", limit/9)
	const tail = "User-agent: *\nDisallow: /x"
	at := func(octets int) string { // a body of so many octets
		return strings.Repeat("#", (octets-len(tail)-1)%9) + "\n" + filler[:(octets-len(tail)-1)/9*9] + tail
	}
	captures := []Capture{
		page("http://plain.example/robots.txt", tail, 0),
		page("http://same.example/robots.txt", tail, 0),
		{URL: []byte("http://cut.example/robots.txt"), Status: 200, Body: []byte(tail), Cut: true},
		page("http://full.example/robots.txt", at(limit), 0),
		page("http://over.example/robots.txt", at(limit+1), 0),
		page("http://html.example/robots.txt", "<html>", 0),
		moved("http://moved.example/robots.txt", "/gone", 0),
		moved("http://plain.example/robots", "http://plain.example/robots.txt", 0),
		page("http://plain.example/", "Disallow: /", 0),
		page("mailto:a@plain.example", "", 0),
	}
	o := collect(captures...).Finish(time.Time{}, access.Policy{})
	for authority, want := range map[string]string{
		"plain": "rules /x", "same": "rules /x", "cut": "rules", "full": "rules /x", "over": "rules", "html": "rules", "moved": "allow",
	} {
		if got := describe(t, o, "http://"+authority+".example"); got != want {
			t.Errorf("%s: %s, want %s", authority, got, want)
		}
	}
	want := Stats{
		Captures: 9, Elsewhere: 2, Ignored: 1, Authorities: 7, Rules: 6, Unavailable: 1,
		Unresolved: 1, HTML: 1, Limited: 2, Bodies: 6,
	}
	if got := o.Stats(); got != want {
		t.Errorf("stats %+v, want %+v", got, want)
	}
	var plain, same matcher.Origin
	_ = o.Lookup([]byte("http://plain.example"), &plain)
	_ = o.Lookup([]byte("http://same.example"), &same)
	if !plain.Tries[0].Same(&same.Tries[0]) {
		t.Error("equal bodies do not share their rules")
	}
	var moved, nobody matcher.Origin
	_ = o.Lookup([]byte("http://moved.example"), &moved)
	if want := (matcher.Facts{Status: 301, Fetched: start.Unix()}); moved.Facts != want {
		t.Errorf("deciding capture %+v, want %+v", moved.Facts, want)
	}
	if _ = o.Lookup([]byte("http://nobody.example"), &nobody); nobody.Facts != (matcher.Facts{}) {
		t.Errorf("nobody has %+v", nobody.Facts)
	}
}

// What is known of the fetch is that of the capture which decides.
func TestFacts(t *testing.T) {
	const a = "http://a.example/robots.txt"
	withSitemap := page(a, "Sitemap: s\n"+denyX+"Crawl-delay: 3\n", 1)
	undated := page(a, denyX, 0)
	undated.Time = time.Time{}
	undated.Status = 0
	odd := answer(a, 99_999, 0)
	records := &matcher.Records{CrawlDelays: []float64{3}, Sitemaps: []string{"s"}}
	none := &matcher.Records{CrawlDelays: []float64{matcher.NoCrawlDelay}}
	tests := []struct {
		name     string
		captures []Capture
		want     matcher.Facts
	}{
		{"rules", []Capture{answer(a, 404, 0), withSitemap}, matcher.Facts{Status: 200, Fetched: day(1).Unix(), Records: records}},
		{"unavailable", []Capture{withSitemap, answer(a, 404, 2)}, matcher.Facts{Status: 404, Fetched: day(2).Unix()}},
		{"no answer", []Capture{withSitemap, {URL: []byte(a), Failed: true, Time: day(2)}}, matcher.Facts{Fetched: day(2).Unix()}},
		{"a last good copy", []Capture{withSitemap, answer(a, 503, 2), answer(a, 500, 40)}, matcher.Facts{Status: 200, Fetched: day(1).Unix(), Records: records}},
		{"unreachable for long", []Capture{answer(a, 503, 2), answer(a, 500, 40)}, matcher.Facts{Status: 500, Fetched: day(40).Unix()}},
		{"redirect", []Capture{moved(a, "/rules", 3), page("http://a.example/rules", "Sitemap: s\n"+denyX+"Crawl-delay: 3", 1)}, matcher.Facts{Status: 301, Fetched: day(3).Unix(), Records: records}},
		{"redirect to nowhere", []Capture{moved(a, "/nowhere", 3)}, matcher.Facts{Status: 301, Fetched: day(3).Unix()}},
		{"neither status nor time", []Capture{undated}, matcher.Facts{Records: none}},
		{"a status that is none", []Capture{odd}, matcher.Facts{Fetched: start.Unix()}},
	}
	for _, test := range tests {
		for _, keep := range []bool{true, false} {
			o := options()
			o.Records = keep
			c := NewCollector(o)
			for i := range test.captures {
				c.Add(&test.captures[i])
			}
			var origin matcher.Origin
			_ = c.Finish(time.Time{}, access.Policy{}).Lookup([]byte("http://a.example"), &origin)
			want := test.want
			if !keep {
				want.Records = nil
			}
			if !reflect.DeepEqual(origin.Facts, want) {
				t.Errorf("%s: %+v %+v, want %+v %+v", test.name, origin.Facts, origin.Facts.Records, want, want.Records)
			}
		}
	}
}
