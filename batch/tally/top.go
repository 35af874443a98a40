package tally

import (
	"cmp"
	"container/heap"
	"slices"

	"github.com/zeebo/xxh3"
)

const (
	// topKeys is the number of keys that a Top counts one by one.
	topKeys = 2048
	// topCells is the number of cells that all others share; a power of two.
	topCells = 1 << 14
)

// Entry is a key that a Top lists.
type Entry struct {
	Key string
	// Count is how often it came, or up to Error less.
	Count, Error int64
	// Rows and Denied, for each agent, count the rows that were added with the key while it
	// was listed: there are at least that many.
	Rows   int64
	Denied []int64
	// Example is something that came with the key.
	Example string

	at int // in the heap
}

// Top finds the keys with the largest counts in bounded memory, by filtered space-saving (N. Homem and J. P.
// Carvalho, 2010): an unlisted key is counted in a cell that it shares with others, until the cell's count
// reaches the smallest one listed. Then the key takes that one's place, with the cell's count as its error.
type Top struct {
	agents  int
	entries map[string]*Entry
	least   entryHeap // the smallest count first
	cells   []int64   // each at least the count of any key that is not listed
}

// newTop returns a Top whose entries count rows of a number of agents.
func newTop(agents int) *Top {
	return &Top{agents: agents, entries: make(map[string]*Entry), cells: make([]int64, topCells)}
}

// Add counts a key n times, and returns its entry; nil if it is not listed.
func (t *Top) Add(key []byte, n int64) *Entry {
	if e := t.entries[string(key)]; e != nil {
		e.Count += n
		heap.Fix(&t.least, e.at)
		return e
	}
	if len(t.entries) < topKeys {
		return t.insert(string(key), n, 0)
	}
	cell := &t.cells[xxh3.Hash(key)%topCells]
	if *cell+n < t.least[0].Count {
		*cell += n
		return nil
	}
	before := *cell
	t.removeLeast()
	return t.insert(string(key), before+n, before)
}

// cell returns the cell that counts a key as long as it is not listed, together with others.
func (t *Top) cell(key string) *int64 { return &t.cells[xxh3.HashString(key)%topCells] }

// insert lists a key with a count, which may be too high by errorOf.
func (t *Top) insert(key string, count, errorOf int64) *Entry {
	e := &Entry{Key: key, Count: count, Error: errorOf, Denied: make([]int64, t.agents)}
	t.entries[key] = e
	heap.Push(&t.least, e)
	return e
}

// removeLeast removes the key with the smallest count, and raises its cell to that count.
func (t *Top) removeLeast() {
	e := heap.Pop(&t.least).(*Entry)
	delete(t.entries, e.Key)
	cell := t.cell(e.Key)
	*cell = max(*cell, e.Count)
}

// Merge adds what another has counted, which must not be used afterwards. A key that one of them does not list
// is counted there by its cell, which may be too high by all of its count.
func (t *Top) Merge(other *Top) {
	for _, e := range t.entries {
		if other.entries[e.Key] == nil {
			unlisted := *other.cell(e.Key)
			e.Count += unlisted
			e.Error += unlisted
		}
	}
	for key, o := range other.entries {
		e := t.entries[key]
		if e == nil {
			unlisted := *t.cell(key)
			e = t.insert(key, unlisted, unlisted)
		}
		e.Count += o.Count
		e.Error += o.Error
		e.Rows += o.Rows
		for agent, denied := range o.Denied {
			e.Denied[agent] += denied
		}
		e.Example = cmp.Or(e.Example, o.Example)
	}
	for i, count := range other.cells {
		t.cells[i] += count
	}
	heap.Init(&t.least)
	for len(t.entries) > topKeys {
		t.removeLeast()
	}
}

// Largest returns the n entries with the largest counts, by count and then by key.
func (t *Top) Largest(n int) []Entry {
	var all []Entry
	for _, e := range t.entries {
		all = append(all, *e)
	}
	slices.SortFunc(all, func(a, b Entry) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Key, b.Key)) })
	return all[:min(n, len(all))]
}

// Of returns the entry of a key; nil if it is not listed.
func (t *Top) Of(key string) *Entry { return t.entries[key] }

// Exact reports whether all counts are exact.
func (t *Top) Exact() bool { return t.Unlisted() == 0 }

// Unlisted returns an upper bound of the count of any key that is not listed.
func (t *Top) Unlisted() int64 { return slices.Max(t.cells) }

// entryHeap implements heap.Interface.
type entryHeap []*Entry

func (h entryHeap) Len() int           { return len(h) }
func (h entryHeap) Less(i, j int) bool { return h[i].Count < h[j].Count }

func (h entryHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].at, h[j].at = i, j
}

// Push implements heap.Interface.
func (h *entryHeap) Push(x any) {
	e := x.(*Entry)
	e.at = len(*h)
	*h = append(*h, e)
}

// Pop implements heap.Interface.
func (h *entryHeap) Pop() any {
	last := len(*h) - 1
	e := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return e
}
