package rulepack

import (
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"runtime/debug"
	"slices"
	"sort"

	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
)

// A pack with a history has a bucket of intervals for each bucket of authorities:
//
//	0  u32  checksum of the bucket's number and of all that follows
//	4  u32  number of authorities, as many as the bucket of authorities has
//	8  u32  for each authority: where its intervals end, as a number of intervals
//	   24   bytes for each interval, those of an authority oldest first:
//	         0  u32  its first second; 0: nothing is known of a time before
//	         4  u32  when the last fetch was made that says the same, 0: unknown
//	         8  u32  where the interval's times end in the bucket's
//	        12  12   an origin, with the time of the first such fetch
//	        the times of all intervals: those of the fetches between the first and the
//	        last one of an interval, a u32 each, in order
//
// Each authority has at least one interval. The origin in its bucket of authorities is
// for lookups without a time: it equals the interval's at Info.AsOf, but with the time
// of the last fetch, or is notYet if all intervals are later.
const (
	intervalHeaderSize = 8
	intervalSize       = 12 + originSize
	timeSize           = 4 // of a fetch between

	// Where the fields of an interval start; its first second is at 0.
	seenAt, timesEndAt, bodyAt, fetchedAt, statusAt, outcomeAt, flagsAt = 4, 8, 12, 16, 20, 22, 23

	// maxIntervals is the most intervals of an authority, and maxTimes the most bytes of
	// their times: of some hundred millions of fetches.
	maxIntervals = 1 << 14
	maxTimes     = 1 << 30
)

// interval is an access.Interval in the pack's form.
type interval struct {
	from, seen, timesEnd uint32
	origin
}

// appendTo appends the record of an interval, which readInterval reads.
func (i interval) appendTo(b []byte) []byte {
	return i.origin.appendTo(append32(b, i.from, i.seen, i.timesEnd))
}

func readInterval(b []byte) interval {
	return interval{from: le32(b), seen: le32(b[seenAt:]), timesEnd: le32(b[timesEndAt:]), origin: readOrigin(b[bodyAt:])}
}

// intervals are encoded intervals, oldest first.
type intervals struct {
	rows       []byte // intervalSize bytes each
	times      []byte // of these intervals, and maybe of others of the bucket
	timesStart uint32 // where the first interval's times start in times
	timesAt    uint64 // where times starts in the section intervals, for matcher.Span.Times
}

func (i intervals) len() int { return len(i.rows) / intervalSize }

func (i intervals) get(n int) interval { return readInterval(i.rows[intervalSize*n:]) }

func (i intervals) from(n int) uint32 { return le32(i.rows[intervalSize*n:]) }

// timesOf returns where the times of interval n start and end, in bytes from the start of
// i.times. The file may say anything: the caller checks them.
func (i intervals) timesOf(n int) [2]uint64 {
	start := i.timesStart
	if n > 0 {
		start = le32(i.rows[intervalSize*(n-1)+timesEndAt:])
	}
	return [2]uint64{uint64(start), uint64(le32(i.rows[intervalSize*n+timesEndAt:]))}
}

// add appends an interval with its encoded times. i must hold no times of other intervals.
func (i *intervals) add(x interval, times []byte) {
	i.times = append(i.times, times...)
	x.timesEnd = uint32(len(i.times))
	i.rows = x.appendTo(i.rows)
}

// addFirst appends the first n intervals of from, with their times.
func (i *intervals) addFirst(n int, from intervals) {
	for k := range n {
		times := from.timesOf(k)
		i.add(from.get(k), from.times[times[0]:times[1]])
	}
}

// reset removes all intervals, and keeps the memory.
func (i *intervals) reset() { *i = intervals{rows: i.rows[:0], times: i.times[:0]} }

// eachTime yields the encoded times, in seconds since 1970, as long as they ascend from before:
// it stops at the first that is not greater than the one before it.
func eachTime(times []byte, before uint32) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for ; len(times) >= timeSize && le32(times) > before; times = times[timeSize:] {
			if before = le32(times); !yield(before) {
				return
			}
		}
	}
}

// fetchedAt returns the time of the interval's newest fetch that is not later than second.
// times are the encoded times of its fetches between the first and the last.
func (i interval) fetchedAt(times []byte, second uint32) uint32 {
	if i.seen <= second {
		return i.seen
	}
	at := i.fetched
	for next := range eachTime(times, at) {
		if next > second {
			break
		}
		at = next
	}
	return at
}

