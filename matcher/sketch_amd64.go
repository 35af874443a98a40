//go:build !purego

package matcher

import "golang.org/x/sys/cpu"

// minSketch is the shortest text that the assembly takes.
const minSketch = 16

// SketchOf is the sketch of a text.
func SketchOf(s []byte) Sketch {
	if len(s) < minSketch || !cpu.X86.HasAVX2 {
		return sketchPortable(s)
	}
	return sketchAVX2(s, &octetBits)
}

// sketchAVX2 is SketchOf for a text of at least minSketch octets.
//
//go:noescape
func sketchAVX2(s []byte, octetBits *[256]Sketch) Sketch
