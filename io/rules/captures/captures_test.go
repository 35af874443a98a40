package captures

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"robotsbatch/io/store/compress"
	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/robotstxt"
	"robotsbatch/matcher/urls"
)

var start = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

// day is a time so many days after start.
func day(n int) time.Time { return start.AddDate(0, 0, n) }

const denyX = "User-agent: *\nDisallow: /x\n"

func page(url, body string, days int) Capture {
	return Capture{URL: []byte(url), Status: 200, Body: []byte(body), Time: day(days)}
}

func answer(url string, status, days int) Capture {
	return Capture{URL: []byte(url), Status: status, Time: day(days)}
}

func moved(url, location string, days int) Capture {
	return Capture{URL: []byte(url), Status: 301, Location: []byte(location), Time: day(days)}
}

func unread(url string, days int) Capture {
	return Capture{URL: []byte(url), Time: day(days), Failed: true, Unread: true}
}

// revisit refers to the capture of the URL on day 0.
func revisit(url string, days int) Capture {
	return Capture{URL: []byte(url), Status: 200, Time: day(days), Revisit: true, OriginalURL: []byte(url), OriginalTime: day(0)}
}

// bodies keeps bodies by number.
type bodies struct {
	mu    sync.Mutex
	files []*robotstxt.File
}

func (b *bodies) Keep(body []byte, cut bool) (uint64, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.files = append(b.files, robotstxt.Parse(slices.Clone(body), robotstxt.Options{Cut: cut}))
	return uint64(len(b.files)), nil
}

// origins are decisions by authority.
type origins struct {
	decisions map[string]Decision
	bodies    *bodies
	stats     []Stats
}

func resolve(t testing.TB, s *Set, b *bodies, asOf time.Time, p access.Policy) *origins {
	t.Helper()
	o := &origins{decisions: make(map[string]Decision), bodies: b}
	must.Do(t, s.Resolve(context.Background(), asOf, p, false, func(d *Decision) error {
		_, twice := o.decisions[string(d.Authority)]
		must.Be(t, !twice, "%s twice", d.Authority)
		o.decisions[string(d.Authority)] = *d
		return nil
	}))
	o.stats = s.stats
	return o
}

// collect adds captures of sources, and resolves them.
func collect(t testing.TB, asOf time.Time, p access.Policy, sources ...[]Capture) *origins {
	t.Helper()
	b := new(bodies)
	s := NewSet(Options{Bodies: b})
	defer s.Close()
	adder := &adder{set: s}
	for source, captures := range sources {
		for i := range captures {
			must.Do(t, adder.Add(&captures[i], source, uint64(i)))
		}
	}
	return resolve(t, s, b, asOf, p)
}

