package corpus_test

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"

	"robotsbatch/bench/corpus"
	"robotsbatch/io/store/must"
)

// composition counts what bodies consist of.
type composition struct {
	sizes  []int          // bytes of each body, sorted
	kinds  map[string]int // by kind of line, its bytes
	groups []int          // of each body that has any, sorted
	equal  int            // groups with the rules of an earlier one
}

func compose(c *corpus.Corpus) composition {
	m := composition{kinds: make(map[string]int)}
	var body []byte
	for i := range c.Bodies() {
		body = c.AppendBody(body[:0], i)
		m.sizes = append(m.sizes, len(body))
		m.add(string(body))
	}
	slices.Sort(m.sizes)
	slices.Sort(m.groups)
	return m
}

// add adds the lines of a body.
func (m *composition) add(body string) {
	var groups [][]byte // by group, its rules
	last := ""
	for line := range strings.Lines(body) {
		key, _, ok := strings.Cut(strings.ToLower(line), ":")
		kind := "other"
		switch {
		case strings.TrimSpace(line) == "":
			kind = "blank"
		case line[0] == '#' || strings.HasPrefix(line, "\uFEFF#"):
			kind = "comment"
		case ok && slices.Contains([]string{"user-agent", "allow", "disallow", "sitemap", "crawl-delay"}, key):
			kind = key
		}
		m.kinds[kind] += len(line)
		switch kind {
		case "user-agent":
			if last != kind {
				groups = append(groups, nil)
			}
			last = kind
		case "allow", "disallow":
			groups[len(groups)-1] = append(groups[len(groups)-1], line...)
			last = kind
		}
	}
	seen := make(map[string]bool)
	for _, rules := range groups {
		if seen[string(rules)] {
			m.equal++
		}
		seen[string(rules)] = true
	}
	if len(groups) > 0 {
		m.groups = append(m.groups, len(groups))
	}
}

// share returns the share of bytes in lines of these kinds.
func (m *composition) share(kinds ...string) float64 {
	all, some := 0, 0
	for kind, n := range m.kinds {
		all += n
		if slices.Contains(kinds, kind) {
			some += n
		}
	}
	return float64(some) / float64(all)
}

func quantile(sorted []int, q float64) float64 { return float64(sorted[int(q*float64(len(sorted)))]) }

func sum(list []int) float64 {
	all := 0
	for _, n := range list {
		all += n
	}
	return float64(all)
}

// TestComposition compares bodies with the figures of real files in the package's
// documentation.
func TestComposition(t *testing.T) {
	m := compose(corpus.New(corpus.Options{Origins: 20_000, Missing: -1, Distinct: 1}))
	between(t, "bytes of a body", sum(m.sizes)/float64(len(m.sizes)), 3500, 4700)
	between(t, "bytes of the median", quantile(m.sizes, 0.5), 450, 800)
	between(t, "bytes, nine in ten have fewer", quantile(m.sizes, 0.9), 3000, 4700)
	between(t, "bytes, 99 in a hundred have fewer", quantile(m.sizes, 0.99), 60_000, 90_000)
	between(t, "bytes of the largest", quantile(m.sizes, 0.9999), 500_000, 1_400_000)
	between(t, "bytes of what is no robots.txt", m.share("other"), 0.55, 0.65)
	between(t, "bytes of rules", m.share("allow", "disallow"), 0.26, 0.33)
	between(t, "bytes of sitemaps", m.share("sitemap"), 0.03, 0.06)
	between(t, "bytes of user-agent lines", m.share("user-agent"), 0.02, 0.04)
	between(t, "bytes of comments", m.share("comment"), 0.02, 0.04)
	between(t, "groups of a body", sum(m.groups)/float64(len(m.groups)), 4, 5.5)
	between(t, "groups, 99 in a hundred have fewer", quantile(m.groups, 0.99), 30, 70)
	between(t, "groups equal to one before", float64(m.equal)/sum(m.groups), 0.55, 0.7)
}

