package matcher

import (
	"math"
	"math/bits"

	"robotsbatch/matcher/internal/kernels"
	"robotsbatch/matcher/robotstxt"
	"robotsbatch/matcher/urls"
)

// whole is the depth of a verdict that may depend on the whole path.
const whole = math.MaxInt

// Match decides on a path and returns the rule that decides: the most specific one that
// matches, allow on a tie; without any, the path is allowed (RFC 9309 §2.2.2). target must have
// been set under the trie's profile. Rules may deny /robots.txt, which is always allowed:
// ask [IsRobotsTxt] first.
func (t *Trie) Match(target *Target) Decision {
	c := &t.rules
	literal, _ := c.literalMatch(target)
	best := max(literal.best, c.bestSuffix(target, literal.list, allowing, literal.best))
	best = max(best, c.bestSuffix(target, literal.list, disallowing, best))
	return t.Decision(best)
}

// Decision returns the decision of a rule of the trie; 0 means that no rule matched.
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

// Allowed returns the verdict that Match gives, in less time.
func (t *Trie) Allowed(target *Target) bool {
	v := t.prefixVerdict(target)
	changed := v.undecided && t.resolve(&v, target)
	return v.denied == changed
}

// prefixVerdict is the verdict of the rules without wildcards for a path, and for every
// path with the same first depth bytes. The zero value allows everything.
type prefixVerdict struct {
	// denied is the verdict; it is preliminary if undecided is set.
	denied bool
	// undecided means that a wildcard rule may change the verdict of a single path:
	// Trie.resolve finds out.
	undecided bool
	// depth is whole if the verdict holds for this path only.
	depth int

	candidates candidates
}

// candidates are the wildcard suffixes that may match: those of a list and of the lists
// above it.
type candidates struct {
	list uint32 // the nearest list, 0 for none
	best uint32 // the best rule without wildcard, which they must beat, 0 for none
}

// prefixVerdict returns the verdict of the rules without wildcards for a path. target must have
// been set under the trie's profile.
func (t *Trie) prefixVerdict(target *Target) (v prefixVerdict) {
	c := &t.rules
	v.candidates, v.depth = c.literalMatch(target)
	v.denied = v.candidates.best != 0 && v.candidates.best&1 == 0
	// Only a suffix of the opposite verdict can change it.
	v.undecided = c.mayBeat(v.candidates.list, v.opposite(), v.candidates.best)
	return v
}

// opposite returns the kind of suffix that can change the verdict.
func (v *prefixVerdict) opposite() suffixKind {
	if v.denied {
		return allowing
	}
	return disallowing
}

// resolve reports whether a wildcard rule changes the undecided verdict v for a path.
func (t *Trie) resolve(v *prefixVerdict, target *Target) (changed bool) {
	c, opposite := &t.rules, v.opposite()
	best := c.bestSuffix(target, v.candidates.list, opposite, v.candidates.best)
	if best == 0 {
		return false
	}
	// Only a better suffix of the first verdict, the other kind, can change it back.
	return c.bestSuffix(target, v.candidates.list, 1-opposite, best) == 0
}

// literalMatch returns the best rule without wildcard that matches a path, and the nearest list of
// wildcard suffixes on the path's walk down the trie. The result is the same for all paths that share
// their first depth bytes with this one; depth is whole if it holds for this path only.
func (c *compiled) literalMatch(target *Target) (literal candidates, depth int) {
	path := target.raw
	walked := c.walk(path)
	if walked.leaf != 0 {
		depth = walked.stop // the rest of the path does not matter
		if target.profile == robotstxt.Google && urls.IsBlank(path[depth-1]) {
			depth = whole // the path may end here, where blanks are cut off; under RFC9309 no label has a raw blank
		}
		return c.leafRule(walked.leaf), depth
	}
	depth = walked.stop + 1 // the byte at stop leads nowhere
	ended := walked.stop >= len(path) || path[walked.stop] == '#'
	if ended || (target.profile == robotstxt.Google && urls.IsBlank(path[walked.stop])) {
		// It matters where the path ends, and blanks at its end are cut off.
		depth = whole
	}
	if target.profile == robotstxt.RFC9309 && mayDiffer(path, walked.stop) { // the normalised path may lead further
		target.prepare()
		path, depth = target.query, whole
		walked = c.walk(path)
		ended = walked.stop >= len(path) // a query spelling has no fragment
	}
	if walked.leaf != 0 {
		return c.leafRule(walked.leaf), depth
	}
	record := c.end(walked.end)
	literal = candidates{list: kernels.Load32(c.data, record+endListAt), best: kernels.Load32(c.data, record+endBestAt)}
	if ended && walked.at == walked.stop { // the whole path: rules with '$' match as well
		literal.best = max(literal.best, kernels.Load32(c.data, record+endWholeAt))
	}
	return literal, depth
}