// describe is what was decided about an authority, as one word or two.
func (o *origins) describe(authority string) string {
	d, known := o.decisions[authority]
	if !known {
		return "unknown"
	}
	text := [...]string{"not yet", "rules", "allow", "deny", "given up", "cut", "allow", "allow"}[d.Access]
	if d.Stale {
		text = "stale " + text
	}
	if d.Access == access.Rules {
		var target matcher.Target
		target.Set([]byte("/x"), robotstxt.RFC9309)
		tries := matcher.Compile(o.bodies.files[d.Kept-1], []matcher.Chain{{matcher.Everyone}})
		if !tries[0].Allowed(&target) {
			text += " /x"
		}
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
	for _, test := range []struct {
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
		{"all are after as-of", []Capture{answer(a, 404, 2), page(a, denyX, 3)}, 1, "not yet"},
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
		{"304 alone", []Capture{{URL: []byte(a), Status: 304, Location: []byte(b)}, page(b, "", 0)}, -1, "deny"},
		{"304 after 2xx", []Capture{ok, answer(a, 304, 1)}, -1, "rules /x"},
		{"304 after 404 after 2xx", []Capture{ok, answer(a, 404, 1), answer(a, 304, 2)}, -1, "rules /x"},
		{"304 after 304 after 2xx", []Capture{ok, answer(a, 304, 1), answer(a, 304, 2)}, -1, "rules /x"},
		{"304 after a redirect", []Capture{ok, moved(a, b, 1), answer(a, 304, 2)}, -1, "rules /x"},
		{"304 after a redirect alone", []Capture{page(b, denyX, 0), moved(a, b, 1), answer(a, 304, 2)}, -1, "deny"},
		{"304 before 2xx", []Capture{answer(a, 304, 0), page(a, denyX, 1)}, 0, "deny"},
		{"304 with an error", []Capture{ok, {URL: []byte(a), Status: 304, Failed: true, Time: day(1)}}, -1, "deny"},
		{"revisit", []Capture{ok, answer(a, 404, 1), revisit(a, 2)}, -1, "rules /x"},
		{"revisit before its time", []Capture{ok, answer(a, 404, 1), revisit(a, 2)}, 1, "allow"},
		{"revisit of a second with two", []Capture{page(a, "", 0), ok, answer(a, 404, 1), revisit(a, 2)}, -1, "rules /x"},
		{"revisit alone", []Capture{revisit(a, 2)}, -1, "deny"},
		{"revisit of another second", []Capture{page(a, denyX, 1), revisit(a, 2)}, -1, "deny"},
		{"revisit of no answer", []Capture{{URL: []byte(a), Failed: true, Time: day(0)}, revisit(a, 2)}, -1, "deny"},
		{"revisit of another URL", []Capture{page(b, denyX, 0), {URL: []byte(a), Status: 200, Time: day(1), Revisit: true, OriginalURL: []byte(b), OriginalTime: day(0)}}, -1, "rules /x"},
		{"304 renews a revisit", []Capture{ok, answer(a, 404, 1), revisit(a, 2), answer(a, 500, 3), answer(a, 304, 4)}, -1, "rules /x"},
		{"304 renews the copy of an outage", []Capture{ok, answer(a, 304, 1), answer(a, 500, 2), answer(a, 500, 32)}, -1, "stale rules /x"},
		{"no final status", []Capture{ok, answer(a, -1, 1)}, -1, "deny"},
		{"3xx to itself", []Capture{moved(a, a, 0)}, -1, "allow"},
		{"3xx to each other", []Capture{moved(a, b, 0), moved(b, a, 0)}, -1, "allow"},
		{"unreachable for 30 days: last good copy", []Capture{ok, answer(a, 500, 1), answer(a, 500, 31)}, 31, "stale rules /x"},
		{"unreachable for 30 days: none", []Capture{answer(a, 500, 1), answer(a, 500, 31)}, 31, "given up"},
		{"unreachable once, long ago", []Capture{ok, answer(a, 500, 1)}, 400, "deny"},
		{"unreachable for 29 days", []Capture{ok, answer(a, 500, 1), answer(a, 500, 30)}, 40, "deny"},
		{"unreachable for 30 days, after as-of", []Capture{ok, answer(a, 500, 1), answer(a, 500, 31)}, 30, "deny"},
		{"unreachable at an unknown time first", []Capture{{URL: []byte(a), Failed: true}, answer(a, 500, 1), answer(a, 500, 31)}, 31, "given up"},
		{"unreachable many times", []Capture{ok, answer(a, 500, 1), answer(a, 500, 2), answer(a, 500, 3), answer(a, 500, 4), answer(a, 500, 31)}, 31, "stale rules /x"},
		{"unreadable for 30 days", []Capture{unread(a, 1), unread(a, 31), unread(a, 62)}, 62, "deny"},
		{"unreadable in an outage of 29 days", []Capture{unread(a, 1), answer(a, 500, 2), answer(a, 500, 31), unread(a, 62)}, 62, "deny"},
		{"unreadable in an outage of 30 days", []Capture{unread(a, 1), answer(a, 500, 2), answer(a, 500, 32), unread(a, 62), unread(a, 63)}, 63, "given up"},
		{"3xx to stale rules", []Capture{moved(a, b, 1), page(b, denyX, 0), answer(b, 500, 1), answer(b, 500, 31)}, 31, "stale rules /x"},
		{"3xx, then unreachable: last good copy of the target", []Capture{moved(a, b, 0), page(b, denyX, 0), answer(a, 500, 1), answer(a, 500, 31)}, 31, "stale rules /x"},
		{"3xx of long ago, whose target failed for the first time", []Capture{moved(a, b, 0), page(b, denyX, 0), answer(b, 500, 59)}, 59, "deny"},
		{"3xx to an outage of 30 days", []Capture{moved(a, b, 0), answer(b, 500, 1), answer(b, 500, 31)}, 31, "given up"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var asOf time.Time
			if test.asOf >= 0 {
				asOf = day(test.asOf)
			}
			o := collect(t, asOf, access.Policy{}, test.captures)
			must.Equal(t, o.describe("http://a.example"), test.want)
		})
	}
}

