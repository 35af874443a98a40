// Package cache keeps values that take long to make, such as compiled rules, up to a limit
// of bytes. It makes each value only once, however many goroutines ask for it.
//
// Keys are numbers below a bound, so a hit is one load from an array and takes no
// lock. A miss makes the value outside the lock: the first goroutine that asks for a
// key loads it and the others wait for that load (coalesced loads, as in
// singleflight).
//
// Eviction is second chance (CLOCK): values queue in the order in which they came.
// When one more does not fit, the oldest is dropped, unless it was used since it last
// reached the head of the queue; then it goes to the back once. A hit therefore only
// sets a bit, where LRU would move an entry of a shared list.
package cache

import (
	"errors"
	"sync"
	"sync/atomic"
)

// Value is the result of a load.
type Value[ID comparable, V any] struct {
	// ID is the identity of V. Keys with equal IDs share one value, which counts once.
	ID ID
	V  V
	// Size is the memory of V in bytes. A value of size 0 is never dropped, and its ID is
	// ignored.
	Size int64
}

// Cache is a cache of values V by keys, which are numbers. It is safe for concurrent
// use. A caller may go on using a value that the cache has dropped.
type Cache[ID comparable, V any] struct {
	load    func(key uint32) (Value[ID, V], error)
	entries []atomic.Pointer[entry[ID, V]] // by key; nil: not in the cache

	mu          sync.Mutex // protects all that follows, and changes of entries
	loading     map[uint32]*pending[V]
	limit, size int64
	queue       []*entry[ID, V]      // the oldest first
	byID        map[ID]*entry[ID, V] // those in the queue
}

// entry is a value in the cache.
type entry[ID comparable, V any] struct {
	Value[ID, V]
	used atomic.Bool // since it was last at the head of the queue
	keys []uint32    // those with this value
}

// pending is a value being loaded.
type pending[V any] struct {
	done  chan struct{} // closed when the next two are set
	value V
	err   error
}

var errUnfinished = errors.New("the value was not made: the goroutine that was at it failed")

// New returns a cache for keys below keys, whose values take at most limit bytes together.
// load makes the value of a key. At most one goroutine at a time calls it for a key, and it
// is called again after the value was dropped. A failed load is repeated at the next Get.
func New[ID comparable, V any](keys int, limit int64, load func(key uint32) (Value[ID, V], error)) *Cache[ID, V] {
	return &Cache[ID, V]{
		load: load, limit: limit,
		entries: make([]atomic.Pointer[entry[ID, V]], keys),
		loading: make(map[uint32]*pending[V]), byID: make(map[ID]*entry[ID, V]),
	}
}

// Get returns the value of a key, and loads it if needed. A hit takes no lock and allocates
// nothing.
func (c *Cache[ID, V]) Get(key uint32) (V, error) {
	e := c.entries[key].Load()
	if e == nil {
		return c.miss(key)
	}
	if !e.used.Load() { // so that hits do not write to a shared cache line each time
		e.used.Store(true)
	}
	return e.V, nil
}

// ByID returns the value with an identity if it is in the cache, so that a load need not make
// it again.
func (c *Cache[ID, V]) ByID(id ID) (v V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.byID[id]; e != nil {
		return e.V, true
	}
	return v, false
}

// Size returns the total size of the values.
func (c *Cache[ID, V]) Size() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.size
}

// miss loads the value of a key, or waits for a goroutine that already does.
func (c *Cache[ID, V]) miss(key uint32) (V, error) {
	c.mu.Lock()
	if e := c.entries[key].Load(); e != nil { // loaded meanwhile
		c.mu.Unlock()
		return e.V, nil
	}
	if other := c.loading[key]; other != nil {
		c.mu.Unlock()
		<-other.done
		return other.value, other.err
	}
	p := &pending[V]{done: make(chan struct{}), err: errUnfinished}
	c.loading[key] = p
	c.mu.Unlock()

	var made Value[ID, V]
	// Deferred, so that waiting goroutines wake up even if load panics.
	defer func() { c.finish(key, p, made) }()
	made, err := c.load(key)
	p.value, p.err = made.V, err
	return p.value, p.err
}

// finish stores a value that was loaded, unless p.err is set, and wakes the goroutines that
// wait for it.
func (c *Cache[ID, V]) finish(key uint32, p *pending[V], made Value[ID, V]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.loading, key)
	close(p.done)
	if p.err == nil {
		c.insert(key, made)
	}
}

// insert puts a value into the cache, and drops others until it fits. If a value with its ID
// is there, the key gets that. A value larger than the limit is left out: its next Get loads it again.
func (c *Cache[ID, V]) insert(key uint32, made Value[ID, V]) {
	if made.Size == 0 { // never dropped, so it needs no place in the queue
		c.entries[key].Store(&entry[ID, V]{Value: made})
		return
	}
	if made.Size > c.limit {
		return
	}
	if other := c.byID[made.ID]; other != nil {
		other.keys = append(other.keys, key)
		c.entries[key].Store(other)
		return
	}
	// Hits go on meanwhile and set used again: one second chance for each entry, so that this ends.
	for chances := len(c.queue); c.size+made.Size > c.limit; chances-- {
		old := c.queue[0]
		c.queue[0] = nil // for the garbage collector, until the queue moves
		c.queue = c.queue[1:]
		if chances > 0 && old.used.Swap(false) {
			c.queue = append(c.queue, old)
			continue
		}
		c.size -= old.Size
		for _, k := range old.keys {
			c.entries[k].Store(nil)
		}
		delete(c.byID, old.ID)
	}
	e := &entry[ID, V]{Value: made, keys: []uint32{key}}
	c.byID[made.ID] = e
	c.queue = append(c.queue, e)
	c.size += e.Size
	c.entries[key].Store(e)
}
