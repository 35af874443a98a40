package matcher

import (
	"bytes"

	"robotsbatch/matcher/robotstxt"
)

// Target is a path with query in the spellings in which rules see it. It is
// made once a URL and matched against the tries of any number of agents. The
// zero value is ready for Set.
type Target struct {
	raw     []byte // as written; may have a fragment
	profile Profile

	// What follows is made by prepare, when a match cannot do without.
	prepared bool
	plain    []byte   // normalised, escapes of the query as they are
	query    []byte   // the same with "%2F" and "%3F" of the query decoded
	sets     octetSet // of plain and query together
	slashes  uint64   // slashSet of both together; made when first asked for
	slashed  bool     // slashes is made

	ends, windows marks // for indexedTail

	plainMemory []byte
	queryMemory []byte
}

// Set takes a path, which starts with a slash; a fragment is ignored. The
// Target aliases path until the next Set.
func (t *Target) Set(path []byte, p Profile) {
	t.raw, t.profile, t.prepared = path, p, false
}

// prepare makes the spellings and their sets. One scan finds out whether there
// is anything to do at all.
func (t *Target) prepare() {
	if t.prepared {
		return
	}
	t.prepared, t.slashed = true, false
	path, set := t.raw, setOf(t.raw)
	if set&fragmentBit != 0 {
		path = path[:bytes.IndexByte(path, '#')]
		set = setOf(path)
	}
	if set&workBit != 0 && t.profile == robotstxt.RFC9309 {
		t.normalise(path)
		return
	}
	t.plain, t.query, t.sets = path, path, set
}

// slashSet is the slashSet of all spellings.
func (t *Target) slashSet() uint64 {
	if !t.slashed {
		t.slashes, t.slashed = slashSet(t.query), true
		if len(t.plain) != len(t.query) {
			t.slashes |= slashSet(t.plain)
		}
	}
	return t.slashes
}

func (t *Target) normalise(path []byte) {
	t.plainMemory = appendNormal(t.plainMemory[:0], path)
	t.plain, t.query, t.sets = t.plainMemory, t.plainMemory, setOf(t.plainMemory)
	if at := queryEscape(t.plain); at >= 0 {
		t.queryMemory = appendQueryNormal(t.queryMemory[:0], t.plain, at)
		t.query = t.queryMemory
		t.sets |= setOf(t.query)
	}
}
