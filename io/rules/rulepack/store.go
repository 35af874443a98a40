package rulepack

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"golang.org/x/sync/errgroup"

	"robotsbatch/io/store/runs"
)

// A compiled body waits for its place in the pack as
//
//	 0  u32  number in the builder
//	 4  u32  length of the rules
//	 8  u32  length of the notes, a blob
//	12  u32  length of the records, a blob
//	16       rules, notes, records

const (
	storedSize  = 16
	copyingSize = 256 << 10
	chunkSize   = 256 << 10
	readers     = 8 // goroutines that read the temporary file
)

// appendStored appends a stored body.
func appendStored(dst []byte, number uint32, rules, notes, records []byte) []byte {
	for _, n := range [...]uint32{number, uint32(len(rules)), uint32(len(notes)), uint32(len(records))} {
		dst = binary.LittleEndian.AppendUint32(dst, n)
	}
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
	stored []byte
}

// add takes a copy of a body.
func (s *store) add(number uint32, stored []byte, known *list[known]) error {
	s.bodies = append(s.bodies, storedBody{number, s.copied(stored)})
	if s.size += int64(len(stored)); s.size <= s.limit {
		return nil
	}
	return s.flush(known)
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
func (s *store) flush(known *list[known]) error {
	slices.SortFunc(s.bodies, func(x, y storedBody) int {
		return cmp.Or(bytes.Compare(known.at(x.number).first[:], known.at(y.number).first[:]), cmp.Compare(x.number, y.number))
	})
	w := bufio.NewWriterSize(&s.spill, copyingSize)
	at := uint64(s.spill.Size())
	for _, x := range s.bodies {
		k := known.at(x.number)
		k.at, k.size = at, uint32(len(x.stored))
		at += uint64(len(x.stored))
		if _, err := w.Write(x.stored); err != nil {
			return err
		}
	}
	clear(s.bodies)
	s.bodies, s.size, s.used = s.bodies[:0], 0, 0
	return w.Flush()
}

// each calls visit with the stored bodies that are used, in order. They are valid until it
// returns, and visit may change them.
func (s *store) each(o *order, known *list[known], visit func(stored []byte) error) error {
	if s.spill.Size() == 0 {
		all := slices.DeleteFunc(s.bodies, func(x storedBody) bool { return o.places[x.number] == noBody })
		slices.SortFunc(all, func(x, y storedBody) int { return cmp.Compare(o.places[x.number], o.places[y.number]) })
		return visitAll(all, visit)
	}
	if err := s.flush(known); err != nil {
		return err
	}
	s.chunks = nil
	var memory []byte
	for rest := o.numbers; len(rest) > 0; {
		n, size := 0, int64(0)
		for n < len(rest) && (n == 0 || size+int64(known.at(rest[n]).size) <= s.limit) {
			size += int64(known.at(rest[n]).size)
			n++
		}
		memory = slices.Grow(memory[:0], int(size))[:size]
		if err := s.read(rest[:n], known, memory); err != nil {
			return err
		}
		if err := visitAll(s.bodies, visit); err != nil {
			return err
		}
		rest = rest[n:]
	}
	return nil
}

func visitAll(all []storedBody, visit func(stored []byte) error) error {
	for _, x := range all {
		if err := visit(x.stored); err != nil {
			return err
		}
	}
	return nil
}

// extent is bytes of the temporary file that are read at once.
type extent struct {
	at   int64
	data []byte
}

// read reads bodies from the temporary file to s.bodies: neighbours at once, and several
// places at a time, because those of bodies that many hosts have lie anywhere.
func (s *store) read(numbers []uint32, known *list[known], memory []byte) error {
	s.bodies = s.bodies[:0]
	byPlace := make([]int, len(numbers))
	for i, number := range numbers {
		s.bodies = append(s.bodies, storedBody{number: number})
		byPlace[i] = i
	}
	slices.SortFunc(byPlace, func(x, y int) int { return cmp.Compare(known.at(numbers[x]).at, known.at(numbers[y]).at) })
	var extents []extent
	end := int64(-1) // of the last extent
	for _, i := range byPlace {
		at, size := int64(known.at(numbers[i]).at), int(known.at(numbers[i]).size)
		if at != end {
			extents = append(extents, extent{at, memory[:0]})
		}
		last := &extents[len(extents)-1]
		last.data = last.data[:len(last.data)+size]
		s.bodies[i].stored = memory[:size:size]
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
	return group.Wait()
}
