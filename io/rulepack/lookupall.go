package rulepack

import (
	"runtime/debug"

	"robotsbatch/matcher"
)

// atOnce is how many authorities are looked up together: enough for loads from memory
// to overlap, and few enough for the loaded data to stay in the processor's caches.
const atOnce = 64

var _ matcher.BulkOrigins = (*Pack)(nil)

// LookupAll implements [matcher.BulkOrigins] with the same results as Lookup for each
// key.
//
// It does each step of the lookup for all keys before the next step, so that the loads
// of a step overlap.
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

// lookupSome is LookupAll for at most atOnce keys. It returns how many succeeded before an
// error.
func (p *Pack) lookupSome(keys []matcher.Key, origins []matcher.Origin) (int, error) {
	var found [atOnce]origin
	n, err := p.findAll(keys, &found)
	p.touchBodies(found[:n])
	for i := range n {
		if err := p.tell(found[i], &origins[i]); err != nil {
			return i, err
		}
	}
	matcher.Touch(origins[:n])
	return n, err
}

// findAll finds the origins of keys. It returns how many were looked up before an
// error.
func (p *Pack) findAll(keys []matcher.Key, found *[atOnce]origin) (n int, err error) {
	var locations [atOnce]location
	for i := range keys {
		locations[i] = p.locate(keys[i].Text)
	}
	p.touchBuckets(locations[:len(keys)])
	for n < len(keys) {
		if found[n], err = p.find(keys[n].Text, locations[n]); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// touchBuckets loads the fingerprints of buckets into the processor's cache. Its result
// only keeps the compiler from removing the loads.
//
//go:noinline
func (p *Pack) touchBuckets(locations []location) (sum uint64) {
	const lines = bucketHeaderSize + 2*printBlock
	for i := range locations {
		if start := locations[i].start; start+lines <= uint64(len(p.authorities)) {
			sum += uint64(p.authorities[start]) + uint64(p.authorities[start+lines-1])
		}
	}
	return sum
}

// touchBodies loads the open bodies of origins into the processor's cache.
//
//go:noinline
func (p *Pack) touchBodies(found []origin) (sum uint64) {
	for i := range found {
		if body := found[i].body; body < p.bodies {
			if b, ok := p.opened.Peek(body); ok {
				sum += uint64(len(b.tries))
			}
		}
	}
	return sum
}
