package rulesdir

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"robotsbatch/matcher"
)

// newCache makes a cache for files of the size 10, and a list that will have
// the files in the order in which they were compiled.
func newCache(files int, limit int64) (*cache, *[]uint32) {
	var compiled []uint32
	c := new(cache)
	c.init(files, limit, func(file uint32, _ bool) (*rules, reading, error) {
		compiled = append(compiled, file)
		return &rules{body: bodyOf(file), size: 10}, reading{}, nil
	})
	return c, &compiled
}

// bodyOf is the digest of the body that a file alone has.
func bodyOf(file uint32) (d digest) {
	binary.LittleEndian.PutUint32(d[:], file)
	return d
}

// Files of one body have one set of rules, which goes for all of them at once.
func TestCacheSharesBodies(t *testing.T) {
	c := new(cache)
	c.init(5, 20, func(file uint32, _ bool) (*rules, reading, error) {
		return &rules{body: bodyOf(file % 3), size: 10}, reading{}, nil
	})
	get := func(file uint32) *rules {
		if _, err := c.get(file); err != nil {
			t.Fatal(err)
		}
		return c.files[file].Load()
	}
	first := get(0)
	if get(3) != first || c.size != 10 || c.length != 1 {
		t.Errorf("one body: %d rules of %d octets", c.length, c.size)
	}
	second := get(1)
	if get(4) != second || second == first || c.size != 20 {
		t.Errorf("two bodies: %d rules of %d octets", c.length, c.size)
	}
	get(2)
	if c.files[0].Load() != dropped || c.files[3].Load() != dropped || c.size != 20 || len(c.bodies) != 2 {
		t.Errorf("after a third body the first is still there: %d rules of %d octets", c.length, c.size)
	}
	if get(3) == dropped || c.files[0].Load() != dropped {
		t.Error("a dropped body came back for the wrong files")
	}
}

func TestCacheSecondChance(t *testing.T) {
	c, compiled := newCache(9, 30)
	for _, file := range []uint32{
		0, 1, 2, // fill it
		0,    // used again
		3,    // 1 goes, for 0 has a second chance
		0, 2, // hits
		1,    // 2 and 0 were used: 3 goes
		2, 0, // hits
		3, 1,
	} {
		if _, err := c.get(file); err != nil {
			t.Fatal(err)
		}
		if c.size > c.limit || c.size != int64(10*c.length) {
			t.Fatalf("%d octets of %d rules are kept", c.size, c.length)
		}
	}
	if want := []uint32{0, 1, 2, 3, 1, 3}; !slices.Equal((*compiled)[:len(want)], want) {
		t.Errorf("compiled: %v, want %v…", *compiled, want)
	}
	if got, want := c.stats(), (Stats{Files: 4, Rereads: int64(len(*compiled)) - 4}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// Rules that fit on their own push out what they must; larger ones push out
// nothing.
func TestCacheSizes(t *testing.T) {
	sizes := []int64{10, 10, 10, 25, 31, 30}
	c := new(cache)
	c.init(len(sizes), 30, func(file uint32, _ bool) (*rules, reading, error) {
		return &rules{body: bodyOf(file), size: sizes[file]}, reading{}, nil
	})
	for _, step := range []struct {
		file uint32
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
		if r, err := c.get(step.file); err != nil || r.size != sizes[step.file] {
			t.Fatalf("file %d: %v, error %v", step.file, r, err)
		}
		var kept []uint32
		for r := c.oldest; r != nil; r = r.next {
			kept = append(kept, r.files...)
		}
		if !slices.Equal(kept, step.kept) {
			t.Errorf("after file %d: %v are kept, want %v", step.file, kept, step.kept)
		}
	}
}

// One goroutine compiles a file; the others wait for it, and other files do
// not.
func TestCacheCompilesOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var calls atomic.Int32
		c := new(cache)
		c.init(2, 1000, func(file uint32, _ bool) (*rules, reading, error) {
			calls.Add(1)
			if file == 0 {
				<-release
			}
			return &rules{body: bodyOf(file), size: 10}, reading{}, nil
		})
		got := make([]*rules, 8)
		var wg sync.WaitGroup
		for i := range got {
			wg.Go(func() { got[i], _ = c.get(0) })
		}
		synctest.Wait()
		if _, err := c.get(1); err != nil {
			t.Error(err)
		}
		close(release)
		wg.Wait()
		if calls.Load() != 2 {
			t.Errorf("compiled %d times, want once each", calls.Load())
		}
		for _, r := range got {
			if r == nil || r != got[0] {
				t.Errorf("rules %p, want %p for all", r, got[0])
			}
		}
	})
}

