package rulepack

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
)

var update = flag.Bool("update", false, "rewrite the golden text in testdata")

// exampleEntries are the eight authorities of DESIGN.md.
func exampleEntries() []Entry {
	var entries []Entry
	for _, authority := range []string{
		"https://a.example", "https://b.example", "https://c.example", "https://d.example:8443",
		"http://a.example", "ftp://a.example",
	} {
		entries = append(entries, body(authority, "User-agent: *\nDisallow: /private\n"))
	}
	gone := Entry{Authority: []byte("https://gone.example"), Access: access.AllowAll, Status: 404, Fetched: 1_700_000_000}
	down := Entry{Authority: []byte("https://down.example"), Access: access.DisallowAll, Status: 503}
	return append(entries, gone, down)
}

// dump prints bytes with their meaning.
type dump struct {
	bytes.Buffer
	data []byte
	at   int // in data
	from int // of data in the file
}

// next prints the next n bytes.
func (d *dump) next(n int, format string, args ...any) {
	fmt.Fprintf(d, "%06x  %-24s  %s\n", d.from+d.at, strings.TrimSpace(fmt.Sprintf("% x", d.data[d.at:d.at+n])), fmt.Sprintf(format, args...))
	d.at += n
}

// text prints text in lines of eight bytes.
func (d *dump) text(n int, format string, args ...any) {
	for what := fmt.Sprintf(format, args...); n > 0; what = "" {
		line := min(n, 8)
		d.next(line, "%s", strings.TrimSpace(fmt.Sprintf("%-8q %s", d.data[d.at:d.at+line], what)))
		n -= line
	}
}

// bucket prints a bucket.
func (d *dump) bucket(number int) {
	b := bucket(d.data[d.at:])
	count := b.count()
	fmt.Fprintf(d, "\nbucket %d\n", number)
	d.next(4, "checksum")
	d.next(4, "%d authorities", count)
	for i := range count {
		d.next(2, "fingerprint of authority %d", i)
	}
	for d.at%8 != 0 || d.at < len(d.data)-len(b)+b.ends() {
		d.next(min(8-d.at%8, len(d.data)-len(b)+b.ends()-d.at), "no authority")
	}
	for i := range count {
		d.next(4, "text %d ends at %d", i, b.end(i))
	}
	for i := range count {
		o := b.origin(i)
		what := "none"
		if o.body != noBody {
			what = fmt.Sprint(o.body)
		}
		fmt.Fprintf(d, "authority %d\n", i)
		d.next(4, "body %s", what)
		d.next(4, "fetched at %d", o.fetched)
		d.next(2, "status %d", o.status)
		d.next(1, "outcome %s", []string{"unknown", "rules", "allow all", "disallow all"}[o.outcome])
		d.next(1, "scheme %s", schemes[o.flags&schemeMask])
	}
	for i := range count {
		d.text(len(b.text(i)), "text %d", i)
	}
}

// TestExample prints the authorities of the example and their directory, and compares
// them with what DESIGN.md explains. go test -run Example -update rewrites the file.
func TestExample(t *testing.T) {
	name := build(t, exampleEntries(), BuildOptions{Maker: "example"}, 1)
	p := mustOpen(t, name, Options{Chains: []matcher.Chain{{"*"}}})
	sections := make(map[string]Section)
	for _, s := range p.Info().Sections {
		sections[s.Name] = s
	}
	d := dump{data: p.authorities, from: int(sections["authorities"].Offset)}
	fmt.Fprintf(&d, "section authorities\n")
	for number := range p.buckets {
		if start := int(p.start(number)); start != d.at {
			t.Fatalf("bucket %d starts at %d, not %d", number, start, d.at)
		}
		d.bucket(int(number))
	}
	d.data, d.from, d.at = p.directory, int(sections["directory"].Offset), 0
	fmt.Fprintf(&d, "\nsection directory\n\n")
	for number := range p.buckets {
		d.next(8, "bucket %d starts at %d", number, p.start(number))
	}
	d.next(8, "the last one ends at %d", p.start(p.buckets))
	golden := filepath.Join("testdata", "example.txt")
	if *update {
		if err := os.WriteFile(golden, d.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(d.Bytes(), want) {
		t.Errorf("the example's bytes are\n%s", firstDifference(d.String(), string(want)))
	}
	// What DESIGN.md says of the lookups.
	var o matcher.Origin
	for authority, want := range map[string]access.Outcome{
		"https://a.example": access.Rules, "https://gone.example": access.AllowAll, "https://z.example": access.Unknown,
	} {
		if err := p.Lookup([]byte(authority), &o); err != nil || o.Access != want {
			t.Errorf("%s: access %d, want %d, %v", authority, o.Access, want, err)
		}
	}
}
