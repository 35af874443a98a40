package rulesdir

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"robotsbatch/batch/manifest"
	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/robotstxt"
)

func TestLookup(t *testing.T) {
	type wants map[string]string
	for _, test := range []struct {
		name  string
		files []string
		want  wants // authority → file
	}{
		{"nothing", nil, wants{"http://example.com": "", "https://example.com:8443": "", "ftp://a": ""}},
		{"a file stands for http and https on their ports", []string{"example.com"}, wants{
			"http://example.com": "example.com", "https://example.com": "example.com", "ftp://example.com": "",
			"http://example.com:443": "", "https://example.com:80": "", "http://example.com:8080": "",
			"http://www.example.com": "", "http://example.co": "",
		}},
		{"a port stands for that port", []string{"a_8443", "b:8080.txt"}, wants{
			"http://a:8443": "a_8443", "https://a:8443": "a_8443", "ftp://a:8443": "", "http://a": "", "https://a": "",
			"http://a:8444": "", "http://b:8080": "b:8080.txt", "https://b:8080": "b:8080.txt",
		}},
		{"443 is https", []string{"a", "a_443", "b_443"}, wants{
			"http://a":      "a",
			"https://a":     "a_443",
			"http://a:443":  "",
			"http://b":      "",
			"https://b":     "b_443",
			"https://b:443": "", // not a key: Split drops that port
		}},
		{"80 is http", []string{"a", "a_80", "b_80"}, wants{
			"http://a": "a_80", "https://a": "a", "https://a:80": "", "http://b": "b_80", "https://b": "",
		}},
		{"a scheme's folder comes first", []string{"a", "a_443", "a_80", "a_8443", "https/a", "https/a_8443", "ftp/a", "ftp/b_2121"}, wants{
			"http://a": "a_80", "https://a": "https/a", "http://a:8443": "a_8443", "https://a:8443": "https/a_8443",
			"ftp://a": "ftp/a", "ftp://b:2121": "ftp/b_2121", "ftp://b": "", "http://b:2121": "",
		}},
		{"http on the port of https", []string{"a", "http/a_443.txt", "https/a_80.txt"}, wants{
			"http://a": "a", "https://a": "a", "http://a:443": "http/a_443.txt", "https://a:80": "https/a_80.txt",
		}},
		{"schemes' names as hosts", []string{"http/http", "https/https", "https/robots.txt", "ftp"}, wants{
			"http://http": "http/http", "https://http": "", "https://https": "https/https", "https://robots": "",
			"http://ftp": "ftp", "ftp://ftp": "",
		}},
		{"folders", []string{"a/robots.txt", "b_8443/robots.txt.gz", "https/c/robots.txt.zst", "d/"}, wants{
			"http://a": "a/robots.txt", "https://a": "a/robots.txt", "https://b:8443": "b_8443/robots.txt.gz",
			"https://c": "https/c/robots.txt.zst", "http://c": "", "http://d": "",
		}},
		{"an empty folder leaves it to the next", []string{"https/a/", "a_443/", "a.txt", "b/", "b.txt", "c/index.html", "c.gz"}, wants{
			"https://a": "a.txt", "http://a": "a.txt", "http://b": "b.txt", "http://c": "c.gz",
		}},
		{"compressed", []string{"a.gz", "b.txt.zst", "c_8443.robots.txt.gz", "https/d.zst"}, wants{
			"http://a": "a.gz", "http://b": "b.txt.zst", "https://c:8443": "c_8443.robots.txt.gz",
			"https://d": "https/d.zst",
		}},
		{"IPv6", []string{"[2001-db8--1]", "[2001-db8--2]_8443.txt", "2001:db8::3", "[2001:db8:0::4]/robots.txt"}, wants{
			"http://[2001:db8::1]": "[2001-db8--1]", "https://[2001:db8::1]": "[2001-db8--1]", "http://[2001:db8::2]": "",
			"http://[2001:db8::2]:8443": "[2001-db8--2]_8443.txt", "http://[2001:db8::3]": "2001:db8::3",
			"http://[2001:db8::4]": "[2001:db8:0::4]/robots.txt",
		}},
		{"IDN and case", []string{"Bücher.example", "xn--caf-dma.example.txt", "Example.COM_8443"}, wants{
			"http://xn--bcher-kva.example": "Bücher.example", "http://xn--caf-dma.example": "xn--caf-dma.example.txt",
			"http://example.com:8443": "Example.COM_8443",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := open(t, bodies(t, test.files...), Options{})
			checkWalk(t, d, test.files, test.want)
			for range 2 { // read, then kept
				for authority, want := range test.want {
					must.Equal(t, must.Get(which(d, test.files, authority))(t), want, authority, "file")
					if want != "" {
						want = filepath.Join(d.folder.name, want)
					}
					name, _, err := d.Text([]byte(authority))
					must.Do(t, err)
					must.Equal(t, name, want, "Text", authority)
					must.Equal(t, must.Get(d.Has([]byte(authority)))(t), want != "", "Has", authority)
				}
			}
		})
	}
}

