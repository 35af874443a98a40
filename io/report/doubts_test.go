package report

import (
	"strings"
	"testing"
	"time"

	"robotsbatch/batch"
)

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
