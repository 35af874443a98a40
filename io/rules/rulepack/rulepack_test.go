package rulepack

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"robotsbatch/io/frontier/format"
	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/robotstxt"
)

func TestLookup(t *testing.T) {
	for _, profile := range []matcher.Profile{robotstxt.RFC9309, robotstxt.Google} {
		entries := testEntries()
		name := build(t, entries, BuildOptions{Profile: profile}, 2)
		p := mustOpen(t, name, Options{Chains: testChains, Profile: profile, Explain: true, Records: true})
		for range 2 { // opened, then kept
			for _, e := range entries {
				err := checkEntry(p, e)
				must.Be(t, err == nil, "%s: %v", profile, err)
			}
		}
		var o matcher.Origin
		for _, unknown := range []string{"", "http://other.example:8443", "https://shared.exampl", "shared.example", "https://", strings.Repeat("x", 10_000)} {
			err := p.Lookup([]byte(unknown), &o)
			must.Be(t, err == nil && o.Access == access.Unknown && o.Tries == nil, "%.20s: access %d, %v", unknown, o.Access, err)
		}
		must.Do(t, p.Verify())
	}
}

// Without explanations, verdicts are the same.
func TestLookupSilent(t *testing.T) {
	entries := testEntries()
	name := build(t, entries, BuildOptions{}, 1)
	explained := mustOpen(t, name, Options{Chains: testChains, Explain: true})
	silent := mustOpen(t, name, Options{Chains: testChains})
	for _, e := range entries {
		var a, b matcher.Origin
		must.Do(t, errors.Join(explained.Lookup(e.Authority, &a), silent.Lookup(e.Authority, &b)))
		var target matcher.Target
		if a.Access != access.Rules {
			continue
		}
		for i := range testChains {
			for _, path := range testPaths {
				target.Set([]byte(path), robotstxt.RFC9309)
				x, y := a.Trie(i).Match(&target), b.Trie(i).Match(&target)
				must.Be(t, x == y, "%s%s: %v with explanations, %v without", e.Authority, path, x, y)
			}
		}
	}
}

func TestInfo(t *testing.T) {
	entries := testEntries()
	name, built := buildInfo(t, entries, BuildOptions{Maker: "robotsbatch test"}, 2)
	p := must.Get(Inspect(name, ""))(t)
	defer p.Close()
	info := p.Info()
	a, b := fmt.Sprintf("%+v", *built), fmt.Sprintf("%+v", *info)
	must.Be(t, len(built.Sections) == len(info.Sections) && a == b, "built %s\nopened %s", a, b)
	want := Info{
		Version: version, Maker: "robotsbatch test", Limit: robotstxt.DefaultLimit, AsOf: 1_700_000_000, Authorities: 14, Rules: 12, AllowAll: 1, DisallowAll: 1,
		Limited: 2, HTML: 1, Bodies: 9, Uncompiled: 1, SourceBytes: info.SourceBytes, Size: int64(len(read(t, name))), Sections: info.Sections, Checksum: info.Checksum,
	}
	must.Equal(t, fmt.Sprintf("%+v", *info), fmt.Sprintf("%+v", want))
	must.Equal(t, format.Detect(read(t, name)[:64], ""), format.RulePack, "the format is not known by its magic")
}

func TestBody(t *testing.T) {
	p := must.Get(Inspect(build(t, testEntries(), BuildOptions{}, 2), ""))(t)
	defer p.Close()
	describe := func(authority string) (Authority, *Body) {
		a, known, err := p.Authority([]byte(authority))
		must.Need(t, err == nil && known, "%s: %v, %v", authority, known, err)
		b := must.Get(p.Body(a.Body))(t)
		return a, b
	}
	for _, e := range testEntries() {
		if a, _, err := p.Authority(e.Authority); err != nil || a.Access != access.Rules {
			continue
		}
		counted, _ := robotstxt.Counted(e.Body, robotstxt.Options{Cut: e.Cut})
		_, b := describe(string(e.Authority))
		must.Be(t, b.Digest == sha256.Sum256(counted), "%s: digest %x", e.Authority, b.Digest)
	}
	_, shared := describe("https://shared.example")
	want := Records{Sitemaps: []string{"https://x.test/s.xml"}, CrawlDelays: []CrawlDelay{{Agents: []string{"a"}, Value: "5"}}}
	must.Equal(t, fmt.Sprintf("%+v", shared.Records), fmt.Sprintf("%+v", want), "records", want)
	a, cut := describe("https://cut.example")
	must.Be(t, a.Limited && a.Status == 206 && cut.Kind == robotstxt.TextKind, "%+v, %+v", a, cut)
	_, html := describe("https://html.example")
	must.Be(t, html.Kind == robotstxt.HTMLKind, "HTML is not known")
	_, overlap := describe("https://overlap.example")
	must.Be(t, overlap.Compiled == nil && len(overlap.Source) != 0, "a body with overlapping groups is compiled")
	must.Is(t, must.Err(p.Body(1000)), ErrDamaged, "body 1000")
}