// mayDiffer reports whether the normalised path may go further than a walk of the path as
// written, which stopped at stop. Labels are normal, so the bytes before stop are normal
// too, unless the walk stopped inside an escape.
func mayDiffer(path []byte, stop int) bool {
	if stop < len(path) && urls.NeedsWork(path[stop]) {
		return true
	}
	return stop > 0 && (urls.NeedsWork(path[stop-1]) || urls.NeedsWork(path[max(0, stop-2)]))
}

// walkResult is the result of a walk.
type walkResult struct {
	// leaf is the offset of the leaf that the walk reached, if that has no end of its own; else 0.
	// Such a leaf has the rule and the list itself. Without one, end has them.
	leaf int
	// end is the last end on the walk, 0 for none.
	end uint32
	// at is the length of the path up to the end.
	at int
	// stop is where the walk stopped: at the first byte that led nowhere, or after the last
	// byte.
	stop int
}

// walk follows a path, Target.raw or Target.query, down the trie as far as it leads, and returns where it
// stopped and the last end, or leaf, that it passed. It takes time linear in the path. Target.query serves
// all rules without wildcards: it differs from Target.plain only after the '?', and a rule without a '?'
// cannot match further than that.
func (c *compiled) walk(path []byte) (w walkResult) {
	for node, i := headerSize, 0; ; i++ { // node is the offset in c.data of one that exists; the bytes before i led to it
		label := kernels.Load64(c.data, node)
		if n := int(label >> 56); n > 0 { // the label's length
			if same := samePrefix(path[i:], label); same < n {
				w.stop = i + same
				return w
			}
			i += n
		}
		if e := kernels.Load32(c.data, node+nodeEndAt); e != 0 {
			w.end, w.at = e, i
		}
		w.stop = i
		if i >= len(path) {
			return w
		}
		low, high, char := kernels.Load64(c.data, node+nodeLowAt), kernels.Load64(c.data, node+nodeHighAt), path[i]
		if !hasChild(low, high, char) {
			return w
		}
		first := kernels.Load32(c.data, node+nodeChildAt)
		child := uint64(first&^leafBit) + uint64(childIndex(low, high, char))
		if first&leafBit != 0 {
			record := uint64(c.leaves) + child*leafSize
			if record >= uint64(c.ends) {
				return w // of a forged group: no such leaf
			}
			leaf := int(record)
			length, same := c.leafLabel(path[i+1:], leaf)
			w.stop = i + 1 + same
			if same < length {
				return w
			}
			if field := kernels.Load32(c.data, leaf+leafBestAt); field&endBit == 0 {
				w.leaf = leaf
			} else { // the leaf has an end of its own
				w.end, w.at = field&^endBit, w.stop
			}
			return w
		}
		next := headerSize + child*nodeSize
		if next >= uint64(c.leaves) {
			return w // of a forged group: no such node
		}
		node = int(next)
	}
}

// leafRule returns the nearest list and the best prefix rule of a leaf without an end.
func (c *compiled) leafRule(leaf int) candidates {
	return candidates{list: kernels.Load32(c.data, leaf+leafListAt), best: kernels.Load32(c.data, leaf+leafBestAt)}
}

// leafLabel returns the length of a leaf's label and the number of its bytes that path starts
// with. No path starts with a label that lies outside the text.
func (c *compiled) leafLabel(path []byte, leaf int) (length, same int) {
	label, ok := c.textAt(kernels.Load32(c.data, leaf+leafTextAt), kernels.Load32(c.data, leaf+leafLengthAt))
	if !ok {
		return 1, 0
	}
	return len(label), commonPrefix(path, label)
}

// samePrefix returns the length of the common prefix of s and a label, whose first byte is the
// lowest. The result may exceed the label's length: then all of it is equal.
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

// commonPrefix returns the length of the common prefix of s and t in bytes.
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

// hasChild reports whether a node with these two words of child bits has a child for a
// byte.
func hasChild(low, high uint64, char byte) bool {
	word := low
	if char >= 64 {
		word = high
	}
	return char < 128 && word>>(char&63)&1 != 0
}

// childIndex returns the index, among the node's children, of the one that byte c leads to.
func childIndex(low, high uint64, c byte) int {
	bit := uint64(1) << (c & 63)
	if c < 64 {
		return bits.OnesCount64(low & (bit - 1))
	}
	return bits.OnesCount64(low) + bits.OnesCount64(high&(bit-1))
}

// IsRobotsTxt reports whether a path is exactly /robots.txt without a query, in any
// spelling, which is always allowed (RFC 9309 §2.2.2). A fragment is ignored. The answer
// holds for every path with the same first depth bytes; depth is whole if it holds for this
// path only.
//
// Google's parser leaves /robots.txt to its caller: in that profile it is a path like any
// other.
func IsRobotsTxt(path []byte, p Profile) (isRobotsTxt bool, depth int) {
	if p == robotstxt.Google {
		return false, 1 // all paths start with a slash
	}
	return urls.IsRobotsTxt(path)
}
