package captures

import (
	"encoding/binary"
	"time"

	"robotsbatch/matcher/access"
)

// newest is the decider about each URL by its newest captures not after asOf.
type newest struct {
	set    *Set
	asOf   time.Time
	policy access.Policy
	emit   func(*Decision) error

	fetches []access.Fetch // reused
	// said is the last decision, and deciding is the capture that made it.
	said     [1]change
	deciding waiting
}

func (n *newest) may(group, x waiting) (counts, alone bool) {
	first := len(group) == 0
	switch {
	case n.isLater(x): // Options.Later wants to know of the first one
		return first && n.set.options.Later, false
	case first:
	case n.isLater(group):
		return true, true
	case group.source() != x.source(): // an earlier source has the URL
		return false, false
	}
	// A capture decides without those before it, unless it is a redirect or unreachable.
	return true, !x.hasTarget() && n.policy.Outcome(x.fetch()) != access.DisallowAll
}

// isLater reports whether a capture is after the time.
func (n *newest) isLater(x waiting) bool { return x.fetch().Time.After(n.asOf) }

func (n *newest) decide(group []byte, targets *targetChanges) []change {
	if n.deciding = waiting(group); n.isLater(n.deciding) {
		n.said[0] = change{access: access.Unknown}
		return nil
	}
	n.fetches = n.fetches[:0]
	target := func(x waiting) *change { // a URL that counts has at least one
		if changes := targets.of(x.targetIndex()); len(changes) > 0 {
			return &changes[0]
		}
		return &change{}
	}
	for x := waiting(group); len(x) > 0; x = x[x.size():] {
		fetch := x.fetch()
		if targets != nil && x.hasTarget() && !target(x).unresolved {
			fetch.Target = target(x).access
		}
		n.fetches = append(n.fetches, fetch)
	}
	decision := n.policy.Decide(n.fetches, n.asOf)
	n.deciding = waiting(group)
	for range decision.Fetch {
		n.deciding = n.deciding[n.deciding.size():]
	}
	said := change{access: decision.Outcome, stale: decision.Stale, unresolved: n.fetches[decision.Fetch].Unresolved()}
	if said.access == access.Rules {
		said.kept = n.deciding.kept()
		if n.deciding.hasTarget() {
			said.kept = target(n.deciding).kept
			said.stale = said.stale || target(n.deciding).stale
		}
	}
	n.said[0] = said
	return n.said[:]
}

func (n *newest) finish() error {
	x, said := n.deciding, n.said[0]
	if len(x.authority()) == 0 {
		return nil
	}
	if said.access != access.Unknown {
		n.set.count(&said, x.status()/100 == 3 && !x.failed(), x.source())
	}
	return n.emit(&Decision{
		Authority: x.authority(), Access: said.access, Kept: said.kept, Stale: said.stale,
		Status: x.shownStatus(), Fetched: timeOf(x.time()), Source: x.source(),
	})
}

// shownStatus returns the status of the answer, or 0 if it is not a valid one.
func (r waiting) shownStatus() int {
	if r.failed() {
		return 0
	}
	return max(r.status(), 0)
}

// targetIndex returns the target's index in wanted, after the resolver stored it.
func (r waiting) targetIndex() int { return int(binary.LittleEndian.Uint32(r[40:])) }