func TestClashes(t *testing.T) {
	for _, test := range []struct {
		a, b string // as the error names them
		host string
	}{
		{"example.com", "example.com.txt", "example.com"},
		{"example.com.robots.txt", "example.com.txt", "example.com"},
		{"example.com.gz", "example.com.txt.zst", "example.com"},
		{"Example.com", "example.com", "example.com"},
		{"example.com.txt", "example.com/robots.txt", "example.com"},
		{"Example.com/robots.txt.gz", "example.com/robots.txt", "example.com"},
		{"example.com:8443", "example.com_8443", "example.com:8443"},
		{"example.com:443", "example.com_443.txt", "example.com"},
		{"https/example.com", "https/example.com_443", "example.com"},
		{"ftp/example.com", "ftp/example.com_21", "example.com"},
		{"bücher.example", "xn--bcher-kva.example", "xn--bcher-kva.example"},
		{"2001:db8::1", "[2001-db8--1]", "[2001:db8::1]"},
	} {
		folder := bodies(t, "other.example", test.a, test.b)
		d, err := Open(t.Context(), folder, Options{Chains: everyone})
		if err == nil {
			d.Close()
		}
		must.Mention(t, err, filepath.Join(folder, test.a)+" ", filepath.Join(folder, test.b)+" ", " "+test.host+":")
	}
}

// What is inside a folder HOST is known only when it is looked at.
func TestClashInFolder(t *testing.T) {
	files := []string{"a/robots.txt", "a/robots.txt.gz", "b"}
	d := open(t, bodies(t, files...), Options{})
	must.Mention(t, lookupError(t, d, "http://a"), "a/robots.txt ", "a/robots.txt.gz ")
	checkFile(t, d, files, "http://b", "b")
}

// Folders without a robots.txt give way to a file, in whatever order they are
// listed.
func TestEmptyFoldersGiveWay(t *testing.T) {
	names := []string{"a.example/", "A.example/", "A.EXAMPLE/", "a.example.txt"}
	files := []string{"https/a.example/", "https/A.example/", "https/A.EXAMPLE/", "https/a.example.txt"}
	d := open(t, bodies(t, files...), Options{})
	for order := range 256 {
		b := builder{folder: d.folder, index: &nameIndex{seed: d.index.seed}}
		var seen [4]bool
		for ; order > 0 || !seen[0]; order /= 4 {
			i := order % 4
			if seen[i] {
				continue
			}
			seen[i] = true
			must.Do(t, b.add(strings.TrimSuffix(names[i], "/"), strings.HasSuffix(names[i], "/"), httpsOnly))
		}
		err := b.link()
		must.Need(t, err == nil, "%v: %v", seen, err)
		must.Be(t, !seen[3] || b.index.listed == 1, "%v: %d are listed", seen, b.index.listed)
	}
	checkFile(t, d, files, "https://a.example", files[3])
}

func TestNoClash(t *testing.T) {
	bodies := bodies(t, "a", "a_443", "a_80", "a_8443", "http/a", "https/a", "ftp/a", "a.example/", "A.example/", "a.example.txt", "b.example/", "B.example/")
	open(t, bodies, Options{})
}

func TestStats(t *testing.T) {
	files := []string{"a", "b.gz", "c", ".git/config", ".DS_Store", "d/"}
	folder := bodies(t, files...)
	d := open(t, folder, Options{})
	must.Equal(t, d.Stats(), Stats{Listed: 4, Ignored: 2}, "at first")
	for _, authority := range []string{"http://a", "https://a", "http://b", "http://a", "http://d", "http://e"} {
		must.Get(which(d, files, authority))(t)
	}
	want := Stats{Listed: 4, Ignored: 2, Files: 2}
	must.Equal(t, d.Stats(), want, "after two files")
	write(t, folder, "c", "Disallow: /too/early\n")
	var o matcher.Origin
	err := d.Lookup([]byte("http://c"), &o)
	must.Be(t, err == nil && o.Access == access.Rules, "http://c: access %d, error %v", o.Access, err)
}

