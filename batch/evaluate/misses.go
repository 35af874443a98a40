package evaluate

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

// mostMisses is how many authorities Misses keeps.
const mostMisses = 64

// Misses is a sample of the authorities of a job of which nothing is known: all of them, if
// they are few. Evaluators of any goroutine may add to it.
type Misses struct {
	beyond atomic.Uint64 // the complement of the highest hash that is kept once there are enough
	mu     sync.Mutex
	kept   map[uint64]string // by hash
}

// Authorities returns the sample, in order.
func (m *Misses) Authorities() (list []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, authority := range m.kept {
		list = append(list, authority)
	}
	slices.Sort(list)
	return list
}

// add adds an authority with its hash. Those with the lowest hashes are kept, so nearly all
// others cost a comparison.
func (m *Misses) add(authority []byte, hash uint64) {
	if m == nil || hash > ^m.beyond.Load() {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, is := m.kept[hash]; is {
		return
	}
	if m.kept == nil {
		m.kept = make(map[uint64]string)
	}
	m.kept[hash] = string(authority)
	for len(m.kept) >= mostMisses {
		highest := slices.Max(slices.Collect(maps.Keys(m.kept)))
		m.beyond.Store(^highest)
		if len(m.kept) == mostMisses {
			return
		}
		delete(m.kept, highest)
	}
}
