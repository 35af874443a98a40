//go:build !amd64 || purego

package matcher

// sketchAll sets sketches to those of the texts in data.
func sketchAll(sketches []Sketch, data []byte, texts []bounds) {
	sketchAllPortable(sketches, data, texts)
}
