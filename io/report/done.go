package report

import (
	"fmt"
	"strings"
	"time"

	"robotsbatch/io/rules/captures"
	"robotsbatch/io/rules/ruleset"
	"robotsbatch/io/store/blob"
)

// Captures describes captures that were read, as JSON and on one line.
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

// CapturesOf returns the counts of captures that were read, for messages.
func CapturesOf(c *ruleset.Captured) *Captures {
	counts := &Captures{Rules: c.Names, AsOf: c.AsOf, Stats: c.Stats}
	if c.Pack != nil {
		counts.pack = true
		counts.Bodies, counts.HTML, counts.Binary, counts.Limited = c.Pack.Bodies, c.Pack.HTML, c.Pack.Binary, c.Pack.Limited
	}
	return counts
}

// dropped says why a host is denied that a pack was added to, and what to do.
const dropped = "denied because what decides may be a capture that the old pack did not keep: compile all captures at once to find out"

// String returns the counts on one line. Those that are 0 and unusual are left out.
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
	for _, odd := range countTexts([]counted{
		{n.Stale, "host with a stale copy", "hosts with a stale copy"},
		{n.GivenUp, "host unreachable for 30 days, so allowed", "hosts unreachable for 30 days, so allowed"},
		{n.HTML, withHTML, withHTML},
		{n.Binary, withBinary, withBinary},
		{n.Limited, limited, limited},
		{n.Ignored, "capture ignored, which has no http, https or ftp URL", "captures ignored, which have no http, https or ftp URL"},
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

// TableDone says what was written of a table.
type TableDone struct {
	Version string  `json:"version"`
	Table   string  `json:"table"`
	Rows    int64   `json:"rows"`
	Out     string  `json:"out"`
	Seconds float64 `json:"seconds"`
}

// String returns the summary for people, on one line.
func (t TableDone) String() string {
	return fmt.Sprintf("%s: %s to %s in %.1f s", t.Table, Count(t.Rows, "row", "rows"), OutputName(t.Out), t.Seconds)
}

// OutputName returns the name of an output for people.
func OutputName(path string) string {
	if path == blob.Stdio {
		return "stdout"
	}
	return blob.Shown(path)
}

// HostsDone says which robots.txt must be fetched for a frontier.
type HostsDone struct {
	Version string `json:"version"`
	// Rows were read, Invalid of which have no authority.
	Rows    int64 `json:"rows"`
	Invalid int64 `json:"invalid"`
	// Authorities counts those of the frontier, Missing those without a robots.txt, and Stale those
	// whose robots.txt is older than MaxAgeSeconds at AsOf. MissingRows and StaleRows count the rows
	// that wait for these.
	Authorities   int64     `json:"authorities"`
	Missing       int64     `json:"missing"`
	MissingRows   int64     `json:"missing_rows"`
	Stale         int64     `json:"stale"`
	StaleRows     int64     `json:"stale_rows"`
	AsOf          time.Time `json:"as_of"`
	MaxAgeSeconds int64     `json:"max_age_seconds"`
	Out           string    `json:"out"`
	Seconds       float64   `json:"seconds"`
}

// String returns the summary for people, on one line.
func (h HostsDone) String() string {
	text := fmt.Sprintf("%s of %s: %s missing (%s waiting), %s older than %s (%s waiting)",
		Count(h.Rows, "row", "rows"), Count(h.Authorities, "host", "hosts"),
		Number(h.Missing), Count(h.MissingRows, "row", "rows"),
		Number(h.Stale), Age(time.Duration(h.MaxAgeSeconds)*time.Second), Count(h.StaleRows, "row", "rows"))
	if h.Invalid > 0 {
		text += "; " + Count(h.Invalid, "row without a host", "rows without a host")
	}
	return fmt.Sprintf("%s; %.1f s", text, h.Seconds)
}

// These end a text such as "2 hosts with HTML instead of robots.txt".
const (
	withHTML   = "with HTML instead of robots.txt"
	withBinary = "with binary data instead of robots.txt"
	limited    = "cut by the size limit or the crawler"
)

// OddBodies says on one line how many bodies of a source are HTML or binary.
func OddBodies(o *ruleset.OddBodies) string {
	one, more := "host", "hosts"
	if o.Read {
		one, more = "file", "files"
	}
	odd := countTexts([]counted{{o.HTML, one + " " + withHTML, more + " " + withHTML}, {o.Binary, one + " " + withBinary, more + " " + withBinary}})
	return blob.Shown(o.Name) + ": " + strings.Join(odd, "; ")
}

// Compiled describes a rule pack that was made, as JSON and on one line.
type Compiled struct {
	Version     string  `json:"version"`
	Profile     string  `json:"profile"`
	RobotsLimit int     `json:"robots_limit"`
	Authorities int64   `json:"authorities"`
	WithRules   int64   `json:"authorities_with_rules"`
	Unavailable int64   `json:"authorities_unavailable"`
	Unreachable int64   `json:"authorities_unreachable"`
	Bodies      int64   `json:"distinct_bodies"`
	Limited     int64   `json:"authorities_limited"`
	HTML        int64   `json:"authorities_html"`
	Binary      int64   `json:"authorities_binary"`
	Ignored     int64   `json:"names_ignored"`
	SourceBytes int64   `json:"source_bytes"`
	PackBytes   int64   `json:"pack_bytes"`
	Seconds     float64 `json:"seconds"`
}

// NewCompiled describes a rule pack that was made. version is the program's.
func NewCompiled(made *ruleset.Compiled, version string) *Compiled {
	info := made.Info
	return &Compiled{
		Version: version, Profile: info.Profile.String(), RobotsLimit: info.Limit,
		Authorities: info.Authorities, WithRules: info.Rules, Unavailable: info.AllowAll, Unreachable: info.DisallowAll,
		Bodies: info.Bodies, Limited: info.Limited, HTML: info.HTML, Binary: info.Binary, Ignored: made.Ignored,
		SourceBytes: info.SourceBytes, PackBytes: info.Size,
	}
}

// Text returns the description on one line. out is the name of the pack.
func (m *Compiled) Text(out string) string {
	var b strings.Builder
	b.WriteString(Count(m.Authorities, "host", "hosts"))
	if m.WithRules < m.Authorities {
		fmt.Fprintf(&b, " (%s with rules, %s unavailable, %s unreachable)", Number(m.WithRules), Number(m.Unavailable), Number(m.Unreachable))
	}
	fmt.Fprintf(&b, ", %s of %s",
		Count(m.Bodies, "distinct robots.txt", "distinct robots.txt"), Count(m.SourceBytes, "byte", "bytes"))
	for _, odd := range countTexts([]counted{
		{m.Limited, "host " + limited, "hosts " + limited},
		{m.HTML, "host " + withHTML, "hosts " + withHTML},
		{m.Binary, "host " + withBinary, "hosts " + withBinary},
		{m.Ignored, "name ignored", "names ignored"},
	}) {
		b.WriteString("; " + odd)
	}
	if out == "-" {
		out = "the pack"
	}
	fmt.Fprintf(&b, "; %s has %s; %.3g s", out, Count(m.PackBytes, "byte", "bytes"), m.Seconds)
	return b.String()
}
