package rulepack

import (
	"sync"
	"sync/atomic"
)

// bitmap is a set of numbers that only grows.
type bitmap []atomic.Uint32

func newBitmap(n uint32) bitmap { return make(bitmap, (uint64(n)+31)/32) }

func (b bitmap) has(i uint32) bool { return b[i/32].Load()>>(i%32)&1 != 0 }
func (b bitmap) set(i uint32)      { b[i/32].Or(1 << (i % 32)) }

// kept is what the cache knows of what it keeps.
type kept struct {
	used atomic.Bool // looked up since the clock last went by
}

// cache keeps opened bodies, up to a limit of octets.
//
// A hit takes no lock: it loads a number and a pointer. When there is no room, a
// hand goes round the places, and drops what was not looked up since it last
// went by (CLOCK). Who has a body that is dropped may go on using it.
type cache struct {
	place  []atomic.Uint32          // by body: 1 + its place, 0 for none
	places []atomic.Pointer[opened] // those below taken were used at least once

	mu          sync.Mutex // for all that follows, and for changes
	limit, size int64
	taken       int
	free        []uint32 // places below taken with nothing in them
	hand        int
}

// init makes a cache for so many bodies, each of at least so many octets.
func (c *cache) init(bodies uint32, limit, least int64) {
	c.limit = limit
	c.place = make([]atomic.Uint32, bodies)
	c.places = make([]atomic.Pointer[opened], min(int64(bodies), limit/least))
}

// get returns a body that is kept, or nil.
func (c *cache) get(body uint32) *opened {
	n := c.place[body].Load()
	if n == 0 {
		return nil
	}
	b := c.places[n-1].Load()
	if b == nil || b.body != body {
		return nil // it was dropped just now
	}
	if !b.used.Load() { // so that a shared line of memory is not written to each time
		b.used.Store(true)
	}
	return b
}

// put keeps a body, and drops others for it.
func (c *cache) put(b *opened) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if b.size > c.limit || len(c.places) == 0 || c.place[b.body].Load() != 0 {
		return // too large, or another goroutine was faster
	}
	// Hits go on meanwhile, so everyone gets one second chance at most.
	for chances := c.taken; c.size+b.size > c.limit || len(c.free) == 0 && c.taken == len(c.places); chances-- {
		c.drop(chances > 0)
	}
	if len(c.free) == 0 {
		c.free = append(c.free, uint32(c.taken))
		c.taken++
	}
	place := c.free[len(c.free)-1]
	c.free = c.free[:len(c.free)-1]
	c.places[place].Store(b)
	c.place[b.body].Store(place + 1)
	c.size += b.size
}

// drop moves the hand and drops what is there, unless it has a chance.
func (c *cache) drop(chance bool) {
	place := c.hand
	if c.hand++; c.hand == c.taken {
		c.hand = 0
	}
	b := c.places[place].Load()
	if b == nil || chance && b.used.Swap(false) {
		return
	}
	c.places[place].Store(nil)
	c.place[b.body].Store(0)
	c.size -= b.size
	c.free = append(c.free, uint32(place))
}
