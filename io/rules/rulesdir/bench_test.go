package rulesdir

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
)

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
