package budget

import "sync"

// Buffers is memory that one batch or page uses after another. Memory that Go's runtime gives
// back to the system and takes again costs more than to fill it.
type Buffers struct {
	mu    sync.Mutex
	free  [][]byte
	idle  int64 // bytes of free
	limit int64 // of idle
}

// mostFree is the most pieces that are idle. A record batch uses some five at a time; the
// limit keeps the search in Get short.
const mostFree = 64

// NewBuffers returns an empty Buffers, of which limit bytes may be idle.
func NewBuffers(limit int64) *Buffers { return &Buffers{limit: limit} }

// Get returns n bytes, which may have any content. It reuses the smallest free piece that is large
// enough, unless that is more than four times as large.
func (p *Buffers) Get(n int) []byte {
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

// remove removes a piece from those that are free, and returns it.
func (p *Buffers) remove(i int) []byte {
	buffer := p.free[i]
	last := len(p.free) - 1
	p.free[i], p.free[last] = p.free[last], nil
	p.free = p.free[:last]
	p.idle -= int64(cap(buffer))
	return buffer
}

// Put gives memory back for reuse. The caller must not use it afterwards. If more is free than
// the limit, the smallest pieces are dropped.
func (p *Buffers) Put(buffer []byte) {
	size := int64(cap(buffer))
	p.mu.Lock()
	defer p.mu.Unlock()
	if size == 0 || size > p.limit {
		return
	}
	p.free = append(p.free, buffer)
	p.idle += size
	p.trim()
}

// Limit changes the number of bytes that may be idle.
func (p *Buffers) Limit(limit int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.limit = limit
	p.trim()
}

// trim drops the smallest free pieces until the limits hold.
func (p *Buffers) trim() {
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
