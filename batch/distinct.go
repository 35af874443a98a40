package batch

import (
	"math"
	"math/bits"
	"slices"
)

const (
	// exactLimit is the number of distinct hashes up to which the count is exact: 16 MiB.
	exactLimit = 1 << 20
	// registerBits gives the estimate 2^14 registers, whose standard error is
	// 1.04/√2^14 = 0.8 %.
	registerBits = 14
)

// authorities counts distinct authorities by the hashes of their keys.
type authorities struct {
	known, unknown distinct // known: the rules say something of them
}

// add adds the authorities of a batch.
func (a *authorities) add(v *Verdicts) {
	a.known.add(v.Authorities)
	a.unknown.add(v.Unknown)
}

// merge adds the authorities of other, which must not be used afterwards.
func (a *authorities) merge(other *authorities) {
	a.known.merge(&other.known)
	a.unknown.merge(&other.unknown)
}

// count returns the number of all authorities, and the number of those that are not known.
func (a *authorities) count() (all, unknown int64) {
	unknown = a.unknown.count()
	return a.known.count() + unknown, unknown
}

// distinct counts distinct 64-bit hashes: exactly up to exactLimit, then by a
// HyperLogLog estimate, so that its memory does not grow with the frontier.
type distinct struct {
	exact     hashSet
	registers []uint8 // nil while exact
}

// add adds hashes.
func (d *distinct) add(hashes []uint64) {
	for _, hash := range hashes {
		hash = max(hash, 1) // 0 is a free slot of a hashSet
		if d.registers != nil {
			d.register(hash)
		} else if d.exact.add(hash); d.exact.count > exactLimit {
			d.makeRegisters()
		}
	}
}

// makeRegisters replaces the exact set by registers.
func (d *distinct) makeRegisters() {
	d.registers = make([]uint8, 1<<registerBits)
	for _, hash := range d.exact.slots {
		if hash != 0 {
			d.register(hash)
		}
	}
	d.exact = hashSet{}
}

// register adds a hash to the estimate. The high bits choose a register, which keeps the most
// leading zeros, plus one, of the other bits. The bit that is set below these bounds the count.
func (d *distinct) register(hash uint64) {
	zeros := uint8(bits.LeadingZeros64(hash<<registerBits|1<<(registerBits-1))) + 1
	if r := &d.registers[hash>>(64-registerBits)]; *r < zeros {
		*r = zeros
	}
}

// merge adds the hashes of other, which must not be used afterwards.
func (d *distinct) merge(other *distinct) {
	if d.registers == nil && d.exact.count == 0 {
		*d = *other
		return
	}
	if other.registers != nil {
		if d.registers == nil {
			d.makeRegisters()
		}
		for i, r := range other.registers {
			d.registers[i] = max(d.registers[i], r)
		}
	}
	d.add(slices.DeleteFunc(other.exact.slots, func(hash uint64) bool { return hash == 0 }))
}

// count returns the number of distinct hashes, or an estimate of it: the harmonic mean of the
// registers' powers of two, with the correction for their number (P. Flajolet et al., 2007).
func (d *distinct) count() int64 {
	if d.registers == nil {
		return int64(d.exact.count)
	}
	m := float64(len(d.registers))
	sum := 0.0
	for _, r := range d.registers {
		sum += math.Ldexp(1, -int(r))
	}
	return int64(0.7213 / (1 + 1.079/m) * m * m / sum)
}

// hashSet is a set of hashes other than 0. They are as good as random numbers, so
// one read of memory tells whether one is there.
type hashSet struct {
	slots []uint64 // a power of two, at most half of them taken; 0 is free
	count int
}

// add adds a hash, which is not 0, unless it is there.
func (s *hashSet) add(hash uint64) {
	if 2*s.count >= len(s.slots) {
		s.grow()
	}
	for i := hash; ; i++ {
		switch slot := &s.slots[i&uint64(len(s.slots)-1)]; *slot {
		case 0:
			*slot = hash
			s.count++
			return
		case hash:
			return
		}
	}
}

// grow doubles the number of slots.
func (s *hashSet) grow() {
	old := s.slots
	*s = hashSet{slots: make([]uint64, max(64, 2*len(old)))}
	for _, hash := range old {
		if hash != 0 {
			s.add(hash)
		}
	}
}
