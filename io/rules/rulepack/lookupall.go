package rulepack

import (
	"runtime/debug"

	"robotsbatch/matcher"
)

// atOnce is how many authorities are looked up together: enough for loads from memory
// to overlap, and few enough for the loaded data to stay in the processor's caches.
const atOnce = 64

var _ matcher.BulkOrigins = (*Pack)(nil)

// LookupAll implements [matcher.BulkOrigins] with the same results as Lookup for each key.
// It takes atOnce keys at a time. For these it does each step of the lookup for all before
// the next step, so that the loads of a step overlap.
func (p *Pack) LookupAll(keys []matcher.Key, origins []matcher.Origin) (i int, err error) {
	defer p.guard(debug.SetPanicOnFault(true), &err)
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
	if i, e := p.setOriginsInOrder(found[:n], origins); e != nil {
		return i, e
	}
	return n, err
}

// setOriginsInOrder does what setOrigins does. If several indices fail, it returns the error
// of the first one, where setOrigins returns that of the earliest step.
func (p *Pack) setOriginsInOrder(found []origin, origins []matcher.Origin) (int, error) {
	if err := p.setOrigins(found, origins[:len(found)]); err == nil {
		if p.paging != nil {
			p.paging.looked(len(found))
		}
		return 0, nil
	}
	for i := range found {
		if err := p.setOrigins(found[i:i+1], origins[i:i+1]); err != nil {
			return i, err
		}
	}
	return 0, nil
}

// findAll finds the origins of keys. It returns how many were looked up before an
// error.
func (p *Pack) findAll(keys []matcher.Key, found *[atOnce]origin) (n int, err error) {
	var likely [atOnce]likelyPlace
	p.likelyPlaces(keys, &likely)
	if p.asOf != 0 {
		p.touchIntervals(likely[:len(keys)])
	}
	for n < len(keys) {
		l := &likely[n]
		if l.record != nil && l.record.is(keys[n].Text) {
			found[n], err = p.deciding(keys[n].Text, l.bucket, bucket(p.authorities[l.start:]), l.place)
		} else {
			found[n], err = p.find(keys[n].Text, l.location)
		}
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// likelyPlace is where an authority most likely is in the pack.
type likelyPlace struct {
	location
	place  int
	record bucketEntry // nil if it is not there, or if the bucket was not checked yet
}

// likelyPlaces finds where keys most likely are, and loads their records.
//
// Each step is a loop over all keys that reads one place of the pack for each, and no more
// than the next step needs.
func (p *Pack) likelyPlaces(keys []matcher.Key, likely *[atOnce]likelyPlace) {
	for i := range keys {
		likely[i].location = p.locate(keys[i].Text)
	}
	p.touchBuckets(likely[:len(keys)])
	for i := range keys {
		l := &likely[i]
		if l.start > uint64(len(p.authorities)) || !p.checkedBuckets.has(l.bucket) {
			continue
		}
		b := bucket(p.authorities[l.start:])
		if l.place = b.likely(l.hash); l.place >= 0 {
			l.record = b.record(l.place)
		}
	}
	touchRecords(likely[:len(keys)])
}

// touchBuckets loads the fingerprints of buckets into the processor's cache. Its result
// only keeps the compiler from removing the loads.
//
//go:noinline
func (p *Pack) touchBuckets(likely []likelyPlace) (sum uint64) {
	const lines = bucketHeaderSize + 2*printBlock + 2*perBucket
	for i := range likely {
		if start := likely[i].start; start+lines <= uint64(len(p.authorities)) {
			sum += uint64(p.authorities[start]) + uint64(p.authorities[start+lines-1])
		}
	}
	return sum
}

// touchRecords loads records into the processor's cache.
//
//go:noinline
func touchRecords(likely []likelyPlace) (sum uint64) {
	for i := range likely {
		if r := likely[i].record; len(r) > 0 {
			sum += uint64(r[0]) + uint64(r[len(r)-1])
		}
	}
	return sum
}

// touchIntervals loads the intervals of authorities into the processor's cache, in a loop for each
// step: where the intervals of their buckets start, which of those are theirs, and the intervals.
// Its result only keeps the compiler from removing the loads.
//
//go:noinline
func (p *Pack) touchIntervals(likely []likelyPlace) (sum uint64) {
	var starts [atOnce]uint64
	var intervals [atOnce][]byte
	for i := range likely {
		if likely[i].record != nil {
			starts[i] = le64(p.starts[8*uint64(likely[i].bucket):])
		}
	}
	for i := range likely {
		if l := &likely[i]; l.record != nil && starts[i] <= uint64(len(p.intervals)) {
			intervals[i] = rowsAt(p.intervals[starts[i]:], bucket(p.authorities[l.start:]).count(), l.place)
		}
	}
	for _, r := range intervals[:len(likely)] {
		for at := 0; at < len(r); at += cacheLine {
			sum += uint64(r[at])
		}
		if len(r) > 0 {
			sum += uint64(r[len(r)-1])
		}
	}
	return sum
}

// touchTimes loads the times of the fetches in spans.
//
//go:noinline
func (p *Pack) touchTimes(spans []*matcher.Span) (sum uint64) {
	for _, s := range spans {
		if s != nil && s.Times[0] < s.Times[1] && s.Times[1] <= uint64(len(p.intervals)) {
			sum += uint64(p.intervals[s.Times[0]]) + uint64(p.intervals[s.Times[1]-1])
		}
	}
	return sum
}

const (
	cacheLine = 64
	// mostTouched is how many intervals of an authority are touched.
	mostTouched = 32
)

// rowsAt returns the first mostTouched intervals of an authority; none if they would lie
// outside data, which is a bucket of count authorities. place is the authority's index there.
func rowsAt(data []byte, count, place int) []byte {
	head, at := intervalHeaderSize+4*uint64(count), intervalHeaderSize+4*uint64(place)
	if at+4 > uint64(len(data)) {
		return nil
	}
	start, end := uint64(0), uint64(le32(data[at:]))
	if place > 0 {
		start = uint64(le32(data[at-4:]))
	}
	low, high := head+intervalSize*start, head+intervalSize*min(end, start+mostTouched)
	if low > high || high > uint64(len(data)) {
		return nil
	}
	return data[low:high]
}
