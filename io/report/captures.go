package report

import (
	"fmt"
	"strings"
	"time"

	"robotsbatch/io/rules/captures"
	"robotsbatch/io/rules/ruleset"
)

// Captures is what is said of captures that were read.
type Captures struct {
	Rules []string  `json:"rules"`
	AsOf  time.Time `json:"as_of"`
	captures.Stats
	Bodies  int64 `json:"distinct_bodies,omitempty"`
	HTML    int64 `json:"authorities_html,omitempty"`
	Binary  int64 `json:"authorities_binary,omitempty"`
	Limited int64 `json:"authorities_limited,omitempty"`

	pack bool // whether a pack was made of them
}

// CapturesOf words what was read of captures.
func CapturesOf(c *ruleset.Captured) *Captures {
	counts := &Captures{Rules: c.Names, AsOf: c.AsOf, Stats: c.Stats}
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
		Count(n.Authorities, "host", "hosts"), Number(n.Stats.Rules), Number(n.Unavailable), Number(n.Unreachable))
	if n.pack {
		b.WriteString("; " + Count(n.Bodies, "distinct body", "distinct bodies"))
	}
	fmt.Fprintf(&b, "; redirects: %s resolved, %s not", Number(n.Resolved), Number(n.Unresolved))
	for _, odd := range present([]counted{
		{n.Stale, "host with a stale copy", "hosts with a stale copy"},
		{n.GivenUp, "host unreachable for 30 days, so allowed", "hosts unreachable for 30 days, so allowed"},
		{n.HTML, withHTML, withHTML},
		{n.Binary, withBinary, withBinary},
		{n.Limited, limited, limited},
		{n.Ignored, "capture of no such URL ignored", "captures of no such URL ignored"},
		{n.Broken, "broken record, skipped or taken as a fetch without an answer", "broken records, skipped or taken as fetches without an answer"},
		{n.Compressed, "body compressed without a header that says so, decompressed", "bodies compressed without a header that says so, decompressed"},
		{n.Damaged, "body cannot be decompressed, taken as a fetch without an answer", "bodies cannot be decompressed, taken as fetches without an answer"},
		{n.Longer, "body longer than its Content-Length, taken whole", "bodies longer than their Content-Length, taken whole"},
		{n.Lost, "revisit of what no source has, taken as a fetch without an answer", "revisits of what no source has, taken as fetches without an answer"},
		{n.Dropped, "host " + dropped, "hosts " + dropped},
	}) {
		b.WriteString("; " + odd)
	}
	return b.String()
}
