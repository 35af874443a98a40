package rulepack

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/robotstxt"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(800) // the tests allocate much and keep little
	goleak.VerifyTestMain(m)
}

// build makes a pack of entries, which several goroutines add, and returns its
// name.
func build(t testing.TB, entries []Entry, o BuildOptions, workers int) string {
	t.Helper()
	name, _ := buildInfo(t, entries, o, workers)
	return name
}

func buildInfo(t testing.TB, entries []Entry, o BuildOptions, workers int) (string, *Info) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "site.rules")
	b := must.Get(Create(context.Background(), name, o))(t)
	defer b.Abort()
	must.Do(t, addAll(b, entries, workers))
	info := must.Get(b.Finish())(t)
	files, err := os.ReadDir(filepath.Dir(name))
	must.Need(t, err == nil && len(files) == 1, "the folder has %v, %v", files, err)
	return name, info
}

// addAll adds entries, each of so many goroutines every so-manieth.
func addAll(b *Builder, entries []Entry, workers int) error {
	errs := make([]error, workers)
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			for i := w; i < len(entries) && errs[w] == nil; i += workers {
				errs[w] = b.Add(entries[i])
			}
		})
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func mustOpen(t testing.TB, name string, o Options) *Pack {
	t.Helper()
	p := must.Get(Open(name, o))(t)
	t.Cleanup(func() {
		err := p.Close()
		must.Do(t, err)
	})
	return p
}

// body is the entry of an authority with a body.
func body(authority, text string) Entry {
	return Entry{Authority: []byte(authority), Access: access.Rules, Body: []byte(text)}
}

var testChains = []matcher.Chain{{"*"}, {"A"}, {"C", "B"}, {"D"}}

// testEntries are authorities of every kind: outcomes, schemes, bodies that are
// shared, empty, HTML, too long, with index, or that cannot be compiled for all.
func testEntries() []Entry {
	var many strings.Builder
	many.WriteString("User-agent: *\n")
	for i := range 120 {
		fmt.Fprintf(&many, "Disallow: /*x%dy*z\n", i)
	}
	var overlap strings.Builder
	for i := range 60 {
		fmt.Fprintf(&overlap, "User-agent: bot%c%c\n", 'a'+i/26, 'a'+i%26)
	}
	overlap.WriteString("User-agent: A\nUser-agent: *\nDisallow: /a" + strings.Repeat("x", 1000) + "\nDisallow: /a\nAllow: /ab\n")
	for i := range 60 {
		fmt.Fprintf(&overlap, "User-agent: bot%c%c\nDisallow: /b\n", 'a'+i/26, 'a'+i%26)
	}
	shared := "User-agent: *\nDisallow: /a\nUser-agent: A\nAllow: /a$\nDisallow: /*b\nSitemap: https://x.test/s.xml\nCrawl-delay: 5\n"
	return []Entry{
		body("http://shared.example", shared),
		body("https://shared.example", shared),
		body("https://other.example:8443", shared),
		body("https://empty.example", ""),
		body("ftp://files.example", "User-agent: B\nDisallow: /ab\nCrawl-delay: 2.5\n"),
		body("https://html.example", "<html>\nUser-agent: *\nDisallow: /\n"),
		body("https://long.example", "User-agent: *\nDisallow: /a\n"+strings.Repeat("#\n", robotstxt.DefaultLimit/2)),
		{Authority: []byte("https://cut.example"), Access: access.Rules, Body: []byte("User-agent: *\nDisallow: /a\nDisallow: /"), Cut: true, Status: 206},
		body("https://many.example", many.String()),
		body("https://overlap.example", overlap.String()),
		{Authority: []byte("https://stale.example"), Access: access.Rules, Body: []byte(shared), Stale: true, Fetched: 1_600_000_000},
		{Authority: []byte("https://gone.example"), Access: access.AllowAll, Status: 404, Fetched: 1_700_000_000},
		{Authority: []byte("https://broken.example"), Access: access.DisallowAll, Status: 503},
		body("gopher-like authority", "User-agent: *\nDisallow: /b\n"),
	}
}

var testPaths = []string{"/", "/a", "/ab", "/b", "/xb", "/ax", "/x5y", "/1x57yz", "/robots.txt", "/%61", "/?a", "/axxxb"}

