package batch

import (
	"bytes"

	"robotsbatch/matcher"
)

const (
	// recallBits is of how many bits the number of a place is.
	recallBits = 12
	// maxRecall is the longest beginning that is kept, in octets.
	maxRecall = 62
	// recallShare is by what part of Options.Memory the rules that are kept with
	// all of them are bound: so many a cache may want to drop and cannot. Rules
	// that are kept with several count as often.
	recallShare = 32
)

// recall is what is known of beginnings of URLs that came before, wherever: in a
// frontier without order rows of few hosts alternate, and most are settled by what
// one before had to be looked at for. A beginning has one place, by its authority
// and the octet after the path's slash, and keeps it until another with this place
// comes twice in a row.
type recall struct {
	met    [1 << recallBits]uint16    // a part of the hash of what came last
	places *[1 << recallBits]recalled // nil before anything is kept
	rules  int64                      // octets of the rules in all places
}

// recalled is what the evaluator knows of all URLs with one beginning: its start,
// path, open, origin, first and standings.
type recalled struct {
	start     [maxRecall]byte
	length    uint8 // of start; 0 for an empty place
	path      uint8
	open      bool
	origin    matcher.Origin
	first     []int
	standings []matcher.Standing
	rules     int64 // octets; with it, start and origin lie in a line of the cache each
}

// recall sets what is known of a URL, whose placeOf is given, to what is kept; false
// if nothing is.
func (e *Evaluator) recall(row int, url []byte, hash uint64) bool {
	m := &e.memory
	if hash == 0 || m.places == nil {
		return false
	}
	r := &m.places[hash>>(64-recallBits)]
	n := int(r.length)
	if n == 0 || len(url) < n || string(url[:n]) != string(r.start[:n]) {
		return false
	}
	start, written := r.start[:n:n], r.start[:r.path:r.path]
	if e.wantsFacts() && !bytes.Equal(e.written, written) {
		e.facts.begin(row, &r.origin)
	}
	e.written, e.origin = written, &r.origin
	e.start, e.path, e.open = start, int(r.path), r.open
	for agent := range r.standings { // hardly ever so many that copy is faster
		e.first[agent], e.standings[agent] = r.first[agent], r.standings[agent]
	}
	return true
}

// remember keeps what is known of the URLs with e.start if the one before with
// this place had the same hash.
func (e *Evaluator) remember(hash uint64) {
	if hash == 0 {
		return
	}
	m := &e.memory
	place, part := hash>>(64-recallBits), uint16(hash>>32)
	if m.met[place] != part {
		m.met[place] = part
		return
	}
	if m.places == nil {
		m.places = new([1 << recallBits]recalled)
	}
	r, rules := &m.places[place], sizeOf(e.origin.Tries)
	if len(e.start) > maxRecall || m.rules-r.rules+rules > e.options.Memory/recallShare {
		return
	}
	m.rules += rules - r.rules
	r.rules = rules
	r.length, r.path, r.open = uint8(copy(r.start[:], e.start)), uint8(e.path), e.open
	r.origin = *e.origin
	r.first = append(r.first[:0], e.first...)
	r.standings = append(r.standings[:0], e.standings...)
}

// sizeOf is how many octets of memory tries take.
func sizeOf(tries []matcher.Trie) (size int64) {
	for i := range tries {
		size += int64(tries[i].Size())
	}
	return size
}
