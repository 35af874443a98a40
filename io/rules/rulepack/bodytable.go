package rulepack

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"hash/maphash"
	"slices"

	"golang.org/x/sync/errgroup"

	"robotsbatch/io/store/runs"
)

// digest is the SHA-256 of the part of a body that counts. A weaker hash would not do,
// because hosts choose their bodies and could make two collide.
type digest = [sha256.Size]byte

// pagedSize is how many bytes of an array are read or written at once. Records are looked up
// in any order, so that larger pages would copy more for each.
const pagedSize = 4 << 10

// pagedArray is an array of records of equal size, at first zero. It keeps a limited number of
// pages in memory. The others, those least recently used, are in a temporary file.
type pagedArray struct {
	size   int // bytes of a record
	most   int // pages in memory
	spill  runs.Spill
	frames []frame // the pages in memory
	hand   int     // the frame that may be next to leave
	where  []int32 // by page: 1 + its frame; 0 if it was never used, -1 if only the file has it
}

// frame is a page in memory.
type frame struct {
	data    []byte
	page    int
	recent  bool // used since the clock's hand last passed
	changed bool // must be written to the file before it leaves
}

// newPagedArray returns an array of records of size bytes that keeps about memory bytes in
// memory, and the rest in a file in folder.
func newPagedArray(size int, memory int64, folder string) *pagedArray {
	return &pagedArray{size: size, most: int(max(memory/pagedSize, 16)), spill: runs.Spill{Folder: folder}}
}

// What a caller of record does with the bytes.
const toRead, toChange = false, true

// record returns the bytes of record i, valid until the next call. The caller may change them
// only if changed is set.
func (p *pagedArray) record(i int, changed bool) ([]byte, error) {
	perPage := pagedSize / p.size
	page, at := i/perPage, i%perPage*p.size
	for page >= len(p.where) {
		p.where = append(p.where, 0)
	}
	if p.where[page] <= 0 { // not in memory
		if err := p.load(page); err != nil {
			return nil, err
		}
	}
	f := &p.frames[p.where[page]-1]
	f.recent = true
	f.changed = f.changed || changed
	return f.data[at:][:p.size], nil
}

// load brings a page into memory, from the file or as zeros if it is new. If the memory is full, the page
// replaces one that was not used lately, which goes to the file (the clock algorithm).
func (p *pagedArray) load(page int) error {
	if len(p.frames) < p.most {
		p.hand = len(p.frames)
		p.frames = append(p.frames, frame{data: make([]byte, pagedSize)})
	} else {
		for p.hand = (p.hand + 1) % p.most; p.frames[p.hand].recent; p.hand = (p.hand + 1) % p.most {
			p.frames[p.hand].recent = false // it leaves in the next round, unless it is used until then
		}
		old := &p.frames[p.hand]
		if old.changed {
			if err := p.spill.WriteAt(old.data, int64(old.page)*pagedSize); err != nil {
				return err
			}
		}
		p.where[old.page] = -1
	}
	f := &p.frames[p.hand]
	f.page, f.changed = page, p.where[page] == 0 // a new page is not in the file yet
	if f.changed {
		clear(f.data)
	} else if err := p.spill.ReadAt(f.data, int64(page)*pagedSize); err != nil {
		return err
	}
	p.where[page] = int32(p.hand) + 1
	return nil
}

// free frees the memory and removes the file.
func (p *pagedArray) free() {
	p.spill.Close()
	p.frames, p.where = nil, nil
}

// bodyMeta is what the builder keeps of each distinct body. It is encoded as a record of an
// array and of a sorter:
//
//	 0  24   first
//	24  32   digest
//	56  u32  number, length, units, place, size
//	76  u8   flags, and 1 if it is used
//	78  u64  payload, at
type bodyMeta struct {
	// first is the beginning of the least reversed host that has it.
	first  surtStart
	digest digest
	number uint32 // in the order in which they came
	length uint32 // of the source
	units  uint32 // length of its rules in the pack, in matcher.BodyAlignment bytes
	place  uint32 // where its rules start in the pack, in the same units; set by bodies.order
	size   uint32 // its bytes in the temporary file
	flags  uint8
	used   bool // an authority has it
	// payload is the least name of a payload that has it; see Builder.Payload.
	payload uint64
	at      uint64 // where it is in the temporary file, if it is there
}

