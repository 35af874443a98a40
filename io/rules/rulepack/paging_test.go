package rulepack

import (
	"testing"
	"time"

	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
)

// disk is a made-up disk and memory: what a lookup costs by the way of reading.
type disk struct {
	paging       *paging
	how          reading
	clock        time.Time
	faults, read int64
	trials       int // changes of the way
	ways         [2]int
	ahead        cost // with manyPlaces
	pages        cost // with fewPlaces
}

// cost is that of a lookup: how many of a thousand wait for the disk, how long each, and how
// many bytes it reads then.
type cost struct {
	waits int
	each  time.Duration
	bytes int64
}

func newDisk(size int) *disk {
	d := &disk{clock: time.Unix(1, 0)}
	d.paging = &paging{
		advise: func(how reading) {
			if how != d.how {
				d.trials++
			}
			d.how = how
		},
		usage: func() (faults, read int64) { return d.faults, d.read },
		now:   func() time.Time { return d.clock },
	}
	d.paging.start(size)
	return d
}

// look makes lookups, 64 at a time.
func (d *disk) look(lookups int) {
	d.ways = [2]int{}
	for made := 0; made < lookups; made += matcher.AtOnce {
		c := d.ahead
		if d.how == fewPlaces {
			c = d.pages
		}
		waits := matcher.AtOnce * c.waits / 1000
		d.faults += int64(waits)
		d.read += int64(waits) * c.bytes
		d.clock = d.clock.Add(matcher.AtOnce*time.Microsecond + time.Duration(waits)*c.each)
		d.ways[d.how] += matcher.AtOnce
		d.paging.addLookups(matcher.AtOnce)
	}
}

var (
	thrashing   = cost{waits: 200, each: 4 * time.Millisecond, bytes: 8 << 20}
	inOrderCost = cost{waits: 31, each: 300 * time.Microsecond, bytes: 128 << 10}
	onePage     = cost{waits: 1000, each: 60 * time.Microsecond, bytes: 4 << 10}
	inMemory    = cost{}
)

func TestPagingLeavesPacksThatFit(t *testing.T) {
	d := newDisk(1 << 30)
	d.ahead, d.pages = cost{waits: 900, each: 200 * time.Microsecond, bytes: 128 << 10}, onePage
	d.look(8 << 10) // 0.9 GB read ahead
	d.ahead = inMemory
	d.look(1 << 20)
	d.ahead = inOrderCost
	d.look(1 << 20)
	must.Equal(t, d.trials, 0, "changes of the way")
}

func TestPagingReadsPagesOfPacksThatDoNotFit(t *testing.T) {
	d := newDisk(1 << 30)
	d.ahead, d.pages = thrashing, onePage
	d.look(2 << 10)
	d.look(1 << 20)
	must.Be(t, d.ways[fewPlaces] >= 99*(1<<20)/100, "%d of %d lookups by page, want 99 in a hundred", d.ways[fewPlaces], 1<<20)
	tried := d.trials
	d.look(1 << 20)
	must.Be(t, d.trials-tried <= 4, "%d changes of the way in the second million lookups, want less and less", d.trials-tried)
}

func TestPagingReadsAheadAgain(t *testing.T) {
	d := newDisk(1 << 30)
	d.ahead, d.pages = thrashing, onePage
	d.look(64 << 10)
	must.Need(t, d.how == fewPlaces, "a list in no order is not read by page")
	d.ahead = inOrderCost // the rest of the list is sorted
	d.look(256 << 10)
	d.look(1 << 20)
	must.Be(t, d.ways[manyPlaces] == 1<<20, "%d of %d lookups read ahead, want all", d.ways[manyPlaces], 1<<20)
}
