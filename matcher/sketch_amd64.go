//go:build !purego

package matcher

import "golang.org/x/sys/cpu"

// sketchAll sets sketches to those of the texts in data.
func sketchAll(sketches []Sketch, data []byte, texts []bounds) {
	if cpu.X86.HasAVX2 {
		sketchAllAVX2(sketches, data, texts, &octetBits)
		return
	}
	sketchAllPortable(sketches, data, texts)
}

// sketchAllAVX2 is sketchAll for processors with AVX2. It does not look whether
// the bounds are inside data, and sets a sketch for each of them.
//
//go:noescape
func sketchAllAVX2(sketches []Sketch, data []byte, texts []bounds, octetBits *[256]Sketch)