// decisions say all that tries decide about paths.
func decisions(tries []matcher.Trie, paths []string) string {
	var b []byte // without fmt, which took most of the time of tests that try every byte
	var target matcher.Target
	for i := range tries {
		for _, path := range paths {
			target.Set([]byte(path), tries[i].Profile())
			d := tries[i].Match(&target)
			b = append(append(strconv.AppendInt(b, int64(i), 10), ' '), path...)
			b = strconv.AppendBool(append(b, ' '), d.Allowed)
			b = strconv.AppendBool(append(b, ' '), tries[i].Allowed(&target))
			b = append(append(b, ' '), d.Reason.String()...)
			if d.Reason.HasRule() {
				rule := tries[i].Rule(d.Rule)
				b = strconv.AppendBool(append(b, ' '), rule.Allow)
				b = strconv.AppendQuote(append(b, ' '), string(rule.Text))
				b = strconv.AppendQuote(append(b, ' '), string(rule.Agent))
				b = strconv.AppendInt(append(b, ' '), int64(rule.Line), 10)
			}
			b = append(b, '\n')
		}
	}
	return string(b)
}

// wanted is what decisions says of an entry's body compiled by itself.
func wanted(e Entry, p matcher.Profile, chains []matcher.Chain, paths []string) string {
	return decisions(matcher.Compile(robotstxt.Parse(e.Body, robotstxt.Options{Profile: p, Cut: e.Cut}), chains), paths)
}

// triesOf are the tries that chains obey, one each.
func triesOf(o matcher.Origin, chains []matcher.Chain) []matcher.Trie {
	if o.Access != access.Rules {
		return nil
	}
	tries := make([]matcher.Trie, len(chains))
	for i := range tries {
		tries[i] = *o.Trie(i)
	}
	return tries
}

// checkEntry checks what a pack has on an entry's authority.
func checkEntry(p *Pack, e Entry) error {
	var o matcher.Origin
	if err := p.Lookup(e.Authority, &o); err != nil {
		return err
	}
	if o.Access != e.Access || o.Stale != e.Stale || (e.Access == access.Rules) != (len(o.Tries) > 0) {
		return fmt.Errorf("%s: access %d with %d tries", e.Authority, o.Access, len(o.Tries))
	}
	if e.Access == access.Rules {
		if got, want := decisions(triesOf(o, p.agents.Chains()), testPaths), wanted(e, p.info.Profile, p.agents.Chains(), testPaths); got != want {
			return fmt.Errorf("%s: %s", e.Authority, firstDifference(got, want))
		}
	}
	facts := o.Facts
	facts.Records = nil
	want := matcher.Facts{Status: int(e.Status), Fetched: int64(e.Fetched)}
	if e.Access == access.Rules {
		want.Kind = robotstxt.Parse(e.Body, robotstxt.Options{Profile: p.info.Profile, Cut: e.Cut}).Kind
	}
	if facts != want {
		return fmt.Errorf("%s: %+v, want %+v", e.Authority, facts, want)
	}
	var records *matcher.Records
	if p.keepRecords && e.Access == access.Rules {
		records = matcher.CollectRecords(robotstxt.Parse(e.Body, robotstxt.Options{Profile: p.info.Profile, Cut: e.Cut}), p.agents)
		counted, _ := robotstxt.Counted(e.Body, robotstxt.Options{Profile: p.info.Profile, Cut: e.Cut})
		sum := sha256.Sum256(counted)
		records.Digest = hex.EncodeToString(sum[:])
	}
	if !reflect.DeepEqual(o.Facts.Records, records) {
		return fmt.Errorf("%s: %+v, want %+v", e.Authority, o.Facts.Records, records)
	}
	a, known, err := p.Authority(e.Authority)
	if err != nil || !known || a.Stale != e.Stale || a.Status != int(e.Status) || a.Fetched != int64(e.Fetched) || a.Access != e.Access {
		return fmt.Errorf("%s: %+v, %v, %v", e.Authority, a, known, err)
	}
	return nil
}

func firstDifference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("%q, want %q", a[i], b[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(a), len(b))
}

func read(t testing.TB, name string) []byte {
	t.Helper()
	return must.Get(os.ReadFile(name))(t)
}

// openCopy opens a pack that lies in memory.
func openCopy(data []byte, o Options) (*Pack, error) {
	p, err := openMapped("copy", mapping{data: data})
	if err == nil {
		err = p.prepare(o)
	}
	return p, err
}

func reversed(entries []Entry) []Entry {
	entries = slices.Clone(entries)
	slices.Reverse(entries)
	return entries
}

func differ(a, b []byte) string {
	if bytes.Equal(a, b) {
		return ""
	}
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("%d and %d bytes, the first other one is %d", len(a), len(b), i)
		}
	}
	return fmt.Sprintf("%d and %d bytes", len(a), len(b))
}