func TestHops(t *testing.T) {
	for hops, want := range []string{"rules /x", "rules /x", "rules /x", "rules /x", "rules /x", "rules /x", "allow", "allow"} {
		o := collect(t, time.Time{}, access.Policy{}, chain(hops, page("", denyX, 0)))
		must.Equal(t, o.describe("http://0.example"), want, hops, "hops")
		for i := 1; i <= hops; i++ { // those nearer have fewer hops
			got := o.describe(fmt.Sprintf("http://%d.example", i))
			must.Be(t, hops-i > access.MaxHops || got == "rules /x", "%d hops, authority %d: %s", hops, i, got)
		}
	}
}

func TestPolicies(t *testing.T) {
	const a = "http://a.example/robots.txt"
	deny, allow := access.Policy{DenyUnresolved: true}, access.Policy{Allow429: true}
	for _, test := range []struct {
		name     string
		captures []Capture
		policy   access.Policy
		want     string
	}{
		{"unresolved", []Capture{moved(a, "", 0)}, deny, "deny"},
		{"unresolved at the second hop", []Capture{moved(a, "/b", 0), moved("http://a.example/b", "/c", 0)}, deny, "deny"},
		{"unresolved is not unreachable for 30 days", []Capture{page(a, denyX, 0), moved(a, "/b", 1), answer("http://z.example/", 200, 40)}, deny, "deny"},
		{"429", []Capture{answer(a, 429, 0)}, allow, "allow"},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := collect(t, time.Time{}, test.policy, test.captures)
			must.Equal(t, o.describe("http://a.example"), test.want)
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
		o := collect(t, time.Time{}, access.Policy{}, all)
		var b strings.Builder
		for i := range 12 {
			fmt.Fprintln(&b, i, o.describe(fmt.Sprintf("http://%d.example", i)))
		}
		return b.String()
	}
	want := table()
	for range 20 {
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		must.Equal(t, table(), want, "in another order")
	}
}

