package rulepack

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/robotstxt"
	"robotsbatch/matcher/usage"
)

// statedEntries are authorities with statements: of the same bytes, of the same meaning, of
// many meanings, too long to be shared, and of bodies that are kept as their source.
func statedEntries(distinct int) []Entry {
	var entries []Entry
	add := func(text string) {
		entries = append(entries, body(fmt.Sprintf("https://s%d.example", len(entries)), text))
	}
	for i := range 6 {
		add("User-agent: *\nContent-Usage: train-ai=n\nDisallow: /a\n")
		add(strings.Repeat("\n", i) + "User-agent: *\nContent-Usage: train-ai=n\nDisallow: /a\n")
		add(strings.Repeat("# x\n", i) + "User-agent: C\nContent-Usage: train-ai=n\nContent-Usage: /b train-ai=y\nUser-agent: *\nDisallow: /a\n")
		add(fmt.Sprintf("License: https://l.example/%d\nUser-agent: *\nContent-Signal: search=no\n", i%2))
		add("User-agent: *\nDisallow: /\n")
		add("User-agent: D\nContent-Usage: x=y\nDisallow: /\n")
	}
	for i := range distinct {
		add(fmt.Sprintf("User-agent: *\nContent-Usage: /p%d train-ai=n\nContent-Usage: train-ai=y\n", i))
	}
	add("User-agent: *\nContent-Usage: train-ai=y\n" + strings.Repeat("Content-Usage: /b train-ai=n\n", longestStatements/20))
	for _, e := range testEntries() {
		e.Body = append(slices.Clip(e.Body), "\nUser-agent: *\nContent-Usage: /a train-ai=n\n"...)
		entries = append(entries, e)
	}
	return entries
}

var statedOptions = matcher.UsageOptions{Uses: []usage.Use{{Key: "train-ai"}, {Directive: usage.ContentSignal, Key: "search"}}, Licenses: true}

// said is what statements say of a few paths.
func said(u *matcher.Usage, p matcher.Profile) string {
	if u == nil {
		return ""
	}
	var b strings.Builder
	values := make([]usage.Value, len(testChains)*len(statedOptions.Uses))
	for _, path := range []string{"/", "/a", "/b", "/p7", "/p149"} {
		var target matcher.Target
		target.Set([]byte(path), p)
		u.Decide(&target, values)
		fmt.Fprint(&b, path, values)
		for agent := range testChains {
			line := u.Explain(&target, agent, 0)
			fmt.Fprint(&b, u.Licenses(agent), line.Line, string(line.Text))
		}
	}
	return b.String()
}

// A body whose head has the key of other statements than its records is damaged.
func TestAnotherBodysStatements(t *testing.T) {
	text := func(value string) string { return "User-agent: *\nContent-Usage: train-ai=" + value + "\n" }
	data := read(t, build(t, []Entry{body("https://a.example", text("n"))}, BuildOptions{}, 1))
	key := func(value string) []byte {
		f := robotstxt.Parse([]byte(text(value)), robotstxt.Options{})
		key := matcher.KeyOfStatements(f.AppendStatements(nil))
		return key[:]
	}
	for _, value := range []string{"n", "y"} {
		forged := bytes.Replace(data, key("n"), key(value), 1)
		must.Need(t, bytes.Count(forged, key(value)) == 1, "the pack lacks its key")
		reseal(forged)
		p := must.Get(openCopy(forged, Options{Chains: testChains, Usage: statedOptions}))(t)
		var o matcher.Origin
		err := p.Lookup([]byte("https://a.example"), &o)
		must.Be(t, (err == nil) == (value == "n") && (err == nil || errors.Is(err, ErrDamaged)), "%s: %v", value, err)
	}
}

// The statements of a body are what is compiled of its text, whether bodies share them or
// not, and however often and from however many goroutines they are asked for.
func TestStatementsAreShared(t *testing.T) {
	const most = 100
	entries := statedEntries(most + 50)
	name := build(t, entries, BuildOptions{}, 2)
	for _, o := range []Options{{}, {Records: true}, {Explain: true}} {
		o.Chains, o.Usage = testChains, statedOptions
		o.Usage.Explain = o.Explain
		p := mustOpen(t, name, o)
		p.statements.most = most
		want := make([]string, len(entries))
		for i, e := range entries {
			if e.Access == access.Rules {
				f := robotstxt.Parse(e.Body, robotstxt.Options{})
				want[i] = said(matcher.CompileUsage(f, matcher.NewAgents(testChains), o.Usage), p.info.Profile)
			}
		}
		var group sync.WaitGroup
		for w := range 3 {
			group.Go(func() {
				var origin matcher.Origin
				for i := range 2 * len(entries) {
					i = (i + w*50) % len(entries)
					if err := p.Lookup(entries[i].Authority, &origin); err != nil {
						t.Error(err)
						return
					}
					if got := said(origin.Facts.Usage, p.info.Profile); got != want[i] {
						t.Errorf("%s: %s, want %s", entries[i].Authority, got, want[i])
						return
					}
				}
			})
		}
		group.Wait()
	}
	// Those that say the same are one, in lines of other numbers too.
	p := mustOpen(t, name, Options{Chains: testChains, Usage: statedOptions})
	var first, other matcher.Origin
	for i := range 6 {
		for _, e := range []Entry{entries[0], entries[6*i], entries[6*i+1]} {
			must.Do(t, p.Lookup(e.Authority, &other))
			if first.Facts.Usage == nil {
				first.Facts.Usage = other.Facts.Usage
			}
			must.Be(t, other.Facts.Usage == first.Facts.Usage && other.Facts.Usage != nil, "%s has statements of its own", e.Authority)
		}
	}
	pass := func() {
		for _, e := range entries[:36] {
			must.Do(t, p.Lookup(e.Authority, &other))
		}
	}
	pass()
	n := testing.AllocsPerRun(10, pass)
	must.Be(t, n == 0, "%v allocations", n)
}