const (
	bodyMetaSize  = 94
	bodyMetaKey   = len(surtStart{}) + len(digest{}) // the first bytes, by which bodies are sorted
	slotSize      = 8                                // bytes of a slot of a bodyTable
	firstSlotBits = 6                                // bodyTable.bits of an empty table
)

// write encodes k over r, which has bodyMetaSize bytes.
func (k *bodyMeta) write(r []byte) {
	used := byte(0)
	if k.used {
		used = 1
	}
	r = append(append(r[:0], k.first[:]...), k.digest[:]...)
	r = append(append32(r, k.number, k.length, k.units, k.place, k.size), k.flags, used)
	append64(r, k.payload, k.at)
}

// readBodyMeta decodes what write encoded.
func readBodyMeta(r []byte) bodyMeta {
	return bodyMeta{
		first: surtStart(r), digest: digest(r[len(surtStart{}):]),
		number: le32(r[bodyMetaKey:]), length: le32(r[60:]), units: le32(r[64:]), place: le32(r[68:]), size: le32(r[72:]),
		flags: r[76], used: r[77] != 0, payload: le64(r[78:]), at: le64(r[86:]),
	}
}

// bodyMetaForm sorts bodies in the pack's order: by first, then by digest. Key is the start of
// first as a number.
var bodyMetaForm = runs.Form{
	Head: bodyMetaSize, Size: func([]byte) int { return bodyMetaSize },
	Key:     binary.BigEndian.Uint64,
	Compare: func(a, b []byte) int { return bytes.Compare(a[:bodyMetaKey], b[:bodyMetaKey]) },
}

// bodyTable gives distinct bodies numbers, from 0 in the order in which they are added. It
// finds a body's number by its digest, and its bodyMeta by its number.
type bodyTable struct {
	n     uint32      // bodies added so far
	metas *pagedArray // the bodyMeta of each, by number
	// slots is a hash table with linear probing, of u64: 0 if free, or a body's 32-bit hash in
	// the upper half and 1 + its number in the lower. A hash's upper bits are its first slot:
	// so grow fills the larger table from its start to its end.
	slots  *pagedArray
	bits   int   // there are 1 << bits slots
	memory int64 // that slots may take, in bytes
	seed   maphash.Seed
}

// newBodyTable returns an empty table. It keeps about metaMemory bytes of metas and slotMemory
// bytes of slots in memory, and the rest in files in folder.
func newBodyTable(metaMemory, slotMemory int64, folder string) bodyTable {
	return bodyTable{
		metas: newPagedArray(bodyMetaSize, metaMemory, folder),
		slots: newPagedArray(slotSize, slotMemory, folder), bits: firstSlotBits, memory: slotMemory, seed: maphash.MakeSeed(),
	}
}

// get returns the bodyMeta of the body with a number.
func (t *bodyTable) get(number uint32) (bodyMeta, error) {
	r, err := t.metas.record(int(number), toRead)
	if err != nil {
		return bodyMeta{}, err
	}
	return readBodyMeta(r), nil
}

// update applies change to the bodyMeta of the body with a number.
func (t *bodyTable) update(number uint32, change func(k *bodyMeta)) error {
	r, err := t.metas.record(int(number), toChange)
	if err == nil {
		k := readBodyMeta(r)
		change(&k)
		k.write(r)
	}
	return err
}

