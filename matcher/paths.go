package matcher

import (
	"bytes"
	"slices"

	"robotsbatch/matcher/internal/kernels"
	"robotsbatch/matcher/urls"
)

// pathBlock are paths with query in an array of bytes, such as a column's, each with
// its signature. The zero value is empty.
type pathBlock struct {
	data       []byte
	texts      []kernels.Bounds
	signatures []kernels.Signature // of the first ones
}

// reset makes p empty. The paths that are added then lie in data, which p aliases.
func (p *pathBlock) reset(data []byte) {
	p.data, p.texts, p.signatures = data, p.texts[:0], p.signatures[:0]
}

// add adds the path from byte low on and before high.
func (p *pathBlock) add(low, high int) {
	p.texts = append(p.texts, kernels.Bounds{Low: low, High: high})
}

// prepare makes the signatures of the paths that were added, and cuts off what does
// not belong to them: blanks at the end of the URL, and then its fragment. What
// precedes the fragment stays, a blank, too. skipUnaffected needs it.
func (p *pathBlock) prepare() {
	p.signatures = slices.Grow(p.signatures[:0], len(p.texts))[:len(p.texts)]
	signatures.Sign(p.signatures, p.data, p.texts)
	for i, signature := range p.signatures {
		if signature&kernels.HardBits != 0 {
			p.trim(i)
		}
	}
}

// trim is prepare for path i.
func (p *pathBlock) trim(i int) {
	text := urls.Trim(p.text(i))
	if fragment := bytes.IndexByte(text, '#'); fragment >= 0 {
		text = text[:fragment]
	}
	if high := p.texts[i].Low + len(text); high < p.texts[i].High {
		p.texts[i].High, p.signatures[i] = high, signatures.Of(text)
	}
}

// text is path i.
func (p *pathBlock) text(i int) []byte { return p.data[p.texts[i].Low:p.texts[i].High] }

const (
	// maxSkipLists, maxSkipSuffixes and maxSkipTries bound what skipUnaffected does for a
	// path: lists and suffixes whose signatures it looks at, and suffixes that it
	// tries. What takes more is for resolve, which may have an index.
	maxSkipLists    = 4
	maxSkipSuffixes = 512
	maxSkipTries    = 8
)

// skipUnaffected returns the index of the first path in [low, high) whose verdict a
// wildcard rule may change, high if there is none. v is undecided and is that of all
// of them. resolve finds whether it does.
func (t *Trie) skipUnaffected(v *prefixVerdict, paths *pathBlock, low, high int) int {
	c, kind := &t.rules, v.against()
	lists, suffixes := 0, 0
	floor := v.candidates.best
	for list := v.candidates.list; c.mayBeat(list, kind, floor); {
		record := c.list(list)
		r := suffixRange{depth: int(kernels.Load32(c.data, record)), above: kernels.Load32(c.data, record+24)}
		r.first, r.last = c.suffixesOf(record, kind)
		lists, suffixes = lists+1, suffixes+r.last-r.first
		if lists > maxSkipLists || suffixes > maxSkipSuffixes {
			return low
		}
		signatures := c.signaturesOf(r)
		for i := low; i < high; i++ {
			path, suffix := kernels.FirstFit(paths.signatures[i:high], signatures)
			if i += path; i < high && !c.unaffected(r, suffix, floor, paths, i) {
				high = i
			}
		}
		list = r.above
	}
	return high
}

// suffixRange is the suffixes of one kind in a list, whose literal prefix has depth
// bytes.
type suffixRange struct {
	first, last, depth int
	above              uint32 // the list above
}

// signaturesOf are the signatures of a range.
func (c *compiled) signaturesOf(r suffixRange) []byte {
	return c.data[c.signatures+r.first*kernels.SignatureSize : c.signatures+r.last*kernels.SignatureSize]
}

// unaffected tells whether path i has but one spelling and no suffix of a range that
// beats floor matches it. first is the first whose signature is in the path's. It is
// false, too, if that takes too many tries.
func (c *compiled) unaffected(r suffixRange, first int, floor uint32, paths *pathBlock, i int) bool {
	signature := paths.signatures[i]
	if signature&kernels.HardBits != 0 {
		return false
	}
	path := paths.text(i)
	tries := 0
	for suffix := r.first + first; suffix < r.last; suffix = c.nextSuffix(suffix+1, r.last, ^signature) {
		rule := kernels.Load32(c.data, c.suffixes+suffix*suffixSize)
		if rule <= floor {
			break
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