// TestBare compares a bare corpus with a full one: the rules for everyone and for CCBot and
// the URLs are equal, and the bodies have a third of the bytes.
func TestBare(t *testing.T) {
	full, bare := corpus.New(corpus.Options{Origins: 3000}), corpus.New(corpus.Options{Origins: 3000, Bare: true})
	for i := range full.Bodies() {
		a, b := parse(full.AppendBody(nil, i)), parse(bare.AppendBody(nil, i))
		must.Need(t, len(a.everyone) == 0 || reflect.DeepEqual(a.everyone, b.everyone) && reflect.DeepEqual(a.agent, b.agent), "body %d has other rules", i)
		must.Need(t, len(a.everyone) != 0 || len(b.everyone) == 0, "body %d has no rules", i)
	}
	a, b := compose(full), compose(bare)
	between(t, "bytes of a bare body by those of another", sum(b.sizes)/sum(a.sizes), 0.2, 0.4)
	var urls [][]byte
	for _, url := range full.URLs() {
		urls = append(urls, bytes.Clone(url))
	}
	for _, url := range bare.URLs() {
		must.Need(t, bytes.Equal(url, urls[0]), "%s is %s in a bare corpus", urls[0], url)
		urls = urls[1:]
	}
}

// stats are the figures that the tests check. Those that are not counts are shares.
type stats struct {
	urls, largest, bodies, rules                   float64
	single, https, ports, idn, files               float64 // of origins
	noRules, longFiles, agentGroups, otherGroups   float64 // of bodies
	wildcards, ruleEscapes, ruleQueries            float64 // of rules
	escapes, queries, invalid, denied, agentDenied float64 // of URLs
}

func measure(options corpus.Options) stats {
	c := corpus.New(options)
	var s stats
	files := make([]file, c.Bodies())
	for body := range files {
		files[body] = parse(c.AppendBody(nil, body))
		s.addFile(files[body])
	}
	for o := range c.Origins() {
		s.addOrigin(o)
	}
	for o, url := range c.URLs() {
		var f file
		if o.Body >= 0 {
			f = files[o.Body]
		}
		s.addURL(o, string(url), f)
	}
	divide(float64(c.Options().Origins), &s.single, &s.https, &s.ports, &s.idn, &s.files)
	divide(s.rules, &s.wildcards, &s.ruleEscapes, &s.ruleQueries)
	divide(s.bodies, &s.rules, &s.noRules, &s.longFiles, &s.agentGroups, &s.otherGroups)
	divide(s.urls, &s.escapes, &s.queries, &s.invalid, &s.denied, &s.agentDenied)
	return s
}

func divide(by float64, counts ...*float64) {
	for _, count := range counts {
		*count /= max(by, 1)
	}
}

func count(to *float64, when bool) {
	if when {
		*to++
	}
}

func (s *stats) addFile(f file) {
	s.bodies++
	count(&s.noRules, len(f.everyone) == 0)
	count(&s.longFiles, len(f.everyone) >= 1000)
	count(&s.agentGroups, f.forAgent)
	count(&s.otherGroups, f.forOthers)
	for _, r := range f.everyone {
		s.rules++
		count(&s.wildcards, strings.ContainsAny(r.pattern, "*$"))
		count(&s.ruleEscapes, isEscaped(r.pattern))
		count(&s.ruleQueries, strings.Contains(r.pattern, "?"))
	}
}

func (s *stats) addOrigin(o corpus.Origin) {
	s.largest = max(s.largest, float64(o.URLs))
	count(&s.single, o.URLs == 1)
	count(&s.https, o.Scheme == "https")
	count(&s.ports, o.Port != 0)
	count(&s.idn, o.Host != o.UnicodeHost)
	count(&s.files, o.Body >= 0)
}

func (s *stats) addURL(o *corpus.Origin, url string, f file) {
	s.urls++
	path, ok := pathOf(o, url)
	if !ok {
		s.invalid++
		return
	}
	count(&s.escapes, isEscaped(path))
	count(&s.queries, strings.Contains(path, "?"))
	everyone, agent := f.denies(f.everyone, path), f.denies(f.agent, path)
	count(&s.denied, everyone)
	if f.forAgent {
		everyone = agent
	}
	count(&s.agentDenied, everyone)
}

// pathOf returns path and query of a URL of the origin; ok is false for anything else.
func pathOf(o *corpus.Origin, url string) (path string, ok bool) {
	rest, ok := strings.CutPrefix(url, o.Scheme+"://")
	for _, host := range []string{o.Host, o.UnicodeHost} {
		if tail, found := strings.CutPrefix(rest, host); ok && found && !strings.HasPrefix(tail, ":99999") {
			tail, _, _ = strings.Cut(tail, "#")
			tail = strings.TrimLeft(tail, ":0123456789")
			if !strings.HasPrefix(tail, "/") {
				tail = "/" + tail
			}
			return tail, true
		}
	}
	return "", false
}

func isEscaped(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r == '%' || r == '|' || r > 0x7E })
}
