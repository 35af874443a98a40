package rulepack

import (
	"runtime/debug"

	"robotsbatch/matcher"
)

// atOnce is how many authorities are looked up together: so many that nothing is
// waited for one by one, and so few that what came stays in the nearest caches.
const atOnce = 64

var _ matcher.BulkOrigins = (*Pack)(nil)

// LookupAll implements [matcher.BulkOrigins]: origins and errors are those of
// Lookup, key by key.
//
// Before keys are looked up, it goes through them once for each thing on the way
// to the rules, so that what has to be waited for comes for many at a time.
func (p *Pack) LookupAll(keys []matcher.Key, origins []matcher.Origin) (i int, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer p.guard(&err)
	var ways [atOnce]way
	for start := 0; start < len(keys); start += atOnce {
		end := min(start+atOnce, len(keys))
		i = start
		p.reach(keys[start:end], &ways)
		for ; i < end; i++ {
			if err := p.lookup(keys[i].Text, ways[i-start], &origins[i]); err != nil {
				return i, err
			}
		}
		matcher.Touch(origins[start:end])
	}
	return 0, nil
}

// reach sets the ways to keys, and has what is on them come into the cache. It
// looks only into pages that were checked.
//
//go:noinline
func (p *Pack) reach(keys []matcher.Key, ways *[atOnce]way) (sum uint64) {
	for i := range keys {
		ways[i] = p.way(keys[i].Text)
	}
	for i := range keys {
		if number := uint64(ways[i].page); number < uint64(p.pageCount) {
			const lines = pageHeaderSize + 2*pageRoom/(entrySize+24) // the fingerprints of most pages
			for at := uint64(0); at < lines; at += 64 {
				sum += uint64(p.pages[number*pageSize+at])
			}
		}
	}
	var bodies [atOnce]uint32
	for i := range keys {
		bodies[i] = noBody
		w := &ways[i]
		if w.page >= p.pageCount || !p.checkedPages.has(w.page) {
			continue
		}
		found := page(p.pages[uint64(w.page)*pageSize:][:pageSize])
		if w.at = found.next(w.hash, 0); w.at < found.count() {
			bodies[i] = found.origin(w.at).body
			if text := found.text(w.at); len(text) > 0 {
				sum += uint64(text[0])
			}
		}
	}
	for i := range keys {
		if body := bodies[i]; body < p.bodies {
			sum += uint64(p.cache.place[body].Load())
		}
	}
	for i := range keys {
		if body := bodies[i]; body < p.bodies {
			if b := p.cache.get(body); b != nil {
				sum += uint64(len(b.tries))
			}
		}
	}
	return sum
}
