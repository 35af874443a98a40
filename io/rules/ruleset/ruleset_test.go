package ruleset

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"robotsbatch/batch/option"
	"robotsbatch/io/frontier/format"
	"robotsbatch/io/rules/captures"
	"robotsbatch/io/rules/rulepack"
	"robotsbatch/io/store/blob"
	"robotsbatch/io/store/compress"
	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/partition"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const rules = "User-agent: *\nDisallow: /x\n"

// files writes files into a new folder and makes it the working one.
func files(t *testing.T, contents map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range contents {
		must.WriteFile(t, name, text)
	}
}

// warcOf is a WARC file with a response for each host, days after 1 March 2026.
func warcOf(body string, days int, hosts ...string) string {
	var b strings.Builder
	for _, host := range hosts {
		block := "HTTP/1.1 200 OK\r\n\r\n" + body
		fmt.Fprintf(&b, "WARC/1.0\r\nWARC-Type: response\r\nWARC-Date: 2026-03-%02dT00:00:00Z\r\nWARC-Target-URI: http://%s/robots.txt\r\n"+
			"Content-Type: application/http\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", 1+days, host, len(block), block)
	}
	return b.String()
}

// packOf writes a rule pack of a folder.
func packOf(t *testing.T, name string, sources ...string) {
	t.Helper()
	found := must.Get(Find(t.Context(), Options{Sources: sources, Memory: 1 << 26, Workers: 2}))(t)
	must.Get(found.Compile(t.Context(), name))(t)
}

func TestFind(t *testing.T) {
	files(t, map[string]string{
		"hosts/a.example": rules, "one.warc": warcOf(rules, 0, "a.example"), "crawl/1.warc": warcOf(rules, 0, "a.example"), "crawl/deep/2.warc": "", "crawl/_note": "",
		"tables/a.csv": "url,body\n", "tables/b.jsonl": "", "mixed/a.csv": "", "mixed/b.example": rules, "robots.txt": rules, "nothing/.hidden": "",
		"deep/2026/1.warc": "", "unnamed": warcOf(rules, 0, "a.example"),
	})
	packOf(t, "site.rules", "hosts")
	for _, test := range []struct {
		name, single string
		want         string // kind and files, or a part of the error after "!"
	}{
		{"hosts", "", "folder"},
		{"nothing", "", "folder"},
		{"mixed", "", "folder"},
		{"site.rules", "", "pack"},
		{"one.warc", "", "captures one.warc"},
		{"unnamed", "", "captures unnamed"},
		{"crawl", "", "captures crawl/1.warc crawl/deep/2.warc"},
		{"deep", "", "captures deep/2026/1.warc"},
		{"tables", "", "captures tables/a.csv tables/b.jsonl"},
		{"crawl/*.warc", "", "captures crawl/1.warc"},
		{"*.warc", "", "captures one.warc"},
		{"robots.txt", "a.example", "captures robots.txt"},
		{"-", "a.example", "captures -"},
		{"robots.txt", "", "!is a single file"},
		{"-", "", "!is a single file"},
		{"hosts", "a.example", "!there is none"},
		{"nowhere", "", "!no such file"},
		{"*.rules", "", "!site.rules has no captures"},
		{"no*", "", "!nothing has no captures"},
		{"z*", "", "!no file matches"},
	} {
		o := Options{Sources: []string{test.name}}
		if test.single != "" {
			o.Single, _ = ParseFor(test.single)
		}
		found, err := Find(t.Context(), o)
		part, wantsError := strings.CutPrefix(test.want, "!")
		if wantsError || err != nil {
			must.Be(t, wantsError && err != nil && strings.Contains(err.Error(), part), "%s: %v, want %s", test.name, err, test.want)
			continue
		}
		s := found.sources[0]
		got := "folder"
		if s.captured() {
			got = strings.Join(append([]string{"captures"}, s.files...), " ")
		} else if s.kind == packKind {
			got = "pack"
		}
		must.Equal(t, filepath.ToSlash(strings.ReplaceAll(got, "//", "/")), test.want, test.name, got)
	}
}

