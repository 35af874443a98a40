package rulepack

import (
	"bufio"
	"bytes"
	"cmp"
	"slices"

	"golang.org/x/sync/errgroup"

	"robotsbatch/io/store/runs"
)

// A compiled body waits for its place in the pack as
//
//	0  u32  length of the rules
//	4  u32  length of the notes, a blob
//	8       rules, notes, and the records, a blob

const (
	storedSize  = 8
	copyingSize = 256 << 10
	chunkSize   = 256 << 10
	readers     = 8 // goroutines that read the temporary file
)

// appendStored appends a stored body.
func appendStored(dst, rules, notes, records []byte) []byte {
	dst = append32(dst, uint32(len(rules)), uint32(len(notes)))
	return append(append(append(dst, rules...), notes...), records...)
}

// store has the compiled bodies until all have come and their order is known. When they fill
// the memory, they are written to a temporary file, by the first hosts that are known to have
// them. That is nearly their order in the pack, so that neighbours in the pack are in few
// places of the file, one for each time that the memory was full.
type store struct {
	limit  int64        // the most bytes of memory
	bodies []storedBody // in memory
	size   int64        // of these
	chunks [][]byte     // their memory, but for those that are larger than a chunk; reused
	used   int          // chunks with something in them
	spill  runs.Spill
}

// storedBody is a stored body in memory.
type storedBody struct {
	number uint32
	first  surtStart // when it is written to the file
	stored []byte
}

// storedExtra is what a body takes in memory beside its bytes.
const storedExtra = 128

// add takes a copy of a body.
func (s *store) add(number uint32, stored []byte, all *numbered) error {
	s.bodies = append(s.bodies, storedBody{number: number, stored: s.copied(stored)})
	if s.size += int64(len(stored)) + storedExtra; s.size <= s.limit {
		return nil
	}
	return s.flush(all)
}

// copied returns a copy of a body. With one allocation for each, the garbage collector would
// take longer.
func (s *store) copied(stored []byte) []byte {
	if len(stored) > chunkSize {
		return bytes.Clone(stored)
	}
	if s.used == 0 || len(s.chunks[s.used-1])+len(stored) > chunkSize {
		if s.used == len(s.chunks) {
			s.chunks = append(s.chunks, make([]byte, 0, chunkSize))
		}
		s.chunks[s.used] = s.chunks[s.used][:0]
		s.used++
	}
	chunk := &s.chunks[s.used-1]
	start := len(*chunk)
	*chunk = append(*chunk, stored...)
	return (*chunk)[start:len(*chunk):len(*chunk)]
}

// flush writes the bodies in memory to the temporary file.
func (s *store) flush(all *numbered) error {
	for i := range s.bodies {
		k, err := all.at(s.bodies[i].number)
		if err != nil {
			return err
		}
		s.bodies[i].first = k.first
	}
	slices.SortFunc(s.bodies, func(x, y storedBody) int {
		return cmp.Or(bytes.Compare(x.first[:], y.first[:]), cmp.Compare(x.number, y.number))
	})
	w := bufio.NewWriterSize(&s.spill, copyingSize)
	at := uint64(s.spill.Size())
	for _, x := range s.bodies {
		if err := all.update(x.number, func(k *known) { k.at, k.size = at, uint32(len(x.stored)) }); err != nil {
			return err
		}
		at += uint64(len(x.stored))
		if _, err := w.Write(x.stored); err != nil {
			return err
		}
	}
	clear(s.bodies)
	s.bodies, s.size, s.used = s.bodies[:0], 0, 0
	return w.Flush()
}

// finish writes what is in memory to the temporary file, if there is one.
func (s *store) finish(all *numbered) error {
	if s.spill.Size() == 0 {
		return nil
	}
	err := s.flush(all)
	s.bodies, s.chunks = nil, nil
	return err
}

// each calls visit with the bodies that ordered has, in its order. They are valid until it
// returns, and visit may change them. The store must be finished.
func (s *store) each(ordered func(visit func(k *known) error) error, visit func(k *known, stored []byte) error) error {
	if s.spill.Size() == 0 {
		slices.SortFunc(s.bodies, func(x, y storedBody) int { return cmp.Compare(x.number, y.number) })
		return ordered(func(k *known) error { return visit(k, s.bodies[k.number].stored) })
	}
	var some []known
	var size int64
	var memory []byte
	visitSome := func() error {
		memory = slices.Grow(memory[:0], int(size))[:size]
		stored, err := s.read(some, memory)
		for i := 0; err == nil && i < len(some); i++ {
			err = visit(&some[i], stored[i])
		}
		some, size = some[:0], 0
		return err
	}
	err := ordered(func(k *known) error {
		if size+int64(k.size)+storedExtra*int64(len(some)) > s.limit && len(some) > 0 {
			if err := visitSome(); err != nil {
				return err
			}
		}
		some = append(some, *k)
		size += int64(k.size)
		return nil
	})
	if err != nil {
		return err
	}
	return visitSome()
}

// extent is bytes of the temporary file that are read at once.
type extent struct {
	at   int64
	data []byte
}

// read reads bodies from the temporary file: neighbours at once, and several places at a time,
// because those of bodies that many hosts have lie anywhere.
func (s *store) read(some []known, memory []byte) ([][]byte, error) {
	stored, byPlace := make([][]byte, len(some)), make([]int, len(some))
	for i := range some {
		byPlace[i] = i
	}
	slices.SortFunc(byPlace, func(x, y int) int { return cmp.Compare(some[x].at, some[y].at) })
	var extents []extent
	end := int64(-1) // of the last extent
	for _, i := range byPlace {
		at, size := int64(some[i].at), int(some[i].size)
		if at != end {
			extents = append(extents, extent{at, memory[:0]})
		}
		last := &extents[len(extents)-1]
		last.data = last.data[:len(last.data)+size]
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
