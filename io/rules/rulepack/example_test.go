package rulepack

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"robotsbatch/io/store/must"
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
	for what := fmt.Sprintf(format, args...); n > 0; what = "" {
		some := min(n, 8)
		line := fmt.Sprintf("%06x  %-24s  %s", d.from+d.at, strings.TrimSpace(fmt.Sprintf("% x", d.data[d.at:d.at+some])), what)
		d.WriteString(strings.TrimSpace(line) + "\n")
		n, d.at = n-some, d.at+some
	}
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
	for d.at < len(d.data)-len(b)+b.ends() {
		d.next(min(8-d.at%8, len(d.data)-len(b)+b.ends()-d.at), "no authority")
	}
	for i := range count {
		d.next(2, "record %d ends at %d", i, b.end(i))
	}
	for i := range count {
		o := b.origin(i)
		what := "none"
		if o.body != noBody {
			what = fmt.Sprint(o.body)
		}
		fmt.Fprintf(d, "authority %d\n", i)
		d.next(4, "body at %s", what)
		d.next(4, "fetched at %d", o.fetched)
		d.next(2, "status %d", o.status)
		d.next(1, "outcome %s", outcomes[o.outcome])
		d.next(1, "scheme %s", schemes[o.flags&schemeMask])
		d.text(len(b.record(i).text()), "text")
	}
}

// dumpHistory prints what the example's pack has more if it has a history: until second
// 300 https://c.example had no robots.txt.
func dumpHistory(t *testing.T, d *dump) {
	t.Helper()
	p := mustOpen(t, buildHistory(t, func(keep func(string) uint64) []Entry {
		entries := exampleEntries()
		entries[2].History = []access.Interval{
			{From: 100, Fetched: 100, Seen: 200, Times: []uint32{100, 120, 150, 200}, Access: access.AllowAll, Status: 404},
			{From: 300, Fetched: 300, Seen: 400, Access: access.Rules, Kept: keep(string(entries[2].Body)), Status: 200},
		}
		return entries
	}), Options{Chains: []matcher.Chain{{"*"}}})
	sections := make(map[string]Section)
	for _, s := range p.Info().Sections {
		sections[s.Name] = s
	}
	d.data, d.from, d.at = p.intervals, int(sections["intervals"].Offset), 0
	fmt.Fprintf(d, "\nsection intervals, if there is a history\n")
	for number := range p.buckets {
		d.intervals(int(number), bucket(p.authorities[p.start(number):]).count())
	}
	d.data, d.from, d.at = p.starts, int(sections["starts"].Offset), 0
	fmt.Fprintf(d, "\nsection starts\n\n")
	for number := range p.buckets {
		d.next(8, "intervals of bucket %d start at %d", number, le64(p.starts[8*number:]))
	}
	d.next(8, "the last ones end at %d", le64(p.starts[8*p.buckets:]))
	d.next(8, "%d intervals", p.Info().Intervals)
}

// intervals prints a bucket of intervals.
func (d *dump) intervals(number, count int) {
	fmt.Fprintf(d, "\nbucket %d\n", number)
	d.next(4, "checksum")
	d.next(4, "%d authorities", count)
	end := 0
	var ends []uint32
	for i := range count {
		end = int(le32(d.data[d.at:]))
		d.next(4, "the intervals of authority %d end before interval %d", i, end)
	}
	for i := range end {
		at := readInterval(d.data[d.at:])
		fmt.Fprintf(d, "interval %d\n", i)
		d.next(4, "from second %d on", at.from)
		d.next(4, "said again until %d", at.seen)
		d.next(4, "its times end at %d", at.timesEnd)
		ends = append(ends, at.timesEnd)
		d.next(12, "origin: outcome %s, fetched at %d", outcomes[at.outcome], at.fetched)
	}
	for at := 0; len(ends) > 0 && at < int(ends[len(ends)-1]); at += timeSize {
		d.next(timeSize, "fetched again at %d", le32(d.data[d.at:]))
	}
}

var outcomes = [...]string{"unknown", "rules", "allow all", "disallow all"}

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
		start := int(p.start(number))
		must.Need(t, start == d.at, "bucket %d starts at %d, not %d", number, start, d.at)
		d.bucket(int(number))
	}
	d.data, d.from, d.at = p.directory, int(sections["directory"].Offset), 0
	fmt.Fprintf(&d, "\nsection directory\n\n")
	for number := range p.buckets {
		d.next(8, "bucket %d starts at %d", number, p.start(number))
	}
	d.next(8, "the last one ends at %d", p.start(p.buckets))
	dumpHistory(t, &d)
	golden := filepath.Join("testdata", "example.txt")
	if *update {
		must.Do(t, os.WriteFile(golden, d.Bytes(), 0o666))
	}
	want, err := os.ReadFile(golden)
	must.Do(t, err)
	must.Be(t, bytes.Equal(d.Bytes(), want), "the example's bytes are\n%s", firstDifference(d.String(), string(want)))
	// What DESIGN.md says of the lookups.
	var o matcher.Origin
	for authority, want := range map[string]access.Outcome{
		"https://a.example": access.Rules, "https://gone.example": access.AllowAll, "https://z.example": access.Unknown,
	} {
		err := p.Lookup([]byte(authority), &o)
		must.Be(t, err == nil && o.Access == want, "%s: access %d, want %d, %v", authority, o.Access, want, err)
	}
}
