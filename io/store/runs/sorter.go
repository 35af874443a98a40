// Package runs sorts more records than memory has room for (external merge sort).
//
// A [Sorter] takes records, which are bytes of any form, and gives them back in order.
// When they fill the memory they are sorted and written to a temporary file, as a run; in
// the end the runs, of which the last stays in memory, are merged. A [Spill] is such a
// temporary file, which other packages use as well.
package runs

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"io"
	"math"
	"slices"
)

const (
	// mostChunk is the size of a chunk of records if there is memory enough, leastChunk
	// the smallest.
	mostChunk  = 1 << 20
	leastChunk = 8 << 10
	// sortSize is the number of bytes sorting takes for each record.
	sortSize = 16
	// mergeBuffer is how much of a run is read at once if there are few runs, leastMerge
	// the least.
	mergeBuffer = 256 << 10
	leastMerge  = 4 << 10

	// maxRecord is the longest record of a Counter, in bytes. A longer one of a Sorter takes a
	// chunk of its own, of its size.
	maxRecord = leastChunk
)

// Form describes records. Its functions must not keep or change them.
type Form struct {
	// Size returns the number of bytes of a record, whose first Head bytes tell it. Every record has at least Head
	// bytes.
	Head int
	Size func(head []byte) int
	// Records are sorted by the numbers that Key returns, and those with the same number by Compare.
	Key     func(record []byte) uint64
	Compare func(a, b []byte) int
}

// TextForm returns the form of records that begin with their length in bytes, a little-endian u16. They are sorted by
// the bytes after the first head ones.
func TextForm(head int) Form {
	size := func(record []byte) int { return int(binary.LittleEndian.Uint16(record)) }
	return Form{
		Head: head,
		Size: size,
		Key: func(record []byte) uint64 {
			var start [8]byte
			copy(start[:], record[head:size(record)])
			return binary.BigEndian.Uint64(start[:])
		},
		Compare: func(a, b []byte) int { return bytes.Compare(a[head:], b[head:]) },
	}
}

// Sorter takes records and gives them back in order. It is for one goroutine.
type Sorter struct {
	form  Form
	limit int64 // bytes of memory
	spill Spill
	runs  []Extent // of spill

	chunk  int      // bytes of a chunk
	chunks [][]byte // the used ones, which hold records, and then empty ones; a record larger than a chunk has its own
	used   int      // number of chunks that hold records; no record is added to those before the last
	count  int      // records in the chunks
	excess int64    // by how many bytes records are larger than chunks
	total  int64    // records that were added
}

// NewSorter returns a Sorter that takes about memory bytes, and has its temporary file in
// a folder.
func NewSorter(form Form, memory int64, folder string) *Sorter {
	const least = 16 // the least number of chunks that fit in memory, unless they were too small
	return &Sorter{
		form: form, limit: memory, spill: Spill{Folder: folder},
		chunk: int(min(max(memory/least, leastChunk), mostChunk)),
	}
}

// Len returns the number of records that were added.
func (s *Sorter) Len() int64 { return s.total }

// Add adds a copy of a record. If the memory is full, it first writes the records in memory as
// a run.
func (s *Sorter) Add(record []byte) error {
	excess := int64(max(len(record)-s.chunk, 0))
	if s.used == 0 || len(s.chunks[s.used-1])+len(record) > s.chunk { // it takes another chunk
		memory := int64(s.used+1)*int64(s.chunk) + s.excess + excess + sortSize*int64(s.count)
		isFull := memory > s.limit || s.used == math.MaxUint32/mostChunk // slot.at has 32 bits
		if s.used > 0 && isFull {
			if err := s.flush(); err != nil {
				return err
			}
		}
		if s.used == len(s.chunks) { // none is left from before a flush
			s.chunks = append(s.chunks, make([]byte, 0, s.chunk))
		}
		s.used++
	}
	last := &s.chunks[s.used-1]
	if excess > 0 { // the record gets a chunk of its own size
		s.excess += excess
		*last = make([]byte, 0, len(record))
	}
	*last = append(*last, record...)
	s.count++
	s.total++
	return nil
}

// Close frees the memory and removes the temporary file.
func (s *Sorter) Close() {
	s.spill.Close()
	s.chunks, s.runs, s.used, s.count, s.excess = nil, nil, 0, 0, 0
}

// slot is a record's key and its offset in the chunks, as if they were one array of chunks of equal
// size.
type slot struct {
	key uint64
	at  uint32
}

// record returns the record of a slot.
func (s *Sorter) record(p slot) []byte {
	data := s.chunks[int(p.at)/s.chunk][int(p.at)%s.chunk:]
	return data[:s.form.Size(data)]
}

