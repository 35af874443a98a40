package rulepack

import (
	"bufio"
	"bytes"
	"cmp"
	"container/heap"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
)

// Authorities wait in memory, each as
//
//	 0  u64  hash
//	 8  u32  source, see Entry
//	12  12   origin; its body is the number that the builder gave it
//	24  u16  length of the authority
//	26       the authority
//
// When there is no more room they are sorted and written to a temporary file, as
// a run. In the end the runs, of which the last stays in memory, are merged.
const (
	waitingSize = 26
	// mostChunk is how many octets of them lie together, where there is memory
	// enough, and leastChunk where there is none.
	mostChunk  = 1 << 20
	leastChunk = 4 << 10
	// sortSize is how many octets sorting takes for each.
	sortSize = 16
	// mergeBuffer is how much of a run is read at once, when there are not too
	// many.
	mergeBuffer = 256 << 10
	leastMerge  = 4 << 10
)

// runs collects authorities and gives them back in order.
type runs struct {
	limit int64 // octets of memory
	spill spill
	run   []extent

	chunk  int      // octets of a chunk
	chunks [][]byte // all but the last used are full
	used   int      // chunks with something in them
	count  int      // authorities in the chunks
	total  int64    // authorities in all
}

func newRuns(limit int64, folder string) runs {
	const least = 16 // chunks in the memory
	return runs{limit: limit, chunk: int(min(max(limit/least, leastChunk), mostChunk)), spill: spill{folder: folder}}
}

// add adds an authority.
func (r *runs) add(authority []byte, source uint32, o origin) error {
	size := waitingSize + len(authority)
	if r.used == 0 || len(r.chunks[r.used-1])+size > r.chunk {
		memory := int64(r.used+1)*int64(r.chunk) + sortSize*int64(r.count)
		if r.used > 0 && (memory > r.limit || r.used == math.MaxUint32/mostChunk) {
			if err := r.flush(); err != nil {
				return err
			}
		}
		if r.used == len(r.chunks) {
			r.chunks = append(r.chunks, make([]byte, 0, r.chunk))
		}
		r.used++
	}
	chunk := r.chunks[r.used-1]
	chunk = binary.LittleEndian.AppendUint64(chunk, hashOf(authority))
	chunk = binary.LittleEndian.AppendUint32(chunk, source)
	chunk = o.appendTo(chunk)
	chunk = binary.LittleEndian.AppendUint16(chunk, uint16(len(authority)))
	r.chunks[r.used-1] = append(chunk, authority...)
	r.count++
	r.total++
	return nil
}

// waiting is an authority as it waits.
type waiting []byte

func (w waiting) hash() uint64      { return le64(w) }
func (w waiting) source() uint32    { return le32(w[8:]) }
func (w waiting) origin() origin    { return readOrigin(w[12:]) }
func (w waiting) authority() []byte { return w[waitingSize : waitingSize+int(le16(w[24:]))] }
func (w waiting) size() int         { return waitingSize + int(le16(w[24:])) }

// compare is the order of a pack, and of one authority the order of the sources.
func (w waiting) compare(v waiting) int {
	if c := cmp.Compare(w.hash(), v.hash()); c != 0 {
		return c
	}
	if c := bytes.Compare(w.authority(), v.authority()); c != 0 {
		return c
	}
	return cmp.Compare(w.source(), v.source())
}

// place is where in the chunks an authority is.
type place struct {
	hash uint64
	at   uint32
}

func (r *runs) at(p place) waiting { return waiting(r.chunks[int(p.at)/r.chunk][int(p.at)%r.chunk:]) }

// sorted are the places of what is in the chunks, in order.
func (r *runs) sorted() []place {
	places := make([]place, 0, r.count)
	for i, chunk := range r.chunks[:r.used] {
		for at := 0; at < len(chunk); at += waiting(chunk[at:]).size() {
			places = append(places, place{le64(chunk[at:]), uint32(i*r.chunk + at)})
		}
	}
	slices.SortFunc(places, func(p, q place) int {
		if c := cmp.Compare(p.hash, q.hash); c != 0 {
			return c
		}
		return r.at(p).compare(r.at(q))
	})
	return places
}

// flush writes what is in the chunks as a run.
func (r *runs) flush() error {
	start := r.spill.size
	w := bufio.NewWriterSize(&r.spill, mergeBuffer)
	for _, p := range r.sorted() {
		if _, err := w.Write(r.at(p)[:r.at(p).size()]); err != nil {
			return err
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	r.run = append(r.run, extent{start, r.spill.size - start})
	for i := range r.chunks {
		r.chunks[i] = r.chunks[i][:0]
	}
	r.used, r.count = 0, 0
	return nil
}

// cursor is a run that is being merged.
type cursor struct {
	now  waiting              // valid until the next call of next
	next func() (bool, error) // false at the end
}

// merge calls visit for each authority once, in order: as its first source has
// it. The argument is valid until visit returns.
func (r *runs) merge(visit func(waiting) error) error {
	m := r.cursors()
	for i := 0; i < len(m); {
		ok, err := m[i].next()
		if err != nil {
			return err
		}
		if !ok {
			m[i] = m[len(m)-1]
			m = m[:len(m)-1]
			continue
		}
		i++
	}
	heap.Init(&m)
	var last []byte
	for len(m) > 0 {
		w := m[0].now
		switch {
		case last == nil || !bytes.Equal(waiting(last).authority(), w.authority()):
			if err := visit(w); err != nil {
				return err
			}
			last = append(last[:0], w[:w.size()]...)
		case waiting(last).source() == w.source():
			return fmt.Errorf("two entries for %q", w.authority())
		}
		ok, err := m[0].next()
		if err != nil {
			return err
		}
		if ok {
			heap.Fix(&m, 0)
		} else {
			heap.Pop(&m)
		}
	}
	return nil
}

type merging []*cursor

func (m merging) Len() int           { return len(m) }
func (m merging) Less(i, j int) bool { return m[i].now.compare(m[j].now) < 0 }
func (m merging) Swap(i, j int)      { m[i], m[j] = m[j], m[i] }
func (m *merging) Push(x any)        { *m = append(*m, x.(*cursor)) }

func (m *merging) Pop() any {
	last := (*m)[len(*m)-1]
	*m = (*m)[:len(*m)-1]
	return last
}

// cursors are those of all runs.
func (r *runs) cursors() merging {
	var m merging
	size := mergeBuffer
	if len(r.run) > 0 {
		size = int(min(max(r.limit/2/int64(len(r.run)), leastMerge), mergeBuffer))
	}
	for _, e := range r.run {
		m = append(m, readRun(bufio.NewReaderSize(r.spill.reader(e), size)))
	}
	places := r.sorted()
	c := new(cursor)
	c.next = func() (bool, error) {
		if len(places) == 0 {
			return false, nil
		}
		c.now, places = r.at(places[0]), places[1:]
		return true, nil
	}
	return append(m, c)
}

// readRun is the cursor of a run that was written.
func readRun(from *bufio.Reader) *cursor {
	var memory [waitingSize + MaxAuthority]byte
	c := new(cursor)
	c.next = func() (bool, error) {
		if _, err := io.ReadFull(from, memory[:waitingSize]); errors.Is(err, io.EOF) {
			return false, nil
		} else if err != nil {
			return false, fmt.Errorf("temporary file: %w", err)
		}
		c.now = memory[:]
		if _, err := io.ReadFull(from, c.now.authority()); err != nil {
			return false, fmt.Errorf("temporary file: %w", err)
		}
		return true, nil
	}
	return c
}
