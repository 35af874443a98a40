package matcher

import (
	"slices"

	"robotsbatch/matcher/internal/kernels"
	"robotsbatch/matcher/urls"
)

// maxPrefixes is the number of prefixes with undecided paths that a Decider collects before it
// resolves them. They fit the L1 cache.
const maxPrefixes = 256

// Decider decides the rows of a column of URLs whose authorities are known. It sets a bit
// for each row and each trie of its authority. It belongs to one goroutine.
//
// It walks the path of a row down the tries of its authority. The verdict of the rules
// without wildcards depends on a prefix of the URL only, so all following rows that start
// with this prefix share it: a comparison per row finds them, and their bits are set at
// once. Where a wildcard rule may change the verdict of a path, the path is undecided and
// the Decider collects it. Finish looks for the literals of wildcard rules in many paths at
// a time and flips the bits of those whose verdict changes.
type Decider struct {
	profile Profile
	target  Target
	data    []byte   // of the column
	allowed [][]byte // for each trie a bitmap, one bit per row

	prefixes [maxPrefixes]prefixVerdicts
	n        int             // number of prefixes with undecided paths
	last     *prefixVerdicts // the verdicts of prefix
	prefix   []byte          // a URL that starts with it gets the verdicts of last; nil for none
	paths    pathBlock       // the undecided paths
	rows     []int           // by path, its row
	path     []byte          // a path that had no slash, rewritten
}

// prefixVerdicts are the verdicts of the rules without wildcards for all URLs that start
// with one prefix.
type prefixVerdicts struct {
	verdicts  []prefixVerdict // by trie
	tries     []Trie          // copies, if undecided
	undecided bool            // a wildcard rule may change the verdict of one of the tries
	first     int             // the first undecided path of the prefix
	skip      int             // length of scheme and authority
}

// NewDecider returns a Decider for tries that were compiled under a profile.
func NewDecider(p Profile) *Decider {
	d := &Decider{profile: p}
	verdicts := make([]prefixVerdict, maxPrefixes) // one each: most rows have a single trie
	for i := range d.prefixes {
		d.prefixes[i].verdicts = verdicts[i : i+1 : i+1]
	}
	return d
}

// Reset starts a column with the bytes data. allowed has a bitmap for each trie, as many as
// the row with the most tries needs: one bit per row, least significant first, all 0. The
// Decider aliases data and allowed until the next Reset. Paths that Finish did not resolve are
// dropped.
func (d *Decider) Reset(data []byte, allowed [][]byte) {
	d.drop()
	d.data, d.allowed = data, allowed
	d.paths.reset(data)
	d.target.Forget()
}

// ChangeRules must be called between rows that have different tries.
func (d *Decider) ChangeRules() { d.prefix = nil }

// DecideRows decides consecutive rows of one authority, whose tries are given; the first
// one is number row. URL i is data[offsets[i]:offsets[i+1]] and may have blanks around it;
// its scheme and authority take authority bytes. The bits are final after Finish.
func DecideRows[O int32 | int64](d *Decider, tries []Trie, offsets []O, row, authority int) {
	for len(offsets) > 1 {
		low, high := int(offsets[0]), int(offsets[1])
		if d.mayHavePrefix(low, high) {
			if n := kernels.PrefixRun(d.prefix, d.data, offsets); n > 0 {
				d.allow(d.last, row, row+n)
				if d.last.undecided {
					addPaths(d, offsets[:n+1], row)
				}
				offsets, row = offsets[n:], row+n
				continue
			}
		}
		d.decideRow(tries, low, high, row, authority)
		offsets, row = offsets[1:], row+1
	}
}

// mayHavePrefix reports whether the URL data[low:high] may start with d.prefix. It compares two
// bytes, the last and the middle one, and so rejects most URLs that do not.
func (d *Decider) mayHavePrefix(low, high int) bool {
	n := len(d.prefix)
	return n > 0 && high-low >= n && d.data[low+n-1] == d.prefix[n-1] && d.data[low+n/2] == d.prefix[n/2]
}

// allow sets the bits of rows [low, high) in the bitmaps of the tries that allow them by v.
func (d *Decider) allow(v *prefixVerdicts, low, high int) {
	for i := range v.verdicts {
		if !v.verdicts[i].denied {
			SetBits(d.allowed[i], low, high)
		}
	}
}

// addPaths adds consecutive rows, the first of which is number row, to d.rows and their paths
// to d.paths, as undecided paths of d.last.
func addPaths[O int32 | int64](d *Decider, offsets []O, row int) {
	low := int(offsets[0])
	for i, high := range offsets[1:] {
		d.paths.add(low+d.last.skip, int(high))
		d.rows = append(d.rows, row+i)
		low = int(high)
	}
}

