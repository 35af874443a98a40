package rulepack

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"sort"

	"robotsbatch/io/runs"
	"robotsbatch/matcher/access"
)

// A pack with a history has a bucket of intervals for each bucket of authorities:
//
//	0  u32  checksum of the bucket's number and of all that follows
//	4  u32  number of authorities, as many as the bucket of authorities has
//	8  u32  for each authority: where its intervals end, as a number of intervals
//	   20   bytes for each interval, those of an authority oldest first:
//	         0  u32  its first second; 0: nothing is known of a time before
//	         4  u32  when the last fetch was made that says the same, 0: unknown
//	         8  12   an origin, with the time of the first such fetch
//
// Each authority has at least one interval. The origin in its bucket of authorities is
// for lookups without a time: it equals the interval's at Info.AsOf, but with the time
// of the last fetch.
const (
	intervalHeaderSize = 8
	intervalSize       = 8 + originSize

	// maxIntervals is the most intervals of an authority.
	maxIntervals = 4096
)

// Interval is what held for an authority from From until the From of the next interval.
// Times are in seconds since 1970.
type Interval struct {
	// From is the first second; 0 if nothing is known about an earlier time.
	From uint32
	// Fetched is the time of the fetch that decides at From; Seen is that of the last
	// fetch in the interval with the same result. Each is 0 if unknown.
	Fetched, Seen uint32
	// Access, Kept, Stale and Status are as in Entry.
	Access access.Outcome
	Kept   uint64
	Stale  bool
	Status uint16
}

// interval is an Interval in the pack's form.
type interval struct {
	from, seen uint32
	origin
}

func (i interval) appendTo(b []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, i.from)
	b = binary.LittleEndian.AppendUint32(b, i.seen)
	return i.origin.appendTo(b)
}

func readInterval(b []byte) interval {
	return interval{from: le32(b), seen: le32(b[4:]), origin: readOrigin(b[8:])}
}

// intervals are encoded intervals, oldest first.
type intervals []byte

func (i intervals) len() int { return len(i) / intervalSize }

func (i intervals) at(n int) interval { return readInterval(i[intervalSize*n:]) }

func (i intervals) from(n int) uint32 { return le32(i[intervalSize*n:]) }

// before returns how many intervals begin before a second.
func (i intervals) before(second uint32) int {
	return sort.Search(i.len(), func(n int) bool { return i.from(n) >= second })
}

// intervals returns an entry's intervals: one for all times if it has no history.
func (b *Builder) intervals(e *Entry, o origin) (intervals, error) {
	if len(e.History) == 0 {
		return interval{seen: o.fetched, origin: o}.appendTo(nil), nil
	}
	if len(e.History) > maxIntervals {
		return nil, fmt.Errorf("%s: a history of %d intervals: there may be %d", e.Authority, len(e.History), maxIntervals)
	}
	dst := make([]byte, 0, intervalSize*len(e.History))
	for n := range e.History {
		i := &e.History[n]
		if n > 0 && i.From <= e.History[n-1].From {
			return nil, fmt.Errorf("%s: a history out of order", e.Authority)
		}
		o, err := b.originOf(i.Access, i.Kept, i.Stale, i.Status, i.Fetched)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.Authority, err)
		}
		dst = interval{from: i.From, seen: i.Seen, origin: o}.appendTo(dst)
	}
	return dst, nil
}

// intervalWriter writes buckets of intervals to a temporary file, because in the pack
// they follow all buckets of authorities. It is nil for a pack without a history.
type intervalWriter struct {
	spill  runs.Spill
	buffer *bufio.Writer
	starts []uint64
	at     uint64

	count uint32 // of authorities in the current bucket
	ends  []byte
	rows  []byte // intervals
}

func newIntervalWriter(folder string) *intervalWriter {
	w := &intervalWriter{spill: runs.Spill{Folder: folder}}
	w.buffer = bufio.NewWriterSize(&w.spill, copyingSize)
	return w
}

// add adds the intervals of the next authority.
func (w *intervalWriter) add(rows []byte) error {
	if w == nil {
		return nil
	}
	w.rows = append(w.rows, rows...)
	if len(w.rows)/intervalSize > math.MaxUint32 {
		return fmt.Errorf("too many authorities have hashes that are alike")
	}
	w.count++
	w.ends = binary.LittleEndian.AppendUint32(w.ends, uint32(len(w.rows)/intervalSize))
	return nil
}

// finishBucket writes the current bucket.
func (w *intervalWriter) finishBucket(number uint32) error {
	if w == nil {
		return nil
	}
	head := binary.LittleEndian.AppendUint32(make([]byte, 0, intervalHeaderSize), 0)
	head = binary.LittleEndian.AppendUint32(head, w.count)
	sum := updateChecksum(updateChecksum(bucketChecksum(number, head[4:]), w.ends), w.rows)
	binary.LittleEndian.PutUint32(head, sum)
	w.starts = append(w.starts, w.at)
	for _, data := range [...][]byte{head, w.ends, w.rows} {
		if _, err := w.buffer.Write(data); err != nil {
			return err
		}
		w.at += uint64(len(data))
	}
	w.count, w.ends, w.rows = 0, w.ends[:0], w.rows[:0]
	return nil
}

// write writes the sections, after the last bucket.
func (w *intervalWriter) write(p *packWriter) error {
	if w == nil {
		return nil
	}
	err := w.buffer.Flush()
	p.begin(intervalsSection)
	if err == nil {
		_, err = io.Copy(p, w.spill.All())
	}
	p.begin(startsSection)
	if err == nil {
		err = binary.Write(p, binary.LittleEndian, append(w.starts, w.at))
	}
	return err
}

func (w *intervalWriter) close() {
	if w != nil {
		w.spill.Close()
	}
}
