package cache

import (
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"robotsbatch/io/store/must"
)

type number struct{ key uint32 }

// loadNumber makes a value of 10 bytes for each key.
func loadNumber(key uint32) (Value[uint32, *number], error) {
	return Value[uint32, *number]{ID: key, V: &number{key}, Size: 10}, nil
}

// kept lists the keys in the queue, the oldest first.
func kept[ID comparable, V any](c *Cache[ID, V]) (keys []uint32) {
	for _, e := range c.queue {
		keys = append(keys, e.keys...)
	}
	return keys
}

func mustGet[ID comparable, V any](t *testing.T, c *Cache[ID, V], key uint32) V {
	t.Helper()
	v, err := c.Get(key)
	if err != nil { // without must.Need, which allocates for what it would report
		t.Fatalf("key %d: %v", key, err)
	}
	return v
}

func TestSecondChance(t *testing.T) {
	var loaded []uint32
	c := New(9, 30, func(key uint32) (Value[uint32, *number], error) {
		loaded = append(loaded, key)
		return loadNumber(key)
	})
	for _, key := range []uint32{
		0, 1, 2, // fill it
		0,    // used again
		3,    // drops 1, because 0 has a second chance
		0, 2, // hits
		1,    // drops 3, because 2 and 0 were used
		2, 0, // hits
		3, 1,
	} {
		v := mustGet(t, c, key)
		must.Need(t, v.key == key, "key %d has the value of %d", key, v.key)
		must.Need(t, c.size <= c.limit && c.size == int64(10*len(c.queue)), "%d bytes in %d entries", c.size, len(c.queue))
	}
	want := []uint32{0, 1, 2, 3, 1, 3}
	must.Be(t, slices.Equal(loaded[:len(want)], want), "loaded %v, want %v…", loaded, want)
}

// A value drops as many others as it needs. One that is larger than the limit drops
// none.
func TestSizes(t *testing.T) {
	sizes := []int64{10, 10, 10, 25, 31, 30}
	c := New(len(sizes), 30, func(key uint32) (Value[uint32, int64], error) {
		return Value[uint32, int64]{ID: key, V: sizes[key], Size: sizes[key]}, nil
	})
	for _, step := range []struct {
		key  uint32
		kept []uint32
	}{
		{0, []uint32{0}},
		{1, []uint32{0, 1}},
		{2, []uint32{0, 1, 2}},
		{4, []uint32{0, 1, 2}},
		{3, []uint32{3}},
		{4, []uint32{3}},
		{5, []uint32{5}},
		{0, []uint32{0}},
	} {
		v := mustGet(t, c, step.key)
		must.Need(t, v == sizes[step.key], "key %d: value %d", step.key, v)
		must.EqualSlices(t, kept(c), step.kept, "after key", step.key, "kept")
	}
}

// Keys of one identity share a value, which counts once and is dropped for all of
// them.
func TestSharedValues(t *testing.T) {
	var c *Cache[uint32, *number]
	c = New(5, 20, func(key uint32) (Value[uint32, *number], error) {
		v, ok := c.ByID(key % 3)
		if !ok {
			v = &number{key % 3}
		}
		return Value[uint32, *number]{ID: key % 3, V: v, Size: 10}, nil
	})
	first := mustGet(t, c, 0)
	must.Be(t, mustGet(t, c, 3) == first && c.size == 10 && len(c.queue) == 1, "one identity: %d entries of %d bytes", len(c.queue), c.size)
	second := mustGet(t, c, 1)
	must.Be(t, mustGet(t, c, 4) == second && second != first && c.size == 20, "two identities: %d entries of %d bytes", len(c.queue), c.size)
	mustGet(t, c, 2)
	for _, key := range []uint32{0, 3} {
		must.Be(t, c.entries[key].Load() == nil, "key %d is kept after a third identity", key)
	}
	must.Be(t, c.size == 20 && len(c.byID) == 2, "a third identity: %d bytes, %d identities", c.size, len(c.byID))
	must.Be(t, mustGet(t, c, 3) != first, "the dropped value came back")
	must.Be(t, c.entries[0].Load() == nil, "a dropped value came back for a key that nobody asked for")
}

