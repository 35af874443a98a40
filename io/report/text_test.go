package report

import (
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"robotsbatch/batch"
	"robotsbatch/io/rules/rulepack"
	"robotsbatch/io/rules/ruleset"
	"robotsbatch/io/store/meter"
	"robotsbatch/io/store/must"
)

func TestNumber(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 123456: "123,456", 1234567: "1,234,567"} {
		must.Equal(t, Number(n), want, n)
	}
}

func TestClock(t *testing.T) {
	for seconds, want := range map[float64]string{0: "0:00", 9.9: "0:09", 61: "1:01", 3600: "1:00:00", 36061: "10:01:01"} {
		must.Equal(t, clock(seconds), want, seconds)
	}
}

// Ages of more than two days are in days.
func TestLongAges(t *testing.T) {
	for span, want := range map[time.Duration]string{
		24 * time.Hour: "24h", 36 * time.Hour: "36h", 48 * time.Hour: "48h", 90 * time.Second: "1m30s", 7 * 24 * time.Hour: "7 days",
		3740*time.Hour + 8*time.Minute + 41*time.Second: "155.8 days",
	} {
		must.Equal(t, Age(span), want, span)
	}
}

func TestPrintable(t *testing.T) {
	must.Equal(t, Printable("\x1b[31m\n\u202ered\x9b é"), "%1B[31m%0A%E2%80%AEred%9B é")
}

func TestDoubts(t *testing.T) {
	first := time.Date(2020, 1, 2, 0, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		doubts  Doubts
		summary Summary
		want    string // part of the only doubt; empty for none
	}{
		"nothing":         {},
		"no URL":          {Doubts{}, Summary{Rows: 2, Counters: batch.Counters{Invalid: 2}}, "no row is a URL: URLs begin"},
		"no scheme":       {Doubts{Schemeless: "a.example"}, Summary{Rows: 1, Counters: batch.Counters{Invalid: 1}}, "the row is not a URL: the scheme is missing: write https://a.example"},
		"some invalid":    {Doubts{}, Summary{Rows: 2, Counters: batch.Counters{Invalid: 1}}, ""},
		"no time":         {Doubts{TimeColumn: "when"}, Summary{Rows: 2, Counters: batch.Counters{Invalid: 1, NoTime: 1}}, `no row has a time in column "when"`},
		"before captures": {Doubts{TimeColumn: "when", FirstTime: &first}, Summary{Rows: 2, Counters: batch.Counters{NoCaptureYet: 2}}, "2020-01-02T00:00:00Z"},
		"unknown hosts":   {Doubts{}, Summary{Rows: 1, authorities: 1, without: 1}, "none of the URLs' hosts is in rules"},
		"known to miss":   {Doubts{KnownMissing: true}, Summary{Rows: 1, authorities: 1, without: 1}, ""},
	} {
		found := test.doubts.Of(&test.summary)
		must.Be(t, (test.want != "" || len(found) == 0) && (test.want == "" || len(found) == 1 && strings.Contains(found[0].String(), test.want)),
			"%s: %q, want %q", name, found, test.want)
	}
}

// What a pack says of a group costs what its names and its rules cost, not their product.
func TestAuthorityOfManyNames(t *testing.T) {
	t.Chdir(t.TempDir())
	made := func(n int) float64 {
		var names, rules []byte
		for i := range n {
			names, rules = fmt.Appendf(names, "User-agent: a%d\n", i), fmt.Appendf(rules, "Disallow: /%d\n", i)
		}
		folder, pack := fmt.Sprint("robots", n), fmt.Sprint(n, ".rules")
		must.Do(t, os.Mkdir(folder, 0o777))
		must.Do(t, os.WriteFile(filepath.Join(folder, "a.example"), append(names, rules...), 0o666))
		found := must.Get(ruleset.Find(t.Context(), ruleset.Options{Sources: []string{folder}, Memory: 1 << 26, Workers: 1}))(t)
		must.Get(found.Compile(t.Context(), pack))(t)
		var allocations float64
		must.Do(t, ruleset.Inspect(t.Context(), pack, func(p *rulepack.Pack) (err error) {
			allocations = testing.AllocsPerRun(1, func() { err = Authority(io.Discard, p, []byte("https://a.example")) })
			return err
		}))
		return allocations
	}
	few, many := made(100), made(200)
	must.Be(t, many <= 3*few, "%v allocations for 100 names and rules, %v for 200", few, many)
}

