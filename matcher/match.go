package matcher

import (
	"math"
	"math/bits"

	"robotsbatch/matcher/internal/kernels"
	"robotsbatch/matcher/robotstxt"
	"robotsbatch/matcher/urls"
)

// Whole is the depth of a verdict that may depend on all of a path.
const Whole = math.MaxInt

// Match decides on a path and says by which rule: the most specific of those
// that match, allow on a tie, and allowed when none does (RFC 9309 §2.2.2). p
// must have been set under the trie's profile.
func (t *Trie) Match(p *Target) Decision {
	c := &t.rules
	literal, _ := c.literalMatch(p)
	best := max(literal.best, c.bestSuffix(p, literal.list, allowing, literal.best))
	best = max(best, c.bestSuffix(p, literal.list, disallowing, best))
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
	v := t.prefixVerdict(p)
	return v.denied == (v.undecided && t.resolve(&v, p))
}

// prefixVerdict is what the rules without wildcards make of a path, and with it of
// every path that agrees with it in its first depth bytes. The zero value allows
// everything.
type prefixVerdict struct {
	// denied is the verdict, unless undecided.
	denied bool
	// undecided says that rules with wildcards may change the verdict of a single path:
	// Trie.resolve finds out.
	undecided bool
	// depth is Whole where nothing is known of other paths.
	depth int

	candidates candidates
}

// candidates are the wildcard suffixes that may change a verdict: those of a list, and of
// the lists above it.
type candidates struct {
	list uint32 // the suffixes in question, 0 for none
	best uint32 // the rule that they must beat, 0 for none
}

// prefixVerdict finds what the rules without wildcards make of a path. p must have
// been set under the trie's profile.
func (t *Trie) prefixVerdict(p *Target) (v prefixVerdict) {
	c := &t.rules
	v.candidates, v.depth = c.literalMatch(p)
	v.denied = v.candidates.best != 0 && v.candidates.best&1 == 0
	// Only a suffix of the other verdict can change it.
	v.undecided = c.mayBeat(v.candidates.list, v.against(), v.candidates.best)
	return v
}

// against are the suffixes that can change the verdict.
func (v *prefixVerdict) against() suffixKind {
	if v.denied {
		return allowing
	}
	return disallowing
}

// resolve tells whether an undecided verdict changes for a path that it is that of.
func (t *Trie) resolve(v *prefixVerdict, p *Target) (changed bool) {
	c, other := &t.rules, v.against()
	best := c.bestSuffix(p, v.candidates.list, other, v.candidates.best)
	// Then only a suffix of this verdict can change it back.
	return best != 0 && c.bestSuffix(p, v.candidates.list, 1-other, best) == 0
}

// end is the offset of an end's record.
func (c *compiled) end(number uint32) int { return c.ends + int(number)*endSize }

// literalMatch finds the best rule without wildcard and the last list on the
// path's way, whose suffixes and those above may match, too, and the depth up to
// which the path was looked at.
func (c *compiled) literalMatch(p *Target) (literal candidates, depth int) {
	path := p.raw
	walked := c.walk(path)
	if walked.leaf != 0 {
		depth = walked.stop // whatever follows
		if p.profile == robotstxt.Google && urls.IsBlank(path[depth-1]) {
			depth = Whole // blanks are cut off where the path ends
		}
		return c.leafRule(walked.leaf), depth
	}
	depth = walked.stop + 1
	ended := walked.stop >= len(path) || path[walked.stop] == '#'
	if ended || (p.profile == robotstxt.Google && urls.IsBlank(path[walked.stop])) {
		// Where the path ends matters, and blanks are cut off there.
		depth = Whole
	}
	if p.profile == robotstxt.RFC9309 && mayDiffer(path, walked.stop) {
		p.prepare()
		path, depth = p.query, Whole
		walked = c.walk(path)
		ended = walked.stop >= len(path)
	}
	if walked.leaf != 0 {
		return c.leafRule(walked.leaf), depth
	}
	record := c.end(walked.end)
	literal = candidates{list: kernels.Load32(c.data, record+8), best: kernels.Load32(c.data, record)}
	if ended && walked.at == walked.stop {
		literal.best = max(literal.best, kernels.Load32(c.data, record+4))
	}
	return literal, depth
}

// mayDiffer tells whether the normalised path may go on where a walk of the
// path as written stopped. Labels are normal, so what agreed with them is
// normal, too, but for an escape that the walk was in.
func mayDiffer(path []byte, stop int) bool {
	if stop < len(path) && urls.NeedsWork(path[stop]) {
		return true
	}
	return stop > 0 && (urls.NeedsWork(path[stop-1]) || urls.NeedsWork(path[max(0, stop-2)]))
}