func TestParseFor(t *testing.T) {
	for _, test := range []struct{ host, want string }{
		{"example.com", "http://example.com/robots.txt https://example.com/robots.txt"},
		{"EXAMPLE.com:8443", "http://example.com:8443/robots.txt https://example.com:8443/robots.txt"},
		{"https://example.com:443/", "https://example.com/robots.txt"},
		{"[2001:db8::1]", "http://[2001:db8::1]/robots.txt https://[2001:db8::1]/robots.txt"},
		{"example.com/a", ""},
		{"example.com?q", ""},
		{"example.com/?u=http://x", ""},
		{"gopher://example.com", ""},
		{"", ""},
		{"a b", ""},
	} {
		urls, err := ParseFor(test.host)
		var usage *option.UsageError
		must.Be(t, strings.Join(urls, " ") == test.want && (err != nil) == (test.want == "") && (err == nil || errors.As(err, &usage)),
			"%s: %v, error %v, want %s", test.host, urls, err, test.want)
	}
}

// open opens sources, and returns what was warned of.
func open(t *testing.T, o Options) (*Set, *[]string) {
	t.Helper()
	warnings := new([]string)
	o.Warn = func(m option.Message) { *warnings = append(*warnings, m.String()) }
	o.Note = o.Warn
	o.Memory, o.Workers = 1<<26, 2
	if o.Chains == nil {
		o.Chains = []matcher.Chain{{matcher.Everyone}}
	}
	found := must.Get(Find(t.Context(), o))(t)
	set := must.Get(found.Open(t.Context()))(t)
	t.Cleanup(func() { set.Close() })
	return set, warnings
}

// The first source that knows an authority decides, wherever captures are among the
// others.
func TestOrder(t *testing.T) {
	files(t, map[string]string{
		"hosts/a.example": rules, "hosts/b.example": rules, "more/c.example": rules, "more/d.example": rules,
		"first.warc": warcOf(rules, 0, "b.example", "d.example"), "second.warc": warcOf(rules, 1, "a.example", "d.example", "e.example"),
	})
	packOf(t, "more.rules", "more")
	for _, test := range []struct {
		sources string
		want    string // the files that decide about a, b, c, d and e
	}{
		{"hosts more.rules", "hosts/a.example hosts/b.example more.rules more.rules -"},
		{"first.warc hosts more.rules second.warc", "hosts/a.example captures more.rules captures captures"},
		{"hosts first.warc second.warc", "hosts/a.example hosts/b.example - captures captures"},
		{"more.rules second.warc hosts first.warc", "captures hosts/b.example more.rules more.rules captures"},
	} {
		set, _ := open(t, Options{Sources: strings.Fields(test.sources)})
		var got []string
		for _, host := range []string{"a", "b", "c", "d", "e"} {
			authority := []byte("http://" + host + ".example")
			source := must.Get(set.Source(authority))(t)
			name := source.Name
			var o matcher.Origin
			must.Do(t, set.Origins().Lookup(authority, &o))
			switch {
			case (name == "") != (o.Access == access.Unknown):
				t.Errorf("%s: %s: file %q, access %d", test.sources, authority, name, o.Access)
			case name == "":
				name = "-"
			case strings.Contains(name, ".warc"):
				name = "captures"
			}
			got = append(got, filepath.ToSlash(name))
		}
		must.EqualSlices(t, got, strings.Fields(test.want), test.sources)
	}
}

// The time of a set is what was asked for, else that of the newest capture.
func TestAsOf(t *testing.T) {
	files(t, map[string]string{"hosts/a.example": rules, "1.warc": warcOf(rules, 0, "a.example"), "2.warc": warcOf(rules, 5, "b.example")})
	packOf(t, "2.rules", "2.warc")
	asked := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		sources string
		asOf    time.Time
		want    string
	}{
		{"hosts", time.Time{}, "0001-01-01"},
		{"1.warc", time.Time{}, "2026-03-01"},
		{"1.warc 2.warc", time.Time{}, "2026-03-06"},
		{"1.warc 2.rules", time.Time{}, "2026-03-06"},
		{"hosts 2.rules", time.Time{}, "2026-03-06"},
		{"1.warc 2.warc", asked, "2026-03-02"},
	} {
		set, _ := open(t, Options{Sources: strings.Fields(test.sources), AsOf: test.asOf})
		must.Equal(t, set.AsOf().Format(time.DateOnly), test.want, test.sources, "as of", test.asOf)
	}
}

