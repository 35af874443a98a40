package matcher

import (
	"slices"

	"robotsbatch/matcher/internal/kernels"
	"robotsbatch/matcher/urls"
)

// maxPrefixes is how many prefixes with undecided paths a Decider collects before
// it resolves them: as many as stay in the nearest cache.
const maxPrefixes = 256

// Decider decides the rows of a column of URLs whose authorities are known, and
// sets a bit for each row and trie of its authority. It is one goroutine's.
//
// A row's path is walked down the tries of its authority. What the rules without
// wildcards make of it depends on a prefix of the URL, and holds for all rows that
// follow and begin with that prefix: one comparison each finds these. Their bits
// are set at once. Where a wildcard rule may change the verdict of single paths,
// these are collected, for Finish to look for the rules' literals in many paths at
// a time; it changes the bits of those that a wildcard rule decides otherwise.
type Decider struct {
	profile Profile
	target  Target
	data    []byte   // of the column
	allowed [][]byte // a trie's bits, one a row

	prefixes [maxPrefixes]prefixVerdicts
	n        int             // prefixes with undecided paths
	last     *prefixVerdicts // the one of prefix
	prefix   []byte          // what a URL has to begin with to get the verdicts of last; nil for none
	paths    pathBlock       // undecided ones
	rows     []int           // of paths
	path     []byte          // one that is not written in a URL
}

// prefixVerdicts is what the rules without wildcards make of all URLs that begin
// with one prefix.
type prefixVerdicts struct {
	verdicts  []prefixVerdict // a trie's
	tries     []Trie          // if undecided
	undecided bool            // a wildcard rule may change a trie's verdict
	first     int             // the first path, if undecided
	skip      int             // bytes of the URL before its path
}

// NewDecider returns a Decider for tries that were compiled under a profile.
func NewDecider(p Profile) *Decider {
	d := &Decider{profile: p}
	verdicts := make([]prefixVerdict, maxPrefixes) // most often there is one trie
	for i := range d.prefixes {
		d.prefixes[i].verdicts = verdicts[i : i+1 : i+1]
	}
	return d
}

// Reset begins with a column whose bytes are data, and whose verdicts are to be
// set in allowed: bitmap i is for the rows' tries i, with a bit a row, least
// significant first, that is 0 until then. There must be as many as any row has
// tries. The Decider aliases both until the next Reset. Finish must come before it.
func (d *Decider) Reset(data []byte, allowed [][]byte) {
	d.data, d.allowed, d.prefix = data, allowed, nil
	d.paths.reset(data)
	d.target.Forget()
}

// ChangeRules comes before rows of an authority that had other rules in rows before.
func (d *Decider) ChangeRules() { d.prefix = nil }

// DecideRows decides rows, from number row on, whose URLs have one authority with
// these tries. URL i is data[offsets[i]:offsets[i+1]], with blanks
// around it maybe; authority is how many bytes its authority takes with the
// scheme. The bits are those after Finish.
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

// mayHavePrefix is false for most URLs that do not begin with the prefix.
func (d *Decider) mayHavePrefix(low, high int) bool {
	n := len(d.prefix)
	return n > 0 && high-low >= n && d.data[low+n-1] == d.prefix[n-1] && d.data[low+n/2] == d.prefix[n/2]
}

// allow sets the bits of rows low to high-1 for the tries that allow them.
func (d *Decider) allow(v *prefixVerdicts, low, high int) {
	for i := range v.verdicts {
		if !v.verdicts[i].denied {
			SetBits(d.allowed[i], low, high)
		}
	}
}

// addPaths adds undecided paths of rows from number row on.
func addPaths[O int32 | int64](d *Decider, offsets []O, row int) {
	low := int(offsets[0])
	for i, high := range offsets[1:] {
		d.paths.add(low+d.last.skip, int(high))
		d.rows = append(d.rows, row+i)
		low = int(high)
	}
}

// decideRow decides a row whose URL lies from byte low on and before high, and
// makes a prefix of it that the next rows may have.
func (d *Decider) decideRow(tries []Trie, low, high, row, authority int) {
	url := d.data[low:high]
	trimmed := urls.Trim(url)
	low += cap(url) - cap(trimmed)
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
		v.tries, v.first, v.skip = tries, len(d.rows), authority
		d.paths.add(low+authority, high)
		d.rows = append(d.rows, row)
		d.n++
	}
	d.last, d.prefix = v, nil
	if depth <= len(path) {
		d.prefix = trimmed[:authority+depth]
	}
}

// decideAlone decides a path that has to be written out with its slash.
func (d *Decider) decideAlone(tries []Trie, path []byte, row int) {
	d.path = append(append(d.path[:0], '/'), path...)
	d.target.Set(d.path, d.profile) // which is not /robots.txt
	for i := range tries {
		if tries[i].Allowed(&d.target) {
			SetBits(d.allowed[i], row, row+1)
		}
	}
}

// newPrefix returns the memory for a prefix. It is taken only if paths of the
// prefix are undecided.
func (d *Decider) newPrefix() *prefixVerdicts {
	if d.n == len(d.prefixes) {
		d.Finish()
	}
	return &d.prefixes[d.n]
}

// decidePrefix sets what the rules without wildcards make of a path, and of every path
// that agrees with it in its first depth bytes.
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
		is, known := IsRobotsTxt(path, d.profile)
		if is {
			clear(v.verdicts) // that allows it
			v.undecided = false
			return Whole
		}
		depth = max(depth, known)
	}
	return depth
}

// Finish decides what is undecided of the rows so far: then their bits are set.
func (d *Decider) Finish() {
	d.paths.prepare()
	for i := range d.n {
		last := len(d.rows)
		if i+1 < d.n {
			last = d.prefixes[i+1].first
		}
		d.resolve(&d.prefixes[i], last)
	}
	d.n, d.prefix, d.rows = 0, nil, d.rows[:0]
	d.paths.reset(d.data)
}

// resolve decides the undecided paths of a prefix, of which the last is before
// number last.
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
	v.tries = nil // they are not to be kept in memory
}

// change changes the verdict of a path for a trie, by its number.
func (d *Decider) change(v *prefixVerdict, trie, path int) {
	if !v.denied { // denied paths have a prefix that tells them from /robots.txt
		if is, _ := IsRobotsTxt(d.target.Path(), d.profile); is {
			return
		}
	}
	row := d.rows[path]
	d.allowed[trie][row>>3] ^= 1 << (row & 7)
}

// SetBits sets the bits low to high-1 of a bitmap.
func SetBits(bitmap []byte, low, high int) {
	first, last := low>>3, high>>3
	from, before := byte(0xFF)<<(low&7), byte(1)<<(high&7)-1
	if first == last {
		bitmap[first] |= from & before
		return
	}
	bitmap[first] |= from
	for i := first + 1; i < last; i++ {
		bitmap[i] = 0xFF
	}
	if before != 0 {
		bitmap[last] |= before
	}
}

// PrefixRun returns how many values in a row, from the first on, start with
// prefix. Value i is data[offsets[i]:offsets[i+1]]; the offsets must not fall, and
// must lie inside data.
func PrefixRun[O int32 | int64](prefix, data []byte, offsets []O) int {
	return kernels.PrefixRun(prefix, data, offsets)
}
