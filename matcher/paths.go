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

// maxSkipLists and maxSkipSuffixes bound the numbers of lists and suffixes that skipUnaffected
// compares for a path. It leaves the rest to resolve, which may use an index.
const (
	maxSkipLists    = 4
	maxSkipSuffixes = 512
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
		first, last := c.suffixesOf(record, kind, below)
		below = first
		lists, suffixes = lists+1, suffixes+last-first
		if lists > maxSkipLists || suffixes > maxSkipSuffixes {
			return low // too many to compare here: resolve decides about this path
		}
		// The first path that one of these suffixes may match; lists above matter only for the paths before it.
		high = low + kernels.FirstFit(paths.signatures[low:high], c.signaturesOf(first, last))
		list = c.above(record, list)
	}
	return high
}

// signaturesOf returns the signatures of suffixes [first, last).
func (c *compiled) signaturesOf(first, last int) []byte {
	return c.data[int(c.signatures)+first*kernels.SignatureSize : int(c.signatures)+last*kernels.SignatureSize]
}