// An error reaches all who wait, and is not remembered.
func TestCacheErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		broken := errors.New("broken")
		c := new(cache)
		c.init(1, 1000, func(uint32, bool) (*rules, reading, error) {
			<-release
			return nil, reading{octets: 1}, broken
		})
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				if _, err := c.get(0); !errors.Is(err, broken) {
					t.Errorf("error %v", err)
				}
			})
		}
		synctest.Wait()
		close(release)
		wg.Wait()
		broken = nil
		if s := c.stats(); s != (Stats{}) || c.length != 0 || len(c.loading) != 0 {
			t.Errorf("%+v", s)
		}
	})
}

// A panic in one goroutine leaves no other one waiting.
func TestCachePanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		c := new(cache)
		c.init(1, 1000, func(uint32, bool) (*rules, reading, error) {
			<-release
			panic("an invariant is broken")
		})
		go func() {
			defer func() { _ = recover() }()
			_, _ = c.get(0)
		}()
		synctest.Wait()
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := c.get(0); !errors.Is(err, errUnfinished) {
				t.Errorf("error %v", err)
			}
		})
		synctest.Wait()
		close(release)
		wg.Wait()
	})
}

// However little is kept, the verdicts are the same, also when many goroutines
// look up and what they hold is dropped meanwhile.
func TestEviction(t *testing.T) {
	const hosts = 40
	var names []string
	for i := range hosts {
		names = append(names, fmt.Sprintf("host%d.example%s", i, []string{"", ".txt", ".gz", "/robots.txt"}[i%4]))
	}
	folder := bodies(t, names...)
	for _, memory := range []int64{1, 1000, 4000, 0} {
		d := open(t, folder, Options{Memory: memory})
		var wg sync.WaitGroup
		for g := range 4 {
			wg.Go(func() {
				random := rand.New(rand.NewPCG(uint64(memory), uint64(g)))
				held := make([]matcher.Origin, 10)
				lines := make([]int, len(held))
				for range 500 {
					host, slot := random.IntN(hosts), random.IntN(len(held))
					o := &held[slot]
					scheme := []string{"http", "https"}[random.IntN(2)]
					if err := d.Lookup(fmt.Appendf(nil, "%s://host%d.example", scheme, host), o); err != nil {
						t.Error(err)
						return
					}
					lines[slot] = host + 2
					check := random.IntN(len(held))
					if lines[check] == 0 {
						continue
					}
					if got, err := line(&held[check]); err != nil || got != lines[check] {
						t.Errorf("memory %d: line %d, error %v, want line %d", memory, got, err, lines[check])
					}
				}
			})
		}
		wg.Wait()
		s := d.Stats()
		if s.Files != hosts || (s.Rereads == 0) != (memory == 0) {
			t.Errorf("memory %d: %+v", memory, s)
		}
		if d.cache.size > d.cache.limit {
			t.Errorf("memory %d: %d octets are kept", memory, d.cache.size)
		}
	}
}

// What memory says is what the rules take, rules that agents share counted
// once.
func TestMemory(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "a", "User-agent: *\n"+strings.Repeat("Disallow: /some/folder/or/other\n", 1000))
	size := func(chains []matcher.Chain) int64 {
		d := open(t, folder, Options{Chains: chains})
		if err := d.Lookup([]byte("http://a"), new(matcher.Origin)); err != nil {
			t.Fatal(err)
		}
		return d.cache.size
	}
	one, three := size(everyone), size([]matcher.Chain{{"a"}, {"b"}, {matcher.Everyone}})
	if one < 1000 || three < one || three > one+1000 {
		t.Errorf("%d octets for one agent, %d for three with the same group", one, three)
	}
}
