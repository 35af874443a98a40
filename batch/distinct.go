package batch

import (
	"math"
	"math/bits"
)

const (
	// exactLimit is how many distinct hashes are counted one by one: 16 MiB.
	exactLimit = 1 << 20
	// registerBits gives the estimate 2^14 registers, whose standard error is
	// 1.04/√2^14 = 0.8 %.
	registerBits = 14
)

// distinct counts distinct 64-bit hashes: exactly up to exactLimit, then by a
// HyperLogLog estimate, so that its memory does not grow with the frontier.
type distinct struct {
	exact     map[uint64]struct{}
	registers []uint8 // nil while exact
}

func (d *distinct) add(hash uint64) {
	if d.registers != nil {
		d.register(hash)
		return
	}
	if d.exact == nil {
		d.exact = make(map[uint64]struct{})
	}
	d.exact[hash] = struct{}{}
	if len(d.exact) > exactLimit {
		d.estimate()
	}
}

// estimate goes over from counting to estimating.
func (d *distinct) estimate() {
	d.registers = make([]uint8, 1<<registerBits)
	for hash := range d.exact {
		d.register(hash)
	}
	d.exact = nil
}

func (d *distinct) register(hash uint64) {
	zeros := uint8(bits.LeadingZeros64(hash<<registerBits|1<<(registerBits-1))) + 1
	if r := &d.registers[hash>>(64-registerBits)]; *r < zeros {
		*r = zeros
	}
}

// merge adds all that other has seen.
func (d *distinct) merge(other *distinct) {
	if other.registers != nil {
		if d.registers == nil {
			d.estimate()
		}
		for i, r := range other.registers {
			d.registers[i] = max(d.registers[i], r)
		}
	}
	for hash := range other.exact {
		d.add(hash)
	}
}

func (d *distinct) count() int64 {
	if d.registers == nil {
		return int64(len(d.exact))
	}
	m := float64(len(d.registers))
	sum := 0.0
	for _, r := range d.registers {
		sum += math.Ldexp(1, -int(r))
	}
	return int64(0.7213 / (1 + 1.079/m) * m * m / sum)
}
