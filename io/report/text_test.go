package report

import (
	"strings"
	"testing"
	"time"

	"robotsbatch/batch"
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
		if test.want == "" && len(found) > 0 || test.want != "" && (len(found) != 1 || !strings.Contains(found[0].String(), test.want)) {
			t.Errorf("%s: %q, want %q", name, found, test.want)
		}
	}
}
