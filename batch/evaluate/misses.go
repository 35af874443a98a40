package evaluate

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

// mostMisses is the number of authorities that Misses keeps.
const mostMisses = 64

// Misses is a sample of the authorities of a job that the rules do not know: all of them, if
// they are few. Evaluators of any goroutine may add to it.
type Misses struct {
	// full is the bitwise complement of the highest hash that is kept, once mostMisses are kept. So
	// the zero value stands for the highest hash of all, which excludes nothing.
	full atomic.Uint64
	mu   sync.Mutex
	kept map[string]uint64 // hashes by authority
}

// Authorities returns the sample, in order.
func (m *Misses) Authorities() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Keys(m.kept))
}

// add adds an authority, which it copies, with its hash. The mostMisses authorities with the
// lowest hashes are kept, so nearly all others cost one comparison.
func (m *Misses) add(authority []byte, hash uint64) {
	if hash > ^m.full.Load() { // above all that are kept
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.kept == nil {
		m.kept = make(map[string]uint64)
	}
	m.kept[string(authority)] = hash
	if len(m.kept) > mostMisses {
		delete(m.kept, m.highest())
	}
	if len(m.kept) == mostMisses {
		m.full.Store(^m.kept[m.highest()])
	}
}

// highest returns the kept authority with the highest hash.
func (m *Misses) highest() (highest string) {
	for authority, hash := range m.kept {
		if hash >= m.kept[highest] {
			highest = authority
		}
	}
	return highest
}
