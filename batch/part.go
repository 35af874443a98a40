package batch

// Part is part Index, from 0, of Count parts of a sequence. The zero value is all of it.
type Part struct{ Index, Count int }

// Of returns the part of a sequence of length n: [low, high). The parts of all indices make up
// the sequence, in order, and their lengths differ by at most one.
func (p Part) Of(n int) (low, high int) {
	if p.Count <= 1 {
		return 0, n
	}
	return int(int64(n) * int64(p.Index) / int64(p.Count)), int(int64(n) * int64(p.Index+1) / int64(p.Count))
}
