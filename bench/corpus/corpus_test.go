package corpus_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"testing"
	"unicode/utf8"

	"robotsbatch/bench/corpus"
	"robotsbatch/io/store/must"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(800) // the tests allocate much and keep little
	m.Run()
}

// write writes a whole corpus: its origins, bodies and URLs.
func write(w io.Writer, c *corpus.Corpus) {
	for o := range c.Origins() {
		fmt.Fprintln(w, o.Index, o.Scheme, o.Host, o.UnicodeHost, o.Port, o.Body, o.URLs, o.FileName())
	}
	for body := range c.Bodies() {
		w.Write(c.AppendBody(nil, body))
	}
	for _, url := range c.URLs() {
		fmt.Fprintf(w, "%s\n", url)
	}
}

func hash(o corpus.Options) string {
	h := sha256.New()
	write(h, corpus.New(o))
	return hex.EncodeToString(h.Sum(nil))[:16]
}

// TestGolden: a benchmark's record names only the options, so the corpus for given options
// must not change. If it has to, earlier records are no longer comparable.
func TestGolden(t *testing.T) {
	for _, test := range []struct {
		name    string
		options corpus.Options
		want    string
	}{
		{"defaults", corpus.Options{}, "cfe685cda3ea5a6b"},
		{"sample", corpus.SampleOptions(), "96b1789b4510d421"},
		{"bare", corpus.Options{Bare: true}, "4c47488ff2ba69b2"},
		{"another seed", corpus.Options{Seed: 1}, "5fac4f33b5b35890"},
	} {
		t.Run(test.name, func(t *testing.T) { must.Equal(t, hash(test.options), test.want, "hash") })
	}
}

// TestAnyOrder: parts do not depend on the order in which they are made.
func TestAnyOrder(t *testing.T) {
	c := corpus.New(corpus.Options{Origins: 50})
	var want [][]byte
	for _, url := range c.URLs() {
		want = append(want, bytes.Clone(url))
	}
	var got [][]byte
	for i := c.Options().Origins - 1; i >= 0; i-- {
		o := c.Origin(i)
		for j := o.URLs - 1; j >= 0; j-- {
			got = append(got, c.AppendURL(nil, &o, j))
		}
	}
	slices.Reverse(got)
	must.Be(t, slices.EqualFunc(got, want, bytes.Equal), "backwards the URLs are others than forwards")
}

func TestStops(t *testing.T) {
	c := corpus.New(corpus.Options{})
	for range c.Origins() {
		break
	}
	n := 0
	for range c.URLs() {
		if n++; n == 30 {
			break
		}
	}
}

// TestLarge: the memory of a corpus does not depend on its size.
func TestLarge(t *testing.T) {
	const origins, urls = 10_000_000, 1_000_000_000
	c := corpus.New(corpus.Options{Origins: origins, URLs: urls, Distinct: 1.0 / 7})
	must.Equal(t, c.Bodies(), 1_000_000, "bodies")
	var url, body []byte
	for _, i := range []int{0, 1, origins / 2, origins - 1} {
		o := c.Origin(i)
		must.Be(t, o.Index == i && o.URLs >= 1 && o.URLs <= 5000 && o.Body < c.Bodies(), "origin %d: %+v", i, o)
		url = c.AppendURL(url[:0], &o, o.URLs-1)
		body = c.AppendBody(body[:0], max(o.Body, 0))
		must.Equal(t, testing.AllocsPerRun(10, func() { url = c.AppendURL(url[:0], &o, 0) }), 0, "AppendURL allocates", "times")
	}
}

func TestURLCount(t *testing.T) {
	for _, options := range []corpus.Options{
		{},
		{Origins: 1},
		{Origins: 1, URLs: 1},
		{Origins: 7, URLs: 1000, LargestOrigin: 10},
		{Origins: 1000, URLs: 10},
		{Origins: 1000, URLs: 1000},
		{Origins: 1000, URLs: 1_000_003, LargestOrigin: 1_000_000},
		{Origins: 1000, URLs: 12345, LargestOrigin: 1},
		{URLs: -1},
	} {
		c := corpus.New(options)
		var sum int64
		for o := range c.Origins() {
			must.Be(t, o.URLs >= 0 && (o.URLs != 0 || c.Options().URLs < int64(c.Options().Origins)), "%+v: origin %d has %d URLs", options, o.Index, o.URLs)
			sum += o.URLs
		}
		must.Equal(t, sum, max(c.Options().URLs, 0), options, "URLs")
	}
}

