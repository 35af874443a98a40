package batch

// Part is one of Count equal parts of a run of things, from 0. The zero value is all of
// it.
type Part struct{ Index, Count int }

// Of returns the part of n things, low to high-1. The parts of all indices follow one
// another, and differ by at most one thing.
func (p Part) Of(n int) (low, high int) {
	if p.Count <= 1 {
		return 0, n
	}
	return int(int64(n) * int64(p.Index) / int64(p.Count)), int(int64(n) * int64(p.Index+1) / int64(p.Count))
}
