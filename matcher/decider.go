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

	pending [maxPrefixes]urlPrefix // pending[:n] have undecided paths
	n       int
	last    *urlPrefix // the prefix of the row decided last
	prefix  []byte     // its text; nil if the rows that follow cannot share its verdicts
	paths   pathBlock  // the undecided paths, those of one prefix side by side
	rows    []int      // by path, its row
	path    []byte     // memory for a path that has no slash
}

// urlPrefix has the verdicts of the rules without wildcards for all URLs that start with one
// prefix. Only if it is undecided are the fields after that set.
type urlPrefix struct {
	verdicts  []prefixVerdict // by trie
	undecided bool            // a wildcard rule may change the verdict of one of the tries
	tries     []Trie          // copies
	first     int             // the index of its first undecided path
	pathStart int             // length of scheme and authority
}

// NewDecider returns a Decider for tries that were compiled under a profile.
func NewDecider(p Profile) *Decider {
	d := &Decider{profile: p}
	verdicts := make([]prefixVerdict, maxPrefixes) // one each: most rows have a single trie
	for i := range d.pending {
		d.pending[i].verdicts = verdicts[i : i+1 : i+1]
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

// DecideRows decides consecutive rows of one authority by its tries. row is the number of the first
// one. URL i of these rows is data[offsets[i]:offsets[i+1]], without the blanks around it; its path starts at
// byte pathStart, after scheme and authority. The bits are final after Finish.
func DecideRows[O int32 | int64](d *Decider, tries []Trie, offsets []O, row, pathStart int) {
	for len(offsets) > 1 {
		low, high := int(offsets[0]), int(offsets[1])
		// Rows that start with the prefix of the row decided last share its verdicts, except where a
		// wildcard rule may change them: Finish resolves those.
		if d.mayHavePrefix(low, high) {
			if n := kernels.PrefixRun(d.prefix, d.data, offsets); n > 0 {
				d.setVerdicts(d.last, row, row+n)
				if d.last.undecided {
					addPaths(d, offsets[:n+1], row)
				}
				offsets, row = offsets[n:], row+n
				continue
			}
		}
		d.decideRow(tries, low, high, row, pathStart)
		offsets, row = offsets[1:], row+1
	}
}

// mayHavePrefix reports whether the URL data[low:high] may start with d.prefix. It compares two
// bytes, the last and the middle one, and so rejects most URLs that do not: 8 % with 16,000 rules.
func (d *Decider) mayHavePrefix(low, high int) bool {
	n := len(d.prefix)
	return n > 0 && high-low >= n && d.data[low+n-1] == d.prefix[n-1] && d.data[low+n/2] == d.prefix[n/2]
}

// setVerdicts sets the bits of rows [low, high), which start with a prefix, in the bitmaps of the tries
// that allow it.
func (d *Decider) setVerdicts(prefix *urlPrefix, low, high int) {
	for i := range prefix.verdicts {
		if !prefix.verdicts[i].denied {
			SetBits(d.allowed[i], low, high)
		}
	}
}

// addPaths adds consecutive rows, the first of which is number row, to d.rows and their paths
// to d.paths, as undecided paths of d.last.
func addPaths[O int32 | int64](d *Decider, offsets []O, row int) {
	low := int(offsets[0])
	for i, high := range offsets[1:] {
		d.paths.add(low+d.last.pathStart, int(high))
		d.rows = append(d.rows, row+i)
		low = int(high)
	}
}

// decideRow decides a row, whose URL is data[low:high], by itself, and sets d.last and d.prefix, by which
// DecideRows finds the following rows that share its verdicts; d.prefix is nil if none can. After a
// path that lacks its slash they stay as they were.
func (d *Decider) decideRow(tries []Trie, low, high, row, pathStart int) {
	url := d.data[low:high]
	trimmed := urls.Trim(url)
	low += cap(url) - cap(trimmed) // past the blanks at the start, which Trim cut off
	high = low + len(trimmed)
	path := trimmed[pathStart:]
	if len(path) == 0 || path[0] != '/' {
		d.decideAlone(tries, path, row)
		return
	}
	prefix := d.newPrefix()
	depth := d.decidePrefix(prefix, tries, path)
	d.setVerdicts(prefix, row, row+1)
	if prefix.undecided {
		prefix.tries = append(prefix.tries[:0], tries...) // the origin's may be others at Finish
		prefix.first, prefix.pathStart = len(d.rows), pathStart
		d.paths.add(low+pathStart, high)
		d.rows = append(d.rows, row)
		d.n++
	}
	d.last, d.prefix = prefix, nil
	if depth <= len(path) {
		d.prefix = trimmed[:pathStart+depth]
	}
}

// decideAlone decides a path that lacks its slash, such as "?q". Other rows do not share
// its verdict.
func (d *Decider) decideAlone(tries []Trie, path []byte, row int) {
	d.path = append(append(d.path[:0], '/'), path...)
	d.target.Set(d.path, d.profile) // it is not /robots.txt, which needs no exception here
	for i := range tries {
		if tries[i].Allowed(&d.target) {
			SetBits(d.allowed[i], row, row+1)
		}
	}
}

// newPrefix returns the element of d.pending after those with undecided paths. The next call
// returns the same one, unless the caller increments d.n. If all are taken, it resolves them.
func (d *Decider) newPrefix() *urlPrefix {
	if d.n == len(d.pending) {
		d.Finish()
	}
	return &d.pending[d.n]
}

// decidePrefix sets the verdicts of a prefix by the rules without wildcards, and undecided if a wildcard rule
// may change one, for a path, which starts with a slash. They hold for every path that shares its first depth
// bytes; depth is more than the path has if they hold for this path only.
func (d *Decider) decidePrefix(prefix *urlPrefix, tries []Trie, path []byte) (depth int) {
	d.target.Set(path, d.profile)
	denied := false
	prefix.undecided = false
	prefix.verdicts = slices.Grow(prefix.verdicts[:0], len(tries))[:len(tries)]
	for i := range tries {
		v := &prefix.verdicts[i]
		*v = tries[i].prefixVerdict(&d.target)
		depth = max(depth, v.depth)
		denied = denied || v.denied
		prefix.undecided = prefix.undecided || v.undecided
	}
	if denied {
		isRobotsTxt, holds := IsRobotsTxt(path, d.profile)
		if isRobotsTxt {
			clear(prefix.verdicts) // the zero value allows
			prefix.undecided = false
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
			last = d.pending[i+1].first
		}
		d.resolve(&d.pending[i], last)
	}
	d.drop()
	d.paths.reset(d.data)
}

// drop forgets the prefixes and the undecided paths.
func (d *Decider) drop() {
	for i := range d.pending[:d.n] {
		clear(d.pending[i].tries) // so that the tries are not kept in memory
	}
	d.n, d.prefix, d.rows = 0, nil, d.rows[:0]
}

// resolve resolves the undecided paths [prefix.first, last) of a prefix: it flips the bits of those
// whose verdict a wildcard rule changes.
func (d *Decider) resolve(prefix *urlPrefix, last int) {
	for i := range prefix.verdicts {
		v, trie := &prefix.verdicts[i], &prefix.tries[i]
		if !v.undecided {
			continue
		}
		for path := prefix.first; ; path++ {
			if path = trie.skipUnaffected(v, &d.paths, path, last); path == last {
				break
			}
			d.target.setFrom(&d.paths, path, d.profile)
			if trie.resolve(v, &d.target) && !d.mustStayAllowed(v) {
				row := d.rows[path]
				d.allowed[i][row>>3] ^= 1 << (row & 7)
			}
		}
	}
}

// mustStayAllowed reports whether the path in d.target is /robots.txt, which no rule denies. v is
// the path's verdict without wildcard rules. If that denies the path, it is another one: decidePrefix
// makes the prefix of a denied path long enough to exclude /robots.txt.
func (d *Decider) mustStayAllowed(v *prefixVerdict) bool {
	if v.denied {
		return false
	}
	isRobotsTxt, _ := IsRobotsTxt(d.target.Path(), d.profile)
	return isRobotsTxt
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
