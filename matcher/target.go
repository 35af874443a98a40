package matcher

import "robotsbatch/matcher/robotstxt"

// Target is a path with query in the spellings in which rules see it. It is
// made once a URL and matched against the tries of any number of agents. The
// zero value is ready for Set.
type Target struct {
	plain []byte // escapes as written, normalised
	query []byte // the same, with "%2F" and "%3F" of the query decoded

	plainSet octetBits // of plain
	querySet octetBits // of query

	plainMemory []byte
	queryMemory []byte
}

// octetBits is an octetSet that is made when first asked for.
type octetBits struct {
	set   uint64
	known bool
}

func (b *octetBits) of(s []byte) uint64 {
	if !b.known {
		b.set, b.known = octetSet(s), true
	}
	return b.set
}

// Set takes a path as Split returns it. The Target aliases it until the next
// Set.
func (t *Target) Set(path []byte, p Profile) {
	t.plain, t.query = path, path
	t.plainSet, t.querySet = octetBits{}, octetBits{}
	if p == robotstxt.Google || isNormal(path) {
		return
	}
	t.plainMemory = appendNormal(t.plainMemory[:0], path)
	t.plain, t.query = t.plainMemory, t.plainMemory
	if at := queryEscape(t.plain); at >= 0 {
		t.queryMemory = appendQueryNormal(t.queryMemory[:0], t.plain, at)
		t.query = t.queryMemory
	}
}