func TestBodies(t *testing.T) {
	limit := robotstxt.DefaultLimit
	filler := strings.Repeat("# 456789\n", limit/9)
	const tail = "User-agent: *\nDisallow: /x"
	at := func(bytes int) string { // a body of so many bytes
		return strings.Repeat("#", (bytes-len(tail)-1)%9) + "\n" + filler[:(bytes-len(tail)-1)/9*9] + tail
	}
	captures := []Capture{
		page("http://plain.example/robots.txt", tail, 0),
		page("http://same.example/robots.txt", tail, 0),
		{URL: []byte("http://cut.example/robots.txt"), Status: 200, Body: []byte(tail), Cut: true},
		page("http://full.example/robots.txt", at(limit), 0),
		page("http://over.example/robots.txt", at(limit+1), 0),
		page("http://html.example/robots.txt", "<html>", 0),
		page("http://gzip.example/robots.txt", pack(compress.Gzip, tail), 0),
		page("http://zstd.example/robots.txt", pack(compress.Zstd, pack(compress.Gzip, at(limit))), 0),
		page("http://gzip-over.example/robots.txt", pack(compress.Gzip, at(limit+1)), 0),
		page("http://gzip-cut.example/robots.txt", pack(compress.Gzip, at(limit))[:400], 0),
		page("http://damaged.example/robots.txt", pack(compress.Gzip, tail)[:10]+"\xFF\xFF\xFF", 0),
		{URL: []byte("http://longer.example/robots.txt"), Status: 200, Body: []byte(tail), Longer: true},
		moved("http://moved.example/robots.txt", "/gone", 0),
		moved("http://plain.example/robots", "http://plain.example/robots.txt", 0),
		page("http://plain.example/", "Disallow: /", 0),
		page("mailto:a@plain.example", "", 0),
	}
	o := collect(t, time.Time{}, access.Policy{}, captures)
	for authority, want := range map[string]string{
		"plain": "rules /x", "same": "rules /x", "cut": "rules", "full": "rules /x", "over": "rules", "html": "rules", "moved": "allow",
		"gzip": "rules /x", "zstd": "rules /x", "gzip-over": "rules", "gzip-cut": "rules", "damaged": "deny", "longer": "rules /x",
	} {
		must.Equal(t, o.describe("http://"+authority+".example"), want, authority)
	}
	want := Stats{
		Captures: 15, Elsewhere: 2, Ignored: 1, Compressed: 4, Damaged: 1, Longer: 1,
		Authorities: 13, Rules: 11, Unavailable: 1, Unreachable: 1, Unresolved: 1,
	}
	must.Equal(t, o.stats[0], want, "stats")
	d := o.decisions["http://moved.example"]
	must.Be(t, d.Status == 301 && d.Fetched.Equal(start) && d.Source == 0, "deciding capture %+v", d)
}

// pack compresses a body.
func pack(c compress.Codec, body string) string {
	packed, err := compress.AppendCompressed(nil, []byte(body), c)
	if err != nil {
		panic(err)
	}
	return string(packed)
}

// TestSources: the first source that has an authority decides with its captures
// alone, and redirects lead into all of them.
func TestSources(t *testing.T) {
	const a, b, c = "http://a.example/robots.txt", "http://b.example/robots.txt", "http://c.example/robots.txt"
	for _, test := range []struct {
		name    string
		sources [][]Capture
		asOf    int // days after start
		want    string
		source  int
	}{
		{"the first, though older", [][]Capture{{page(a, denyX, 0)}, {answer(a, 500, 1)}}, 1, "rules /x", 0},
		{"the first that has one in time", [][]Capture{{page(a, denyX, 2)}, {answer(a, 500, 1)}}, 1, "deny", 1},
		{"the first that has one at all", [][]Capture{{page(b, denyX, 0)}, {answer(a, 404, 0)}}, 1, "allow", 1},
		{"redirect into a later one", [][]Capture{{moved(a, b, 0)}, {page(b, denyX, 0)}}, 1, "rules /x", 0},
		{"redirect into an earlier one", [][]Capture{{page(b, denyX, 0)}, {moved(a, b, 0)}}, 1, "rules /x", 1},
		{"over several", [][]Capture{{moved(a, b, 0)}, {moved(b, c, 0)}, {page(c, denyX, 0)}}, 1, "rules /x", 0},
		{"the target's first", [][]Capture{{moved(a, b, 0)}, {answer(b, 404, 0)}, {page(b, denyX, 1)}}, 1, "allow", 0},
		{"no good copy of another", [][]Capture{{answer(a, 500, 0)}, {page(a, denyX, -1)}}, 40, "deny", 0},
		{"no 304 of another", [][]Capture{{answer(a, 304, 1)}, {page(a, denyX, 0)}}, 1, "deny", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := collect(t, day(test.asOf), access.Policy{}, test.sources...)
			got, source := o.describe("http://a.example"), o.decisions["http://a.example"].Source
			must.Be(t, got == test.want && source == test.source, "%s of source %d, want %s of %d", got, source, test.want, test.source)
		})
	}
}