// Versions are those from before opening: a file that was changed since is an error.
func TestVersions(t *testing.T) {
	files(t, map[string]string{"hosts/a.example": rules, "1.warc": warcOf(rules, 0, "b.example"), "2.warc": warcOf(rules, 0, "c.example")})
	packOf(t, "site.rules", "hosts")
	o := Options{Sources: []string{"1.warc", "hosts", "2.warc", "site.rules"}, Memory: 1 << 26, Workers: 1, Chains: []matcher.Chain{{matcher.Everyone}}}
	found := must.Get(Find(t.Context(), o))(t)
	versions := found.Versions(t.Context())
	set, err := found.Open(t.Context())
	must.Do(t, err)
	defer set.Close()
	list, err := versions.Identify(set)
	must.Do(t, err)
	var kinds []string
	for _, r := range list {
		kinds = append(kinds, fmt.Sprintf("%s %s %d %t", r.Name, r.Kind, len(r.Files), r.Checksum != ""))
	}
	must.EqualSlices(t, kinds, []string{"1.warc captures 1 false", "hosts folder 0 true", "2.warc captures 1 false", "site.rules pack 0 true"})
	now, shown, ok, err := versions.FileNow(t.Context(), 1, "a.example")
	must.Be(t, err == nil && ok && now.Size == int64(len(rules)) && filepath.ToSlash(shown) == "hosts/a.example", "a.example: %+v, %s, %t, %v", now, shown, ok, err)
	_, _, ok, _ = versions.FileNow(t.Context(), 4, "a.example")
	must.Be(t, !ok, "there is a fifth source")
	must.Do(t, os.WriteFile("2.warc", []byte("changed"), 0o666))
	must.Fail(t, must.Err(versions.Identify(set)), "2.warc was changed, and nothing is said")
}

// A file of captures that is written to while it is read is an error: hosts would be missing.
func TestCapturesAreWrittenTo(t *testing.T) {
	files(t, nil)
	for name, text := range map[string]string{
		"1.warc": warcOf(rules, 0, "a.example", "b.example"),
		"1.csv":  "url,body\nhttp://a.example/robots.txt,a\nhttp://b.example/robots.txt,b\n",
	} {
		for _, size := range []int{len(text) / 2, len(text) + 1} {
			must.Do(t, os.WriteFile(name, []byte(text), 0o666))
			found := must.Get(Find(t.Context(), Options{Sources: []string{name}, Memory: 1 << 26, Workers: 1}))(t)
			err := found.EachCapture(t.Context(), func(string, *captures.Capture) error { return os.Truncate(name, int64(size)) })
			must.Is(t, err, blob.ErrChanged, name, size)
		}
	}
}

// A pack that is written to while it is linted or added to is an error.
func TestPacksAreWrittenTo(t *testing.T) {
	files(t, map[string]string{"1.warc": warcOf(rules, 0, "a.example")})
	packOf(t, "old.rules", "1.warc")
	touch := func() error { return os.Chtimes("old.rules", time.Time{}, time.Now().Add(time.Hour)) }
	must.Is(t, Bodies(t.Context(), Options{Sources: []string{"old.rules"}, Memory: 1 << 26}, func(*Body) error { return touch() }), rulepack.ErrChanged)
	found := must.Get(Find(t.Context(), Options{Sources: []string{"-"}, Single: []string{"http://b.example/robots.txt"}, Update: "old.rules", Memory: 1 << 26, Workers: 1, Stdin: onRead{touch}}))(t)
	must.Is(t, must.Err(found.Compile(t.Context(), "new.rules")), rulepack.ErrChanged)
	must.Is(t, must.Err(os.Stat("new.rules")), os.ErrNotExist)
}

// onRead is an empty file that does something when it is read.
type onRead struct{ do func() error }

func (r onRead) Read([]byte) (int, error) { return 0, cmp.Or(r.do(), io.EOF) }

