package rulepack

import (
	"bufio"
	"bytes"
	"cmp"
	"slices"

	"golang.org/x/sync/errgroup"

	"robotsbatch/io/store/runs"
)

// Until its place in the pack is known, a compiled body is stored as
//
//	0  u32  length of the rules
//	4  u32  length of the notes, a blob
//	8       rules, notes, and the records, a blob

const (
	storedSize  = 8         // bytes of the lengths of rules and notes, a u32 each, before a stored body
	copyingSize = 256 << 10 // bytes that are written to the temporary file at once
	readers     = 8         // goroutines that read the temporary file
)

// appendStored appends to dst a compiled body in the form above. notes and records are blobs.
func appendStored(dst, rules, notes, records []byte) []byte {
	dst = append32(dst, uint32(len(rules)), uint32(len(notes)))
	return append(append(append(dst, rules...), notes...), records...)
}

// bodyStore has the compiled bodies until all are added and their order is known. When they
// fill the memory, it writes them to a temporary file, ordered by the least host that is known
// to have each. That is nearly their order in the pack: so neighbours in the pack lie in few
// places of the file, one for each time that the memory was full.
type bodyStore struct {
	limit  int64        // of size, in bytes
	bodies []storedBody // in memory
	size   int64        // of bodies, in bytes
	spill  runs.Spill   // the temporary file
}

// storedBody is a stored body in memory.
type storedBody struct {
	number uint32
	first  surtStart // bodyMeta.first, set by flush to sort by it
	stored []byte
}

// storedExtra is what a body takes in memory beside its bytes.
const storedExtra = 128

// add stores a copy of a compiled body. If that exceeds the limit, it flushes all bodies, whose
// offsets in the temporary file table gets.
func (s *bodyStore) add(number uint32, stored []byte, table *bodyTable) error {
	s.bodies = append(s.bodies, storedBody{number: number, stored: bytes.Clone(stored)})
	if s.size += int64(len(stored)) + storedExtra; s.size <= s.limit {
		return nil
	}
	return s.flush(table)
}

// flush writes the bodies in memory to the temporary file, ordered by the least host that is
// known to have them, and their offsets and sizes there to table.
func (s *bodyStore) flush(table *bodyTable) error {
	for i := range s.bodies {
		k, err := table.get(s.bodies[i].number)
		if err != nil {
			return err
		}
		s.bodies[i].first = k.first
	}
	slices.SortFunc(s.bodies, func(x, y storedBody) int {
		return cmp.Or(bytes.Compare(x.first[:], y.first[:]), cmp.Compare(x.number, y.number))
	})
	w := bufio.NewWriterSize(&s.spill, int(min(s.size, copyingSize)))
	at := uint64(s.spill.Size())
	for _, x := range s.bodies {
		if err := table.update(x.number, func(k *bodyMeta) { k.at, k.size = at, uint32(len(x.stored)) }); err != nil {
			return err
		}
		at += uint64(len(x.stored))
		if _, err := w.Write(x.stored); err != nil {
			return err
		}
	}
	clear(s.bodies)
	s.bodies, s.size = s.bodies[:0], 0
	return w.Flush()
}

// finish ends adding. If some bodies were flushed, it flushes the rest, so that each looks for
// all of them in memory or for all in the file.
func (s *bodyStore) finish(table *bodyTable) error {
	if s.spill.Size() == 0 {
		return nil
	}
	err := s.flush(table)
	s.bodies = nil
	return err
}

// each calls visit for each body that ordered calls its argument with, in that order. It reads
// as many bodies at once as fit into the memory. stored is valid until visit returns, and visit
// may change it. finish must have been called.
func (s *bodyStore) each(ordered func(visit func(k *bodyMeta) error) error, visit func(k *bodyMeta, stored []byte) error) error {
	if s.spill.Size() == 0 {
		// All bodies are in memory, so that number n is at index n once they are sorted.
		slices.SortFunc(s.bodies, func(x, y storedBody) int { return cmp.Compare(x.number, y.number) })
		return ordered(func(k *bodyMeta) error { return visit(k, s.bodies[k.number].stored) })
	}
	var batch []bodyMeta // not read yet
	var size int64       // of the batch in the file
	var memory []byte
	visitBatch := func() error {
		memory = slices.Grow(memory[:0], int(size))[:size]
		stored, err := s.readBodies(batch, memory)
		for i := 0; err == nil && i < len(batch); i++ {
			err = visit(&batch[i], stored[i])
		}
		batch, size = batch[:0], 0
		return err
	}
	err := ordered(func(k *bodyMeta) error {
		if size+int64(k.size)+storedExtra*int64(len(batch)) > s.limit && len(batch) > 0 {
			if err := visitBatch(); err != nil {
				return err
			}
		}
		batch = append(batch, *k)
		size += int64(k.size)
		return nil
	})
	if err != nil {
		return err
	}
	return visitBatch()
}

// extent is a range of the temporary file that is read in one call.
type extent struct {
	at   int64
	data []byte
}

// readBodies reads bodies from the temporary file and returns each by its index in bodies. They
// are slices of memory, whose length is the sum of their sizes. Bodies that are neighbours in
// the file are read in one call. Several goroutines read, because the bodies that many hosts
// have are far apart.
func (s *bodyStore) readBodies(bodies []bodyMeta, memory []byte) ([][]byte, error) {
	stored, byOffset := make([][]byte, len(bodies)), make([]int, len(bodies))
	for i := range bodies {
		byOffset[i] = i
	}
	slices.SortFunc(byOffset, func(x, y int) int { return cmp.Compare(bodies[x].at, bodies[y].at) })
	var extents []extent
	end := int64(-1) // of the last extent
	for _, i := range byOffset {
		at, size := int64(bodies[i].at), int(bodies[i].size)
		if at != end {
			extents = append(extents, extent{at, memory[:0]})
		}
		last := &extents[len(extents)-1]
		last.data = last.data[:len(last.data)+size] // memory follows it, as offsets ascend
		stored[i] = memory[:size:size]
		end, memory = at+int64(size), memory[size:]
	}
	var group errgroup.Group
	for share := range slices.Chunk(extents, len(extents)/readers+1) {
		group.Go(func() error {
			for _, e := range share {
				if err := s.spill.ReadAt(e.data, e.at); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return stored, group.Wait()
}