// find returns the number of the body with digest d. If there is none, number is noBody, and
// slot is the free one that add must get for it. See bodyTable.slots for what a slot has.
func (t *bodyTable) find(d *digest) (number uint32, slot int, err error) {
	hash := t.hash(d)
	for slot = t.firstSlot(hash); ; slot = t.nextSlot(slot) {
		r, err := t.slots.record(slot, toRead)
		if err != nil {
			return 0, 0, err
		}
		switch s := le64(r); {
		case s == 0:
			return noBody, slot, nil
		case uint32(s>>32) == hash: // another digest may have the hash as well
			number := uint32(s) - 1
			if r, err = t.metas.record(int(number), toRead); err != nil || readBodyMeta(r).digest == *d {
				return number, slot, err
			}
		}
	}
}

func (t *bodyTable) hash(d *digest) uint32     { return uint32(maphash.Bytes(t.seed, d[:]) >> 32) }
func (t *bodyTable) firstSlot(hash uint32) int { return int(hash >> (32 - t.bits)) }
func (t *bodyTable) nextSlot(slot int) int     { return (slot + 1) & (1<<t.bits - 1) }

// add gives a new body the next number. slot is what find returned for its digest d; length is
// the size of its text in bytes.
func (t *bodyTable) add(slot int, d *digest, length uint32) error {
	r, err := t.metas.record(int(t.n), toChange)
	if err != nil {
		return err
	}
	k := bodyMeta{first: noSURT, digest: *d, number: t.n, length: length}
	k.write(r)
	t.n++
	if r, err = t.slots.record(slot, toChange); err != nil {
		return err
	}
	binary.LittleEndian.PutUint64(r, uint64(t.hash(d))<<32|uint64(t.n))
	if !needsSlots(t.n, t.bits) {
		return nil
	}
	return t.grow()
}

// needsSlots reports whether a table of 1<<bits slots must grow because that many bodies take three quarters
// of them. It never needs more than 1<<32: hashes have no more bits.
func needsSlots(bodies uint32, bits int) bool { return bits < 32 && uint64(bodies) >= 1<<bits/4*3 }

// grow moves the bodies to twice as many slots, each to the first free one from its hash's on.
func (t *bodyTable) grow() error {
	old := t.slots
	defer old.free()
	t.slots = newPagedArray(old.size, t.memory, old.spill.Folder)
	t.bits++
	for i := range 1 << (t.bits - 1) { // the old slots
		r, err := old.record(i, toRead)
		if err != nil {
			return err
		}
		body := le64(r)
		for slot := t.firstSlot(uint32(body >> 32)); body != 0; slot = t.nextSlot(slot) {
			if r, err = t.slots.record(slot, toChange); err != nil {
				return err
			}
			if le64(r) == 0 {
				binary.LittleEndian.PutUint64(r, body)
				break
			}
		}
	}
	return nil
}

func (t *bodyTable) close() {
	t.metas.free()
	t.slots.free()
}

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

// flush writes the bodies in memory to the temporary file, ordered by the least host that is known to have
// them, and removes them from memory. table gets their offsets and sizes in the file.
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

// each calls visit for each body that ordered calls its argument with, in that order, and with its stored
// form, which is valid until visit returns and which visit may change. It reads as many bodies at once from
// the temporary file as fit into the memory. finish must have been called.
func (s *bodyStore) each(ordered func(visit func(k *bodyMeta) error) error, visit func(k *bodyMeta, stored []byte) error) error {
	if s.spill.Size() == 0 {
		// All bodies are in memory, so that number n is at index n once they are sorted.
		slices.SortFunc(s.bodies, func(x, y storedBody) int { return cmp.Compare(x.number, y.number) })
		return ordered(func(k *bodyMeta) error { return visit(k, s.bodies[k.number].stored) })
	}
	var batch []bodyMeta // the next bodies, which are not read yet
	var size int64       // of the batch in the file
	var memory []byte    // reused for each batch
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

// readBodies reads bodies from the temporary file and returns each by its index in bodies. They are slices
// of memory, whose length is the sum of their sizes, in the order of their offsets. Bodies that are
// neighbours in the file are read in one call. Several goroutines read, because the bodies that many hosts
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
		last.data = last.data[:len(last.data)+size] // memory, for this body, is what follows last.data
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
