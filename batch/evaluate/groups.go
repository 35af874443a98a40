package evaluate

import (
	"bytes"
	"iter"

	"robotsbatch/batch"
	"robotsbatch/matcher"
	"robotsbatch/matcher/urls"
)

// groups are the authorities of a block of rows, in the order in which they come,
// each with its rows.
type groups struct {
	groupList
	first   int    // the block's first row
	keyText []byte // of keys that are not written in a URL
	// slots are a hash table of the groups with open addressing: the upper half of
	// a hash and 1 + the number of its group, or 0. At most half of them are taken.
	// Nobody can make authorities whose hashes are alike, for the hash has a key. With a map a job
	// takes 3 to 13 % longer.
	slots [2 * blockRows]uint64
}

// groupList is groups and, in a list for each of them, the runs of their rows.
type groupList struct {
	all  []group
	keys []matcher.Key // one a group
	runs []run         // of all groups
}

// group is the rows of a block whose authority is written in one way. Another
// spelling of the authority is another group.
type group struct {
	written     []byte // the authority with its scheme
	first, last int32  // indices of runs, -1 while the group has no rows
	slot        int32  // in the hash table
}

// run is rows that follow each other, all of one group.
type run struct {
	low, high int32 // rows low to high-1, counted from the block's first row on
	next      int32 // index of the group's next run, -1 for none
}

// partRows is the number of rows whose bytes are searched at once for line ends and NUL, which make a URL
// invalid: their bytes stay in the nearest cache. Such bytes are rare, so most parts need no search of each
// URL, which would take 12 % of a job.
const partRows = 256

// groupRows sets e.groups to the groups of a block's rows. A row that is null or has no
// authority is in no group, and gets a null verdict.
func groupRows[O int32 | int64](e *Evaluator, r *rows[O], v *batch.Verdicts) {
	g := &e.groups
	g.reset()
	g.first = r.first
	count := len(r.offsets) - 1
	for low := 0; low < count; low += partRows {
		groupPart(e, r, v, low, min(low+partRows, count))
	}
}

// groupPart adds rows [low, high), counted from the block's first row on, to e.groups, and sets null verdicts
// for those without an authority. After two rows of one authority, the rows that follow and start with it and a
// slash are found by one call.
func groupPart[O int32 | int64](e *Evaluator, r *rows[O], v *batch.Verdicts, low, high int) {
	g := &e.groups
	lineBytes := urls.HasLineByte(r.data[r.offsets[low]:r.offsets[high]]) // some row may have one
	var written []byte                                                    // the authority of the row before
	var number int32                                                      // its group
	for i := low; i < high; i++ {
		url := urls.Trim(r.data[r.offsets[i]:r.offsets[i+1]])
		if r.null(r.first+i) || lineBytes && urls.HasLineByte(url) {
			v.SetNull(r.first+i, matcher.InvalidURL)
			continue
		}
		if !urls.HasAuthority(url, written) {
			key, rest, err := e.scratch.SplitAuthority(url)
			if err != nil {
				v.SetNull(r.first+i, matcher.ReasonOf(err))
				continue
			}
			written = url[:len(url)-len(rest)]
			number = g.number(written, key)
			g.addRows(number, int32(i), int32(i+1))
			continue // a second row tells that a run may follow
		}
		run := g.addRows(number, int32(i), int32(i+1))
		if n := len(written); !lineBytes && r.nulls == nil && n < len(url) && url[n] == '/' {
			i += matcher.PrefixRun(url[:n+1], r.data, r.offsets[i+1:high+1])
			run.high = int32(i + 1)
		}
	}
}

// reset removes all groups.
func (g *groups) reset() {
	g.freeSlots()
	g.groupList.reset()
	g.keyText = g.keyText[:0]
}

// freeSlots empties the hash table. It must be called before its groups are replaced.
func (g *groups) freeSlots() {
	for i := range g.all {
		g.slots[g.all[i].slot] = 0
	}
}

func (l *groupList) reset() { l.all, l.keys, l.runs = l.all[:0], l.keys[:0], l.runs[:0] }

// forget drops all references to a batch, those of removed groups included.
func (l *groupList) forget() {
	clear(l.all[:cap(l.all)])
	clear(l.keys[:cap(l.keys)])
}

// number returns the number of the group of an authority, given as written and by its key. It adds
// a group without rows if there is none, and copies the key then, unless it lies in the URL.
func (g *groups) number(written, key []byte) int32 {
	hash := matcher.HashOf(written)
	slot := hash % uint64(len(g.slots))
	for ; g.slots[slot] != 0; slot = (slot + 1) % uint64(len(g.slots)) {
		if found := g.slots[slot]; found>>32 == hash>>32 {
			if number := int32(uint32(found)) - 1; bytes.Equal(g.all[number].written, written) {
				return number
			}
		}
	}
	g.slots[slot] = hash>>32<<32 | uint64(len(g.all)+1) // 1 + the number that g.add returns
	if &key[0] != &written[0] {                         // the next key is written over it
		low := len(g.keyText)
		g.keyText = append(g.keyText, key...)
		key = g.keyText[low:len(g.keyText):len(g.keyText)]
		hash = matcher.HashOf(key)
	}
	return g.add(group{written: written, slot: int32(slot)}, matcher.Key{Text: key, Hash: hash})
}

// add adds a group, which gets no rows yet, and returns its number.
func (l *groupList) add(added group, key matcher.Key) int32 {
	added.first, added.last = -1, -1
	l.all = append(l.all, added)
	l.keys = append(l.keys, key)
	return int32(len(l.all) - 1)
}

// walk goes through the runs of a group's rows in a block: rows low to high-1 of the batch
// when next returned true. Declare it before its loop: a loop copies a variable of its own that
// is addressed for each iteration, which costs more than the rest of a short run.
type walk struct {
	low, high int
	at        int32 // the next run
	g         *groups
}

// walk returns a walk through a group.
func (g *groups) walk(number int) walk { return walk{at: g.all[number].first, g: g} }

// next moves to the next run; it returns false after the last.
func (w *walk) next() bool {
	if w.at < 0 {
		return false
	}
	r := &w.g.runs[w.at]
	w.low, w.high, w.at = w.g.first+int(r.low), w.g.first+int(r.high), r.next
	return true
}

// rowsOf yields the rows of a group. Where a run can be handled as a whole, use walk.
func (g *groups) rowsOf(number int) iter.Seq[int] {
	return func(yield func(row int) bool) {
		w := g.walk(number)
		for w.next() {
			for row := w.low; row < w.high; row++ {
				if !yield(row) {
					return
				}
			}
		}
	}
}

// firstRow returns the first row of a group.
func (g *groups) firstRow(number int) int { return g.first + int(g.runs[g.all[number].first].low) }

// count returns the number of rows that a group has.
func (g *groups) count(number int) int {
	count := 0
	w := g.walk(number)
	for w.next() {
		count += w.high - w.low
	}
	return count
}

// addRows adds rows [low, high), counted from the block's first row on, to a group, and returns
// the run that ends with them, which is valid until the next call. Rows must come in order.
func (l *groupList) addRows(number, low, high int32) *run {
	group := &l.all[number]
	if group.last >= 0 {
		if last := &l.runs[group.last]; last.high == low {
			last.high = high
			return last
		}
	}
	added := int32(len(l.runs))
	l.runs = append(l.runs, run{low: low, high: high, next: -1})
	if group.last >= 0 {
		l.runs[group.last].next = added
	} else {
		group.first = added
	}
	group.last = added
	return &l.runs[added]
}
