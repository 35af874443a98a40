package rulesdir

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"robotsbatch/io/store/compress"
	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var everyone = []matcher.Chain{{matcher.Everyone}}

// bodies makes a folder with a file of each name. The rule of the i-th file is
// on line i+2, so that which can tell by which file an authority's rules are.
func bodies(t *testing.T, names ...string) string {
	t.Helper()
	folder := t.TempDir()
	for i, name := range names {
		if runtime.GOOS == "windows" && strings.Contains(name, ":") {
			t.Skipf("no file can be named %q here", name)
		}
		if _, err := os.Lstat(filepath.Join(folder, name)); err == nil && !strings.HasSuffix(name, "/") {
			t.Skipf("the file system takes %q for another name", name)
		}
		write(t, folder, name, body(i))
	}
	return folder
}

func body(i int) string { return "User-agent: *\n" + strings.Repeat("\n", i) + "Disallow: /x\n" }

// write writes a file, compressed as its name says. A name that ends in a
// slash makes a folder.
func write(t *testing.T, folder, name, body string) {
	t.Helper()
	path := filepath.Join(folder, name)
	if strings.HasSuffix(name, "/") {
		must.Do(t, os.MkdirAll(path, 0o755))
		return
	}
	must.WriteFile(t, path, compressed(name, []byte(body)))
}

// compressed returns a body as a file of that name has it.
func compressed(name string, body []byte) []byte {
	codec, _ := compress.ByName(name)
	data, err := compress.AppendCompressed(nil, body, codec)
	if err != nil {
		panic(err)
	}
	return data
}

func open(t testing.TB, folder string, o Options) *Dir {
	t.Helper()
	if o.Chains == nil {
		o.Chains = everyone
	}
	o.Explain = true
	d := must.Get(Open(t.Context(), folder, o))(t)
	t.Cleanup(func() { must.Do(t, d.Close()) })
	return d
}

// which tells by which of the files of bodies an authority's rules are; "" for
// none.
func which(d *Dir, names []string, authority string) (string, error) {
	var o matcher.Origin
	if err := d.Lookup([]byte(authority), &o); err != nil {
		return "", err
	}
	if o.Access == access.Unknown {
		if len(o.Tries) != 0 {
			return "", fmt.Errorf("%s is unknown but has tries", authority)
		}
		return "", nil
	}
	line, err := line(&o)
	if err != nil {
		return "", fmt.Errorf("%s: %w", authority, err)
	}
	return names[line-2], nil
}

// checkFile checks by which of the files of bodies an authority's rules are.
func checkFile(t *testing.T, d *Dir, names []string, authority, want string) {
	t.Helper()
	got, err := which(d, names, authority)
	must.Need(t, got == want && err == nil, "%s: file %q, error %v, want %q", authority, got, err, want)
}

// line is the line of the rule that the first agent obeys at /x.
func line(o *matcher.Origin) (int, error) {
	if o.Access != access.Rules || len(o.Tries) == 0 {
		return 0, fmt.Errorf("access %d with %d tries", o.Access, len(o.Tries))
	}
	var target matcher.Target
	target.Set([]byte("/x"), o.Tries[0].Profile())
	decision := o.Tries[0].Match(&target)
	if decision.Reason != matcher.DisallowRule {
		return 0, fmt.Errorf("/x: %v", decision.Reason)
	}
	return o.Tries[0].Rule(decision.Rule).Line, nil
}

// lookupError is the error of a Lookup that has to fail.
func lookupError(t *testing.T, d *Dir, authority string) error {
	t.Helper()
	var o matcher.Origin
	err := d.Lookup([]byte(authority), &o)
	must.Need(t, err != nil, "%s: no error, access %d", authority, o.Access)
	return err
}

// BenchmarkOpen lists a folder. A folder of one's own takes the place of the
// generated one when ROBOTSBATCH_RULES names it.
func BenchmarkOpen(b *testing.B) {
	folder := os.Getenv("ROBOTSBATCH_RULES")
	if folder == "" {
		folder = b.TempDir()
		for i := range 10_000 {
			must.Do(b, os.WriteFile(filepath.Join(folder, fmt.Sprintf("www.host%d.example", i)), nil, 0o644))
		}
	}
	b.ReportAllocs()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var d *Dir
	names := 0
	for b.Loop() {
		d = open(b, folder, Options{})
		names += d.index.listed
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(names), "ns/name")
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(names), "B/name")
	runtime.KeepAlive(d)
}

func BenchmarkLookup(b *testing.B) {
	folder := b.TempDir()
	const hosts = 2000
	for i := range hosts {
		body := []byte("User-agent: *\nDisallow: /x\nDisallow: /some/folder\n")
		must.Do(b, os.WriteFile(filepath.Join(folder, fmt.Sprintf("www.host%d.example", i)), body, 0o644))
	}
	d := open(b, folder, Options{})
	for _, name := range []string{"kept", "unknown"} {
		want, domain := access.Rules, "example"
		if name == "unknown" {
			want, domain = access.Unknown, "test"
		}
		var authorities [hosts][]byte
		for i := range authorities {
			authorities[i] = fmt.Appendf(nil, "https://www.host%d.%s", i, domain)
		}
		b.Run("case="+name, func(b *testing.B) {
			b.ReportAllocs()
			var o matcher.Origin
			for i := 0; b.Loop(); i++ {
				if err := d.Lookup(authorities[i%hosts], &o); err != nil || o.Access != want {
					b.Fatal(o.Access, err)
				}
			}
		})
	}
	// What a file costs that has to be read, by its compression.
	for _, ending := range []string{"", ".gz", ".zst"} {
		name := "www.read.example" + ending
		body := compressed(name, bytes.Repeat([]byte("User-agent: *\nDisallow: /some/folder\n"), 50))
		folder := b.TempDir()
		must.Do(b, os.WriteFile(filepath.Join(folder, name), body, 0o644))
		b.Run("case=read"+ending, func(b *testing.B) {
			b.ReportAllocs()
			d := open(b, folder, Options{Memory: 1})
			var o matcher.Origin
			for b.Loop() {
				must.Do(b, d.Lookup([]byte("https://www.read.example"), &o))
			}
		})
	}
}
