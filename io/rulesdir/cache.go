package rulesdir

import (
	"crypto/sha256"
	"errors"
	"sync"
	"sync/atomic"

	"robotsbatch/matcher"
)

// rules are what a body compiles to, one for all files that have it. Whoever
// has them may keep them, also when the cache has dropped them.
type rules struct {
	body    digest
	tries   []matcher.Trie
	records *matcher.Records // nil unless they were asked for
	size    int64            // octets of memory
	reading reading

	used  atomic.Bool // looked up since the cache last went by
	files []uint32    // those in the cache that have them; none when dropped
	next  *rules      // the next younger one in the cache
}

// digest is a body's SHA-256: bodies come from strangers, who must not be able
// to make one that stands for another's.
type digest [sha256.Size]byte

// Two states of a file that has no rules in the cache.
var (
	absent  = new(rules) // there is no file; that is known and stays
	dropped = new(rules) // there were, and they were dropped
)

// reading is what is counted of one reading of a file.
type reading struct {
	octets, warnings int64
	limited          bool
}

var errUnfinished = errors.New("rulesdir: a file's rules were not compiled: another worker failed at it")

// cache keeps the rules of files that were used lately, up to a limit.
//
// A hit takes no lock: it loads one pointer. A miss compiles outside the lock,
// each file by one goroutine at a time, while others that want it wait. What is
// dropped is the oldest that was not used since the cache last went by
// (second chance), for which hits need no more than to set a bit.
type cache struct {
	compile func(file uint32, again bool) (*rules, reading, error)
	files   []atomic.Pointer[rules] // by record; nil: not read yet

	mu             sync.Mutex // for all that follows
	loading        map[uint32]*loading
	limit, size    int64
	oldest, newest *rules // a queue of length rules
	length         int
	bodies         map[digest]*rules // those in the queue
	counted        Stats
}

// loading is a file that is being compiled.
type loading struct {
	done  chan struct{} // closed when the following are set
	rules *rules
	err   error
}

func (c *cache) init(files int, limit int64, compile func(uint32, bool) (*rules, reading, error)) {
	c.compile, c.limit = compile, limit
	c.files = make([]atomic.Pointer[rules], files)
	c.loading = make(map[uint32]*loading)
	c.bodies = make(map[digest]*rules)
}

// get returns a file's rules, or absent.
func (c *cache) get(file uint32) (*rules, error) {
	r := c.files[file].Load()
	if r == nil || r == dropped {
		return c.load(file)
	}
	if !r.used.Load() { // so that a shared line of memory is not written to each time
		r.used.Store(true)
	}
	return r, nil
}

// load compiles a file's rules, or waits for who does.
func (c *cache) load(file uint32) (*rules, error) {
	c.mu.Lock()
	before := c.files[file].Load()
	if before != nil && before != dropped {
		c.mu.Unlock()
		return before, nil
	}
	if other := c.loading[file]; other != nil {
		c.mu.Unlock()
		<-other.done
		return other.rules, other.err
	}
	l := &loading{done: make(chan struct{}), err: errUnfinished}
	c.loading[file] = l
	c.mu.Unlock()

	var read reading
	// Deferred, so that nobody waits for ever should compile panic.
	defer func() { c.finish(file, l, read, before == dropped) }()
	l.rules, read, l.err = c.compile(file, before == dropped)
	return l.rules, l.err
}

// finish keeps what was loaded and lets go who waits for it.
func (c *cache) finish(file uint32, l *loading, read reading, again bool) {
	defer close(l.done)
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.loading, file)
	switch {
	case l.err != nil:
		return
	case l.rules == absent:
		c.files[file].Store(absent)
		return
	case again:
		c.counted.Rereads++
	default:
		c.counted.count(read)
	}
	c.keep(file, l.rules)
}

func (s *Stats) count(read reading) {
	s.Files++
	s.Octets += read.octets
	s.Warnings += read.warnings
	if read.limited {
		s.Limited++
	}
}

// same returns the rules of a body, if another file has it and they are kept.
func (c *cache) same(body digest) *rules {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bodies[body]
}

// keep puts rules into the cache, and drops others for them.
func (c *cache) keep(file uint32, r *rules) {
	if other := c.bodies[r.body]; other != nil {
		other.files = append(other.files, file)
		c.files[file].Store(other)
		return
	}
	if r.size > c.limit {
		c.files[file].Store(dropped)
		return
	}
	// Hits go on meanwhile, so everyone gets one second chance at most.
	for chances := c.length; c.size+r.size > c.limit; chances-- {
		old := c.pop()
		if chances > 0 && old.used.Swap(false) {
			c.push(old)
			continue
		}
		c.drop(old)
	}
	r.files = append(r.files, file)
	c.bodies[r.body] = r
	c.push(r)
	c.files[file].Store(r)
}

// drop forgets rules that were popped.
func (c *cache) drop(r *rules) {
	for _, file := range r.files {
		c.files[file].Store(dropped)
	}
	r.files = nil
	delete(c.bodies, r.body)
}

func (c *cache) push(r *rules) {
	if c.newest == nil {
		c.oldest = r
	} else {
		c.newest.next = r
	}
	c.newest = r
	c.length++
	c.size += r.size
}

func (c *cache) pop() *rules {
	r := c.oldest
	c.oldest = r.next
	if c.oldest == nil {
		c.newest = nil
	}
	r.next = nil
	c.length--
	c.size -= r.size
	return r
}

func (c *cache) stats() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.counted
}
