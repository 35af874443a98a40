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
	if _, e := p.tellAll(found[:n], origins[:n]); e == nil {
		return n, err
	}
	// Steps meet the errors of later keys first: find that of the first key.
	for i := range n {
		if _, e := p.tellAll(found[i:i+1], origins[i:i+1]); e != nil {
			return i, e
		}
	}
	return n, err
}

// findAll finds the origins of keys. It returns how many were looked up before an
// error.
//
// Each step is a loop over all keys that reads one place of the pack for each, and no more
// than the next step needs.
func (p *Pack) findAll(keys []matcher.Key, found *[atOnce]origin) (n int, err error) {
	var locations [atOnce]location
	var records [atOnce]record
	for i := range keys {
		locations[i] = p.locate(keys[i].Text)
	}
	p.touchBuckets(locations[:len(keys)])
	if p.asOf == 0 {
		p.likelyRecords(locations[:len(keys)], &records)
		touchRecords(records[:len(keys)])
	}
	for n < len(keys) {
		if r := records[n]; r != nil && r.is(keys[n].Text) && p.sound(r.origin()) {
			found[n] = r.origin()
		} else if found[n], err = p.find(keys[n].Text, locations[n]); err != nil {
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
	const lines = bucketHeaderSize + 2*printBlock + 2*perBucket
	for i := range locations {
		if start := locations[i].start; start+lines <= uint64(len(p.authorities)) {
			sum += uint64(p.authorities[start]) + uint64(p.authorities[start+lines-1])
		}
	}
	return sum
}

// likelyRecords sets records to those of the authorities that the locations most likely are
// of; nil where there is none, or where the bucket was not checked yet.
func (p *Pack) likelyRecords(locations []location, records *[atOnce]record) {
	for i := range locations {
		l := &locations[i]
		if p.file == nil || l.start > uint64(len(p.authorities)) || !p.checkedBuckets.has(l.bucket) {
			continue
		}
		b := bucket(p.authorities[l.start:])
		if place := b.likely(l.hash); place >= 0 {
			records[i] = b.record(place)
		}
	}
}

// touchRecords loads records into the processor's cache.
//
//go:noinline
func touchRecords(records []record) (sum uint64) {
	for _, r := range records {
		if len(r) > 0 {
			sum += uint64(r[0]) + uint64(r[len(r)-1])
		}
	}
	return sum
}
