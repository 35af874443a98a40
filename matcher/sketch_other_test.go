//go:build !amd64 || purego

package matcher

// sketchKernels are all forms of sketchAll that this processor can run.
func sketchKernels() map[string]func([]Sketch, []byte, []bounds) {
	return map[string]func([]Sketch, []byte, []bounds){"sketchAll": sketchAll}
}
