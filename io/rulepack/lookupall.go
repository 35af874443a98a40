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
// It goes through the keys once for each thing on the way to the rules, so that what
// has to be waited for comes for many at a time.
func (p *Pack) LookupAll(keys []matcher.Key, origins []matcher.Origin) (i int, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer p.guard(&err)
	for i < len(keys) {
		end := min(i+atOnce, len(keys))
		n, err := p.lookupSome(keys[i:end], origins[i:end])
		if i += n; err != nil {
			return i, err
		}
	}
	return 0, nil
}

// lookupSome is LookupAll for at most atOnce keys. It returns how many were looked
// up before an error.
func (p *Pack) lookupSome(keys []matcher.Key, origins []matcher.Origin) (int, error) {
	var found [atOnce]origin
	n, err := p.findAll(keys, &found)
	p.touch(found[:n])
	for i := range n {
		if err := p.tell(found[i], &origins[i]); err != nil {
			return i, err
		}
	}
	matcher.Touch(origins[:n])
	return n, err
}

// findAll finds what the pack has on keys. It returns how many were found before an
// error.
func (p *Pack) findAll(keys []matcher.Key, found *[atOnce]origin) (n int, err error) {
	var ways [atOnce]way
	for i := range keys {
		ways[i] = p.way(keys[i].Text)
	}
	p.touchPages(ways[:len(keys)])
	for n < len(keys) {
		if found[n], err = p.find(keys[n].Text, ways[n]); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// touchPages has the beginnings of pages come into the cache. What it and its like
// return means nothing.
//
//go:noinline
func (p *Pack) touchPages(ways []way) (sum uint64) {
	const lines = pageHeaderSize + 2*pageRoom/(entrySize+24) // the fingerprints of most pages
	for i := range ways {
		if number := uint64(ways[i].page); number < uint64(p.pageCount) {
			for at := uint64(0); at < lines; at += 64 {
				sum += uint64(p.pages[number*pageSize+at])
			}
		}
	}
	return sum
}

// touch has the bodies of origins come into the cache that are open.
//
//go:noinline
func (p *Pack) touch(found []origin) (sum uint64) {
	for i := range found {
		if body := found[i].body; body < p.bodies {
			sum += uint64(p.cache.place[body].Load())
		}
	}
	for i := range found {
		if body := found[i].body; body < p.bodies {
			if b := p.cache.get(body); b != nil {
				sum += uint64(len(b.tries))
			}
		}
	}
	return sum
}
