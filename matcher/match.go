package matcher

import (
	"math"

	"robotsbatch/matcher/robotstxt"
)

// Whole is the depth of a verdict that may depend on all of a path.
const Whole = math.MaxInt

// Match decides on a path and says by which rule: the most specific of those
// that match, allow on a tie, and allowed when none does (RFC 9309 §2.2.2). p
// must have been set under the trie's profile.
func (t *Trie) Match(p *Target) Decision {
	c := &t.rules
	literal, _ := c.literalMatch(p)
	best := max(literal.best, c.bestTail(p, literal.bunch, allowTails, literal.best))
	best = max(best, c.bestTail(p, literal.bunch, disallowTails, best))
	return t.Decision(best)
}

// Decision is the decision by a rule of the trie; 0 stands for no rule.
func (t *Trie) Decision(rule uint32) Decision {
	switch {
	case rule&1 != 0:
		return Decision{Allowed: true, Reason: AllowRule, Rule: rule}
	case rule != 0:
		return Decision{Reason: DisallowRule, Rule: rule}
	case t.rules.flags&flagGroup != 0:
		return Decision{Allowed: true, Reason: NoRuleMatched}
	}
	return Decision{Allowed: true, Reason: NoGroup}
}

// Allowed is the verdict of Match alone, which takes less time to find.
func (t *Trie) Allowed(p *Target) bool {
	s := t.Stand(p)
	return s.Denied == (s.Open && t.Settle(&s, p))
}

// Standing is what the rules without wildcards make of a path, and with it of
// every path that agrees with it in its first Depth octets. The zero value
// allows everything.
type Standing struct {
	// Denied is the verdict, unless Open.
	Denied bool
	// Open says that rules with wildcards may change the verdict of a single
	// path: Trie.Settle finds out.
	Open bool
	// Depth is Whole where nothing is known of other paths.
	Depth int

	contest contest
}

// contest is what is left to tails.
type contest struct {
	bunch uint32 // the tails in question, 0 for none
	best  uint32 // the rule that they must beat, 0 for none
}

// Stand finds what the rules without wildcards make of a path. p must have been
// set under the trie's profile.
func (t *Trie) Stand(p *Target) (s Standing) {
	c := &t.rules
	s.contest, s.Depth = c.literalMatch(p)
	s.Denied = s.contest.best != 0 && s.contest.best&1 == 0
	// Only a tail of the other verdict can change it.
	s.Open = c.mayBeat(s.contest.bunch, s.against(), s.contest.best)
	return s
}

// against are the tails that can change the verdict.
func (s *Standing) against() tailKind {
	if s.Denied {
		return allowTails
	}
	return disallowTails
}

// Settle tells whether an open Standing's verdict changes for a path that it
// holds for. If p was set by SetOf and Hold was asked about that path, then with this
// Standing.
func (t *Trie) Settle(s *Standing, p *Target) (changed bool) {
	c, other := &t.rules, s.against()
	best, bunch := s.contest.best, s.contest.bunch
	if p.met.rules == t.Identity() {
		best, bunch = p.met.rule, p.met.above
	}
	best = max(best, c.bestTail(p, bunch, other, best))
	// Then only a tail of this verdict can change it back.
	return best != s.contest.best && c.bestTail(p, s.contest.bunch, 1-other, best) == 0
}

// end is the offset of an end's record.
func (c *compiled) end(number uint32) int { return c.ends + int(number)*endSize }

// literalMatch finds the best rule without wildcard and the last bunch on the
// path's way, whose tails and those above may match, too, and the depth up to
// which the path was looked at.
func (c *compiled) literalMatch(p *Target) (literal contest, depth int) {
	path := p.raw
	way := c.walk(path)
	if way.leaf != 0 {
		depth = way.stop // whatever follows
		if p.profile == robotstxt.Google && octets[path[depth-1]]&isBlank != 0 {
			depth = Whole // blanks are cut off where the path ends
		}
		return c.leafRule(way.leaf), depth
	}
	depth = way.stop + 1
	ended := way.stop >= len(path) || path[way.stop] == '#'
	if ended || (p.profile == robotstxt.Google && octets[path[way.stop]]&isBlank != 0) {
		// Where the path ends matters, and blanks are cut off there.
		depth = Whole
	}
	if p.profile == robotstxt.RFC9309 && mayDiffer(path, way.stop) {
		p.prepare()
		path, depth = p.query, Whole
		way = c.walk(path)
		ended = way.stop >= len(path)
	}
	if way.leaf != 0 {
		return c.leafRule(way.leaf), depth
	}
	record := c.end(way.end)
	literal = contest{bunch: load32(c.data, record+8), best: load32(c.data, record)}
	if ended && way.at == way.stop {
		literal.best = max(literal.best, load32(c.data, record+4))
	}
	return literal, depth
}

// mayDiffer tells whether the normalised path may go on where a walk of the
// path as written stopped. Labels are normal, so what agreed with them is
// normal, too, but for an escape that the walk was in.
func mayDiffer(path []byte, stop int) bool {
	if stop < len(path) && needsWork[path[stop]] {
		return true
	}
	return stop > 0 && (needsWork[path[stop-1]] || needsWork[path[max(0, stop-2)]])
}

// way is what a walk has found.
type way struct {
	// leaf is where the leaf without end lies that the walk came through, which
	// knows the rule and the bunch; 0 for none, and end knows them.
	leaf int
	// end is the last end on the way, 0 for none.
	end uint32
	// at is where in the path the end was.
	at int
	// stop is where the walk stopped: at the first octet that led nowhere, or
	// past the last.
	stop int
}

// walk follows a path down the trie, as written or in its query spelling: rules
// without a literal '?' and without wildcard lie before the query, where both
// spellings are one.
func (c *compiled) walk(path []byte) (w way) {
	for node, i := headerSize, 0; ; i++ {
		label := load64(c.data, node)
		if n := int(label >> 56); n > 0 {
			if same := samePrefix(path[i:], label); same < n {
				w.stop = i + same
				return w
			}
			i += n
		}
		if e := load32(c.data, node+28); e != 0 {
			w.end, w.at = e, i
		}
		w.stop = i
		if i >= len(path) {
			return w
		}
		low, high, octet := load64(c.data, node+8), load64(c.data, node+16), path[i]
		if !hasChild(low, high, octet) {
			return w
		}
		first := load32(c.data, node+24)
		child := int(first&^leafBit) + childIndex(low, high, octet)
		if first&leafBit != 0 {
			leaf := c.leaves + child*leafSize
			length, same := c.leafLabel(path[i+1:], leaf)
			w.stop = i + 1 + same
			if same < length {
				return w
			}
			if rule := load32(c.data, leaf+8); rule&endBit == 0 {
				w.leaf = leaf
			} else {
				w.end, w.at = rule&^endBit, w.stop
			}
			return w
		}
		node = headerSize + child*nodeSize
	}
}

// leafRule returns what a leaf without end knows: the nearest bunch and the best prefix
// rule.
func (c *compiled) leafRule(leaf int) contest {
	return contest{bunch: load32(c.data, leaf+12), best: load32(c.data, leaf+8)}
}

// leafLabel returns the length of a leaf's label and in how many octets path
// agrees with it.
func (c *compiled) leafLabel(path []byte, leaf int) (length, same int) {
	offset := c.octets + int(load32(c.data, leaf))
	length = int(load32(c.data, leaf+4))
	return length, commonPrefix(path, c.data[offset:offset+length])
}