// A pack that is written into the folder that it is made of does not count its own files.
func TestCompileIntoTheFolder(t *testing.T) {
	files(t, map[string]string{"hosts/a.example": rules, "hosts/README.md": "", "hosts/.hidden": ""})
	found := must.Get(Find(t.Context(), Options{Sources: []string{"hosts"}, Memory: 1 << 26, Workers: 1}))(t)
	made := must.Get(found.Compile(t.Context(), "hosts/site.rules"))(t)
	must.Equal(t, made.Ignored, 1, "ignored names")
}

// What is odd is warned of, and rules that match nothing are refused.
func TestUsable(t *testing.T) {
	files(t, map[string]string{"hosts/a.example": rules, "hosts/README.md": "", "broken.warc": strings.Repeat("WARC/1.0\r\n\r\n", 30), "robots.txt": rules})
	must.Do(t, os.Mkdir("empty", 0o777))
	_, warnings := open(t, Options{Sources: []string{"hosts", "broken.warc", "empty"}})
	if got := strings.Join(*warnings, "\n"); strings.Count(got, "record skipped") != shownBroken ||
		!strings.Contains(got, "hosts: ignored 1 name that no host has: README.md") ||
		!strings.Contains(got, "broken.warc has no capture") || !strings.Contains(got, "empty is an empty folder") {
		t.Errorf("warnings:\n%s", got)
	}
	set, _ := open(t, Options{Sources: []string{"empty"}, AllowNone: true})
	must.Do(t, set.Lookup([]byte("http://a.example"), new(matcher.Origin)))
	for _, sources := range []string{"empty", "broken.warc", "empty broken.warc"} {
		found := must.Get(Find(t.Context(), Options{Sources: strings.Fields(sources), Memory: 1 << 26, Workers: 1}))(t)
		set, err := found.Open(t.Context())
		must.Be(t, err != nil && strings.HasPrefix(err.Error(), "no usable rules: "), "%s: %v, error %v", sources, set, err)
	}
}

// A single robots.txt, also from stdin, is for the authorities that were named.
func TestSingle(t *testing.T) {
	files(t, map[string]string{"robots.txt": rules})
	for _, source := range []string{"robots.txt", "-"} {
		urls, err := ParseFor("a.example")
		must.Do(t, err)
		set, _ := open(t, Options{Sources: []string{source}, Single: urls, Stdin: strings.NewReader(rules)})
		for authority, want := range map[string]access.Outcome{
			"http://a.example": access.Rules, "https://a.example": access.Rules, "https://a.example:8443": access.Unknown, "http://b.example": access.Unknown,
		} {
			var o matcher.Origin
			err := set.Lookup([]byte(authority), &o)
			must.Be(t, err == nil && o.Access == want, "%s: %s: access %d, error %v, want %d", source, authority, o.Access, err, want)
		}
	}
}

// A table that fails ends it all, whatever comes after it.
func TestTables(t *testing.T) {
	rows := "url,body\n" + strings.Repeat("http://a.example/robots.txt,\"User-agent: *\"\n", 5000)
	gz := string(must.Get(compress.AppendCompressed(nil, []byte(rows), compress.Gzip))(t))
	files(t, map[string]string{"a.csv.gz": gz[:len(gz)-9], "hosts/b.example": rules})
	found := must.Get(Find(t.Context(), Options{Sources: []string{"a.csv.gz", "hosts"}, Memory: 1 << 26, Workers: 1}))(t)
	_, err := found.Open(t.Context())
	must.Be(t, errors.Is(err, io.ErrUnexpectedEOF) && strings.Contains(err.Error(), "a.csv.gz"), "opened: %v", err)
}

// Of many outputs only the first that is there has the files of the rules looked up.
func TestReplacesLooksUpOnce(t *testing.T) {
	t.Chdir(t.TempDir())
	must.Do(t, os.WriteFile("a.jsonl", []byte(`{"url":"https://a.test/robots.txt","body":""}`), 0o600))
	must.Do(t, os.WriteFile("out.csv", nil, 0o600))
	found := must.Get(Find(t.Context(), Options{Sources: []string{"*.jsonl"}}))(t)
	must.Equal(t, found.Replaces("out.csv"), "", "out.csv replaces")
	must.Do(t, os.Rename("a.jsonl", "b.csv"))
	must.Equal(t, found.Replaces("b.csv"), "*.jsonl", "b.csv replaces")
}

