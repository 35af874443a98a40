package arrowipc

import "sync"

// pool is memory that one record batch uses after another. Memory that Go's runtime gives
// back to the system and takes again costs more than to fill it.
type pool struct {
	mu    sync.Mutex
	free  [][]byte
	idle  int64 // bytes of free
	limit int64 // of idle
}

// idleShare says how much memory may lie idle: 1/idleShare of what a batch may take.
const idleShare = 2

// mostFree is the most pieces that lie idle. A record batch uses some five at a time; the
// limit keeps the search in get short.
const mostFree = 64

func newPool(memory int64) *pool { return &pool{limit: memory / idleShare} }

// get returns n bytes, which are not zero. A small piece does not take up a large one that
// was put back.
func (p *pool) get(n int) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	best := -1
	for i := range p.free {
		if c := cap(p.free[i]); c >= n && c/4 <= n && (best < 0 || c < cap(p.free[best])) {
			best = i
		}
	}
	if best < 0 {
		return make([]byte, n)
	}
	return p.remove(best)[:n]
}

func (p *pool) remove(i int) []byte {
	buffer := p.free[i]
	last := len(p.free) - 1
	p.free[i], p.free[last] = p.free[last], nil
	p.free = p.free[:last]
	p.idle -= int64(cap(buffer))
	return buffer
}

// put takes memory back that is no longer referenced. The smallest are dropped if more
// lies idle than may.
func (p *pool) put(buffer []byte) {
	size := int64(cap(buffer))
	p.mu.Lock()
	defer p.mu.Unlock()
	if size == 0 || size > p.limit {
		return
	}
	p.free = append(p.free, buffer)
	p.idle += size
	for p.idle > p.limit || len(p.free) > mostFree {
		least := 0
		for i := range p.free {
			if cap(p.free[i]) < cap(p.free[least]) {
				least = i
			}
		}
		p.remove(least)
	}
}