// appendBetween appends, encoded, the times of the fetches between the first and the last of
// an interval, as far as they ascend.
func appendBetween(dst []byte, i *access.Interval) []byte {
	last := i.Fetched
	for _, t := range i.Times {
		if t > last && t < i.Seen {
			dst = append32(dst, t)
			last = t
		}
	}
	return dst
}

// countBefore returns the number of intervals that begin before a second: they come first.
func (i intervals) countBefore(second uint32) int {
	return sort.Search(i.len(), func(n int) bool { return i.from(n) >= second })
}

// encodeHistory returns the intervals of an entry's history. Without a history there is one
// interval for all times, which has the entry's own origin. It refuses a history that is too long or out
// of order.
func (b *Builder) encodeHistory(e *Entry, own origin) (intervals, error) {
	var dst intervals
	if len(e.History) == 0 {
		dst.add(interval{seen: own.fetched, origin: own}, nil)
		return dst, nil
	}
	if len(e.History) > maxIntervals {
		return dst, fmt.Errorf("%s: a history of %d intervals: there may be %d", e.Authority, len(e.History), maxIntervals)
	}
	dst.rows = make([]byte, 0, intervalSize*len(e.History))
	var times []byte // reused for each interval
	for n := range e.History {
		i := &e.History[n]
		if n > 0 && i.From <= e.History[n-1].From {
			return dst, fmt.Errorf("%s: a history out of order", e.Authority)
		}
		o, err := b.originOf(i.Access, i.Kept, i.Stale, i.Status, i.Fetched)
		if err != nil {
			return dst, fmt.Errorf("%s: %w", e.Authority, err)
		}
		times = appendBetween(times[:0], i)
		dst.add(interval{from: i.From, seen: i.Seen, origin: o}, times)
	}
	if len(dst.times) > maxTimes {
		return dst, fmt.Errorf("%s: the times of its fetches take %d bytes: there may be %d", e.Authority, len(dst.times), maxTimes)
	}
	return dst, nil
}

// intervalWriter writes buckets of intervals to a temporary file, because in the pack
// they follow all buckets of authorities. It is nil for a pack without a history.
type intervalWriter struct {
	*pending
	starts []uint64 // where each bucket that was written starts
	at     uint64   // bytes written so far

	count uint32    // of authorities in the current bucket
	ends  []byte    // encoded: where the intervals of each end, as a number of intervals
	all   intervals // of the current bucket
	total uint64    // number of intervals in all buckets
}

// add adds the intervals of the next authority to the current bucket.
func (w *intervalWriter) add(added intervals) error {
	if w == nil {
		return nil
	}
	if uint64(w.all.len())+uint64(added.len()) > math.MaxUint32 || uint64(len(w.all.times))+uint64(len(added.times)) > math.MaxUint32 {
		return fmt.Errorf("too many authorities have the same hash")
	}
	w.all.addFirst(added.len(), added)
	w.total += uint64(added.len())
	w.count++
	w.ends = append32(w.ends, uint32(w.all.len()))
	return nil
}

// finishBucket writes the current bucket to the temporary file and begins an empty one. number
// is the bucket's index.
func (w *intervalWriter) finishBucket(number uint32) error {
	if w == nil {
		return nil
	}
	head := append32(make([]byte, 0, intervalHeaderSize), 0, w.count) // the checksum is set below
	sum := bucketChecksum(number, head[4:])
	for _, data := range [...][]byte{w.ends, w.all.rows, w.all.times} {
		sum = updateChecksum(sum, data)
	}
	binary.LittleEndian.PutUint32(head, sum)
	w.starts = append(w.starts, w.at)
	for _, data := range [...][]byte{head, w.ends, w.all.rows, w.all.times} {
		if _, err := w.Write(data); err != nil {
			return err
		}
		w.at += uint64(len(data))
	}
	w.count, w.ends = 0, w.ends[:0]
	w.all.reset()
	return nil
}

// write copies all buckets to the pack as the section intervals, and writes the section
// starts.
func (w *intervalWriter) write(p *packWriter) error {
	if w == nil {
		return nil
	}
	p.beginSection(intervalsSection)
	if err := w.copyTo(p); err != nil {
		return err
	}
	p.beginSection(startsSection)
	return binary.Write(p, binary.LittleEndian, append(w.starts, w.at, w.total))
}