// TestSinglePackIsAskedForMany: many authorities are looked up at once in a pack that is
// the only source, and not in several sources.
func TestSinglePackIsAskedForMany(t *testing.T) {
	pack := &opened{Origins: new(rulepack.Pack)}
	_, ok := (&Set{openSources: openSources{sources: list{pack}}}).Origins().(matcher.BulkOrigins)
	must.Be(t, ok, "a single pack is asked for one authority after the other")
	several := &Set{openSources: openSources{sources: list{pack, pack}}}
	got := several.Origins()
	must.Be(t, got == several, "of two packs not both are asked")
}

// A list asks for a URL or a host a line. Of several URLs on a line all but the first would be left out,
// and allowed: that is an error.
func TestAsked(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		what, text string
		want       []string // what is asked for before an error
		problem    string   // in the error
	}{
		{"a URL in a query is that of another", "a.test/?u=http://x\nhttps://b.test/?u=http://x\n", []string{"http://a.test", "https://a.test", "https://b.test"}, ""},
		{"several on a line", "https://a.test/ 200\nhttps://b.test/ https://c.test/\n", []string{"https://a.test"}, `line 2: "https://b.test/ https://c.test/" has several URLs: write one a line`},
		{"a long line", "https://a.test/\n" + strings.Repeat("b", maxAskedLine+1), []string{"https://a.test"}, "after line 1: the next line has more than 65536 bytes: a list has a URL or host a line"},
	} {
		name := filepath.Join(t.TempDir(), "asked.txt")
		must.Do(t, os.WriteFile(name, []byte(test.text), 0o600))
		var asked []string
		err := new(captureSet).eachOfAsked(t.Context(), name, nil, func(x *captures.Capture) error {
			must.Be(t, x.Failed, "%s: %s did not fail", test.what, x.URL)
			asked = append(asked, strings.TrimSuffix(string(x.URL), "/robots.txt"))
			return nil
		})
		must.EqualSlices(t, asked, test.want, test.what)
		if test.problem == "" {
			must.Do(t, err)
		} else {
			must.Say(t, err, test.problem)
		}
	}
}

// A pack of a partition knows its authorities, says nothing of those that its sources do
// not know, and refuses those of other partitions, one by one and many at once.
func TestPartitions(t *testing.T) {
	const count, authorities = 3, 200
	folder := t.TempDir()
	key := func(i int) []byte { return fmt.Appendf(nil, "https://host%d.example", i) }
	var names []string
	for number := range count {
		names = append(names, filepath.Join(folder, fmt.Sprintf("%d.rules", number)))
		b := must.Get(rulepack.Create(t.Context(), names[number], rulepack.BuildOptions{Partition: number, Partitions: count}))(t)
		for i := 0; i < authorities; i += 2 {
			must.Do(t, b.Add(rulepack.Entry{Authority: key(i), Access: access.Rules, Body: []byte("User-agent: *\nDisallow: /")}))
		}
		must.Get(b.Finish())(t)
	}
	for _, given := range [][]int{{0}, {1}, {2}, {0, 2}, {2, 1, 0}} {
		var sources []string
		here := make(map[int]bool)
		for _, number := range given {
			sources = append(sources, names[number])
			here[number] = true
		}
		found := must.Get(Find(t.Context(), Options{Sources: sources, Memory: 64 << 20, Workers: 1, Chains: []matcher.Chain{{"*"}}}))(t)
		set, err := found.Open(t.Context())
		must.Do(t, err)
		defer set.Close()
		for i := range authorities {
			of := partition.Of(partition.Hash(key(i)), count)
			var o [1]matcher.Origin
			err := set.Origins().Lookup(key(i), &o[0])
			checkPartition(t, given, i, of, here[of], o[0].Access, err)
			if bulk, ok := set.Origins().(matcher.BulkOrigins); ok {
				_, err := bulk.LookupAll([]matcher.Key{{Text: key(i), Hash: matcher.HashOf(key(i))}}, o[:])
				checkPartition(t, given, i, of, here[of], o[0].Access, err)
			}
		}
	}
}