func TestOpenErrors(t *testing.T) {
	folder := bodies(t, "a")
	_, err := Open(t.Context(), filepath.Join(folder, "missing"), Options{})
	must.Mention(t, err, filepath.Join(folder, "missing"))
	must.Is(t, err, fs.ErrNotExist)
	_, err = Open(t.Context(), filepath.Join(folder, "a"), Options{})
	must.Mention(t, err, filepath.Join(folder, "a"), "not a folder")
}

// The folder is listed once; what changes in it is noticed or not seen, but
// never gives a verdict.
func TestFolderChanges(t *testing.T) {
	files := []string{"a", "b/robots.txt", "c/robots.txt"}
	folder := bodies(t, files...)
	d := open(t, folder, Options{Memory: 1}) // keeps nothing
	for i, authority := range []string{"http://a", "http://b"} {
		checkFile(t, d, files, authority, files[i])
	}
	for _, gone := range []string{"a", "b/robots.txt", "c"} {
		must.Do(t, os.RemoveAll(filepath.Join(folder, gone)))
	}
	for i, authority := range []string{"http://a", "http://b", "http://c"} {
		must.Mention(t, lookupError(t, d, authority), files[i][:1], "must not change")
	}
	write(t, folder, "late", body(0))
	checkFile(t, d, files, "http://late", "")
}

func TestClose(t *testing.T) {
	files := []string{"a", "b"}
	d := open(t, bodies(t, files...), Options{})
	for _, authority := range []string{"http://a", "http://b"} {
		if authority == "http://b" {
			must.Do(t, d.Close())
			must.Mention(t, lookupError(t, d, authority), "b")
		}
		checkFile(t, d, files, "http://a", "a")
	}
}

// Looking up what is kept allocates nothing.
func TestLookupAllocatesNothing(t *testing.T) {
	files := []string{"a", "b"}
	d := open(t, bodies(t, files...), Options{})
	var o matcher.Origin
	for range 2 {
		for i, authority := range []string{"http://a", "http://b", "https://a"} {
			must.Do(t, d.Lookup([]byte(authority), &o))
			must.Equal(t, must.Get(line(&o))(t), i%2+2, authority, "line")
		}
	}
	known, unknown := []byte("http://a"), []byte("http://unknown.example")
	if n := testing.AllocsPerRun(100, func() {
		_ = d.Lookup(known, &o)
		_ = d.Lookup(unknown, &o)
	}); n != 0 {
		t.Errorf("%v allocations a lookup", n)
	}
}

func TestChains(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "a", "User-agent: FooBot\nDisallow: /x\n\nUser-agent: *\nAllow: /\n")
	for tries, chains := range [][]matcher.Chain{nil, {{"BarBot"}, {matcher.Everyone}}, {{"FooBot"}, {matcher.Everyone}, {"FooBot"}}} {
		d := must.Get(Open(t.Context(), folder, Options{Chains: chains}))(t)
		defer d.Close()
		var o matcher.Origin
		err := d.Lookup([]byte("http://a"), &o)
		must.Be(t, err == nil && o.Access == access.Rules && len(o.Tries) == tries, "%d chains: access %d, %d tries, error %v", len(chains), o.Access, len(o.Tries), err)
	}
}

// Records are kept when they are asked for, and counted as memory.
func TestRecords(t *testing.T) {
	folder := t.TempDir()
	const body = "Sitemap: s\nUser-agent: FooBot\nCrawl-delay: 1.5\n"
	write(t, folder, "a", body)
	write(t, folder, "b", body)
	for _, keep := range []bool{false, true} {
		d := open(t, folder, Options{Chains: []matcher.Chain{{"FooBot"}, {matcher.Everyone}}, Records: keep})
		want := matcher.Facts{Kind: robotstxt.TextKind}
		if keep {
			want.Records = &matcher.Records{CrawlDelays: []float64{1.5, matcher.NoCrawlDelay}, Sitemaps: []string{"s"}}
		}
		for range 2 {
			for _, authority := range []string{"http://a", "https://b"} {
				var o matcher.Origin
				if err := d.Lookup([]byte(authority), &o); err != nil || !reflect.DeepEqual(o.Facts, want) {
					t.Errorf("%s: %+v, %v; want %+v", authority, o.Facts, err, want)
				}
			}
		}
	}
}

