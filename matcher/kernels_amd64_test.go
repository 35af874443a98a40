//go:build !purego

package matcher

import "golang.org/x/sys/cpu"

// sketchKernels are all forms of sketchAll that this processor can run.
func sketchKernels() map[string]func([]Sketch, []byte, []bounds) {
	kernels := map[string]func([]Sketch, []byte, []bounds){"sketchAll": sketchAll}
	if cpu.X86.HasAVX2 {
		kernels["AVX2"] = func(sketches []Sketch, data []byte, texts []bounds) {
			sketchAllAVX2(sketches, data, texts, &octetBits)
		}
	}
	return kernels
}

// fitKernels are all forms of firstFit that this processor can run.
func fitKernels() map[string]func([]Sketch, []byte) (int, int) {
	kernels := map[string]func([]Sketch, []byte) (int, int){"firstFit": firstFit}
	if cpu.X86.HasAVX2 {
		kernels["AVX2"] = firstFitAVX2
	}
	return kernels
}
