package matcher

import (
	"bytes"

	"robotsbatch/matcher/internal/kernels"
	"robotsbatch/matcher/robotstxt"
	"robotsbatch/matcher/urls"
)

// Target is a path with query in the spellings in which rules see it. It is
// made once a URL and matched against the tries of any number of agents. The
// zero value is ready for Set.
type Target struct {
	raw     []byte // as written; may have a fragment
	profile Profile

	// What follows is made by prepare, when a match cannot do without.
	prepared  bool
	plain     []byte            // normalised, escapes of the query as they are
	query     []byte            // the same with "%2F" and "%3F" of the query decoded
	signature kernels.Signature // of plain and query together

	lists, indexLiterals marks       // for indexedSuffix
	untried              [2][]uint32 // suffixes that it put off, by spelling
	sweepers             [sweepers]*sweeper
	nextSweeper          int // whose place is taken next

	plainMemory []byte
	queryMemory []byte
}

// Set takes a path, which starts with a slash; a fragment is ignored. The
// Target aliases path until the next Set.
func (t *Target) Set(path []byte, p Profile) {
	t.raw, t.profile, t.prepared = path, p, false
}

// setFrom takes path i of a block; see Set.
func (t *Target) setFrom(paths *pathBlock, i int, p Profile) {
	t.Set(paths.text(i), p)
	if signature := paths.signatures[i]; signature&kernels.HardBits == 0 {
		t.plain, t.query, t.signature, t.prepared = t.raw, t.raw, signature, true
	}
}

// Forget lets go of the path.
func (t *Target) Forget() { t.Set(nil, t.profile); t.plain, t.query = nil, nil }

// Path is the path as it was set.
func (t *Target) Path() []byte { return t.raw }

// prepare makes the spellings and their sets. One scan finds out whether there
// is anything to do at all.
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

func (t *Target) normalise(path []byte) {
	t.plainMemory = urls.AppendNormal(t.plainMemory[:0], path)
	t.plain, t.query, t.signature = t.plainMemory, t.plainMemory, signatures.Of(t.plainMemory)
	if at := urls.QueryEscape(t.plain); at >= 0 {
		t.queryMemory = urls.AppendQueryNormal(t.queryMemory[:0], t.plain, at)
		t.query = t.queryMemory
		t.signature |= signatures.Of(t.query)
	}
}

// signatures makes the signatures of texts.
var signatures = kernels.NewSignatureTable(func(c byte) bool { return urls.NeedsWork(c) })

// literalSignature is the signature that a path must have to contain a literal.
func literalSignature(s []byte) kernels.Signature { return signatures.Of(s) &^ kernels.HardBits }