// However little is kept, the verdicts are the same, also when many goroutines
// look up and what they hold is dropped meanwhile.
func TestEviction(t *testing.T) {
	const hosts = 40
	var names []string
	for i := range hosts {
		names = append(names, fmt.Sprintf("host%d.example%s", i, []string{"", ".txt", ".gz", "/robots.txt"}[i%4]))
	}
	folder := bodies(t, names...)
	for _, memory := range []int64{1, 1000, 4000, 0} {
		d := open(t, folder, Options{Memory: memory})
		var wg sync.WaitGroup
		for g := range 4 {
			wg.Go(func() {
				random := rand.New(rand.NewPCG(uint64(memory), uint64(g)))
				held := make([]matcher.Origin, 10)
				lines := make([]int, len(held))
				for range 500 {
					host, slot := random.IntN(hosts), random.IntN(len(held))
					o := &held[slot]
					scheme := []string{"http", "https"}[random.IntN(2)]
					if err := d.Lookup(fmt.Appendf(nil, "%s://host%d.example", scheme, host), o); err != nil {
						t.Error(err)
						return
					}
					lines[slot] = host + 2
					check := random.IntN(len(held))
					if lines[check] == 0 {
						continue
					}
					if got, err := line(&held[check]); err != nil || got != lines[check] {
						t.Errorf("memory %d: line %d, error %v, want line %d", memory, got, err, lines[check])
					}
				}
			})
		}
		wg.Wait()
		s := d.Stats()
		must.Be(t, s.Files == hosts && (s.Rereads == 0) == (memory == 0), "memory %d: %+v", memory, s)
		size := d.rules.Size()
		must.Be(t, memory <= 0 || size <= memory, "memory %d: %d bytes are kept", memory, size)
	}
}

// What memory says is what the rules take, rules that agents share counted
// once.
func TestMemory(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "a", "User-agent: *\n"+strings.Repeat("Disallow: /some/folder/or/other\n", 1000))
	size := func(chains []matcher.Chain) int64 {
		d := open(t, folder, Options{Chains: chains})
		must.Do(t, d.Lookup([]byte("http://a"), new(matcher.Origin)))
		return d.rules.Size()
	}
	one, three := size(everyone), size([]matcher.Chain{{"a"}, {"b"}, {matcher.Everyone}})
	must.Be(t, one >= 1000 && three >= one && three <= one+1000, "%d bytes for one agent, %d for three with the same group", one, three)
}

// usedOf opens a folder, looks an authority up, and returns what was used.
func usedOf(t *testing.T, folder string, authorities ...string) []manifest.File {
	t.Helper()
	var mu sync.Mutex
	var list []manifest.File
	d := open(t, folder, Options{Used: func(u manifest.File) {
		mu.Lock()
		defer mu.Unlock()
		list = append(list, u)
	}})
	for _, authority := range append(authorities, authorities...) {
		must.Do(t, d.Lookup([]byte(authority), new(matcher.Origin)))
	}
	return list
}

func TestUsed(t *testing.T) {
	folder := t.TempDir()
	must.WriteFile(t, filepath.Join(folder, "a.example"), "User-agent: *\nDisallow: /\n")
	must.WriteFile(t, filepath.Join(folder, "b.example", "robots.txt"), "")
	must.WriteFile(t, filepath.Join(folder, "c.example", "other"), "")
	must.WriteFile(t, filepath.Join(folder, "d.example"), "never asked for")
	list := usedOf(t, folder, "http://a.example", "http://b.example", "http://c.example", "http://e.example", "https://a.example")
	var names []string
	for _, u := range list {
		names = append(names, u.Name)
		must.Equal(t, must.Get(Version(folder, u.Name))(t), u, u.Name, "used")
	}
	must.EqualSlices(t, names, []string{"a.example", "b.example/robots.txt", "c.example/"}, "used")
	// A robots.txt that comes later changes what was known of its absence.
	later := time.Now().Add(time.Hour)
	must.WriteFile(t, filepath.Join(folder, "c.example", "robots.txt"), "")
	must.Do(t, os.Chtimes(filepath.Join(folder, "c.example"), later, later))
	now, err := Version(folder, "c.example/")
	must.Be(t, err == nil && now != list[2], "c.example/ is still %+v, %v", now, err)
}

