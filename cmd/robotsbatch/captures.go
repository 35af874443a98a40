package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"robotsbatch/io/blob"
	"robotsbatch/io/captures"
	"robotsbatch/io/rulepack"
)

// captureSet is the captures of all -rules that have some. They are one set, in
// which redirects lead anywhere; each -rules is a source of it.
type captureSet struct {
	*captures.Set
	c        *rulesConfig
	names    []string // of the sources with captures
	files    []captures.File
	bodySize int // bytes of a body that readers hand out
	// memory is how many octets a batch of a table may take.
	memory int64

	mu     sync.Mutex // for the following
	log    *console
	broken int64
}

// captureMemory is the part of the memory that captures take while they wait.
// The rest is for the rule pack that is made of them.
const captureMemory = 8

// newCaptureSet prepares to read what is found, in as much of the memory as its
// part is. The bodies go into b.
func newCaptureSet(ctx context.Context, c *rulesConfig, found []foundRules, b *rulepack.Builder, memory int64, folder string, log *console) *captureSet {
	options := captures.Options{
		Bodies: b, Profile: c.profile, Limit: int(c.limit), Memory: memory / captureMemory, Folder: folder,
	}
	s := &captureSet{Set: captures.NewSet(options), c: c, bodySize: options.BodySize(), memory: memory, log: log}
	for source, f := range found {
		if f.kind != captureRules {
			continue
		}
		s.names = append(s.names, blob.Shown(f.name))
		for _, name := range f.files {
			s.files = append(s.files, captures.File{Source: source, Open: func() (captures.Reader, error) { return s.open(ctx, name) }})
		}
	}
	return s
}

// read reads all files. It sets c.asOf, unless that was asked for, to the newest
// capture, or to a time that is later.
func (s *captureSet) read(ctx context.Context, workers int, later time.Time) error {
	if err := s.Read(ctx, s.files, workers); err != nil {
		return err
	}
	if s.c.asOf.IsZero() {
		s.c.asOf = later
		if newest := s.Newest(); newest.After(later) {
			s.c.asOf = newest
		}
	}
	return nil
}

// addTo adds what was decided to a pack, but for authorities that shadowed says
// another source has, before the one that it names.
func (s *captureSet) addTo(ctx context.Context, b *rulepack.Builder, shadowed func(authority []byte, source int) (bool, error)) error {
	b.SetAsOf(packTime(s.c.asOf))
	return s.Resolve(ctx, s.c.asOf, s.c.policy, func(d *captures.Decision) error {
		if is, err := shadowed(d.Authority, d.Source); is || err != nil {
			return err
		}
		return b.Add(rulepack.Entry{
			Authority: d.Authority, Access: d.Access, Kept: d.Kept, Stale: d.Stale,
			Status: uint16(d.Status), Fetched: packTime(d.Fetched), Source: uint32(d.Source),
		})
	})
}

// packTime is a time as packs have it: what they cannot have is not known.
func packTime(t time.Time) uint32 {
	if seconds := t.Unix(); seconds == int64(uint32(seconds)) {
		return uint32(seconds)
	}
	return 0
}

// shownBroken is how many broken records are named; those beyond are counted
// only.
const shownBroken = 10

func (s *captureSet) warnBroken(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken++; s.broken <= shownBroken {
		s.log.warn(err.Error())
	}
}

func (s *captureSet) warn(message string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log.warn(message)
}

// captureCounts are what is said of captures.
type captureCounts struct {
	Rules       []string  `json:"rules"`
	AsOf        time.Time `json:"as_of"`
	Captures    int64     `json:"captures"`
	Ignored     int64     `json:"captures_ignored"`
	Broken      int64     `json:"broken_records"`
	Compressed  int64     `json:"bodies_compressed"`
	Damaged     int64     `json:"bodies_damaged"`
	Longer      int64     `json:"bodies_longer"`
	Authorities int64     `json:"authorities"`
	WithRules   int64     `json:"authorities_with_rules"`
	Stale       int64     `json:"authorities_stale"`
	Unavailable int64     `json:"authorities_unavailable"`
	Unreachable int64     `json:"authorities_unreachable"`
	Resolved    int64     `json:"redirects_resolved"`
	Unresolved  int64     `json:"redirects_unresolved"`
	Bodies      int64     `json:"distinct_bodies,omitempty"`
	HTML        int64     `json:"authorities_html,omitempty"`
	Limited     int64     `json:"authorities_limited,omitempty"`
}

// tell says what was read and what it means; pack is what was made of nothing
// else, or nil.
func (s *captureSet) tell(pack *rulepack.Info) {
	var n captures.Stats
	for source := range s.c.folders {
		n.Add(s.Stats(source))
	}
	counts := captureCounts{
		Rules: s.names, AsOf: s.c.asOf, Captures: n.Captures, Ignored: n.Ignored, Broken: s.broken, Compressed: n.Compressed, Damaged: n.Damaged, Longer: n.Longer,
		Authorities: n.Authorities, WithRules: n.Rules, Stale: n.Stale, Unavailable: n.Unavailable, Unreachable: n.Unreachable,
		Resolved: n.Resolved, Unresolved: n.Unresolved,
	}
	if pack != nil {
		counts.Bodies, counts.HTML, counts.Limited = pack.Bodies, pack.HTML, pack.Limited
	}
	s.log.info(counts.text(pack != nil), "rules", "captures", counts)
}

// text is what is said in one line.
func (n *captureCounts) text(pack bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", someOf(n.Rules), counted(n.Captures, "capture", "captures"))
	if !n.AsOf.IsZero() {
		b.WriteString(n.AsOf.Format(" as of " + time.RFC3339))
	}
	fmt.Fprintf(&b, "; %s: %s with rules, %s unavailable, %s unreachable",
		counted(n.Authorities, "authority", "authorities"), grouped(n.WithRules), grouped(n.Unavailable), grouped(n.Unreachable))
	if pack {
		b.WriteString("; " + counted(n.Bodies, "distinct body", "distinct bodies"))
	}
	fmt.Fprintf(&b, "; redirects: %s resolved, %s not", grouped(n.Resolved), grouped(n.Unresolved))
	for _, odd := range []struct {
		count     int64
		one, more string
	}{
		{n.Stale, "authority with a stale copy", "authorities with a stale copy"},
		{n.HTML, "with HTML instead of robots.txt", "with HTML instead of robots.txt"},
		{n.Limited, "cut by the size limit or the crawler", "cut by the size limit or the crawler"},
		{n.Ignored, "capture of no such URL ignored", "captures of no such URL ignored"},
		{n.Broken, "broken record skipped", "broken records skipped"},
		{n.Compressed, "body compressed without a header that says so, decompressed", "bodies compressed without a header that says so, decompressed"},
		{n.Damaged, "capture skipped, whose body cannot be decompressed", "captures skipped, whose bodies cannot be decompressed"},
		{n.Longer, "body longer than its Content-Length, taken whole", "bodies longer than their Content-Length, taken whole"},
	} {
		if odd.count > 0 {
			b.WriteString("; " + counted(odd.count, odd.one, odd.more))
		}
	}
	return b.String()
}

// someOf is names for people: the first of them, when there are many.
func someOf(names []string) string {
	const most = 3
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
