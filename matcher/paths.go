package matcher

import (
	"bytes"
	"slices"

	"robotsbatch/matcher/internal/kernels"
	"robotsbatch/matcher/urls"
)

// pathBlock is a block of paths with query. Each is a range of one byte array, such as a
// column's data. The zero value is empty.
type pathBlock struct {
	data       []byte
	texts      []kernels.Bounds
	signatures []kernels.Signature // set by prepare
}

// reset empties p. Paths that are added next are ranges of data, which p aliases.
func (p *pathBlock) reset(data []byte) {
	p.data, p.texts, p.signatures = data, p.texts[:0], p.signatures[:0]
}

// add adds the path data[low:high].
func (p *pathBlock) add(low, high int) {
	p.texts = append(p.texts, kernels.Bounds{Low: low, High: high})
}

// prepare makes the signatures of the paths and cuts off what does not belong to a path:
// blanks at the end of the URL, then a fragment. A blank before the fragment stays. Call it
// before skipUnaffected.
func (p *pathBlock) prepare() {
	p.signatures = slices.Grow(p.signatures[:0], len(p.texts))[:len(p.texts)]
	signatures.Sign(p.signatures, p.data, p.texts)
	for i, signature := range p.signatures {
		if signature&kernels.HardBits != 0 {
			p.trim(i)
		}
	}
}

// trim cuts path i as prepare says, and makes its signature again if that changed it.
func (p *pathBlock) trim(i int) {
	text := urls.Trim(p.text(i))
	if fragment := bytes.IndexByte(text, '#'); fragment >= 0 {
		text = text[:fragment]
	}
	if high := p.texts[i].Low + len(text); high < p.texts[i].High {
		p.texts[i].High, p.signatures[i] = high, signatures.Of(text)
	}
}

// text returns path i.
func (p *pathBlock) text(i int) []byte { return p.data[p.texts[i].Low:p.texts[i].High] }

const (
	// maxSkipLists, maxSkipSuffixes and maxSkipTries bound what skipUnaffected does for a
	// path: the numbers of lists and suffixes that it compares by signature, and the number of
	// suffixes that it tries. It leaves the rest to resolve, which may use an index.
	maxSkipLists    = 4
	maxSkipSuffixes = 512
	maxSkipTries    = 8
)

// skipUnaffected returns the index of the first path in [low, high) whose verdict a
// wildcard rule may change; high if there is none. v is the undecided verdict of all these
// paths. Call resolve for the path to know whether it changes.
func (t *Trie) skipUnaffected(v *prefixVerdict, paths *pathBlock, low, high int) int {
	c, kind := &t.rules, v.opposite()
	lists, suffixes := 0, 0    // the numbers of those seen so far
	floor := v.candidates.best // the rule that a suffix must beat
	below := c.suffixCount()   // the suffixes of lists above come before this one
	for list := v.candidates.list; c.mayBeat(list, kind, floor); {
		record := c.list(list)
		r := suffixRange{depth: kernels.Load32(c.data, record)}
		r.first, r.last = c.suffixesOf(record, kind, below)
		below = r.first
		lists, suffixes = lists+1, suffixes+r.last-r.first
		if lists > maxSkipLists || suffixes > maxSkipSuffixes {
			return low
		}
		signatures := c.signaturesOf(r)
		for i := low; i < high; i++ { // high sinks to the first path that this list may change
			path, suffix := kernels.FirstFit(paths.signatures[i:high], signatures)
			if i += path; i < high && !c.unaffected(r, suffix, floor, paths, i) {
				high = i
			}
		}
		list = c.above(record, list)
	}
	return high
}

// suffixRange is the suffixes [first, last) of one kind in a list, whose literal prefix has depth
// bytes.
type suffixRange struct {
	first, last int
	depth       uint32
}

// signaturesOf returns the signatures of a range.
func (c *compiled) signaturesOf(r suffixRange) []byte {
	return c.data[int(c.signatures)+r.first*kernels.SignatureSize : int(c.signatures)+r.last*kernels.SignatureSize]
}

// unaffected reports whether path i has a single spelling and no suffix in the range with a
// rule above floor matches it. first is the index in the range of the first suffix whose signature
// fits the path. It gives up after maxSkipTries suffixes and returns false.
func (c *compiled) unaffected(r suffixRange, first int, floor uint32, paths *pathBlock, i int) bool {
	signature := paths.signatures[i]
	if signature&kernels.HardBits != 0 {
		return false
	}
	path := paths.text(i)
	tries := 0
	for suffix := r.first + first; suffix < r.last; suffix = c.nextSuffix(suffix+1, r.last, ^signature) {
		if c.ruleOf(suffix) <= floor {
			break // the best rule comes first
		}
		if tries++; tries > maxSkipTries {
			return false
		}
		if c.matchSuffix(suffix, path, path, r.depth) {
			return false
		}
	}
	return true
}
