package rulepack

import (
	"encoding/binary"
	"fmt"
	"math"
	"sort"

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
// of the last fetch.
const (
	intervalHeaderSize = 8
	intervalSize       = 12 + originSize
	timeSize           = 4 // of a fetch between

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

func (i interval) appendTo(b []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, i.from)
	b = binary.LittleEndian.AppendUint32(b, i.seen)
	b = binary.LittleEndian.AppendUint32(b, i.timesEnd)
	return i.origin.appendTo(b)
}

func readInterval(b []byte) interval {
	return interval{from: le32(b), seen: le32(b[4:]), timesEnd: le32(b[8:]), origin: readOrigin(b[12:])}
}

// intervals are encoded intervals, oldest first.
type intervals struct {
	rows  []byte
	times []byte // of these intervals, and maybe of others
	start uint32 // of the first interval's times
	begin uint64 // where times is in its section
}

func (i intervals) len() int { return len(i.rows) / intervalSize }

func (i intervals) at(n int) interval { return readInterval(i.rows[intervalSize*n:]) }

func (i intervals) from(n int) uint32 { return le32(i.rows[intervalSize*n:]) }

// timesOf returns where the times of an interval are.
func (i intervals) timesOf(n int) [2]uint64 {
	start := i.start
	if n > 0 {
		start = le32(i.rows[intervalSize*(n-1)+8:])
	}
	return [2]uint64{uint64(start), uint64(le32(i.rows[intervalSize*n+8:]))}
}

// add appends an interval with its times, to intervals that have no others' times.
func (i *intervals) add(x interval, times []byte) {
	i.times = append(i.times, times...)
	x.timesEnd = uint32(len(i.times))
	i.rows = x.appendTo(i.rows)
}

// addFirst appends the first n of other intervals.
func (i *intervals) addFirst(n int, from intervals) {
	for k := range n {
		times := from.timesOf(k)
		i.add(from.at(k), from.times[times[0]:times[1]])
	}
}

// reset removes all intervals, and keeps the memory.
func (i *intervals) reset() { *i = intervals{rows: i.rows[:0], times: i.times[:0]} }

// nextTime reads the first of encoded times, given the time before. ok is false after the
// last, and where they are damaged.
func nextTime(times []byte, before uint32) (time uint32, rest []byte, ok bool) {
	if len(times) < timeSize || le32(times) <= before {
		return before, nil, false
	}
	return le32(times), times[timeSize:], true
}

// fetchedAt returns the time of the newest fetch of an interval not after a second.
func (i interval) fetchedAt(times []byte, second uint32) uint32 {
	if i.seen <= second {
		return i.seen
	}
	at := i.fetched
	for ok := true; ok; {
		var next uint32
		if next, times, ok = nextTime(times, at); !ok || next > second {
			break
		}
		at = next
	}
	return at
}

// appendBetween appends the times between the first and the last fetch of an interval.
func appendBetween(dst []byte, i *access.Interval) []byte {
	last := i.Fetched
	for _, t := range i.Times {
		if t > last && t < i.Seen {
			dst = binary.LittleEndian.AppendUint32(dst, t)
			last = t
		}
	}
	return dst
}

// before returns how many intervals begin before a second.
func (i intervals) before(second uint32) int {
	return sort.Search(i.len(), func(n int) bool { return i.from(n) >= second })
}

// intervals returns an entry's intervals: one for all times if it has no history.
func (b *Builder) intervals(e *Entry, o origin) (intervals, error) {
	var dst intervals
	if len(e.History) == 0 {
		dst.add(interval{seen: o.fetched, origin: o}, nil)
		return dst, nil
	}
	if len(e.History) > maxIntervals {
		return dst, fmt.Errorf("%s: a history of %d intervals: there may be %d", e.Authority, len(e.History), maxIntervals)
	}
	dst.rows = make([]byte, 0, intervalSize*len(e.History))
	var times []byte
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
	starts []uint64
	at     uint64

	count uint32 // of authorities in the current bucket
	ends  []byte
	all   intervals // of these
	total uint64    // number of intervals in all buckets
}

// add adds the intervals of the next authority.
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
	w.ends = binary.LittleEndian.AppendUint32(w.ends, uint32(w.all.len()))
	return nil
}

// finishBucket writes the current bucket.
func (w *intervalWriter) finishBucket(number uint32) error {
	if w == nil {
		return nil
	}
	head := binary.LittleEndian.AppendUint32(make([]byte, 0, intervalHeaderSize), 0)
	head = binary.LittleEndian.AppendUint32(head, w.count)
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

// write writes the sections, after the last bucket.
func (w *intervalWriter) write(p *packWriter) error {
	if w == nil {
		return nil
	}
	p.begin(intervalsSection)
	if err := w.copyTo(p); err != nil {
		return err
	}
	p.begin(startsSection)
	return binary.Write(p, binary.LittleEndian, append(w.starts, w.at, w.total))
}
