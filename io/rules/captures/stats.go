package captures

import "robotsbatch/matcher/access"

// Stats count the captures that were taken and what they mean.
type Stats struct {
	// Captures counts all captures taken, including Elsewhere.
	Captures int64 `json:"captures"`
	// Elsewhere counts the captures of URLs other than robots.txt, which redirects may
	// lead to.
	Elsewhere int64 `json:"-"`
	// Ignored counts the captures whose URL cannot have rules.
	Ignored int64 `json:"captures_ignored"`
	// Broken counts the records and rows that are broken, for who reads the sources: they are
	// skipped, or taken as fetches without an answer.
	Broken int64 `json:"broken_records"`
	// Compressed counts the bodies that were decompressed although no header said that
	// they were compressed.
	Compressed int64 `json:"bodies_compressed"`
	// Damaged counts the captures that are taken as fetches without an answer because their
	// body could not be decompressed.
	Damaged int64 `json:"bodies_damaged"`
	// Longer counts the bodies that are longer than their Content-Length. They are
	// taken whole.
	Longer int64 `json:"bodies_longer"`
	// Lost counts, after Resolve, the revisits without a known 2xx that they refer to. They
	// are fetches without an answer.
	Lost int64 `json:"revisits_lost,omitempty"`

	// Authorities counts the authorities with a capture not after the requested time,
	// in the first source that has one. Each is also in one of Rules, Unavailable and
	// Unreachable.
	Authorities int64 `json:"authorities"`
	// Rules counts authorities whose rules decide.
	Rules int64 `json:"authorities_with_rules"`
	// Stale counts those among Rules whose rules are a last good copy.
	Stale int64 `json:"authorities_stale"`
	// Unavailable counts authorities without a robots.txt, where everything is allowed.
	Unavailable int64 `json:"authorities_unavailable"`
	// Unreachable counts authorities whose robots.txt could not be fetched, so that nothing
	// is allowed.
	Unreachable int64 `json:"authorities_unreachable"`
	// GivenUp counts those among Unreachable where that lasted for 30 days and there is no
	// old copy, so that everything is allowed.
	GivenUp int64 `json:"authorities_unreachable_30_days,omitempty"`

	// Resolved counts authorities that are decided by a redirect with a known target.
	Resolved int64 `json:"redirects_resolved"`
	// Unresolved counts authorities that are decided by any other redirect, including
	// redirects without Location.
	Unresolved int64 `json:"redirects_unresolved"`
	// Dropped counts authorities that are closed, now or with a history at some time, because what
	// decides may be among captures that the pack that is added to has not kept.
	Dropped int64 `json:"authorities_dropped,omitempty"`
}

// Add adds the counts of t, but for Broken.
func (s *Stats) Add(t Stats) {
	more := t.counts()
	for i, n := range s.counts() {
		*n += *more[i]
	}
}

// counts returns where all counts but Broken are, in an order of their own.
func (s *Stats) counts() [16]*int64 {
	return [...]*int64{
		&s.Captures, &s.Elsewhere, &s.Ignored, &s.Compressed, &s.Damaged, &s.Longer, &s.Lost, &s.Authorities,
		&s.Rules, &s.Stale, &s.Unavailable, &s.Unreachable, &s.GivenUp, &s.Resolved, &s.Unresolved, &s.Dropped,
	}
}

// count counts the decision about an authority of a source. dropped is as Stats.Dropped.
func (s *Set) count(i *interval, source int, dropped bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.statsOf(source)
	n.Authorities++
	switch {
	case i.Access == access.Rules:
		n.Rules++
		n.Stale += ones(i.Stale)
	case i.Access.InOutage():
		n.Unreachable++
		n.GivenUp += ones(i.Access == access.AllowAfterOutage)
	default:
		n.Unavailable++
	}
	n.Resolved += ones(i.Status/100 == 3 && i.Status != access.NotModified && !i.unresolved)
	n.Unresolved += ones(i.unresolved)
	n.Dropped += ones(dropped)
}

// ones returns 1 for true, to be added to a count, and 0 for false.
func ones(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
