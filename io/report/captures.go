package report

import (
	"fmt"
	"strings"
	"time"

	"robotsbatch/io/rules/ruleset"
)

// Captures is what is said of captures that were read.
type Captures struct {
	Rules       []string  `json:"rules"`
	AsOf        time.Time `json:"as_of"`
	Captures    int64     `json:"captures"`
	Ignored     int64     `json:"captures_ignored"`
	Broken      int64     `json:"broken_records"`
	Compressed  int64     `json:"bodies_compressed"`
	Damaged     int64     `json:"bodies_damaged"`
	Longer      int64     `json:"bodies_longer"`
	Lost        int64     `json:"revisits_lost,omitempty"`
	Authorities int64     `json:"authorities"`
	WithRules   int64     `json:"authorities_with_rules"`
	Stale       int64     `json:"authorities_stale"`
	Unavailable int64     `json:"authorities_unavailable"`
	Unreachable int64     `json:"authorities_unreachable"`
	GivenUp     int64     `json:"authorities_unreachable_30_days,omitempty"`
	Resolved    int64     `json:"redirects_resolved"`
	Unresolved  int64     `json:"redirects_unresolved"`
	Dropped     int64     `json:"authorities_dropped,omitempty"`
	Bodies      int64     `json:"distinct_bodies,omitempty"`
	HTML        int64     `json:"authorities_html,omitempty"`
	Binary      int64     `json:"authorities_binary,omitempty"`
	Limited     int64     `json:"authorities_limited,omitempty"`

	pack bool // whether a pack was made of them
}

// CapturesOf words what was read of captures.
func CapturesOf(c *ruleset.Captured) *Captures {
	counts := &Captures{
		Rules: c.Names, AsOf: c.AsOf, Captures: c.Captures, Ignored: c.Ignored, Broken: c.Broken, Compressed: c.Compressed, Damaged: c.Damaged, Longer: c.Longer, Lost: c.Lost,
		Authorities: c.Authorities, WithRules: c.Rules, Stale: c.Stale, Unavailable: c.Unavailable, Unreachable: c.Unreachable, GivenUp: c.GivenUp,
		Resolved: c.Resolved, Unresolved: c.Unresolved, Dropped: c.Dropped,
	}
	if c.Pack != nil {
		counts.pack = true
		counts.Bodies, counts.HTML, counts.Binary, counts.Limited = c.Pack.Bodies, c.Pack.HTML, c.Pack.Binary, c.Pack.Limited
	}
	return counts
}

// dropped says what may be missing of a pack that is added to.
const dropped = "denied because what decides may be a capture that the old pack did not keep: compile all captures at once to find out"

// String is the same in one line.
func (n *Captures) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", ruleset.SomeOf(n.Rules), Count(n.Captures, "capture", "captures"))
	if !n.AsOf.IsZero() {
		b.WriteString(n.AsOf.Format(" as of " + time.RFC3339))
	}
	fmt.Fprintf(&b, "; %s: %s with rules, %s unavailable, %s unreachable",
		Count(n.Authorities, "host", "hosts"), Number(n.WithRules), Number(n.Unavailable), Number(n.Unreachable))
	if n.pack {
		b.WriteString("; " + Count(n.Bodies, "distinct body", "distinct bodies"))
	}
	fmt.Fprintf(&b, "; redirects: %s resolved, %s not", Number(n.Resolved), Number(n.Unresolved))
	for _, odd := range []struct {
		count     int64
		one, more string
	}{
		{n.Stale, "host with a stale copy", "hosts with a stale copy"},
		{n.GivenUp, "host unreachable for 30 days, so allowed", "hosts unreachable for 30 days, so allowed"},
		{n.HTML, withHTML, withHTML},
		{n.Binary, withBinary, withBinary},
		{n.Limited, "cut by the size limit or the crawler", "cut by the size limit or the crawler"},
		{n.Ignored, "capture of no such URL ignored", "captures of no such URL ignored"},
		{n.Broken, "broken record, skipped or taken as a fetch without an answer", "broken records, skipped or taken as fetches without an answer"},
		{n.Compressed, "body compressed without a header that says so, decompressed", "bodies compressed without a header that says so, decompressed"},
		{n.Damaged, "body cannot be decompressed, taken as a fetch without an answer", "bodies cannot be decompressed, taken as fetches without an answer"},
		{n.Longer, "body longer than its Content-Length, taken whole", "bodies longer than their Content-Length, taken whole"},
		{n.Lost, "revisit of what no source has, taken as a fetch without an answer", "revisits of what no source has, taken as fetches without an answer"},
		{n.Dropped, "host " + dropped, "hosts " + dropped},
	} {
		if odd.count > 0 {
			b.WriteString("; " + Count(odd.count, odd.one, odd.more))
		}
	}
	return b.String()
}