// originAt returns what was known of an authority at Options.AsOf; notYet if that is before
// its first interval. The authority is the one with that index in bucket b, whose index is
// number.
func (p *Pack) originAt(number uint32, b bucket, index int) (origin, error) {
	all, err := p.intervalsOf(number, b, index)
	if err != nil {
		return unknown, err
	}
	n := all.countBefore(p.asOf + 1)
	if n == 0 {
		return notYet, nil
	}
	i := all.get(n - 1) // which holds at p.asOf
	times, ok := within(all.times, all.timesOf(n-1))
	if !ok || !p.isValid(i.origin) {
		return unknown, p.damaged("intervals of bucket %d", number)
	}
	i.fetched = i.fetchedAt(times, p.asOf)
	return i.origin, nil
}

var _ matcher.BulkHistorical = (*Pack)(nil)

// AppendSpans implements [matcher.Historical], for a pack with a history. It appends nothing
// for an authority that the pack does not have.
func (p *Pack) AppendSpans(spans []matcher.Span, authority []byte) (_ []matcher.Span, err error) {
	defer p.guard(debug.SetPanicOnFault(true), &err)
	l := p.locate(authority)
	b, index, known, err := p.findIndex(authority, &l)
	if err != nil || !known {
		return spans, err
	}
	return p.appendSpans(spans, l.bucket, b, index)
}

// AppendAllSpans implements [matcher.BulkHistorical], with the same results as AppendSpans for
// each key: ends[i] becomes the length of spans after key i. After an error, n is the index of the key that
// it is about, or 0 if reading the mapped file fails. It does each step for matcher.AtOnce keys before the next step, as LookupAll does.
func (p *Pack) AppendAllSpans(spans []matcher.Span, keys []matcher.Key, ends []int) (_ []matcher.Span, n int, err error) {
	defer p.guard(debug.SetPanicOnFault(true), &err)
	var likely [matcher.AtOnce]location
	for first := 0; first < len(keys); first += matcher.AtOnce {
		some := keys[first:min(first+matcher.AtOnce, len(keys))]
		p.findLikely(some, &likely)
		for i := range some {
			b, index, known, err := p.findIndex(some[i].Text, &likely[i])
			if known && err == nil {
				spans, err = p.appendSpans(spans, likely[i].bucket, b, index)
			}
			if err != nil {
				return spans, first + i, err
			}
			ends[first+i] = len(spans)
		}
	}
	return spans, 0, nil
}

// appendSpans appends a span for each interval of an authority. The authority is the one with
// that index in bucket b, whose index is number. After an error it returns spans as they were.
func (p *Pack) appendSpans(spans []matcher.Span, number uint32, b bucket, index int) ([]matcher.Span, error) {
	all, err := p.intervalsOf(number, b, index)
	if err != nil {
		return spans, err
	}
	count := all.len()
	spans = slices.Grow(spans, count)
	first := len(spans) // of the authority
	spans = spans[:first+count]
	timesAt := all.timesAt + uint64(all.timesStart)
	for n := range count { // field by field: as an interval, each would be copied twice
		row := all.rows[intervalSize*n : intervalSize*(n+1)]
		timesEnd := all.timesAt + uint64(le32(row[timesEndAt:]))
		if !p.isValid(origin{body: le32(row[bodyAt:]), outcome: row[outcomeAt]}) || timesEnd < timesAt {
			return spans[:first], p.damaged("intervals of bucket %d", number)
		}
		spans[first+n] = matcher.Span{
			From: int64(le32(row)), Fetched: int64(le32(row[fetchedAt:])), Seen: int64(le32(row[seenAt:])),
			Access: access.Outcome(row[outcomeAt]), Stale: row[flagsAt]&flagStale != 0, Status: int(le16(row[statusAt:])), Body: le32(row[bodyAt:]),
			Times: [2]uint64{timesAt, timesEnd},
		}
		timesAt = timesEnd
	}
	return spans, nil
}

// OpenSpan implements [matcher.Historical].
func (p *Pack) OpenSpan(_ []byte, s *matcher.Span, o *matcher.Origin) (err error) {
	defer p.guard(debug.SetPanicOnFault(true), &err)
	return p.setOrigin(originOfSpan(s), o)
}

