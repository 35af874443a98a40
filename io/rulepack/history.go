package rulepack

import (
	"runtime/debug"

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
		return unknown, nil
	}
	i := all.at(n - 1)
	if i.seen <= p.asOf {
		i.fetched = i.seen
	}
	return i.origin, nil
}

var _ matcher.Historical = (*Pack)(nil)

// AppendSpans implements [matcher.Historical], for a pack with a history.
func (p *Pack) AppendSpans(spans []matcher.Span, authority []byte) (_ []matcher.Span, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer p.guard(&err)
	l := p.locate(authority)
	b, place, known, err := p.place(authority, l)
	if err != nil || !known {
		return spans, err
	}
	all, err := p.intervalsOf(l.bucket, b, place)
	if err != nil {
		return spans, err
	}
	for n := range all.len() {
		i := all.at(n)
		spans = append(spans, matcher.Span{
			From: int64(i.from), Fetched: int64(i.fetched), Seen: int64(i.seen),
			Access: access.Outcome(i.outcome), Stale: i.flags&flagStale != 0, Status: int(i.status), Body: i.body,
		})
	}
	return spans, nil
}

// OpenSpan implements [matcher.Historical].
func (p *Pack) OpenSpan(_ []byte, s *matcher.Span, o *matcher.Origin) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer p.guard(&err)
	found := origin{body: s.Body, fetched: uint32(s.Fetched), status: uint16(s.Status), outcome: uint8(s.Access)}
	if s.Stale {
		found.flags |= flagStale
	}
	return p.tell(found, o)
}

// intervalsOf returns the intervals of authority i of a bucket.
func (p *Pack) intervalsOf(number uint32, b bucket, i int) (intervals, error) {
	data, err := p.intervalBucket(number, b)
	if err != nil {
		return nil, err
	}
	start, end := uint32(0), le32(data[intervalHeaderSize+4*i:])
	if i > 0 {
		start = le32(data[intervalHeaderSize+4*(i-1):])
	}
	rows := data[intervalHeaderSize+4*b.count():]
	return intervals(rows[intervalSize*uint64(start) : intervalSize*uint64(end)]), nil
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
	if err := p.checkIntervals(number, b, data); err != nil {
		return nil, p.damaged("intervals of bucket %d: %w", number, err)
	}
	p.checkedIntervals.set(number)
	return data, nil
}

// checkIntervals checks everything about a bucket of intervals.
func (p *Pack) checkIntervals(number uint32, b bucket, data []byte) error {
	count := b.count()
	if len(data) < intervalHeaderSize+4*count || int(le32(data[4:])) != count {
		return errBucketLayout
	}
	if bucketChecksum(number, data[4:]) != le32(data) {
		return errBucketChecksum
	}
	rows := intervals(data[intervalHeaderSize+4*count:])
	at := 0
	for i := range count {
		end := int(le32(data[intervalHeaderSize+4*i:]))
		if end <= at || end > rows.len() {
			return errBucketLayout
		}
		for n := at; n < end; n++ {
			if n > at && rows.from(n) <= rows.from(n-1) || !p.sound(rows.at(n).origin) {
				return errBucketLayout
			}
		}
		at = end
	}
	if at*intervalSize != len(rows) {
		return errBucketLayout
	}
	return nil
}