func TestNamesChecksum(t *testing.T) {
	names := func(files ...string) string {
		folder := t.TempDir()
		for _, file := range files {
			must.WriteFile(t, filepath.Join(folder, file), "")
		}
		d := must.Get(Open(t.Context(), folder, Options{}))(t)
		defer d.Close()
		return d.Names()
	}
	one := names("a.example", "b.example/robots.txt", "c.example")
	must.Equal(t, names("c.example", "b.example/robots.txt", "a.example"), one, "order matters")
	for _, files := range [][]string{{"a.example", "b.example/robots.txt"}, {"a.example", "b.example", "c.example"}, {}} {
		other := names(files...)
		must.Be(t, other != one, "%q: %s, too", files, other)
	}
}

// TestChangedFile has a file that is another when it is read again, since its
// rules were dropped.
func TestChangedFile(t *testing.T) {
	folder := t.TempDir()
	name := filepath.Join(folder, "a.example")
	must.WriteFile(t, name, "User-agent: *\nDisallow: /\n")
	d := open(t, folder, Options{Memory: 1})
	var o matcher.Origin
	for range 2 {
		must.Do(t, d.Lookup([]byte("http://a.example"), &o))
	}
	must.WriteFile(t, name, "User-agent: *\nAllow: /\n")
	must.Say(t, d.Lookup([]byte("http://a.example"), &o), name+": it was written to or replaced")
}

// walked are the authorities of a folder with their bodies.
func walked(t *testing.T, d *Dir, workers int) map[string]string {
	t.Helper()
	var mu sync.Mutex
	found := make(map[string]string)
	err := d.Walk(workers, func() {}, func(authority, body []byte) error {
		mu.Lock()
		defer mu.Unlock()
		_, again := found[string(authority)]
		must.Be(t, !again, "%s comes twice", authority)
		found[string(authority)] = string(body)
		return nil
	})
	must.Do(t, err)
	return found
}

// checkWalk checks that a walk visits what Lookup knows.
func checkWalk(t *testing.T, d *Dir, names []string, wants map[string]string) {
	t.Helper()
	found := walked(t, d, 1)
	for authority, want := range wants {
		_, ok := found[authority]
		must.Be(t, ok == (want != ""), "%s: visited: %v, by Lookup's file %q", authority, ok, want)
	}
	for authority, got := range found {
		file, err := which(d, names, authority)
		must.Be(t, err == nil && file != "" && got == body(slices.Index(names, file)), "%s: visited with the body %q; Lookup has that of %q, %v", authority, got, file, err)
	}
}

func TestWalkWorkers(t *testing.T) {
	folder := t.TempDir()
	want := make(map[string]string)
	for i := range 300 {
		name := fmt.Sprintf("host%d.example", i)
		text := body(i % 7)
		write(t, folder, name+[]string{"", ".txt", ".gz", "/robots.txt"}[i%4], text)
		want["http://"+name], want["https://"+name] = text, text
	}
	d := open(t, folder, Options{})
	for _, workers := range []int{-1, 1, 8} {
		got := walked(t, d, workers)
		must.Equal(t, len(got), len(want), workers, "workers", "authorities")
		for authority, text := range want {
			must.Equal(t, got[authority], text, workers, "workers", authority)
		}
	}
}

func TestWalkLimit(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "a", strings.Repeat("#", robotstxt.DefaultLimit+100))
	for authority, text := range walked(t, open(t, folder, Options{}), 1) {
		must.Equal(t, len(text), (robotstxt.Options{}).ReadSize(), authority, "bytes")
	}
}

func TestWalkErrors(t *testing.T) {
	folder := t.TempDir()
	for i := range 100 {
		write(t, folder, fmt.Sprintf("host%d", i), body(0))
	}
	d := open(t, folder, Options{Chains: []matcher.Chain{{"*"}}})
	stop := errors.New("enough")
	for _, workers := range []int{1, 4} {
		var visited atomic.Int64
		err := d.Walk(workers, func() {}, func([]byte, []byte) error {
			if visited.Add(1) == 10 {
				return stop
			}
			return nil
		})
		must.Is(t, err, stop, workers, "workers")
		// Others may go on until they hear of it, so only one worker is sure.
		must.Be(t, workers != 1 || visited.Load() == 10, "%d visits, the last of which was to end it", visited.Load())
	}
	must.Do(t, os.Remove(filepath.Join(folder, "host50")))
	must.Mention(t, d.Walk(4, func() {}, func([]byte, []byte) error { return nil }), "host50", "must not change")
}
