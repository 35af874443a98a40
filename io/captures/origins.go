package captures

import (
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
)

// Stats say what captures were taken and what became of them.
type Stats struct {
	// Captures that were taken, those Elsewhere included.
	Captures int64
	// Elsewhere counts the captures of something else than a robots.txt, which
	// may be the targets of redirects.
	Elsewhere int64
	// Ignored counts the captures whose URL can have no rules.
	Ignored int64

	// Authorities with a capture that is not after the time asked for. Each is
	// counted in one of the four that follow.
	Authorities int64
	// Rules counts authorities whose rules decide.
	Rules int64
	// Stale counts those of them whose rules are a last good copy.
	Stale int64
	// Unavailable counts authorities of which everything is allowed.
	Unavailable int64
	// Unreachable counts authorities of which nothing is allowed.
	Unreachable int64

	// Resolved counts authorities that a redirect decides whose target is known.
	Resolved int64
	// Unresolved counts authorities that another redirect decides, 304 and a
	// redirect without Location included.
	Unresolved int64
	// HTML counts authorities whose rules are read from what looks like HTML.
	HTML int64
	// Limited counts authorities whose body is cut, by the size limit or by the
	// crawler.
	Limited int64
	// Bodies counts the distinct bodies.
	Bodies int64
}

// Origins is what captures say of authorities. It is a [matcher.Origins] and
// safe for concurrent use.
type Origins struct {
	nodes     map[string]int32
	decisions []decision
	bodies    []body
	stats     Stats
}

// find returns the decision about an authority, nil for none.
func (o *Origins) find(authority []byte) *decision {
	if len(authority) > maxKey {
		authority = shorten(authority)
	}
	node, ok := o.nodes[string(authority)]
	if !ok || o.decisions[node].outcome == access.Unknown {
		return nil
	}
	return &o.decisions[node]
}

// Lookup implements [matcher.Origins]. It never fails.
func (o *Origins) Lookup(authority []byte, origin *matcher.Origin) error {
	*origin = matcher.Origin{}
	if d := o.find(authority); d != nil {
		origin.Access, origin.Stale = d.outcome, d.stale
		origin.Facts.Status, origin.Facts.Fetched = int(d.status), d.fetched
		if d.body != none {
			b := &o.bodies[d.body]
			origin.Tries, origin.Facts.Records = b.tries, b.records
		}
	}
	return nil
}

// Stats tells what was read and what it means.
func (o *Origins) Stats() Stats { return o.stats }

// count counts authorities by what decides about them.
func (o *Origins) count(isOrigin []bool) {
	s := &o.stats
	s.Bodies = int64(len(o.bodies))
	for node, d := range o.decisions {
		if !isOrigin[node] || d.outcome == access.Unknown {
			continue
		}
		s.Authorities++
		switch d.outcome {
		case access.Rules:
			s.Rules++
			s.Stale += ones(d.stale)
			s.HTML += ones(o.bodies[d.body].html)
			s.Limited += ones(o.bodies[d.body].limited)
		case access.AllowAll:
			s.Unavailable++
		case access.DisallowAll:
			s.Unreachable++
		}
		redirect := d.status/100 == 3
		s.Resolved += ones(redirect && !d.unresolved)
		s.Unresolved += ones(d.unresolved)
	}
}

func ones(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