// Bodies of which the same bytes count are one.
func TestBodiesCutAlike(t *testing.T) {
	const text = "User-agent: *\nDisallow: /a\n"
	filler := strings.Repeat("\n", robotstxt.DefaultLimit-len(text))
	cut := body("https://c", text+"Disallow: /b")
	cut.Cut = true
	entries := []Entry{
		body("https://a", text), body("https://b", text), cut,
		body("https://d", text+filler+"#"), body("https://e", text+filler+"Disallow: /c\n"),
	}
	_, info := buildInfo(t, entries, BuildOptions{}, 1)
	must.Be(t, info.Bodies == 2 && info.Limited == 3, "%d bodies, %d limited", info.Bodies, info.Limited)
}

// Of several sources the first decides; what only the others have is not kept.
func TestSources(t *testing.T) {
	shadow := body("https://a.example", "User-agent: *\nDisallow: /shadow\n")
	shadow.Source = 1
	entries := []Entry{shadow, body("https://a.example", "User-agent: *\nDisallow: /a\n"), body("https://b.example", "")}
	for _, list := range [][]Entry{entries, reversed(entries)} {
		name, info := buildInfo(t, list, BuildOptions{}, 1)
		must.Be(t, info.Authorities == 2 && info.Bodies == 2, "%d authorities, %d bodies", info.Authorities, info.Bodies)
		p := mustOpen(t, name, Options{Chains: testChains, Explain: true})
		must.Do(t, errors.Join(checkEntry(p, entries[1]), checkEntry(p, entries[2]), p.Verify()))
		must.Be(t, !strings.Contains(string(read(t, name)), "shadow"), "a body that nobody has is in the pack")
	}
}

func TestAddErrors(t *testing.T) {
	b := must.Get(Create(context.Background(), filepath.Join(t.TempDir(), "x.rules"), BuildOptions{}))(t)
	defer b.Abort()
	must.Mention(t, b.Add(body("", "")), "x.rules", "not a valid authority")
	must.Mention(t, b.Add(body(strings.Repeat("x", MaxAuthority+1), "")), "not a valid authority", "2049 bytes")
	must.Mention(t, b.Add(Entry{Authority: []byte("https://a.example"), Access: access.Outcomes}), "https://a.example", fmt.Sprint("access ", access.Outcomes))
	for range 2 {
		must.Do(t, b.Add(body("https://a.example", "")))
	}
	_, err := b.Finish()
	must.Mention(t, err, "x.rules", "two entries", "https://a.example")
	files, _ := os.ReadDir(filepath.Dir(b.name))
	must.Be(t, len(files) == 0, "left behind: %v", files)
}

func TestAbort(t *testing.T) {
	folder := t.TempDir()
	name := filepath.Join(folder, "x.rules")
	must.Do(t, os.WriteFile(name, []byte("before"), 0o666))
	b := must.Get(Create(context.Background(), name, BuildOptions{Memory: 1}))(t)
	for _, e := range testEntries() {
		must.Do(t, b.Add(e))
	}
	b.Abort()
	files, _ := os.ReadDir(folder)
	must.Be(t, len(files) == 1 && string(read(t, name)) == "before", "the folder has %v", files)
	must.Is(t, must.Err(Create(context.Background(), filepath.Join(folder, "nowhere", "x.rules"), BuildOptions{})), fs.ErrNotExist, "Create in no folder")
}

// What could not be written to a temporary file would be missing: there is no
// pack.
func TestSpillFails(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "gone")
	must.Do(t, os.Mkdir(folder, 0o777))
	b := must.Get(Create(context.Background(), filepath.Join(folder, "x.rules"), BuildOptions{Memory: 1}))(t)
	defer b.Abort()
	if err := os.RemoveAll(folder); err != nil {
		t.Skipf("a folder that is in use cannot be removed here: %v", err)
	}
	must.Mention(t, b.Add(body("https://a.example", "User-agent: *\nDisallow: /\n")), "x.rules", "temporary file")
	must.Say(t, must.Err(b.Finish()), "temporary file", "Finish")
}

func TestEmptyPack(t *testing.T) {
	name, info := buildInfo(t, nil, BuildOptions{}, 1)
	must.Be(t, info.Authorities == 0 && info.Bodies == 0, "%+v", info)
	p := mustOpen(t, name, Options{Chains: testChains})
	var o matcher.Origin
	err := p.Lookup([]byte("https://a.example"), &o)
	must.Be(t, err == nil && o.Access == access.Unknown, "access %d, %v", o.Access, err)
	must.Do(t, p.Verify())
}