// TestDistinct: each name belongs to one origin, rows are single lines, and bodies differ.
func TestDistinct(t *testing.T) {
	c := corpus.New(corpus.Options{Origins: 3000, IDN: 0.2, Ports: 0.2, Escapes: 0.5, Invalid: 0.05})
	names := make(map[string]bool)
	used := make(map[int]bool)
	for o := range c.Origins() {
		must.Be(t, !names[o.FileName()], "two origins have the file name %s", o.FileName())
		names[o.FileName()] = true
		used[o.Body] = true
	}
	delete(used, -1)
	must.Equal(t, len(used), c.Bodies(), "bodies are used")
	bodies := make(map[string]bool)
	for body := range c.Bodies() {
		text := string(c.AppendBody(nil, body))
		must.Be(t, !bodies[text], "body %d is as another one", body)
		bodies[text] = true
	}
	for _, url := range c.URLs() {
		must.Be(t, len(bytes.TrimSpace(url)) != 0 && !bytes.ContainsAny(url, "\r\n") && utf8.Valid(url), "row %q", url)
	}
}

func between(t *testing.T, what string, got, low, high float64) {
	t.Helper()
	must.Be(t, got >= low && got <= high, "%s: %.4f, want %v to %v", what, got, low, high)
}

func TestShape(t *testing.T) {
	s := measure(corpus.Options{Origins: 10_000})
	between(t, "URLs", s.urls, 200_000, 200_000)
	between(t, "largest origin", s.largest, 4000, 5000)
	between(t, "origins with one URL", s.single, 0.1, 0.6)
	between(t, "https", s.https, 0.83, 0.87)
	between(t, "ports", s.ports, 0.007, 0.013)
	between(t, "internationalised hosts", s.idn, 0.007, 0.013)
	between(t, "origins with a file", s.files, 0.7, 0.7)
	between(t, "bodies", s.bodies, 4900, 4900)
	between(t, "rules of a file", s.rules, 34, 46)
	between(t, "files without rules", s.noRules, 0.07, 0.15)
	between(t, "files with 1000 rules and more", s.longFiles, 0.0005, 0.01)
	between(t, "rules with wildcards", s.wildcards, 0.18, 0.22)
	between(t, "escapes in rules", s.ruleEscapes, 0.04, 0.06)
	between(t, "queries in rules", s.ruleQueries, 0.13, 0.17)
	between(t, "groups for CCBot", s.agentGroups, 0.12, 0.18)
	between(t, "groups for others", s.otherGroups, 0.35, 0.41)
	between(t, "escapes in URLs", s.escapes, 0.04, 0.06)
	between(t, "queries in URLs", s.queries, 0.13, 0.18)
	between(t, "invalid rows", s.invalid, 0.0005, 0.0015)
	between(t, "denied to everyone", s.denied, 0.17, 0.24)
	between(t, "denied to CCBot", s.agentDenied, 0.16, 0.24)
}

