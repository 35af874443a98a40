package rulepack

import (
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"robotsbatch/bench/corpus"
	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
	"robotsbatch/matcher/robotstxt"
)

// sameAsLookup compares LookupAll with Lookup, key by key: in a pack of its own,
// so that neither finds what the other one opened. It returns how many keys were
// found before an error.
func sameAsLookup(t testing.TB, all, single *Pack, authorities [][]byte) int {
	t.Helper()
	keys := make([]matcher.Key, len(authorities))
	for i, a := range authorities {
		keys[i] = matcher.Key{Text: a, Hash: matcher.HashOf(a)}
	}
	origins := make([]matcher.Origin, len(keys))
	for i := range origins {
		origins[i].Stale, origins[i].Facts.Status = true, 999 // of somebody else
	}
	at, err := all.LookupAll(keys, origins)
	for i, a := range authorities {
		var want matcher.Origin
		wantErr := single.Lookup(a, &want)
		if wantErr != nil {
			must.Need(t, err != nil && at == i && err.Error() == wantErr.Error(), "%s, key %d: error %v for key %d, want %v", a, i, err, at, wantErr)
			return i
		}
		must.Need(t, err == nil || at != i, "%s, key %d: error %v, want none", a, i, err)
		got := origins[i]
		same := decisions(triesOf(got, single.agents.Chains()), testPaths) == decisions(triesOf(want, single.agents.Chains()), testPaths)
		got.Tries, want.Tries, got.Of, want.Of = nil, nil, nil, nil
		must.Need(t, same && reflect.DeepEqual(got, want), "%s, key %d: %+v, want %+v", a, i, got, want)
	}
	must.Need(t, err == nil, "key %d: error %v, want none", at, err)
	return len(authorities)
}

// TestLookupAll looks authorities up all at once: known and unknown ones, several
// times, in small buckets and in one larger than a page, with bodies that are kept open
// and with none.
func TestLookupAll(t *testing.T) {
	var authorities [][]byte
	entries := append(testEntries(), sameBucket(500)...)
	c := corpus.New(corpus.Options{Origins: 500, Missing: -1, Bare: true})
	for o := range c.Origins() {
		entries = append(entries, body(string(o.Authority()), string(c.AppendBody(nil, o.Body))))
	}
	for i, e := range entries {
		authorities = append(authorities, e.Authority, fmt.Appendf(nil, "https://nobody%d.example", i))
	}
	authorities = append(authorities, make([]byte, MaxAuthority+1), nil)
	name := build(t, entries, BuildOptions{}, 2)
	rng := rand.New(rand.NewPCG(1, 9))
	for _, o := range []Options{{Chains: testChains}, {Chains: testChains[:1]}, {Chains: testChains, Explain: true, Records: true}} {
		all, single := mustOpen(t, name, o), mustOpen(t, name, o)
		for _, n := range []int{0, 1, matcher.AtOnce - 1, matcher.AtOnce, matcher.AtOnce + 1, 3 * matcher.AtOnce, 1000} {
			some := make([][]byte, n)
			for i := range some {
				some[i] = authorities[rng.IntN(len(authorities))]
			}
			got := sameAsLookup(t, all, single, some)
			must.Need(t, got == n, "%d of %d keys", got, n)
		}
	}
}

// TestLookupAllBroken looks authorities up in packs that were changed, sealed
// again or not: errors come with the key that Lookup fails for.
func TestLookupAllBroken(t *testing.T) {
	sound := smallPack(t)
	var authorities [][]byte
	for range 6 {
		for _, e := range append(smallEntries(), sameBucket(20)...) {
			authorities = append(authorities, e.Authority)
		}
	}
	rng := rand.New(rand.NewPCG(2, 9))
	eachBroken(t, rng, sound, authorities, sameAsLookup)
}

// eachBroken calls alike with pairs of the same changed pack, sealed again or not, and the
// authorities in random order. alike returns how many of these did not fail.
func eachBroken(t *testing.T, rng *rand.Rand, sound []byte, authorities [][]byte, alike func(t testing.TB, all, single *Pack, authorities [][]byte) int) {
	t.Helper()
	failed, passed, rounds := 0, 0, 300
	if testing.Short() {
		rounds = 60
	}
	for round := range rounds {
		data := append([]byte(nil), sound...)
		for range 1 + rng.IntN(3) {
			data[rng.IntN(len(data))] ^= 1 << rng.IntN(8)
		}
		if round%2 == 0 {
			reseal(data)
		}
		all, err := openCopy(data, Options{Chains: brokenChains})
		if err != nil {
			continue
		}
		single := must.Get(openCopy(data, Options{Chains: brokenChains}))(t)
		rng.Shuffle(len(authorities), func(i, j int) { authorities[i], authorities[j] = authorities[j], authorities[i] })
		if alike(t, all, single, authorities) < len(authorities) {
			failed++
		} else {
			passed++
		}
	}
	must.Be(t, failed >= rounds/15 && passed >= rounds/15, "%d packs failed and %d did not", failed, passed)
}