// sortChunks returns the slots of the records in memory, in order.
func (s *Sorter) sortChunks() []slot {
	slots := make([]slot, 0, s.count)
	for i, chunk := range s.chunks[:s.used] {
		for at := 0; at < len(chunk); at += s.form.Size(chunk[at:]) {
			slots = append(slots, slot{s.form.Key(chunk[at:]), uint32(i*s.chunk + at)})
		}
	}
	slices.SortFunc(slots, func(p, q slot) int {
		if c := cmp.Compare(p.key, q.key); c != 0 {
			return c
		}
		return s.form.Compare(s.record(p), s.record(q))
	})
	return slots
}

// flush sorts the records in memory and writes them to the temporary file as a run.
func (s *Sorter) flush() error {
	start := s.spill.Size()
	w := bufio.NewWriterSize(&s.spill, mergeBuffer)
	for _, p := range s.sortChunks() {
		if _, err := w.Write(s.record(p)); err != nil {
			return err
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	s.runs = append(s.runs, Extent{start, s.spill.Size() - start})
	for i, chunk := range s.chunks {
		if s.chunks[i] = chunk[:0]; cap(chunk) > s.chunk { // it was made for one large record
			s.chunks[i] = make([]byte, 0, s.chunk)
		}
	}
	s.used, s.count, s.excess = 0, 0, 0
	return nil
}

// cursor is a run that is being merged.
type cursor struct {
	record []byte                 // the current one
	key    uint64                 // of record
	next   func() ([]byte, error) // returns the next record, valid until the next call; nil at the end
}

// advance goes to the next record. ok is false at the end.
func (c *cursor) advance(form *Form) (ok bool, err error) {
	if c.record, err = c.next(); err != nil || c.record == nil {
		return false, err
	}
	c.key = form.Key(c.record)
	return true, nil
}

// Merge calls visit for each record, in order. It stops at visit's first error and returns it.
// The record is valid until visit returns. Nothing can be added afterwards.
func (s *Sorter) Merge(visit func(record []byte) error) error {
	var sorted []*cursor // by their current records
	for _, c := range s.cursors() {
		ok, err := c.advance(&s.form)
		if err != nil {
			return err
		}
		if ok {
			sorted = append(sorted, c)
		}
	}
	slices.SortFunc(sorted, s.compare)
	for len(sorted) > 0 {
		first, others := sorted[0], sorted[1:]
		if err := visit(first.record); err != nil {
			return err
		}
		ok, err := first.advance(&s.form)
		if err != nil {
			return err
		}
		if !ok {
			sorted = others
			continue
		}
		at, _ := slices.BinarySearchFunc(others, first, s.compare) // where first belongs now
		copy(sorted, others[:at])
		sorted[at] = first
	}
	return nil
}

// compare compares the current records of two cursors.
func (s *Sorter) compare(x, y *cursor) int {
	if x.key != y.key {
		return cmp.Compare(x.key, y.key)
	}
	return s.form.Compare(x.record, y.record)
}

// cursors returns a cursor for each run in the file, with buffers that take at most about half
// of the limit, and one for the records in memory.
func (s *Sorter) cursors() []*cursor {
	var all []*cursor
	size := mergeBuffer
	if len(s.runs) > 0 {
		size = int(min(max(s.limit/2/int64(len(s.runs)), leastMerge), mergeBuffer))
	}
	for _, e := range s.runs {
		all = append(all, &cursor{next: s.readRun(bufio.NewReaderSize(s.spill.Reader(e), size))})
	}
	slots := s.sortChunks()
	return append(all, &cursor{next: func() (record []byte, err error) {
		if len(slots) > 0 {
			record, slots = s.record(slots[0]), slots[1:]
		}
		return record, nil
	}})
}

// readRun returns a function, for cursor.next, that returns the next record of the run in from, nil at
// the end. A record is valid until the next call.
func (s *Sorter) readRun(from *bufio.Reader) func() ([]byte, error) {
	head := s.form.Head
	memory := make([]byte, max(maxRecord, head)) // grows for a longer record
	return func() ([]byte, error) {
		_, err := io.ReadFull(from, memory[:head])
		switch {
		case err == io.EOF:
			return nil, nil
		case err != nil:
			return nil, fileError(err)
		}
		size := s.form.Size(memory)
		memory = append(memory, make([]byte, max(0, size-len(memory)))...)
		_, err = io.ReadFull(from, memory[head:size])
		return memory[:size], fileError(err)
	}
}