// walkResult is what a walk has found.
type walkResult struct {
	// leaf is where the leaf without end lies that the walk came through, which
	// knows the rule and the list; 0 for none, and end knows them.
	leaf int
	// end is the last end on the way, 0 for none.
	end uint32
	// at is where in the path the end was.
	at int
	// stop is where the walk stopped: at the first byte that led nowhere, or
	// past the last.
	stop int
}

// walk follows a path down the trie, as written or in its query spelling: rules
// without a literal '?' and without wildcard lie before the query, where both
// spellings are one.
func (c *compiled) walk(path []byte) (w walkResult) {
	for node, i := headerSize, 0; ; i++ {
		label := kernels.Load64(c.data, node)
		if n := int(label >> 56); n > 0 {
			if same := samePrefix(path[i:], label); same < n {
				w.stop = i + same
				return w
			}
			i += n
		}
		if e := kernels.Load32(c.data, node+28); e != 0 {
			w.end, w.at = e, i
		}
		w.stop = i
		if i >= len(path) {
			return w
		}
		low, high, char := kernels.Load64(c.data, node+8), kernels.Load64(c.data, node+16), path[i]
		if !hasChild(low, high, char) {
			return w
		}
		first := kernels.Load32(c.data, node+24)
		child := int(first&^leafBit) + childIndex(low, high, char)
		if first&leafBit != 0 {
			leaf := c.leaves + child*leafSize
			length, same := c.leafLabel(path[i+1:], leaf)
			w.stop = i + 1 + same
			if same < length {
				return w
			}
			if rule := kernels.Load32(c.data, leaf+8); rule&endBit == 0 {
				w.leaf = leaf
			} else {
				w.end, w.at = rule&^endBit, w.stop
			}
			return w
		}
		node = headerSize + child*nodeSize
	}
}

// leafRule returns what a leaf without end knows: the nearest list and the best prefix
// rule.
func (c *compiled) leafRule(leaf int) candidates {
	return candidates{list: kernels.Load32(c.data, leaf+12), best: kernels.Load32(c.data, leaf+8)}
}

// leafLabel returns the length of a leaf's label and in how many bytes path
// agrees with it.
func (c *compiled) leafLabel(path []byte, leaf int) (length, same int) {
	offset := c.text + int(kernels.Load32(c.data, leaf))
	length = int(kernels.Load32(c.data, leaf+4))
	return length, commonPrefix(path, c.data[offset:offset+length])
}

// samePrefix returns in how many bytes s agrees with a label, whose first
// byte is lowest. More than the label's length stands for all of it.
func samePrefix(s []byte, label uint64) int {
	if len(s) >= 8 {
		return bits.TrailingZeros64(kernels.Load64(s, 0)^label) >> 3
	}
	for i, c := range s {
		if c != byte(label>>(8*i)) {
			return i
		}
	}
	return len(s)
}

// commonPrefix returns in how many bytes s agrees with t.
func commonPrefix(s, t []byte) int {
	n := min(len(s), len(t))
	i := 0
	for ; i+8 <= n; i += 8 {
		if differ := kernels.Load64(s, i) ^ kernels.Load64(t, i); differ != 0 {
			return i + bits.TrailingZeros64(differ)>>3
		}
	}
	for i < n && s[i] == t[i] {
		i++
	}
	return i
}

// hasChild tells whether a node with these two words of branches has a child
// for a byte.
func hasChild(low, high uint64, char byte) bool {
	word := low
	if char >= 64 {
		word = high
	}
	return char < 128 && word>>(char&63)&1 != 0
}

// childIndex returns which child of a node byte c leads to.
func childIndex(low, high uint64, c byte) int {
	bit := uint64(1) << (c & 63)
	if c < 64 {
		return bits.OnesCount64(low & (bit - 1))
	}
	return bits.OnesCount64(low) + bits.OnesCount64(high&(bit-1))
}

// IsRobotsTxt tells whether a path is exactly /robots.txt without a query, in
// any spelling, which is always allowed (RFC 9309 §2.2.2). A fragment is
// ignored. Every path that agrees with this one in its first depth bytes gets
// the same answer; depth is Whole where that is not known.
//
// Google's parser leaves /robots.txt to its caller: there it is like any other.
func IsRobotsTxt(path []byte, p Profile) (is bool, depth int) {
	if p == robotstxt.Google {
		return false, 1 // all paths start with a slash
	}
	return urls.IsRobotsTxt(path)
}
