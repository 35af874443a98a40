package matcher

import (
	"bytes"

	"robotsbatch/matcher/internal/kernels"
	"robotsbatch/matcher/robotstxt"
	"robotsbatch/matcher/urls"
)

// Target is a path with query, in the spellings that rules are compared with. It is set
// once for a URL and matched against any number of tries. The zero value is ready for Set.
type Target struct {
	raw     []byte // as written; may have a fragment
	profile Profile

	// prepare makes the rest when a match needs it.
	prepared  bool
	plain     []byte            // normalised, escapes in the query unchanged
	query     []byte            // the same with "%2F" and "%3F" in the query decoded
	signature kernels.Signature // of plain and query

	// What one search of an index keeps; see search.
	lists         numberSet   // the lists whose suffixes may match
	foundLiterals numberSet   // the index literals that it has found
	untried       [2][]uint32 // the suffixes that it has put off, by spellingOf
	putOff        numberSet   // the same suffixes

	sweepers    [sweepers]*sweeper // of the groups that were matched last; nil for none yet
	nextSweeper int                // the index of the next one to be replaced

	plainMemory []byte
	queryMemory []byte
}

// Set sets the path, which must start with a slash. A fragment is ignored. The Target
// aliases path until the next Set.
func (t *Target) Set(path []byte, p Profile) {
	t.raw, t.profile, t.prepared = path, p, false
}

// setFrom sets path i of a block, which pathBlock.prepare has prepared; see Set. If the block's
// signature shows that the path has one spelling, nothing is left for prepare to do: with 5,000
// wildcard rules that saves a quarter of the time.
func (t *Target) setFrom(paths *pathBlock, i int, p Profile) {
	t.Set(paths.text(i), p)
	if signature := paths.signatures[i]; signature&kernels.HardBits == 0 {
		t.plain, t.query, t.signature, t.prepared = t.raw, t.raw, signature, true
	}
}

// Forget drops the reference to the path.
func (t *Target) Forget() { t.Set(nil, t.profile); t.plain, t.query = nil, nil }

// Path returns the path as it was set.
func (t *Target) Path() []byte { return t.raw }

// prepare sets the spellings and their signature, once a path. One scan of the path tells
// whether it is normal already, as most are; the spellings of others are in the Target's memory.
func (t *Target) prepare() {
	if t.prepared {
		return
	}
	t.prepared = true
	path, signature := t.raw, signatures.Of(t.raw)
	if signature&kernels.FragmentBit != 0 {
		path = path[:bytes.IndexByte(path, '#')]
		signature = signatures.Of(path)
	}
	if signature&kernels.WorkBit != 0 && t.profile == robotstxt.RFC9309 {
		t.normalise(path)
		return
	}
	t.plain, t.query, t.signature = path, path, signature
}

// normalise does what prepare does for a path without fragment that may not be normal.
func (t *Target) normalise(path []byte) {
	t.plainMemory = urls.AppendNormal(t.plainMemory[:0], path)
	t.plain, t.query, t.signature = t.plainMemory, t.plainMemory, signatures.Of(t.plainMemory)
	if at := urls.QueryEscape(t.plain); at >= 0 {
		t.queryMemory = urls.AppendQueryNormal(t.queryMemory[:0], t.plain, at)
		t.query = t.queryMemory
		t.signature |= signatures.Of(t.query)
	}
}

// signatures makes the signatures of paths and literals.
var signatures = kernels.NewSignatureTable(urls.NeedsWork)

// literalSignature returns the bits that the signature of every path with this literal has.
func literalSignature(s []byte) kernels.Signature { return signatures.Of(s) &^ kernels.HardBits }
