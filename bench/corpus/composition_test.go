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
