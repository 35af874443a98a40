package batch

import (
	"reflect"
	"slices"

	"robotsbatch/matcher"
	"robotsbatch/matcher/usage"
)

// Counters count the rows that a summary reports apart from their verdicts, such as those without
// a time. Verdicts, statistics, manifests and summaries have them, under the names here. To add
// one, add a field here and, if the summary is to mention it, a line of Remarks.
type Counters struct {
	// Invalid are the rows that are null or hold no URL.
	Invalid int64 `json:"invalid"`
	// UnsupportedScheme are the rows with another scheme than http, https and ftp.
	UnsupportedScheme int64 `json:"unsupported_scheme"`
	// NoRobots are the rows with the verdict of Options.Missing because nothing is known
	// of their authority, at any time: those with the reason matcher.NoRobots.
	NoRobots int64 `json:"rows_no_robots"`
	// Unreachable30Days are the rows that are allowed because robots.txt could not be fetched
	// for 30 days: those with the reason matcher.Unreachable30Days.
	Unreachable30Days int64 `json:"rows_unreachable_30_days"`
	// HistoryCut are the rows without a verdict because what held at their time was not kept:
	// those with the reason matcher.HistoryCut.
	HistoryCut int64 `json:"history_cut,omitempty"`
	// NoTime are the rows without a time, where rows have times.
	NoTime int64 `json:"no_time,omitempty"`
	// NoCaptureYet are the rows with the verdict of Options.BeforeFirst because they are from
	// before the first capture of their authority: those with the reason matcher.NoCaptureYet
	// for at least one agent.
	NoCaptureYet int64 `json:"no_capture_yet,omitempty"`
	// Outdated are the rows decided by a fetch that was too old at Verdicts.AsOf, or at
	// their own time.
	Outdated int64 `json:"outdated"`
	// SitemapsCut are the rows whose robots.txt has more sitemaps than matcher.Records
	// keeps, if a column of robots.txt was asked for.
	SitemapsCut int64 `json:"sitemaps_cut"`
	// OtherStated are the rows that were written, may be fetched, and are of sites that say
	// something of a use in the directive that was not asked about (matcher.UsageOptions.Others).
	OtherStated int64 `json:"other_directive,omitempty"`
}

// OfNothing returns the number of rows that have their verdict because nothing is known of
// their authority, at all or at the time of the row. A row counts once, not once per agent.
func (c *Counters) OfNothing() int64 { return c.NoRobots + c.NoCaptureYet }

// Remark is what is said of a counter: "3 rows without a time".
type Remark struct {
	Count     int64
	Row, Rows string // one and several of what is counted; empty for the number alone
	Text      string // may have MaxAge in it
}

// MaxAge is a placeholder in the text of a Remark. Who shows the text replaces it by how old
// a fetch may be, in words of its own.
const MaxAge = "{age}"

// Remarks returns the remarks on the counters that are not 0, in the order in which they are
// shown. Counters of verdicts, and of reasons for rows without one, have none.
func (c *Counters) Remarks() []Remark {
	var remarks []Remark
	for _, r := range []Remark{
		{c.NoTime, "row", "rows", "without a time"},
		{c.NoCaptureYet, "row", "rows", "before the first capture"},
		{c.Unreachable30Days, "row", "rows", "allowed because robots.txt was unreachable for 30 days"},
		{c.HistoryCut, "row", "rows", "without a verdict because the history of the host was cut"},
		{c.Outdated, "", "", "decided by robots.txt older than " + MaxAge},
		{c.SitemapsCut, "", "", "with more sitemaps than are listed"},
		{c.OtherStated, "written row is", "written rows are", "of sites that state something about training in the directive that was not asked about"},
	} {
		if r.Count > 0 {
			remarks = append(remarks, r)
		}
	}
	return remarks
}

// Add adds the counters of other rows to c.
func (c *Counters) Add(other *Counters) { addFields(c, other) }

// addFields adds the fields of other, a pointer to a struct, that are integers to those of c.
func addFields[T any](c, other *T) {
	to, from := reflect.ValueOf(c).Elem(), reflect.ValueOf(other).Elem()
	for i := range to.NumField() {
		if field := to.Field(i); field.CanInt() {
			field.SetInt(field.Int() + from.Field(i).Int())
		}
	}
}