// TestRead: the number of files and of workers, and the memory, change nothing.
func TestRead(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var all []Capture
	url := func() string { return fmt.Sprintf("http://%d.example/robots.txt", r.IntN(800)) }
	for range 5000 {
		switch r.IntN(4) {
		case 0:
			all = append(all, page(url(), fmt.Sprintf("%s#%d", denyX, r.IntN(9)), r.IntN(30)))
		case 1:
			all = append(all, answer(url(), 500, r.IntN(60)))
		case 2:
			all = append(all, answer(url(), 404, r.IntN(30)))
		case 3:
			all = append(all, moved(url(), url(), r.IntN(30)))
		}
	}
	var want map[string]string
	for _, files := range []int{1, 2, 7} {
		for _, workers := range []int{1, 3} {
			for _, memory := range []int64{0, 1} {
				b := new(bodies)
				s := NewSet(Options{Bodies: b, Memory: memory, Folder: t.TempDir()})
				var list []File
				for captures := range slices.Chunk(all, (len(all)+files-1)/files) {
					list = append(list, listFile(captures, nil))
				}
				must.Do(t, s.Read(t.Context(), list, workers))
				o := resolve(t, s, b, time.Time{}, access.Policy{})
				s.Close()
				got := make(map[string]string)
				for authority, d := range o.decisions {
					got[authority] = o.describe(authority) + fmt.Sprint(d.Status, d.Fetched)
				}
				if want == nil {
					want = got
				}
				must.Be(t, maps.Equal(got, want) && len(got) >= 700, "%d files, %d workers, %d bytes of memory: other decisions", files, workers, memory)
			}
		}
	}
}

// listFile is a file of captures that are there, all visited in the same memory, up to an error.
func listFile(captures []Capture, err error) File {
	return File{Each: func(_ context.Context, visit func(*Capture) error) error {
		var url []byte
		for _, x := range captures {
			url = append(url[:0], x.URL...)
			x.URL = url
			if err := visit(&x); err != nil {
				return err
			}
			for i := range url {
				url[i] = '!' // it is not valid any more
			}
		}
		return err
	}}
}

func TestReadErrors(t *testing.T) {
	broken := errors.New("broken")
	some := slices.Repeat([]Capture{page("http://a.example/robots.txt", denyX, 0)}, 3*bundleCaptures)
	for name, files := range map[string][]File{
		"file":  {listFile(some, nil), listFile(some, broken), listFile(some, nil)},
		"open":  {listFile(some, nil), {Each: func(context.Context, func(*Capture) error) error { return broken }}},
		"alone": {listFile(nil, broken)},
	} {
		s := NewSet(Options{Bodies: new(bodies)})
		must.Is(t, s.Read(t.Context(), files, 2), broken, name)
		s.Close()
	}
	s := NewSet(Options{Bodies: new(bodies)})
	defer s.Close()
	must.Do(t, s.Read(t.Context(), nil, 2))
	stopped := errors.New("stopped")
	ctx, stop := context.WithCancelCause(t.Context())
	stop(stopped)
	must.Is(t, s.Read(ctx, []File{listFile(some, nil)}, 2), stopped)
	s = NewSet(Options{Bodies: refusing{broken}})
	defer s.Close()
	must.Is(t, s.Read(t.Context(), []File{listFile(some, nil)}, 2), broken, "bodies")
}

type refusing struct{ err error }

func (r refusing) Keep([]byte, bool) (uint64, error) { return 0, r.err }

