//go:build !amd64 || purego

package matcher

// firstFit returns the first of some paths' sketches that has all bits of one of
// the sketches of some tails, and the first tail of which it has; or the first
// that has hard bits, and tail 0; or the number of paths.
func firstFit(paths []Sketch, tails []byte) (path, tail int) { return firstFitPortable(paths, tails) }