// TestLookupAllAllocs has it allocate nothing for bodies that are open, and a
// closed pack says so.
func TestLookupAllAllocs(t *testing.T) {
	entries := testEntries()
	p := mustOpen(t, build(t, entries, BuildOptions{Profile: robotstxt.RFC9309}, 1), Options{Chains: testChains})
	keys := make([]matcher.Key, 0, 3*len(entries))
	for range 3 {
		for _, e := range entries {
			keys = append(keys, matcher.Key{Text: e.Authority, Hash: matcher.HashOf(e.Authority)})
		}
	}
	origins := make([]matcher.Origin, len(keys))
	look := func() {
		if i, err := p.LookupAll(keys, origins); err != nil {
			t.Fatalf("key %d: %v", i, err)
		}
	}
	look()
	must.Equal(t, testing.AllocsPerRun(100, look), 0, "it allocates")
	must.Do(t, p.Close())
	i, err := p.LookupAll(keys, origins)
	must.Be(t, err != nil && i == 0, "closed: key %d, error %v", i, err)
}

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

// makeBucket makes a bucket of authorities with these hashes, of which the fingerprints
// are taken.
func makeBucket(t testing.TB, hashes []uint64, authorities []string) bucket {
	t.Helper()
	w := newBucketWriter(io.Discard, 0)
	for i, a := range authorities {
		must.Do(t, w.add(hashes[i], origin{body: uint32(i)}, []byte(a)))
	}
	must.Do(t, w.finish())
	b := bucket(w.buffer)
	must.Do(t, b.check(0))
	return b
}

// TestBucketFind looks for each authority of buckets of all usual sizes, and for others
// with the same fingerprint, where fingerprints are equal, 0, or differ in one bit.
func TestBucketFind(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	prints := []uint64{0, 1, 2, 0x7FFF, 0x8000, 0x8001, 0x0100, 0xFFFE, 0xFFFF}
	for range 5000 {
		hashes := make([]uint64, rng.IntN(scanned+1))
		authorities := make([]string, len(hashes))
		for i := range hashes {
			hashes[i] = prints[rng.IntN(len(prints))]
			authorities[i] = fmt.Sprintf("%s%c", []string{http, https, ftp, "x"}[i%4], 'a'+i/4)
		}
		b := makeBucket(t, hashes, authorities)
		for i, a := range authorities {
			place, known := b.find(hashes[i], []byte(a))
			must.Need(t, known && int(b.origin(place).body) == i, "%x: %s is authority %d, %v", hashes, a, place, known)
			place, known = b.find(hashes[i], []byte(a+"b"))
			must.Need(t, !known, "%x: %sb is authority %d", hashes, a, place)
		}
		place, known := b.find(prints[rng.IntN(len(prints))], []byte("nobody"))
		must.Need(t, !known, "%x: nobody is authority %d", hashes, place)
	}
}

// TestEqualFingerprints compares equalFingerprints with a loop: it finds each fingerprint that is the
// one, and names others only behind such.
func TestEqualFingerprints(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 100_000 {
		print := uint16(rng.Uint32())
		var prints [2 * fingerprintBlock]byte
		var want, zero uint64
		for i := range fingerprintBlock {
			p := [...]uint16{print, print ^ 1, print ^ 0x8000, print + 1, print - 1, ^print, uint16(rng.Uint32())}[rng.IntN(7)]
			prints[2*i], prints[2*i+1] = byte(p), byte(p>>8)
			if p == print {
				want |= 1 << (16*(i%4) + i/4)
			}
			if p^print <= 1 {
				zero |= 1 << (16*(i%4) + i/4)
			}
		}
		got := equalFingerprints(prints[:], print)
		must.Need(t, got&want == want && got&^zero == 0, "%04x in %x: %x, want %x", print, prints, got, want)
	}
}

// A bucket of more authorities than are looked through one by one is searched by
// halves, by hash and then by text.
func TestLargeBucketFind(t *testing.T) {
	for _, n := range []int{scanned, scanned + 1, 500} {
		entries := sameBucket(n)
		slices.SortFunc(entries, func(x, y Entry) int {
			if a, b := hashOf(x.Authority), hashOf(y.Authority); a != b {
				return map[bool]int{true: -1, false: 1}[a < b]
			}
			return compareAuthorities(x.Authority, y.Authority)
		})
		var hashes []uint64
		var authorities []string
		for _, e := range entries {
			hashes, authorities = append(hashes, hashOf(e.Authority)), append(authorities, string(e.Authority))
		}
		b := makeBucket(t, hashes, authorities)
		for i, a := range authorities {
			place, known := b.find(hashes[i], []byte(a))
			must.Need(t, known && int(b.origin(place).body) == i, "%s of %d: authority %d, %v", a, n, place, known)
			other := []byte(a + ".")
			place, known = b.find(hashOf(other), other)
			must.Need(t, !known, "%s of %d: authority %d", other, n, place)
		}
	}
}