// TestFetchThatDecides: status and time are those of the capture which decides.
func TestFetchThatDecides(t *testing.T) {
	const a = "http://a.example/robots.txt"
	rules := page(a, denyX, 1)
	undated := Capture{URL: []byte(a), Body: []byte(denyX)}
	for _, test := range []struct {
		name     string
		captures []Capture
		status   uint16
		fetched  time.Time
		rules    bool
	}{
		{"rules", []Capture{answer(a, 404, 0), rules}, 200, day(1), true},
		{"unavailable", []Capture{rules, answer(a, 404, 2)}, 404, day(2), false},
		{"no answer", []Capture{rules, {URL: []byte(a), Failed: true, Status: 200, Time: day(2)}}, 0, day(2), false},
		{"a last good copy", []Capture{rules, answer(a, 503, 2), answer(a, 500, 40)}, 200, day(1), true},
		{"unreachable for long", []Capture{answer(a, 503, 2), answer(a, 500, 40)}, 500, day(40), false},
		{"redirect", []Capture{moved(a, "/rules", 3), page("http://a.example/rules", denyX, 1)}, 301, day(3), true},
		{"redirect to nowhere", []Capture{moved(a, "/nowhere", 3)}, 301, day(3), false},
		{"renewed", []Capture{rules, answer(a, 404, 2), answer(a, 304, 3)}, 304, day(3), true},
		{"neither status nor time", []Capture{undated}, 0, time.Time{}, true},
		{"a status that is none", []Capture{answer(a, 99_999, 0)}, 0, start, false},
	} {
		d := collect(t, time.Time{}, access.Policy{}, test.captures).decisions["http://a.example"]
		must.Be(t, d.Status == test.status && d.Fetched.Equal(test.fetched) && (d.Access == access.Rules) == test.rules, "%s: %+v", test.name, d)
	}
}

// What captures mean is not worked out to its end when nobody waits for it,
// neither from the beginning nor while redirects are followed.
func TestResolveEndsWithItsContext(t *testing.T) {
	over := errors.New("over")
	for _, after := range []int{0, 1} {
		s := NewSet(Options{Bodies: new(bodies)})
		defer s.Close()
		adder := &adder{set: s}
		for i, c := range []Capture{page("https://a.example/robots.txt", "", 1), moved("https://b.example/robots.txt", "https://a.example/robots.txt", 1)} {
			must.Do(t, adder.Add(&c, 0, uint64(i)))
		}
		ctx, cancel := context.WithCancelCause(context.Background())
		if after == 0 {
			cancel(over)
		}
		emitted := 0
		err := s.Resolve(ctx, time.Time{}, access.Policy{}, false, func(*Decision) error {
			emitted++
			cancel(over)
			return nil
		})
		must.Be(t, errors.Is(err, over) && emitted == after, "%d decisions and error %v", emitted, err)
	}
}

func TestMain(m *testing.M) {
	debug.SetGCPercent(800) // the tests allocate much and keep little
	goleak.VerifyTestMain(m)
}

// The examples of RFC 3986 §5.4, without those of other schemes: what a redirect leads to.
func TestTargets(t *testing.T) {
	const base = "http://a/b/c/d;p?q"
	for location, want := range map[string]string{
		"g:h": "g:h", "g": "http://a/b/c/g", "./g": "http://a/b/c/g", "g/": "http://a/b/c/g/", "/g": "http://a/g", "//g": "http://g",
		"?y": "http://a/b/c/d;p?y", "g?y": "http://a/b/c/g?y", "#s": "http://a/b/c/d;p#s", "g#s": "http://a/b/c/g#s",
		";x": "http://a/b/c/;x", "g;x": "http://a/b/c/g;x", "": "", ".": "http://a/b/c/", "./": "http://a/b/c/", "..": "http://a/b/",
		"../": "http://a/b/", "../g": "http://a/b/g", "../..": "http://a/", "../../g": "http://a/g", "../../../g": "http://a/g",
		"/./g": "http://a/g", "/../g": "http://a/g", "g.": "http://a/b/c/g.", ".g": "http://a/b/c/.g", "g..": "http://a/b/c/g..",
		"./../g": "http://a/b/g", "./g/.": "http://a/b/c/g/", "g/./h": "http://a/b/c/g/h", "g/../h": "http://a/b/c/h",
		"g;x=1/../y": "http://a/b/c/y", "g?y/../x": "http://a/b/c/g?y/../x", "g#s/../x": "http://a/b/c/g#s/../x",
		// §6.2.2, and what is no URL by RFC 3986
		"https://b.example/./robots.txt": "https://b.example/robots.txt", "https://b/x/%2e%2E/%72obots.txt?%7e%3a": "https://b/robots.txt?~%3A",
		"/../..//g": "http://a//g", "/%zz/%": "http://a/%zz/%", " /g ": "http://a/g", "HTTPS://B/%41": "HTTPS://B/A", "https://b": "https://b",
	} {
		must.Equal(t, string(Target(&Capture{URL: []byte(base), Location: []byte(location)})), want, location, "leads to")
	}
	must.Equal(t, string(Target(&Capture{URL: []byte("http://a?q"), Location: []byte("g")})), "http://a/g", "beside no path")
}