// OpenAllSpans implements [matcher.BulkHistorical]. If reading the mapped file fails, first is
// the index of the first of the up to matcher.AtOnce spans that it was opening.
func (p *Pack) OpenAllSpans(_ []matcher.Key, spans []*matcher.Span, origins []matcher.Origin) (first int, err error) {
	defer p.guard(debug.SetPanicOnFault(true), &err)
	var found [matcher.AtOnce]origin
	for ; first < len(spans); first += matcher.AtOnce {
		some := spans[first:min(first+matcher.AtOnce, len(spans))]
		for i, s := range some {
			found[i] = unknown // resets the origin
			if s != nil {
				found[i] = originOfSpan(s)
			}
		}
		if i, err := p.setOrigins(found[:len(some)], origins[first:]); err != nil {
			return first + i, err
		}
	}
	return 0, nil
}

// originOfSpan returns the origin that a span was made from.
func originOfSpan(s *matcher.Span) origin {
	o := origin{body: s.Body, fetched: uint32(s.Fetched), status: uint16(s.Status), outcome: uint8(s.Access)}
	if s.Stale {
		o.flags |= flagStale
	}
	return o
}

// AppendTimes implements [matcher.Historical]: it appends the times of all fetches of a span,
// in seconds since 1970 and ascending.
func (p *Pack) AppendTimes(times []int64, authority []byte, s *matcher.Span) (_ []int64, err error) {
	defer p.guard(debug.SetPanicOnFault(true), &err)
	times = append(times, s.Fetched)
	between, ok := within(p.intervals, s.Times)
	if !ok {
		return times, p.damaged("the times of %q", authority)
	}
	for at := range eachTime(between, uint32(s.Fetched)) {
		times = append(times, int64(at))
	}
	if s.Seen != s.Fetched {
		times = append(times, s.Seen)
	}
	return times, nil
}

// intervalsOf returns the intervals of authority i of bucket b, whose index is number. They
// point into the mapped file.
func (p *Pack) intervalsOf(number uint32, b bucket, i int) (intervals, error) {
	data, err := p.intervalBucket(number, b)
	if err != nil {
		return intervals{}, err
	}
	count := b.count() // read once, for the file may be written to; i was found by an earlier read
	all, ok := openIntervals(data, count)
	if !ok || i >= count {
		return intervals{}, p.damaged("intervals of bucket %d", number)
	}
	start, end := rangeAt(data[intervalHeaderSize:], uint64(i)) // as numbers of intervals
	if start >= end || end > uint64(all.len()) {
		return intervals{}, p.damaged("intervals of bucket %d", number)
	}
	return intervals{
		rows: all.rows[intervalSize*start : intervalSize*end], times: all.times, timesStart: uint32(all.timesOf(int(start))[0]),
		timesAt: le64(p.starts[8*uint64(number):]) + uint64(len(data)-len(all.times)), // starts has 8 bytes a bucket
	}, nil
}

// openIntervals splits a bucket of intervals, data, of that many authorities into their intervals and the
// times of these. ok is false if the intervals would end after data.
func openIntervals(data []byte, authorities int) (all intervals, ok bool) {
	at := intervalHeaderSize + 4*int64(authorities)
	if at > int64(len(data)) {
		return all, false
	}
	rows, size := data[at:], uint64(0)
	if authorities > 0 {
		size = intervalSize * uint64(le32(data[at-4:])) // the last end is the number of all intervals
	}
	if size > uint64(len(rows)) {
		return all, false
	}
	return intervals{rows: rows[:size], times: rows[size:]}, true
}

// intervalBucket returns the bucket of intervals that belongs to bucket b of authorities, whose
// index is number. It points into the mapped file. The first call for a bucket checks its size and
// checksum.
func (p *Pack) intervalBucket(number uint32, b bucket) ([]byte, error) {
	start, end := le64(p.starts[8*uint64(number):]), le64(p.starts[8*uint64(number+1):])
	data, ok := within(p.intervals, [2]uint64{start, end})
	if !ok {
		return nil, p.damaged("intervals of bucket %d lie outside", number)
	}
	if p.checkedIntervals.has(number) {
		return data, nil
	}
	// Lookups check the offsets and origins in it when they follow them, because a job follows few.
	count := int64(b.count())
	switch {
	case int64(len(data)) < intervalHeaderSize+4*count || int64(le32(data[4:])) != count:
		return nil, p.damaged("intervals of bucket %d: %w", number, errBucketLayout)
	case bucketChecksum(number, data[4:]) != le32(data):
		return nil, p.damaged("intervals of bucket %d: %w", number, errBucketChecksum)
	}
	p.checkedIntervals.set(number)
	return data, nil
}