// decideRow decides a row, whose URL is data[low:high], as DecideRows does. It sets d.last and
// d.prefix for the rows that follow; d.prefix is nil if these cannot share the verdicts.
func (d *Decider) decideRow(tries []Trie, low, high, row, authority int) {
	url := d.data[low:high]
	trimmed := urls.Trim(url)
	low += cap(url) - cap(trimmed) // by the blanks at the start
	high = low + len(trimmed)
	path := trimmed[authority:]
	if len(path) == 0 || path[0] != '/' {
		d.decideAlone(tries, path, row)
		return
	}
	v := d.newPrefix()
	depth := d.decidePrefix(v, tries, path)
	d.allow(v, row, row+1)
	if v.undecided {
		v.tries = append(v.tries[:0], tries...) // the origin's may be others when the block ends
		v.first, v.skip = len(d.rows), authority
		d.paths.add(low+authority, high)
		d.rows = append(d.rows, row)
		d.n++
	}
	d.last, d.prefix = v, nil
	if depth <= len(path) {
		d.prefix = trimmed[:authority+depth]
	}
}

// decideAlone decides a path that lacks its slash, such as "?q". Other rows do not share
// its verdict.
func (d *Decider) decideAlone(tries []Trie, path []byte, row int) {
	d.path = append(append(d.path[:0], '/'), path...)
	d.target.Set(d.path, d.profile) // path is not /robots.txt
	for i := range tries {
		if tries[i].Allowed(&d.target) {
			SetBits(d.allowed[i], row, row+1)
		}
	}
}

// newPrefix returns memory for the verdicts of a prefix. The caller increments d.n to keep
// it, which is needed only for undecided paths.
func (d *Decider) newPrefix() *prefixVerdicts {
	if d.n == len(d.prefixes) {
		d.Finish()
	}
	return &d.prefixes[d.n]
}

// decidePrefix sets v to the verdicts of the rules without wildcards for a path, which starts
// with a slash. They hold for every path that shares its first depth bytes; depth is more than
// the path has if they hold for this path only.
func (d *Decider) decidePrefix(v *prefixVerdicts, tries []Trie, path []byte) (depth int) {
	d.target.Set(path, d.profile)
	denied := false
	v.undecided = false
	v.verdicts = slices.Grow(v.verdicts[:0], len(tries))[:len(tries)]
	for i := range tries {
		s := &v.verdicts[i]
		*s = tries[i].prefixVerdict(&d.target)
		depth = max(depth, s.depth)
		denied = denied || s.denied
		v.undecided = v.undecided || s.undecided
	}
	if denied {
		isRobotsTxt, holds := IsRobotsTxt(path, d.profile)
		if isRobotsTxt {
			clear(v.verdicts) // the zero value allows
			v.undecided = false
			return whole
		}
		depth = max(depth, holds)
	}
	return depth
}

// Finish resolves the undecided paths. Only then are the bits of all rows so far final.
func (d *Decider) Finish() {
	d.paths.prepare()
	for i := range d.n {
		last := len(d.rows)
		if i+1 < d.n {
			last = d.prefixes[i+1].first
		}
		d.resolve(&d.prefixes[i], last)
	}
	d.drop()
	d.paths.reset(d.data)
}

// drop forgets the prefixes and the undecided paths.
func (d *Decider) drop() {
	for i := range d.prefixes[:d.n] {
		clear(d.prefixes[i].tries) // so that the tries are not kept in memory
	}
	d.n, d.prefix, d.rows = 0, nil, d.rows[:0]
}

// resolve resolves the undecided paths [v.first, last) of a prefix: it flips the bits of those
// whose verdict a wildcard rule changes.
func (d *Decider) resolve(v *prefixVerdicts, last int) {
	for number := range v.verdicts {
		s, trie := &v.verdicts[number], &v.tries[number]
		if !s.undecided {
			continue
		}
		for i := v.first; ; i++ {
			if i = trie.skipUnaffected(s, &d.paths, i, last); i == last {
				break
			}
			d.target.setFrom(&d.paths, i, d.profile)
			if trie.resolve(s, &d.target) {
				d.change(s, number, i)
			}
		}
	}
}

// change flips the verdict v of a path for a trie, both given by their indices. d.target must
// be set to the path. /robots.txt stays allowed.
func (d *Decider) change(v *prefixVerdict, trie, path int) {
	if !v.denied { // the prefix of denied paths is long enough to exclude /robots.txt
		if isRobotsTxt, _ := IsRobotsTxt(d.target.Path(), d.profile); isRobotsTxt {
			return
		}
	}
	row := d.rows[path]
	d.allowed[trie][row>>3] ^= 1 << (row & 7)
}

// SetBits sets the bits [low, high) of a bitmap, least significant first.
func SetBits(bitmap []byte, low, high int) {
	first, last := low>>3, high>>3
	fromLow, belowHigh := byte(0xFF)<<(low&7), byte(1)<<(high&7)-1
	if first == last {
		bitmap[first] |= fromLow & belowHigh
		return
	}
	bitmap[first] |= fromLow
	for i := first + 1; i < last; i++ {
		bitmap[i] = 0xFF
	}
	if belowHigh != 0 { // else the bitmap may end there
		bitmap[last] |= belowHigh
	}
}

// PrefixRun returns how many consecutive values, from the first one on, start with prefix.
// Value i is data[offsets[i]:offsets[i+1]]. Offsets must be in order and inside data.
func PrefixRun[O int32 | int64](prefix, data []byte, offsets []O) int {
	return kernels.PrefixRun(prefix, data, offsets)
}
