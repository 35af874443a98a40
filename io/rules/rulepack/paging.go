package rulepack

import (
	"sync"
	"sync/atomic"
	"time"
)

// paging chooses how the system reads a pack that is not in memory.
//
// Reading ahead, manyPlaces, suits a list in the pack's order, and a pack that fits into
// memory: soon all of it is there. With a list in any order and a pack that does not fit, the
// system reads ahead what is not needed, and drops what is needed again. There it should read
// the pages that are used and no others, fewPlaces. Nothing tells beforehand whether memory
// will hold the pack, so paging begins by reading ahead. If lookups still wait for the disk
// when as many bytes were read as the pack has, the other way gets a window of lookups, and
// the faster of the two is kept. The one that lost is tried again later, for the list may
// change, but each time that it loses it has to wait twice as long.
type paging struct {
	advise func(reading)
	// usage tells how often the process has waited for a page from the disk, and how many
	// bytes it has read from disks.
	usage   func() (faults, read int64)
	now     func() time.Time
	allRead int64 // what usage says when as many bytes as the pack has were read since start

	left   atomic.Int64 // lookups until the window ends
	trying atomic.Bool  // the window is a trial

	mu        sync.Mutex       // for the following; held by who decides
	how       reading          // manyPlaces or fewPlaces
	began     time.Time        // when the window began
	faults    int64            // usage's faults then
	perLookup [2]time.Duration // in the last window of each reading; 0 if unknown
	untilTry  int              // windows until the other way is tried
	nextWait  int              // what untilTry will be when it loses next
}

const (
	// pagingWindow is how many lookups a window has.
	pagingWindow = 1024
	// Only if at least fewFaults lookups of a window wait for the disk, another way is tried. Reading
	// ahead in order waits for one page in 128 KB, which is one lookup in thirty.
	fewFaults = pagingWindow / 16
	// shortestWait is the number of windows until a way that has lost once is tried again.
	shortestWait = 64
)

// newPaging returns the paging of a pack of size bytes. It begins by reading ahead. advise
// tells the system how to read.
func newPaging(size int, advise func(reading)) *paging {
	p := &paging{advise: advise, usage: diskUsage, now: time.Now}
	p.start(size)
	return p
}

// start begins with reading ahead, for as many bytes as the pack has.
func (p *paging) start(size int) {
	_, read := p.usage()
	p.allRead, p.nextWait = read+int64(size), shortestWait
	p.choose(manyPlaces)
	p.beginWindow()
}

// addLookups counts n lookups. At the end of a window it decides how the next one is read. It
// returns without waiting if another goroutine is deciding.
func (p *paging) addLookups(n int) {
	ended := p.left.Add(-int64(n)) <= 0
	if !ended && !p.trying.Load() || !p.mu.TryLock() { // a trial may end before its window
		return
	}
	defer p.mu.Unlock()
	lookups := pagingWindow - p.left.Load() // in this window
	if lookups <= 0 {
		return // another goroutine has begun a window
	}
	passed := p.now().Sub(p.began)
	perLookup := passed / time.Duration(lookups)
	other := fewPlaces // the way that this window does not read
	if p.how == fewPlaces {
		other = manyPlaces
	}
	lost := p.trying.Load() && perLookup > p.perLookup[other]
	// A lost trial ends early once it has taken as long as a whole window of the other way.
	if !ended && !(lost && passed > pagingWindow*p.perLookup[other]) {
		return
	}
	p.perLookup[p.how] = perLookup
	faults, read := p.usage()
	switch {
	case lost:
		p.untilTry = p.nextWait
		p.nextWait *= 2
		p.choose(other)
	case faults-p.faults < fewFaults, p.how == manyPlaces && read < p.allRead:
		p.untilTry = 0 // few lookups wait, or soon all of the pack will be in memory
	case p.trying.Load(): // the trial is won
		p.untilTry, p.nextWait = p.nextWait, shortestWait
	case p.untilTry > 0:
		p.untilTry--
	default:
		p.choose(other)
		p.beginWindow()
		p.trying.Store(true)
		return
	}
	p.beginWindow()
}

// choose makes the system read in that way.
func (p *paging) choose(how reading) {
	p.how = how
	p.advise(how)
}

// beginWindow begins a window that is no trial.
func (p *paging) beginWindow() {
	p.began = p.now()
	p.faults, _ = p.usage()
	p.trying.Store(false)
	p.left.Store(pagingWindow)
}
