package rulepack

import (
	"runtime/debug"
	"slices"

	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
)

// findAt returns an authority's origin at Options.AsOf.
func (p *Pack) findAt(number uint32, b bucket, place int) (origin, error) {
	all, err := p.intervalsOf(number, b, place)
	if err != nil {
		return unknown, err
	}
	n := all.before(p.asOf + 1)
	if n == 0 {
		return notYet, nil
	}
	i := all.at(n - 1)
	times, ok := within(all.times, all.timesOf(n-1))
	if !ok || !p.sound(i.origin) {
		return unknown, p.damaged("intervals of bucket %d", number)
	}
	i.fetched = i.fetchedAt(times, p.asOf)
	return i.origin, nil
}

var _ matcher.BulkHistorical = (*Pack)(nil)

// AppendSpans implements [matcher.Historical], for a pack with a history.
func (p *Pack) AppendSpans(spans []matcher.Span, authority []byte) (_ []matcher.Span, err error) {
	defer p.guard(debug.SetPanicOnFault(true), &err)
	l := p.locate(authority)
	b, place, known, err := p.findPlace(authority, l)
	if err != nil || !known {
		return spans, err
	}
	return p.appendSpans(spans, l.bucket, b, place)
}

// AppendAllSpans implements [matcher.BulkHistorical], with the same results as AppendSpans
// for each key. It goes through the keys once for each step, as LookupAll does.
func (p *Pack) AppendAllSpans(spans []matcher.Span, keys []matcher.Key, ends []int) (_ []matcher.Span, n int, err error) {
	defer p.guard(debug.SetPanicOnFault(true), &err)
	var likely [atOnce]likelyPlace
	for first := 0; first < len(keys); first += atOnce {
		some := keys[first:min(first+atOnce, len(keys))]
		clear(likely[:])
		p.likelyPlaces(some, &likely)
		p.touchIntervals(likely[:len(some)])
		for i := range some {
			l := &likely[i]
			b, place, known := bucket(nil), l.place, l.record != nil && l.record.is(some[i].Text)
			if known {
				b = p.authorities[l.start:]
			} else if b, place, known, err = p.findPlace(some[i].Text, l.location); err != nil {
				return spans, first + i, err
			}
			if known {
				if spans, err = p.appendSpans(spans, l.bucket, b, place); err != nil {
					return spans, first + i, err
				}
			}
			ends[first+i] = len(spans)
		}
	}
	return spans, 0, nil
}

// appendSpans appends the spans of an authority, given by its bucket and index there.
func (p *Pack) appendSpans(spans []matcher.Span, number uint32, b bucket, place int) ([]matcher.Span, error) {
	all, err := p.intervalsOf(number, b, place)
	if err != nil {
		return spans, err
	}
	count := all.len()
	spans = slices.Grow(spans, count)
	first := len(spans)
	spans = spans[:first+count]
	timesAt := all.begin + uint64(all.start)
	for n := range count { // field by field: as an interval, each would be copied twice
		row := all.rows[intervalSize*n : intervalSize*(n+1)]
		timesEnd := all.begin + uint64(le32(row[8:]))
		if !p.sound(origin{body: le32(row[12:]), outcome: row[22]}) || timesEnd < timesAt {
			return spans[:first], p.damaged("intervals of bucket %d", number)
		}
		spans[first+n] = matcher.Span{
			From: int64(le32(row)), Fetched: int64(le32(row[16:])), Seen: int64(le32(row[4:])),
			Access: access.Outcome(row[22]), Stale: row[23]&flagStale != 0, Status: int(le16(row[20:])), Body: le32(row[12:]),
			Times: [2]uint64{timesAt, timesEnd},
		}
		timesAt = timesEnd
	}
	return spans, nil
}

// OpenSpan implements [matcher.Historical].
func (p *Pack) OpenSpan(_ []byte, s *matcher.Span, o *matcher.Origin) (err error) {
	defer p.guard(debug.SetPanicOnFault(true), &err)
	return p.setOrigin(originOf(s), o)
}