// The pack of a partition of another number does not stand for one that is missing.
func TestMissingPartitionBesideOthers(t *testing.T) {
	const authority = "https://host.example"
	folder := t.TempDir()
	pack := func(number, count int) string {
		name := filepath.Join(folder, fmt.Sprintf("%d-of-%d.rules", number, count))
		b := must.Get(rulepack.Create(t.Context(), name, rulepack.BuildOptions{Partition: number, Partitions: count}))(t)
		for i := range 20 { // some of them in each partition
			must.Do(t, b.Add(rulepack.Entry{Authority: fmt.Appendf(nil, "https://other%d.example", 10+i), Access: access.Rules}))
		}
		must.Get(b.Finish())(t)
		return name
	}
	of := func(count int) int { return partition.Of(partition.Hash([]byte(authority)), count) }
	here, elsewhere, ofThree := pack(of(2), 2), pack(1-of(2), 2), pack(of(3), 3)
	files := filepath.Join(folder, "files")
	must.Do(t, os.Mkdir(files, 0o700))
	must.Do(t, os.WriteFile(filepath.Join(files, "host.example"), nil, 0o600))
	for _, test := range []struct {
		sources []string
		missing bool
	}{
		{[]string{elsewhere, ofThree}, true},
		{[]string{ofThree, elsewhere}, true},
		{[]string{elsewhere}, true},
		{[]string{elsewhere, files}, false},
		{[]string{elsewhere, here}, false},
		{[]string{ofThree, here, elsewhere}, false},
	} {
		set := must.Get(must.Get(Find(t.Context(), Options{Sources: test.sources, Memory: 64 << 20, Workers: 1, Chains: []matcher.Chain{{"*"}}}))(t).Open(t.Context()))(t)
		defer set.Close()
		var o matcher.Origin
		err := set.Origins().Lookup([]byte(authority), &o)
		must.Equal(t, err != nil, test.missing, test.sources, err)
		_, _, _, _, err = set.Fetch([]byte(authority))
		must.Equal(t, err != nil, test.missing, test.sources, err)
	}
}

func checkPartition(t *testing.T, given []int, i, of int, here bool, got access.Outcome, err error) {
	t.Helper()
	want := access.Unknown
	if i%2 == 0 {
		want = access.Rules
	}
	switch {
	case here && (err != nil || got != want):
		t.Errorf("partitions %v, host%d of %d: %v, %v", given, i, of, got, err)
	case !here && (err == nil || !strings.Contains(err.Error(), fmt.Sprintf("host%d.example is in partition %d of 3", i, of))):
		t.Errorf("partitions %v, host%d of %d: error %v", given, i, of, err)
	}
}

// One robots.txt that looks like captures does not make its folder one of captures: its site would speak for
// the others.
func TestCaptureFolder(t *testing.T) {
	const capture = `{"authority":"b.test","status":404}`
	for _, test := range []struct {
		name  string
		files map[string]string
		want  bool
	}{
		{"robots.txt files, the first like captures", map[string]string{"a.test": capture, "b.test": rules}, false},
		{"robots.txt files, the last like captures", map[string]string{"a.test": rules, "b.test": capture}, false},
		{"captures without endings, one empty", map[string]string{"part-0": capture, "part-1": "", "part-2": capture}, true},
		{"tables", map[string]string{"1.jsonl": capture, "2.jsonl": rules}, true},
		{"tables among robots.txt files", map[string]string{"1.jsonl": capture, "b.test": rules}, false},
	} {
		files(t, test.files)
		is := must.Get(isCaptureFolder(t.Context(), "."))(t)
		must.Be(t, is == test.want, "%s: captures: %v", test.name, is)
	}
}

// historyOf writes a rule pack with a history.
func historyOf(t *testing.T, name string, sources ...string) {
	t.Helper()
	found := must.Get(Find(t.Context(), Options{Sources: sources, Memory: 1 << 26, Workers: 2, History: true}))(t)
	must.Get(found.Compile(t.Context(), name))(t)
}

// denying is a body that disallows one path.
func denying(path string) string { return "User-agent: *\nDisallow: " + path + "\n" }

// said is what is known of an authority, with the paths that are denied.
func said(o *matcher.Origin) string {
	text := fmt.Sprint(o.Access)
	if o.Access == access.Rules {
		var target matcher.Target
		for _, path := range []string{"/1", "/2", "/3", "/4", "/x"} {
			target.Set([]byte(path), 0)
			if !o.Trie(0).Allowed(&target) {
				text += " " + path
			}
		}
	}
	return text
}