// A value of size 0 is never dropped and takes no part in the queue.
func TestSizeZero(t *testing.T) {
	loads := 0
	c := New(20, 30, func(key uint32) (Value[uint32, *number], error) {
		loads++
		v, err := loadNumber(key)
		if key%2 == 0 {
			v.Size, v.ID = 0, 0
		}
		return v, err
	})
	for range 3 {
		for key := uint32(0); key < 20; key += 2 {
			v := mustGet(t, c, key)
			must.Need(t, v.key == key, "key %d has the value of %d", key, v.key)
		}
	}
	must.Be(t, loads == 10 && len(c.queue) == 0, "%d loads, %d entries in the queue", loads, len(c.queue))
	for key := uint32(1); key < 20; key += 2 {
		mustGet(t, c, key)
	}
	ok := c.entries[0].Load() != nil
	must.Be(t, ok && len(c.queue) == 3, "key 0 kept: %v; %d entries in the queue", ok, len(c.queue))
}

// One goroutine loads a key while the others wait for it; other keys go on.
func TestLoadsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var loads atomic.Int32
		c := New(2, 1000, func(key uint32) (Value[uint32, *number], error) {
			loads.Add(1)
			if key == 0 {
				<-release
			}
			return loadNumber(key)
		})
		got := make([]*number, 8)
		var wg sync.WaitGroup
		for i := range got {
			wg.Go(func() { got[i], _ = c.Get(0) })
		}
		synctest.Wait()
		mustGet(t, c, 1)
		close(release)
		wg.Wait()
		must.Equal(t, loads.Load(), 2, "loads")
		for _, v := range got {
			must.Be(t, v != nil && v == got[0], "value %p, want %p for all", v, got[0])
		}
	})
}

// An error reaches all who wait, and is not kept.
func TestErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		broken := errors.New("broken")
		fail := broken
		c := New(1, 1000, func(key uint32) (Value[uint32, *number], error) {
			<-release
			v, _ := loadNumber(key)
			return v, fail
		})
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() { must.Is(t, must.Err(c.Get(0)), broken) })
		}
		synctest.Wait()
		close(release)
		wg.Wait()
		ok := c.entries[0].Load() != nil
		must.Be(t, !ok && len(c.queue) == 0 && len(c.loading) == 0, "%d entries, %d loads go on", len(c.queue), len(c.loading))
		fail = nil
		mustGet(t, c, 0)
	})
}

// A panic in one goroutine leaves no other one waiting.
func TestPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		c := New(1, 1000, func(uint32) (Value[uint32, *number], error) {
			<-release
			panic("an invariant is broken")
		})
		go func() {
			defer func() { _ = recover() }()
			_, _ = c.Get(0)
		}()
		synctest.Wait()
		var wg sync.WaitGroup
		wg.Go(func() { must.Is(t, must.Err(c.Get(0)), errUnfinished) })
		synctest.Wait()
		close(release)
		wg.Wait()
	})
}

// Many goroutines get the right values while others are dropped, and the limit holds.
func TestConcurrency(t *testing.T) {
	const keys = 100
	for _, limit := range []int64{5, 10, 95, 2000} {
		var loads [keys]atomic.Int32 // at the same time
		c := New(keys, limit, func(key uint32) (Value[uint32, *number], error) {
			must.Be(t, loads[key].Add(1) <= 1, "two goroutines load key %d", key)
			defer loads[key].Add(-1)
			return loadNumber(key)
		})
		var wg sync.WaitGroup
		for g := range 8 {
			wg.Go(func() {
				random := rand.New(rand.NewPCG(uint64(limit), uint64(g)))
				for range 2000 {
					key := uint32(random.IntN(keys))
					if v, err := c.Get(key); err != nil || v.key != key {
						t.Errorf("key %d: %v, %v", key, v, err)
						return
					}
					if size := c.Size(); size > limit {
						t.Errorf("%d bytes, more than %d", size, limit)
						return
					}
				}
			})
		}
		wg.Wait()
		want := min(limit/10, keys)
		must.Be(t, int64(len(c.queue)) == want && len(c.byID) == len(c.queue) && len(kept(c)) == len(c.queue), "limit %d: %d entries, want %d", limit, len(c.queue), want)
	}
}

func TestHitsAllocateNothing(t *testing.T) {
	c := New(10, 1000, loadNumber)
	pass := func() {
		for key := range uint32(10) {
			mustGet(t, c, key)
		}
	}
	pass()
	must.Equal(t, testing.AllocsPerRun(100, pass), 0, "allocations")
}

func BenchmarkHit(b *testing.B) {
	c := New(1<<10, 1<<20, loadNumber)
	for i := 0; b.Loop(); i++ {
		key := uint32(i) & (1<<10 - 1)
		if v, err := c.Get(key); err != nil || v.key != key {
			b.Fatal(err)
		}
	}
}