// OpenAllSpans implements [matcher.BulkHistorical]. After a fault of the mapped file it returns
// the index of the first of the atOnce spans that it was opening.
func (p *Pack) OpenAllSpans(_ []matcher.Key, spans []*matcher.Span, origins []matcher.Origin) (first int, err error) {
	defer p.guard(debug.SetPanicOnFault(true), &err)
	var found [atOnce]origin
	for ; first < len(spans); first += atOnce {
		some := spans[first:min(first+atOnce, len(spans))]
		p.touchTimes(some) // loads what AppendTimes reads next
		for i, s := range some {
			found[i] = unknown // resets the origin
			if s != nil {
				found[i] = originOf(s)
			}
		}
		if i, err := p.setOriginsInOrder(found[:len(some)], origins[first:]); err != nil {
			return first + i, err
		}
	}
	return 0, nil
}

// originOf returns the origin of a span.
func originOf(s *matcher.Span) origin {
	o := origin{body: s.Body, fetched: uint32(s.Fetched), status: uint16(s.Status), outcome: uint8(s.Access)}
	if s.Stale {
		o.flags |= flagStale
	}
	return o
}

// AppendTimes implements [matcher.Historical].
func (p *Pack) AppendTimes(times []int64, authority []byte, s *matcher.Span) (_ []int64, err error) {
	defer p.guard(debug.SetPanicOnFault(true), &err)
	times = append(times, s.Fetched)
	between, ok := within(p.intervals, s.Times)
	if !ok {
		return times, p.damaged("the times of %q", authority)
	}
	at := uint32(s.Fetched)
	for ok {
		if at, between, ok = nextTime(between, at); ok {
			times = append(times, int64(at))
		}
	}
	if s.Seen != s.Fetched {
		times = append(times, s.Seen)
	}
	return times, nil
}

// intervalsOf returns the intervals of authority i of a bucket.
func (p *Pack) intervalsOf(number uint32, b bucket, i int) (intervals, error) {
	data, err := p.intervalBucket(number, b)
	if err != nil {
		return intervals{}, err
	}
	if uint64(len(data)) < intervalHeaderSize+4*uint64(i+1) {
		return intervals{}, p.damaged("intervals of bucket %d", number)
	}
	start, end := uint32(0), le32(data[intervalHeaderSize+4*i:])
	if i > 0 {
		start = le32(data[intervalHeaderSize+4*(i-1):])
	}
	all, ok := openIntervals(data, b.count())
	if !ok || start >= end || uint64(end) > uint64(all.len()) {
		return intervals{}, p.damaged("intervals of bucket %d", number)
	}
	of := intervals{
		rows: all.rows[intervalSize*uint64(start) : intervalSize*uint64(end)], times: all.times,
		begin: le64(p.starts[8*uint64(number):]) + uint64(len(data)-len(all.times)),
	}
	if start > 0 {
		of.start = le32(all.rows[intervalSize*uint64(start-1)+8:])
	}
	return of, nil
}

// openIntervals returns all intervals of a bucket; ok is false if they lie outside.
func openIntervals(data []byte, authorities int) (all intervals, ok bool) {
	at := intervalHeaderSize + 4*int64(authorities)
	if at > int64(len(data)) {
		return all, false
	}
	rows, size := data[at:], uint64(0)
	if authorities > 0 {
		size = intervalSize * uint64(le32(data[at-4:]))
	}
	if size > uint64(len(rows)) {
		return all, false
	}
	return intervals{rows: rows[:size], times: rows[size:]}, true
}

// intervalBucket returns a bucket of intervals, which it checks at its first use.
func (p *Pack) intervalBucket(number uint32, b bucket) ([]byte, error) {
	start, end := le64(p.starts[8*uint64(number):]), le64(p.starts[8*uint64(number+1):])
	data, ok := within(p.intervals, [2]uint64{start, end})
	if !ok {
		return nil, p.damaged("intervals of bucket %d lie outside", number)
	}
	if p.checkedIntervals.has(number) {
		return data, nil
	}
	if err := checkIntervals(number, b, data); err != nil {
		return nil, p.damaged("intervals of bucket %d: %w", number, err)
	}
	p.checkedIntervals.set(number)
	return data, nil
}

// checkIntervals checks the size and the checksum of a bucket of intervals. Its offsets and
// origins are checked when a lookup follows them, because a job looks at few of them.
func checkIntervals(number uint32, b bucket, data []byte) error {
	if int64(len(data)) < intervalHeaderSize+4*int64(b.count()) || int64(le32(data[4:])) != int64(b.count()) {
		return errBucketLayout
	}
	if bucketChecksum(number, data[4:]) != le32(data) {
		return errBucketChecksum
	}
	return nil
}
