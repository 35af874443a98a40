package rulepack

import (
	"crypto/sha256"
	"hash/maphash"
)

// digest is the SHA-256 of the part of a body that counts. A weaker hash would not do,
// because hosts choose their bodies and could make two collide.
type digest = [sha256.Size]byte

// list is a slice in chunks. A slice that grows is there twice while it is copied.
type list[T any] struct {
	chunks []*[listChunk]T
	n      uint32
}

const listChunk = 1 << 10

func (l *list[T]) at(i uint32) *T { return &l.chunks[i/listChunk][i%listChunk] }

func (l *list[T]) append(x T) {
	if l.n%listChunk == 0 {
		l.chunks = append(l.chunks, new([listChunk]T))
	}
	l.n++
	*l.at(l.n - 1) = x
}

// digests numbers distinct digests in the order in which they come. It is a hash table of
// numbers beside the digests, which the pack needs by number as well: some 40 bytes for each,
// where a map of digests takes twice that, and the digests once more when the pack is written.
type digests struct {
	list[digest] // by number
	// slots has 1 + the number of a digest in the first free place from that of its hash on.
	slots []uint32
	seed  maphash.Seed
}

// slot returns the place of a digest, or the free one where it would be.
func (d *digests) slot(x *digest) *uint32 {
	mask := uint64(len(d.slots) - 1)
	for i := maphash.Bytes(d.seed, x[:]); ; i++ {
		if s := &d.slots[i&mask]; *s == 0 || *d.at(*s - 1) == *x {
			return s
		}
	}
}

// find returns the number of a digest, if it has one.
func (d *digests) find(x *digest) (number uint32, ok bool) {
	if d.n == 0 {
		return 0, false
	}
	s := *d.slot(x)
	return s - 1, s != 0
}

// add gives the next number to a digest that has none.
func (d *digests) add(x *digest) {
	if int(d.n) >= len(d.slots)/4*3 {
		d.seed = maphash.MakeSeed()
		d.slots = make([]uint32, max(64, 2*len(d.slots)))
		for number := range d.n {
			*d.slot(d.at(number)) = number + 1
		}
	}
	s := d.slot(x)
	d.append(*x)
	*s = d.n
}