func TestOpenErrors(t *testing.T) {
	folder := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(folder, name)
		must.Do(t, os.WriteFile(path, []byte(content), 0o666))
		return path
	}
	good := string(read(t, build(t, testEntries(), BuildOptions{}, 1)))
	google := build(t, nil, BuildOptions{Profile: robotstxt.Google}, 1)
	large := build(t, nil, BuildOptions{Limit: 1 << 20}, 1)
	reads := fmt.Sprintf("reads %d and %d", version, historyVersion)
	older, newer := good[:8]+"\x01"+good[9:], good[:8]+string([]byte{historyVersion + 1})+good[9:]
	for _, test := range []struct {
		name    string
		options Options
		is      error
		words   []string
	}{
		{filepath.Join(folder, "nowhere"), Options{}, fs.ErrNotExist, []string{"nowhere"}},
		{folder, Options{}, nil, []string{folder}},
		{file("empty", ""), Options{}, errNotPack, []string{"empty"}},
		{file("short", good[:50]), Options{}, errNotPack, []string{"short"}},
		{file("text", strings.Repeat("https://example.com/\n", 100)), Options{}, errNotPack, []string{"text"}},
		{file("older", older), Options{}, ErrVersion, []string{"format 1", reads, "compile it again"}},
		{file("history", good[:8]+"\x0d"+good[9:]), Options{}, ErrVersion, []string{"format 13", reads, "compile it again"}},
		{file("newer", newer), Options{}, ErrVersion, []string{fmt.Sprint("format ", historyVersion+1), reads}},
		{file("version0", good[:8]+"\x00"+good[9:]), Options{}, ErrDamaged, []string{"format 0"}},
		{file("cut", good[:len(good)-1]), Options{}, ErrDamaged, []string{"cut", "its end is missing"}},
		{file("longer", good+"\x00"), Options{}, ErrDamaged, []string{"its end is missing"}},
		{file("doubled", good+good), Options{}, ErrDamaged, []string{"its end is missing"}},
		{google, Options{}, ErrMismatch, []string{"google", "rfc9309"}},
		{file("rfc9309", good), Options{Profile: robotstxt.Google}, ErrMismatch, []string{"google", "rfc9309"}},
		{large, Options{}, ErrMismatch, []string{"1048576", "512000"}},
		{file("limit", good), Options{Limit: 1 << 20}, ErrMismatch, []string{"1048576", "512000"}},
	} {
		p, err := Open(test.name, test.options)
		must.Be(t, p == nil && (test.is == nil || errors.Is(err, test.is)), "%s: %v", test.name, err)
		must.Mention(t, err, append(test.words, test.name)...)
	}
	mustOpen(t, google, Options{Profile: robotstxt.Google, Limit: 1 << 20})
	mustOpen(t, large, Options{Limit: 1 << 20})
	p, err := Inspect(large, "")
	must.Be(t, err == nil && p.Close() == nil, "%v", err)
}

func TestClose(t *testing.T) {
	p := must.Get(Open(build(t, testEntries(), BuildOptions{}, 1), Options{Chains: testChains}))(t)
	for range 2 {
		must.Do(t, p.Close())
	}
	var o matcher.Origin
	must.Mention(t, p.Lookup([]byte("https://shared.example"), &o), "closed")
	must.Mention(t, p.Verify(), "closed")
	_, err := p.Body(0)
	must.Mention(t, err, "closed")
}

func TestLookupAllocatesNothing(t *testing.T) {
	entries := testEntries()
	for _, explain := range []bool{false, true} {
		p := mustOpen(t, build(t, entries, BuildOptions{}, 1), Options{Chains: testChains, Explain: explain})
		var o matcher.Origin
		unknown := []byte("https://unknown.example")
		pass := func() {
			for _, e := range entries {
				must.Do(t, p.Lookup(e.Authority, &o))
			}
			must.Do(t, p.Lookup(unknown, &o))
		}
		pass()
		n := testing.AllocsPerRun(100, pass)
		must.Be(t, n == 0, "%v allocations", n)
	}
}

// Many goroutines look up in one pack.
func TestConcurrentLookups(t *testing.T) {
	entries := testEntries()
	for i := range 50 {
		entries = append(entries, body(fmt.Sprintf("https://h%d.example", i), fmt.Sprintf("User-agent: *\nDisallow: /a%d\n", i)))
	}
	name := build(t, entries, BuildOptions{}, 4)
	for _, records := range []bool{false, true} {
		p := mustOpen(t, name, Options{Chains: testChains, Explain: true, Records: records})
		var group sync.WaitGroup
		for w := range 8 {
			group.Go(func() {
				for i := range 200 {
					if err := checkEntry(p, entries[(i*(w+1)+w)%len(entries)]); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		group.Wait()
	}
}