// What a history says of a time is what the same sources say as of that time: captures,
// packs that were made of them, and both beside folders, in any order.
func TestHistoryIsEachAsOf(t *testing.T) {
	files(t, map[string]string{
		"hosts/b.example": rules,
		"1.warc":          warcOf(denying("/1"), 0, "a.example", "b.example") + warcOf(denying("/2"), 5, "a.example"),
		"2.warc":          warcOf(denying("/3"), 2, "a.example", "c.example") + warcOf(denying("/4"), 8, "a.example", "b.example", "c.example"),
	})
	historyOf(t, "1.rules", "1.warc")
	historyOf(t, "2.rules", "2.warc")
	historyOf(t, "both.rules", "1.warc", "2.warc")
	historyOf(t, "hosts.rules", "1.warc", "hosts", "2.warc")
	asOfs := map[string]string{ // the captures that a pack was made of
		"1.rules": "1.warc", "2.rules": "2.warc", "both.rules": "1.warc 2.warc", "hosts.rules": "1.warc hosts 2.warc",
	}
	for _, sources := range []string{
		"1.warc", "1.warc 2.warc", "2.warc 1.warc", "1.rules", "both.rules", "1.rules 2.rules", "2.rules 1.rules", "hosts 1.warc", "1.warc hosts 2.warc",
		"1.rules hosts 2.rules", "hosts.rules", "1.rules 2.warc", "2.warc 1.rules",
	} {
		set, _ := open(t, Options{Sources: strings.Fields(sources), History: true})
		timelines, err := set.Historical()
		must.Do(t, err)
		var made []string
		for _, source := range strings.Fields(sources) {
			if from, ok := asOfs[source]; ok {
				source = from
			}
			made = append(made, strings.Fields(source)...)
		}
		for day := range 12 {
			at := time.Date(2026, 2, 27+day, 12, 0, 0, 0, time.UTC)
			then, _ := open(t, Options{Sources: made, AsOf: at, AllowNone: true})
			packs, _ := open(t, Options{Sources: strings.Fields(sources), AsOf: at, AllowNone: true})
			for _, authority := range []string{"http://a.example", "http://b.example", "http://c.example", "http://d.example"} {
				var want, fromPacks, got matcher.Origin
				must.Do(t, errors.Join(then.Lookup([]byte(authority), &want), packs.Lookup([]byte(authority), &fromPacks)))
				spans, err := timelines.AppendSpans(nil, []byte(authority))
				if now := matcher.SpanAt(spans, at.Unix()); err == nil && now >= 0 {
					err = timelines.OpenSpan([]byte(authority), &spans[now], &got)
				}
				if err != nil || said(&got) != said(&want) || said(&fromPacks) != said(&want) {
					t.Errorf("%s: %s on %s: %s, and %s of packs, want %s, %v", sources, authority, at.Format(time.DateOnly), said(&got), said(&fromPacks), said(&want), err)
				}
			}
		}
	}
}

// Rules that know nothing of other times are refused by name.
func TestHistoryNeedsAHistory(t *testing.T) {
	files(t, map[string]string{"1.warc": warcOf(rules, 0, "a.example"), "hosts/b.example": rules})
	packOf(t, "plain.rules", "1.warc")
	set, _ := open(t, Options{Sources: []string{"hosts", "plain.rules"}, History: true})
	if _, err := set.Historical(); !errors.As(err, new(*option.UsageError)) || !strings.Contains(err.Error(), "plain.rules") {
		t.Errorf("a pack without a history: %v", err)
	}
	historyOf(t, "history.rules", "1.warc")
	_, err := Find(t.Context(), Options{Sources: []string{"1.warc", "history.rules", "1.warc"}, History: true})
	must.Be(t, errors.As(err, new(*option.UsageError)) && strings.Contains(err.Error(), "history.rules"), "a pack between captures: %v", err)
}

