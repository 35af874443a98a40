package matcher

import (
	"bytes"
	"slices"

	"robotsbatch/matcher/internal/kernels"
)

// Paths are paths with query in an array of bytes, such as a column's, each with
// what its signature says of it. The zero value is empty.
type Paths struct {
	data       []byte
	texts      []kernels.Bounds
	signatures []kernels.Signature // of the first ones
	met        meeting             // Hold's last
}

// meeting is a suffix that Hold found to match in a path.
type meeting struct {
	path  int
	rules *byte  // the suffix's Trie.Identity, nil for no meeting
	rule  uint32 // the suffix's, the best of its list and of those below
	above uint32 // the list above, from which on no suffix was tried
}

// Reset makes p empty. The paths that are added then lie in data, which p aliases.
func (p *Paths) Reset(data []byte) {
	p.data, p.texts, p.signatures, p.met = data, p.texts[:0], p.signatures[:0], meeting{}
}

// Add adds the path from byte low on and before high.
func (p *Paths) Add(low, high int) { p.texts = append(p.texts, kernels.Bounds{Low: low, High: high}) }

// prepare makes the signatures of the paths that were added, and cuts off what does
// not belong to them: blanks at the end of the URL, and then its fragment. What
// precedes the fragment stays, a blank, too. Trie.Hold needs it.
func (p *Paths) prepare() {
	p.signatures = slices.Grow(p.signatures[:0], len(p.texts))[:len(p.texts)]
	signatures.Sign(p.signatures, p.data, p.texts)
	for i, signature := range p.signatures {
		if signature&kernels.HardBits != 0 {
			p.trim(i)
		}
	}
}

// trim is prepare for path i.
func (p *Paths) trim(i int) {
	text := TrimURL(p.text(i))
	if fragment := bytes.IndexByte(text, '#'); fragment >= 0 {
		text = text[:fragment]
	}
	if high := p.texts[i].Low + len(text); high < p.texts[i].High {
		p.texts[i].High, p.signatures[i] = high, signatures.Of(text)
	}
}

// text is path i.
func (p *Paths) text(i int) []byte { return p.data[p.texts[i].Low:p.texts[i].High] }

const (
	// maxSkipLists, maxSkipSuffixes and maxSkipTries bound what Hold does for a
	// path: lists and suffixes whose signatures it looks at, and suffixes that it
	// tries. What takes more is for Settle, which may have an index.
	maxSkipLists    = 4
	maxSkipSuffixes = 512
	maxSkipTries    = 8
)

// Hold returns the first path from low on, and before high, of which it does not
// see that the verdict of an open Standing, which must hold for all of them,
// stays; high if there is none. That one is for Settle.
func (t *Trie) Hold(s *Standing, paths *Paths, low, high int) int {
	c, kind := &t.rules, s.against()
	lists, suffixes := 0, 0
	floor := s.candidates.best
	for list := s.candidates.list; c.mayBeat(list, kind, floor); {
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
			if i += path; i < high && !c.holds(r, suffix, floor, paths, i) {
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

// holds tells whether path i has but one spelling and no suffix that beats floor
// matches it, of those from suffix number fit of the range on, whose signature is in
// the path's; also false if that takes too many tries. A wildcard suffix that matches is noted.
func (c *compiled) holds(r suffixRange, fit int, floor uint32, paths *Paths, i int) bool {
	signature := paths.signatures[i]
	if signature&kernels.HardBits != 0 {
		return false
	}
	path := paths.text(i)
	tries := 0
	for suffix := r.first + fit; suffix < r.last; suffix = c.nextSuffix(suffix+1, r.last, ^signature) {
		rule := kernels.Load32(c.data, c.suffixes+suffix*suffixSize)
		if rule <= floor {
			break
		}
		if tries++; tries > maxSkipTries {
			return false
		}
		if c.matchSuffix(suffix, path, path, r.depth) {
			paths.met = meeting{path: i, rules: &c.data[0], rule: rule, above: r.above}
			return false
		}
	}
	return true
}