// TestOptions: each option changes the share that it is for, from none to a large one.
func TestOptions(t *testing.T) {
	for _, test := range []struct {
		name       string
		none, much corpus.Options
		of         func(stats) float64
		low        float64 // the least share with the large value
	}{
		{"HTTPS", corpus.Options{HTTPS: -1}, corpus.Options{HTTPS: 1}, func(s stats) float64 { return s.https }, 1},
		{"Ports", corpus.Options{Ports: -1}, corpus.Options{Ports: 0.5}, func(s stats) float64 { return s.ports }, 0.4},
		{"IDN", corpus.Options{IDN: -1}, corpus.Options{IDN: 0.5}, func(s stats) float64 { return s.idn }, 0.4},
		{"Missing", corpus.Options{Missing: 1}, corpus.Options{Missing: -1}, func(s stats) float64 { return s.files }, 1},
		{"Rules", corpus.Options{Rules: -1}, corpus.Options{Rules: 400}, func(s stats) float64 { return s.rules }, 300},
		{"Wildcards", corpus.Options{Wildcards: -1}, corpus.Options{Wildcards: 0.9}, func(s stats) float64 { return s.wildcards }, 0.8},
		{"AgentGroups", corpus.Options{AgentGroups: -1}, corpus.Options{AgentGroups: 1}, func(s stats) float64 { return s.agentGroups }, 0.85},
		{"OtherGroups", corpus.Options{OtherGroups: -1}, corpus.Options{OtherGroups: 1}, func(s stats) float64 { return s.otherGroups }, 0.9},
		{"Escapes in URLs", corpus.Options{Escapes: -1, IDN: -1}, corpus.Options{Escapes: 0.5}, func(s stats) float64 { return s.escapes }, 0.4},
		{"Escapes in rules", corpus.Options{Escapes: -1}, corpus.Options{Escapes: 0.5}, func(s stats) float64 { return s.ruleEscapes }, 0.4},
		{"Queries in URLs", corpus.Options{Queries: -1}, corpus.Options{Queries: 0.8}, func(s stats) float64 { return s.queries }, 0.7},
		{"Queries in rules", corpus.Options{Queries: -1}, corpus.Options{Queries: 0.8}, func(s stats) float64 { return s.ruleQueries }, 0.7},
		{"Invalid", corpus.Options{Invalid: -1}, corpus.Options{Invalid: 0.5}, func(s stats) float64 { return s.invalid }, 0.4},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.none.Origins, test.much.Origins = 200, 200
			between(t, "none", test.of(measure(test.none)), 0, 0)
			between(t, "much", test.of(measure(test.much)), test.low, 1000)
		})
	}
}

func TestDenied(t *testing.T) {
	for _, share := range []float64{-1, 0.05, 0.4} {
		s := measure(corpus.Options{Origins: 3000, Denied: share})
		low, high := max(0.75*share, 0), max(1.2*share, 0)+0.02
		between(t, "denied to everyone", s.denied, low, high)
		between(t, "denied to CCBot", s.agentDenied, low, high)
	}
}

func TestSharedBodies(t *testing.T) {
	s := measure(corpus.Options{Origins: 1000, Distinct: 0.01})
	between(t, "bodies", s.bodies, 7, 7)
	s = measure(corpus.Options{Origins: 1000, Distinct: 1})
	between(t, "bodies", s.bodies, 700, 700)
}

func TestLargestOrigin(t *testing.T) {
	s := measure(corpus.Options{Origins: 1000, LargestOrigin: 1})
	between(t, "largest origin of an even corpus", s.largest, 20, 21)
	s = measure(corpus.Options{Origins: 1000, LargestOrigin: 8000})
	between(t, "largest origin of an uneven corpus", s.largest, 5000, 8000)
}

// TestCaptures: each further capture changes the result of a tenth of the origins.
func TestCaptures(t *testing.T) {
	c := corpus.New(corpus.Options{Origins: 2000})
	changes, statuses, first := 0, make(map[int]int), make(map[int]int)
	for o := range c.Origins() {
		before := c.Capture(&o, 0)
		must.Need(t, (before.Status == 200) == (o.Body >= 0) && (before.Status != 200 || before.Body == o.Body),
			"origin %d with body %d begins with %+v", o.Index, o.Body, before)
		for k := 1; k < 24; k++ {
			now := c.Capture(&o, k)
			if now != before {
				changes++
			}
			if now.Status == 200 && now.Body >= c.Bodies() {
				other, ok := first[now.Body]
				must.Need(t, !ok || other == o.Index, "origins %d and %d have body %d", other, o.Index, now.Body)
				first[now.Body] = o.Index
			}
			statuses[now.Status]++
			before = now
		}
	}
	share := float64(changes) / (23 * 2000)
	must.Be(t, share >= 0.08 && share <= 0.11, "%.3f of the captures change something", share)
	must.Be(t, statuses[404] != 0 && statuses[503] != 0 && statuses[200] >= 1000*23, "statuses %v", statuses)
}