// What tells captures from a robots.txt, where no name does.
func TestBeginsLikeCaptures(t *testing.T) {
	long := strings.Repeat("x", format.HeadSize)
	for head, want := range map[string]bool{
		"":                                   false,
		"User-agent: *\nDisallow: /url,body": false,
		"url,body\n":                         true,
		"\xEF\xBB\xBFURL; Body\r\n":          true,
		"url,body,fetched_at:utc\n":          true,
		"url,status,a/b\n":                   false,
		"html,body\n{ margin:0 }":            false,
		"body, a:url {}\n":                   false,
		`{"url":"https://a.test"}`:           true,
		`{"error":"not found"}`:              false,
		`{"headers":"` + long:                true, // its other names are not known
		`{"error":"` + long[:99] + `"}`:      false,
		"{\n" + long:                         false,
	} {
		must.Be(t, beginsLikeCaptures([]byte(head[:min(len(head), format.HeadSize)])) == want, "%.30q: want %v", head, want)
	}
}

func TestAgentWatch(t *testing.T) {
	for _, test := range []struct {
		agents, named string // by blanks
		want          string // what the warnings name, by blanks
	}{
		{"GTPBot", "gptbot GPTBot googlebot", "GTPBot gptbot"},
		{"GTPBot", "gptbot GTPBOT", ""},
		{"GTPBot", "googlebot", ""},
		{"GPTBots", "GPTBot", "GPTBots gptbot"},
		{"GTPBot,CCBot", "gptbot ccbot", ""},
		{"GTPBot,CCBut", "gptbot gptbot ccbot", "GTPBot,CCBut gptbot"},
		{"*", "gptbot", ""},
		{"ab", "ac", ""},
		{"CCBot", "GCCBot CCCBot cbot", "CCBot cbot"}, // the first by name, of those as frequent
		{"Goooglebut", "Googlebot", "Goooglebut googlebot"},
		{"Gogglebut", "Googlebot-News", ""},
		{"GTPBot Goglebot", "gptbot googlebot", "GTPBot gptbot Goglebot googlebot"},
	} {
		var chains []matcher.Chain
		for agent := range strings.FieldsSeq(test.agents) {
			chains = append(chains, strings.Split(agent, ","))
		}
		w := newAgentWatch(chains)
		for name := range strings.FieldsSeq(test.named) {
			w.addName([]byte(name))
		}
		var got []string
		for _, warning := range w.warnings(nil) {
			line := warning.String()
			got = append(got, strings.TrimSuffix(strings.Fields(line)[1], ":"), strings.Fields(line)[strings.Count(line[:strings.Index(line, "while ")], " ")+1])
		}
		must.Be(t, slices.Equal(got, strings.Fields(test.want)), "-agent %s among %s: %q, want %s", test.agents, test.named, w.warnings(nil), test.want)
	}
}

// An asked agent that was named ends the watch, and names beyond all bounds cost
// nothing.
func TestAgentWatchEnds(t *testing.T) {
	w := newAgentWatch([]matcher.Chain{{"CCBot"}, {"GPTBot"}})
	for _, step := range []struct {
		name string
		more bool
	}{{strings.Repeat("x", 1<<20), true}, {"ccbot", true}, {"GPTBOT", false}, {"gtpbot", false}} {
		must.Equal(t, w.addName([]byte(step.name)), step.more, "after", step.name)
	}
	w = newAgentWatch([]matcher.Chain{{"CCBot"}})
	must.Be(t, w.nameHook() != nil && newAgentWatch([]matcher.Chain{{matcher.Everyone}}).nameHook() == nil, "hook: names are wanted for CCBot, and none for everyone")
}

// An agent is found to be named however many names came before, of which no more are
// compared with it.
func TestAgentWatchComparesSoManyNames(t *testing.T) {
	w := newAgentWatch([]matcher.Chain{{"CCBot"}, {"GPTBot"}})
	for i := range maxSeen + 1 {
		w.addName(fmt.Appendf(nil, "n%06x", i))
	}
	w.addName([]byte("GTPBot"))
	must.Be(t, len(w.seen) == maxSeen && len(w.warnings(nil)) == 0, "%d names were compared, want %d and none after them: %q", len(w.seen), maxSeen, w.warnings(nil))
	must.Be(t, w.addName([]byte("ccbot")) && !w.addName([]byte("gptbot")), "names are wanted until both agents were named, and no longer")
}