// References resolve as net/url resolves them, where it takes them.
func FuzzTargets(f *testing.F) {
	for _, location := range []string{"../x", "//h/./y", "/a/../../b?c/..", "%2e%2e/x", "g;x", ".", "/.", "/..", "a//../b", "/../..//?c", "]", "a\"[b"} {
		f.Add(location)
	}
	f.Fuzz(func(t *testing.T, location string) {
		const base = "http://a/b/c/d?q"
		got := Target(&Capture{URL: []byte(base), Location: []byte(location)})
		if twice := appendNormalised(nil, got[pathStart(got):]); string(twice) != string(got[pathStart(got):]) && !strings.Contains(location, "%") {
			t.Errorf("%q is %q, and then %q", location, got, twice)
		}
		from, _ := url.Parse(base)
		reference, err := url.Parse(location)
		if err != nil || strings.ContainsAny(location, "%#\\ \t\r\n\v\f") || reference.Host == "" && strings.HasPrefix(location, "//") || reference.Scheme != "" || location == "" ||
			reference.User != nil || strings.HasSuffix(location, "?") || strings.ContainsFunc(location, func(r rune) bool { return r > '~' || r <= ' ' || urls.NeedsWork(byte(r)) }) {
			return // net/url escapes other bytes
		}
		want := from.ResolveReference(reference)
		if bytes.HasPrefix(got[pathStart(got):], []byte("//")) {
			return // net/url leaves one slash of those at the beginning, RFC 3986 §5.2.4 all
		}
		must.Be(t, want.EscapedPath() == strings.SplitN(string(got[pathStart(got):]), "?", 2)[0] || want.Path != want.EscapedPath(), "%q leads to %q, want %q", location, got, want)
	})
}

// A redirect finds what it leads to, however both write it.
func TestRedirectsToDotSegmentsAndEscapes(t *testing.T) {
	for _, test := range []struct{ location, url string }{
		{"https://b.example/./robots.txt", "https://b.example/robots.txt"},
		{"//B.example:443/x/../robots.txt#top", "https://b.example/robots.txt"},
		{"https://b.example/%72obots%2etxt", "https://b.example/robots.txt"},
		{"https://b.example/~r%c3%a9", "https://b.example/%7Er%C3%A9"},
		{"./x/./y?z", "https://a.example/x/y?z"},
		{"/r é?\"ü\"", "https://a.example/r%20%C3%A9?%22%C3%BC%22"},
		{"/r%20%C3%A9", "https://a.example/r é"},
	} {
		var bodies distinct
		s := NewSet(Options{Bodies: &bodies})
		defer s.Close()
		a := &adder{set: s}
		for i, x := range []Capture{
			{URL: []byte("https://a.example/robots.txt"), Status: 301, Location: []byte(test.location)},
			{URL: []byte(test.url), Status: 200, Body: []byte("User-agent: *\nDisallow: /\n")},
		} {
			must.Do(t, a.Add(&x, 0, uint64(i)))
		}
		found := false
		err := s.Resolve(context.Background(), time.Time{}, access.Policy{}, false, func(d *Decision) error {
			found = found || string(d.Authority) == "https://a.example" && d.Access == access.Rules
			return nil
		})
		must.Be(t, err == nil && found, "%s does not lead to %s: %v", test.location, test.url, err)
	}
}