// addNull counts a row without a verdict by its reason, if a counter has that reason. It does
// not count reasons that evaluators count for several rows at a time.
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

// RowCounts count an agent's rows. Statistics, manifests and summaries have them, under the
// names here.
type RowCounts struct {
	Allowed int64 `json:"allowed"`
	Denied  int64 `json:"denied"`
	// Unknown is the number of rows without a verdict; those that are invalid
	// or of an unsupported scheme are among them.
	Unknown int64 `json:"unknown"`
	// DeniedLater is such that Counters.NoCaptureYet - DeniedLater is the number of rows from before
	// the first capture that no later capture denies to the agent. It may be negative: where a
	// combined verdict denies rows that this agent may fetch, NoCaptureYet does not count them.
	DeniedLater int64 `json:"denied_later,omitempty"`
	// Uses count the rows by what is said of each use that was asked for, in that order.
	Uses []UseCounts `json:"uses,omitempty"`
}

// Add adds the counts of other rows to c. Uses are added by name; new ones are appended.
func (c *RowCounts) Add(other *RowCounts) {
	addFields(c, other)
	for i := range other.Uses {
		added := &other.Uses[i]
		index := slices.IndexFunc(c.Uses, func(u UseCounts) bool { return u.Use == added.Use })
		if index < 0 {
			index = len(c.Uses)
			c.Uses = append(c.Uses, UseCounts{Use: added.Use})
		}
		addFields(&c.Uses[index], added)
	}
}

// UseCounts count rows by what is said of a use: Allowed and Disallowed, or for a graded
// use the other three.
type UseCounts struct {
	Use        string `json:"use"`
	Allowed    int64  `json:"allowed"`
	Disallowed int64  `json:"disallowed"`
	Immediate  int64  `json:"immediate,omitempty"`
	Reference  int64  `json:"reference,omitempty"`
	Full       int64  `json:"full,omitempty"`
	// Unreadable are the rows of which something is said that cannot be read.
	Unreadable int64 `json:"unreadable"`
	// Unknown are the rows of which nothing is said, or that may not be fetched.
	Unknown int64 `json:"unknown"`
}

// Said returns the number of rows of which something is said, be it unreadable.
func (c *UseCounts) Said() int64 {
	return c.Allowed + c.Disallowed + c.Immediate + c.Reference + c.Full + c.Unreadable
}

// countUses appends to the Uses of each agent the counts of the rows by each column of v that
// has the value of a use.
func (s *Stats) countUses(v *Verdicts) {
	for i := range v.Columns {
		c := &v.Columns[i]
		if c.Kind.Use == nil || c.Kind.Use.Part != UseValue {
			continue
		}
		names := c.Texts // of the values, by number
		if c.Kind.Type == BoolType {
			names = []string{usage.Disallowed.String(), usage.Allowed.String()} // false and true
		}
		counts := UseCounts{Use: c.Kind.Use.Use.String()}
		counts.countRows(c.Of[:v.Rows], names)
		counts.Unknown = int64(v.Rows) - counts.Said()
		s.Agents[c.Agent].Uses = append(s.Agents[c.Agent].Uses, counts)
	}
}

// countRows adds rows to the counts of values, except Unknown. of has for each row the index of the
// value's name in names, Unreadable, or Null. Names are compared once each, and not in each row.
func (c *UseCounts) countRows(of []int32, names []string) {
	rows := make([]int64, len(names))
	for _, number := range of {
		switch {
		case number >= 0:
			rows[number]++
		case number == Unreadable:
			c.Unreadable++
		}
	}
	for number, name := range names {
		switch name {
		case usage.Disallowed.String():
			c.Disallowed += rows[number]
		case usage.Allowed.String():
			c.Allowed += rows[number]
		case usage.Immediate.String():
			c.Immediate += rows[number]
		case usage.Reference.String():
			c.Reference += rows[number]
		case usage.Full.String():
			c.Full += rows[number]
		}
	}
}