func TestProgressFits(t *testing.T) {
	known := Progress{Rows: 123_456_789, Denied: 1, Judged: 3, Share: 0.4321, Seconds: 3700, Left: 4871.5, URLsPerSecond: 4_567_890}
	unknown := Progress{Rows: 12, Judged: 12, Share: -1, Seconds: 61, Left: -1}
	for _, test := range []struct {
		p     Progress
		width int
		want  string
	}{
		{known, 80, "123,456,789 rows, 43 % done, 1:21:11 left, 4,567,890 a second, 33.3 % denied"},
		{known, 79, "123,456,789 rows, 43 % done, 1:21:11 left, 4,567,890 a second, 33.3 % denied"},
		{known, 60, "123M rows, 43 %, 1:21:11 left, 4.6M/s, 33 % denied"},
		{known, 40, "123M rows, 43 %, 1:21:11 left, 4.6M/s"},
		{known, 20, "123M rows, 43 %"},
		{known, 3, ""},
		{unknown, 80, "12 rows, 1:01, 0 a second, 0.0 % denied"},
		{unknown, 38, "12 rows, 1:01, 0/s, 0 % denied"},
	} {
		must.Equal(t, test.p.Line(test.width), test.want, test.width, "columns")
	}
	for width := range 120 {
		got := known.Line(width)
		must.Be(t, len(got) <= width, "%d columns: %q has %d", width, got, len(got))
	}
}

func TestStepProgressFits(t *testing.T) {
	captures := StepProgress{meter.Reading{What: "reading captures", Unit: meter.Bytes, Done: 3 << 28, Total: 3 << 30}, 10}
	hosts := StepProgress{meter.Reading{What: "reading rules", Unit: meter.Hosts, Done: 12_345, Total: 20_000}, 61}
	unknown := StepProgress{meter.Reading{What: "reading captures", Unit: meter.Files, Done: 3}, 61}
	for _, test := range []struct {
		p     StepProgress
		width int
		want  string
	}{
		{captures, 80, "reading captures: 768 MiB of 3.0 GiB, 25 % done, 0:30 left, 76.8 MiB a second"},
		{captures, 60, "reading captures: 768 MiB, 25 %, 0:30 left, 76.8 MiB/s"},
		{captures, 20, ""},
		{hosts, 80, "reading rules: 12,345 of 20,000 hosts, 61 % done, 0:37 left, 202 a second"},
		{hosts, 50, "reading rules: 12.3k hosts, 61 %, 0:37 left, 202/s"},
		{unknown, 80, "reading captures: 3 files, 1:01, 0 a second"},
	} {
		must.Equal(t, test.p.Line(test.width), test.want, test.width, "columns")
	}
	want := []any{"step", "reading rules", "hosts", int64(12_345), "total", int64(20_000), "seconds", 61.0, "share", 0.61725}
	got := hosts.Attributes()
	must.Be(t, len(got) == len(want)+2 && slices.Equal(got[:len(want)], want), "%v", got)
}

func TestByteSize(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 B", 1023: "1023 B", 1 << 10: "1.0 KiB", 1<<20 - 1: "1.0 MiB", 5 << 29: "2.5 GiB", 300 << 20: "300 MiB", math.MaxInt64: "8.0 EiB",
	} {
		must.Equal(t, byteSize(n), want, n)
	}
}

func TestShortNumber(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 9999: "9999", 10_000: "10.0k", 99_949: "99.9k", 99_950: "100k", 999_499: "999k", 999_500: "1.0M", 12_345_678: "12.3M", math.MaxInt64: "9.2E",
	} {
		must.Equal(t, shortNumber(n), want, n)
	}
}
