package batch

import (
	"reflect"

	"robotsbatch/matcher"
)

// Counters count rows of which more is to be said than their verdicts. Verdicts,
// statistics, manifests and summaries have them, under the names here: a new one is a
// field, what the summary says of it a line of Remarks.
type Counters struct {
	// Invalid are the rows that are null or hold no URL.
	Invalid int64 `json:"invalid"`
	// UnsupportedScheme are the rows with another scheme than http, https and ftp.
	UnsupportedScheme int64 `json:"unsupported_scheme"`
	// NoRobots are the rows with the verdict of Options.Missing because nothing is known
	// of their authority, at any time: those with the reason matcher.NoRobots.
	NoRobots int64 `json:"rows_no_robots"`
	// NoTime are the rows without a time, where rows have times.
	NoTime int64 `json:"no_time,omitempty"`
	// NoCaptureYet are the rows from before the first that is known of their authority.
	NoCaptureYet int64 `json:"no_capture_yet,omitempty"`
	// Outdated are the rows decided by a fetch that was too old at Verdicts.AsOf, or at
	// their own time.
	Outdated int64 `json:"outdated"`
	// SitemapsCut are the rows whose robots.txt has more sitemaps than matcher.Records
	// keeps, if a column of robots.txt was asked for.
	SitemapsCut int64 `json:"sitemaps_cut"`
}

// Remark is what is said of a counter: "3 rows without a time".
type Remark struct {
	Count     int64
	Row, Rows string // one and several of what is counted; empty for the number alone
	Text      string // with MaxAge for how old a fetch may be
}

// MaxAge stands for a span in the text of a Remark.
const MaxAge = "{age}"

// Remarks returns what is said of the counters that are not 0, in order. Those that belong
// to verdicts, or explain the rows without one, are not among them.
func (c *Counters) Remarks() []Remark {
	var some []Remark
	for _, r := range []Remark{
		{c.NoTime, "row", "rows", "without a time"},
		{c.NoCaptureYet, "row", "rows", "before the first capture"},
		{c.Outdated, "", "", "decided by robots.txt older than " + MaxAge},
		{c.SitemapsCut, "", "", "with more sitemaps than are listed"},
	} {
		if r.Count > 0 {
			some = append(some, r)
		}
	}
	return some
}

// Add adds the counters of other rows.
func (c *Counters) Add(other *Counters) {
	to, from := reflect.ValueOf(c).Elem(), reflect.ValueOf(other).Elem()
	for i := range to.NumField() {
		to.Field(i).SetInt(to.Field(i).Int() + from.Field(i).Int())
	}
}

// addNull counts a row without a verdict.
func (c *Counters) addNull(reason matcher.Reason) {
	switch reason {
	case matcher.InvalidURL:
		c.Invalid++
	case matcher.UnsupportedScheme:
		c.UnsupportedScheme++
	case matcher.NoTime:
		c.NoTime++
	}
}
