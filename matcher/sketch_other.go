//go:build !amd64 || purego

package matcher

// SketchOf is the sketch of a text.
func SketchOf(s []byte) Sketch { return sketchPortable(s) }
