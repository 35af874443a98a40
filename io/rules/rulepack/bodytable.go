package rulepack

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"hash/maphash"

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

// load brings a page into memory. If the memory is full, the page replaces one that was not
// used lately (the clock algorithm).
func (p *pagedArray) load(page int) error {
	if len(p.frames) < p.most {
		p.hand = len(p.frames)
		p.frames = append(p.frames, frame{data: make([]byte, pagedSize)})
	} else {
		for p.hand = (p.hand + 1) % p.most; p.frames[p.hand].recent; p.hand = (p.hand + 1) % p.most {
			p.frames[p.hand].recent = false
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
		case uint32(s>>32) == hash:
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

// needsSlots reports whether a table of bodies is to grow: three quarters of its 1<<bits slots
// are taken. 1<<32 slots suffice for all numbers, and hashes have no more bits.
func needsSlots(bodies uint32, bits int) bool { return bits < 32 && uint64(bodies) >= 1<<bits/4*3 }

// grow moves the bodies to twice as many slots.
func (t *bodyTable) grow() error {
	old := t.slots
	defer old.free()
	t.slots = newPagedArray(old.size, t.memory, old.spill.Folder)
	t.bits++
	for i := range 1 << (t.bits - 1) {
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
