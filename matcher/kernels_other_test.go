//go:build !amd64 || purego

package matcher

func sketchKernels() map[string]func([]Sketch, []byte, []bounds) {
	return map[string]func([]Sketch, []byte, []bounds){"sketchAll": sketchAll}
}

func fitKernels() map[string]func([]Sketch, []byte) (int, int) {
	return map[string]func([]Sketch, []byte) (int, int){"firstFit": firstFit}
}
