package matcher

// firstFitPortable is firstFit in plain Go.
func firstFitPortable(paths []Sketch, tails []byte) (path, tail int) {
	n := len(tails) / sketchSize
	for i, path := range paths {
		if path&hardBits != 0 {
			return i, 0
		}
		if tail := firstWithout(tails, 0, n, ^path); tail < n {
			return i, tail
		}
	}
	return len(paths), 0
}
