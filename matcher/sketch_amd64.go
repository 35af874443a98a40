//go:build !purego

package matcher

import (
	"math/bits"

	"golang.org/x/sys/cpu"
)

// sketchAll sets sketches to those of the texts in data.
func sketchAll(sketches []Sketch, data []byte, texts []bounds) {
	switch {
	case hasAVX512:
		sketchAllAVX512(sketches, data, texts, &octetRoles)
	case cpu.X86.HasAVX2:
		sketchAllAVX2(sketches, data, texts, &octetBits)
	default:
		sketchAllPortable(sketches, data, texts)
	}
}

// hasAVX512 tells whether there is what the kernels for AVX-512 take, with BMI2.
var hasAVX512 = cpu.X86.HasAVX512VBMI && cpu.X86.HasAVX512BW && cpu.X86.HasBMI2

// sketchAllAVX2 is sketchAll for processors with AVX2. It does not look whether
// the bounds are inside data, and sets a sketch for each of them.
//
//go:noescape
func sketchAllAVX2(sketches []Sketch, data []byte, texts []bounds, octetBits *[256]Sketch)

// sketchAllAVX512 is sketchAllAVX2 for processors with hasAVX512.
//
//go:noescape
func sketchAllAVX512(sketches []Sketch, data []byte, texts []bounds, octetRoles *[128]uint8)

const (
	// isWork marks the role of an octet that has the workBit. Those that are not
	// in ASCII have that and nothing else.
	isWork = 0x80
	// noBit is the role of an octet without a bit: its bit is cleared before
	// that of a head may be set.
	noBit = headShift
)

// octetRoles are octetBits, of which an octet has one at most: its number, and
// isWork.
var octetRoles = func() (roles [128]uint8) {
	for c := range roles {
		roles[c] = noBit
		if bit := octetBits[c] &^ workBit; bit != 0 {
			roles[c] = uint8(bits.TrailingZeros64(uint64(bit)))
		}
		if octetBits[c]&workBit != 0 {
			roles[c] |= isWork
		}
	}
	return roles
}()
