package rulepack

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/zeebo/xxh3"

	"robotsbatch/bench/corpus"
	"robotsbatch/io/store/budget"
	"robotsbatch/io/store/meter"
	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/robotstxt"
)

// manyEntries are many authorities over fewer bodies.
func manyEntries(n int) []Entry {
	g := rand.New(rand.NewPCG(1, uint64(n)))
	entries := testEntries()
	for i := range n {
		e := body(fmt.Sprintf("%shost%d.example", []string{"http://", "https://", "ftp://", ""}[i%4], i), "")
		switch k := g.IntN(n/2 + 1); {
		case i%11 == 0:
			e.Access, e.Body, e.Status = access.AllowAll, nil, 404
		default:
			e.Body = fmt.Appendf(nil, "User-agent: *\nDisallow: /a%d\nUser-agent: A\nDisallow: /%d*b\nSitemap: https://s.test/%d.xml\n", k, k%10, k)
			e.Fetched = uint32(k)
		}
		entries = append(entries, e)
	}
	return entries
}

// The same input gives the same bytes, whatever the order, the number of
// goroutines and the memory.
func TestReproducible(t *testing.T) {
	entries := manyEntries(3000)
	want := read(t, build(t, entries, BuildOptions{Maker: "x"}, 1))
	shuffled := reversed(entries)
	rand.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	for _, test := range []struct {
		name    string
		entries []Entry
		workers int
		memory  int64
	}{
		{"reversed", reversed(entries), 1, 0},
		{"8 goroutines", entries, 8, 0},
		{"shuffled, 8 goroutines", shuffled, 8, 0},
		{"little memory", entries, 1, 100_000},
		{"next to no memory, 8 goroutines", shuffled, 8, 1},
	} {
		name := build(t, test.entries, BuildOptions{Maker: "x", Memory: test.memory}, test.workers)
		must.Equal(t, differ(read(t, name), want), "", test.name)
	}
}

// Whoever looks sees the pack grow.
func TestProgress(t *testing.T) {
	var last meter.Reading
	ctx := meter.With(t.Context(), func(r meter.Reading) {
		must.Be(t, r.Done >= last.Done, "%d bytes after %d", r.Done, last.Done)
		last = r
	})
	b := must.Get(Create(ctx, filepath.Join(t.TempDir(), "site.rules"), BuildOptions{}))(t)
	for _, e := range manyEntries(100) {
		must.Do(t, b.Add(e))
	}
	info := must.Get(b.Finish())(t)
	must.Be(t, last.What == "writing the pack" && last.Done >= info.Size/2 && last.Done <= info.Size, "last seen: %+v, of a pack of %d bytes", last, info.Size)
}

// TestSpills checks a pack whose authorities and bodies went to temporary files
// many times.
func TestSpills(t *testing.T) {
	entries := manyEntries(15_000)
	name := build(t, entries, BuildOptions{Memory: 1}, 4)
	p := mustOpen(t, name, Options{Chains: testChains, Explain: true})
	for _, e := range entries {
		var o matcher.Origin
		err := p.Lookup(e.Authority, &o)
		must.Need(t, err == nil && o.Access == e.Access, "%s: access %d, want %d, %v", e.Authority, o.Access, e.Access, err)
	}
	for i := 0; i < len(entries); i += 97 {
		must.Do(t, checkEntry(p, entries[i]))
	}
	must.Do(t, p.Verify())
}

// Beside its bodies, an authority takes at most 64 bytes where authorities have
// 25.
func TestSize(t *testing.T) {
	var entries []Entry
	for i := range 50_000 {
		entries = append(entries, body(fmt.Sprintf("https://shop-%08d.example.com", i), "User-agent: *\nDisallow: /a\n"))
	}
	_, info := buildInfo(t, entries, BuildOptions{}, 2)
	size := int64(0)
	for _, s := range info.Sections {
		if s.Name == "directory" || s.Name == "authorities" {
			size += s.Length
		}
	}
	perAuthority := float64(size) / float64(info.Authorities)
	t.Logf("%.1f bytes an authority", perAuthority)
	must.Be(t, perAuthority <= 64, "%.1f bytes an authority", perAuthority)
}

// sameBucket are n authorities that all fall into one bucket of a pack of n.
func sameBucket(n int) []Entry {
	buckets := uint32(n/perBucket + 1)
	var entries []Entry
	for i := 0; len(entries) < n; i++ {
		authority := fmt.Sprintf("https://h%d.example", i)
		if bucketOf(hashOf([]byte(authority)), buckets) == buckets/2 {
			entries = append(entries, body(authority, fmt.Sprintf("User-agent: *\nDisallow: /a%d\n", i%7)))
		}
	}
	return entries
}

// sameHash are authorities of one hash: XXH3 multiplies the first eight bytes,
// with eight of its own subtracted, with the next eight. No host has such
// bytes.
func sameHash(t *testing.T, n int) []Entry {
	var entries []Entry
	secret := []byte{0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe}
	for i := range n {
		authority := append([]byte(nil), secret...)
		authority = binary.BigEndian.AppendUint64(authority, uint64(i)*0x9E3779B97F4A7C15)
		authority = append(authority, "sixteen bytes..."...)
		must.Need(t, hashOf(authority) == xxh3.Hash(append(append([]byte(nil), secret...), "eight...sixteen bytes..."...)), "%q has another hash", authority)
		entries = append(entries, body(string(authority), fmt.Sprintf("User-agent: *\nDisallow: /a%d\n", i%7)))
	}
	return entries
}

// Hosts can be chosen so that many fall into one bucket, or have one hash.
func TestHostileAuthorities(t *testing.T) {
	for name, entries := range map[string][]Entry{
		"a bucket of two pages":         sameBucket(150),
		"a bucket of many pages":        sameBucket(1000),
		"a hash of many pages":          sameHash(t, 2000),
		"a large bucket between others": append(sameHash(t, 700), manyEntries(3000)...),
		"authorities as long as a page": longAuthorities(),
	} {
		t.Run(name, func(t *testing.T) {
			pack := build(t, entries, BuildOptions{}, 2)
			p := mustOpen(t, pack, Options{Chains: testChains, Explain: true})
			for _, e := range entries {
				must.Do(t, checkEntry(p, e))
			}
			var o matcher.Origin
			for _, e := range entries {
				unknown := append(append([]byte(nil), e.Authority...), '.')
				err := p.Lookup(unknown, &o)
				must.Need(t, err == nil && o.Access == access.Unknown, "%q: access %d, %v", unknown, o.Access, err)
			}
			for _, e := range sameHash(t, 3000)[2500:] {
				err := p.Lookup(e.Authority, &o)
				must.Need(t, err == nil && o.Access == access.Unknown, "%q: access %d, %v", e.Authority, o.Access, err)
			}
			must.Do(t, p.Verify())
		})
	}
}

func longAuthorities() []Entry {
	var entries []Entry
	for i := range 200 {
		authority := fmt.Sprintf("%0*d", 1+i*(MaxAuthority-1)/199, i)
		entries = append(entries, body(authority, ""))
	}
	return entries
}

// A pack under another limit counts more of a body, which it keeps as its source if it is
// large.
func TestLimit(t *testing.T) {
	for _, limit := range []int{600_000, largestCompiled, largestCompiled + 2} {
		text := []byte("User-agent: *\nDisallow: /a\nSitemap: https://a.example/s\n")
		text = append(text, bytes.Repeat([]byte("#\n"), (limit-20-len(text))/2+1)...)
		text = append(text, "Disallow: /b\n#\n#\n#\n#\n#\n#\nDisallow: /c\n"...)
		name := build(t, []Entry{body("https://a.example", string(text))}, BuildOptions{Limit: limit}, 1)
		p := mustOpen(t, name, Options{Chains: testChains, Limit: limit, Records: true})
		var o matcher.Origin
		must.Do(t, errors.Join(p.Verify(), p.Lookup([]byte("https://a.example"), &o)))
		var target matcher.Target
		for path, want := range map[string]bool{"/a": false, "/b": false, "/c": true} {
			target.Set([]byte(path), robotstxt.RFC9309)
			must.Equal(t, o.Tries[0].Allowed(&target), want, "limit", limit, path, "allowed")
		}
		a, _, err := p.Authority([]byte("https://a.example"))
		b, err2 := p.Body(a.Body)
		must.Do(t, errors.Join(err, err2))
		if source := limit > largestCompiled; len(b.Records.Sitemaps) != 1 || len(o.Facts.Records.Sitemaps) != 1 || (b.Source != nil) != source {
			t.Errorf("limit %d: %d sitemaps, kept as its source: %v", limit, len(b.Records.Sitemaps), b.Source != nil)
		}
	}
}

// A pack for some agents alone says of these what a pack for all says, knows the same names,
// and has no other group: other agents would obey that of "*".
func TestPackOfAskedAgents(t *testing.T) {
	entries := testEntries()
	c := corpus.New(corpus.Options{Origins: 300, Missing: -1})
	for o := range c.Origins() {
		entries = append(entries, body(string(o.Authority()), string(c.AppendBody(nil, o.Body))))
	}
	chains := []matcher.Chain{{"*"}, {"C", "B"}, {"GPTBot"}}
	all, allInfo := buildInfo(t, entries, BuildOptions{}, 2)
	some, someInfo := buildInfo(t, entries, BuildOptions{Asked: chains}, 2)
	must.Be(t, 4*someInfo.Size <= 3*allInfo.Size, "%d bytes for some agents, %d for all", someInfo.Size, allInfo.Size)
	paths := append([]string{"/admin/", "/wp-admin/x", "/search?q=1", "/private/a.html"}, testPaths...)
	forAll, forSome := mustOpen(t, all, Options{Chains: chains}), mustOpen(t, some, Options{Chains: chains})
	other := []matcher.Chain{{"A"}}
	notAll, notSome := mustOpen(t, all, Options{Chains: other}), mustOpen(t, some, Options{Chains: other})
	groups, lost := 0, 0
	for _, e := range entries {
		say := func(p *Pack, chains []matcher.Chain) string {
			var o matcher.Origin
			must.Do(t, p.Lookup(e.Authority, &o))
			if len(o.Tries) > 1 {
				groups++
			}
			return decisions(triesOf(o, chains), paths)
		}
		got, want := say(forSome, chains), say(forAll, chains)
		must.Need(t, got == want, "%s:\n%s\nwant\n%s", e.Authority, got, want)
		if say(notSome, other) != say(notAll, other) {
			lost++
		}
	}
	must.Be(t, groups != 0 && lost != 0, "%d authorities with several groups, %d that an agent that nobody asked for lost", groups, lost)
	must.Be(t, forSome.HasName("a") && !forSome.HasName("nobody"), "the names are others")
}

// A body that takes more memory to compile than the builder may use is an error, and one that RFC 9309
// asks for never is.
func TestBuildTakesFromBudget(t *testing.T) {
	text := bytes.Repeat([]byte("Allow: /\n"), robotstxt.DefaultLimit/9+1)
	for size, refused := range map[int]bool{robotstxt.DefaultLimit: false, len(text): true} {
		b, err := Create(t.Context(), filepath.Join(t.TempDir(), "rules"), BuildOptions{Limit: 1 << 20, Memory: 1 << 20})
		must.Do(t, err)
		var large *budget.MemoryError
		n := must.Allocated(func() { _, err = b.Keep(text[:size], false) })
		must.Be(t, errors.As(err, &large) == refused && (refused || err == nil) && (!refused || n <= 1<<20), "%d bytes: %v, and %d bytes of memory", size, err, n)
		b.Abort()
	}
}

// Bodies are numbered in the order in which they come, and are found again with what is known
// of them, in memory and from temporary files.
func TestNumbered(t *testing.T) {
	digestOf := func(i uint32) digest { return sha256.Sum256(binary.LittleEndian.AppendUint32(nil, i)) }
	for _, memory := range []int64{0, 4 << 20} {
		all := newBodyTable(memory, memory, t.TempDir())
		for i := range uint32(20_000) {
			x := digestOf(i)
			number, slot, err := all.find(&x)
			must.Need(t, err == nil && number == noBody, "digest %d is there already, as %d, %v", i, number, err)
			must.Do(t, all.add(slot, &x, i+7))
			must.Do(t, all.update(i, func(k *bodyMeta) { k.at, k.used = uint64(i)<<32, i%3 == 0 }))
			for _, earlier := range []uint32{i, i / 2, 0} {
				x := digestOf(earlier)
				number, _, err := all.find(&x)
				must.Need(t, err == nil && number == earlier, "after %d digests number %d is %d, %v", i+1, earlier, number, err)
				want := bodyMeta{digest: x, first: noSURT, number: earlier, length: earlier + 7, at: uint64(earlier) << 32, used: earlier%3 == 0}
				k, err := all.get(earlier)
				must.Need(t, err == nil && k == want, "after %d digests number %d is %+v, %v", i+1, earlier, k, err)
			}
		}
		must.Equal(t, all.metas.spill.Size() > 0 && all.slots.spill.Size() > 0, memory == 0, "memory", memory)
		all.close()
	}
}

// watched is a context that watches the memory of whoever asks it whether to go on.
type watched struct {
	context.Context
	asked int
	most  uint64 // bytes
}

func (w *watched) Err() error {
	if w.asked++; w.asked%20_000 == 0 {
		w.most = max(w.most, liveBytes())
	}
	return w.Context.Err()
}

func liveBytes() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// With a slot for each number there can be, there are no more: a hash has no more bits.
func TestNeedsSlots(t *testing.T) {
	for _, test := range []struct {
		bodies uint32
		bits   int
		want   bool
	}{{47, 6, false}, {48, 6, true}, {3<<29 - 1, 31, false}, {3 << 29, 31, true}, {3 << 30, 32, false}, {noBody, 32, false}} {
		must.Equal(t, needsSlots(test.bodies, test.bits), test.want, test.bodies, "bodies with 2^", test.bits, "slots")
	}
}

// However many distinct bodies there are, a builder takes no more than its memory and what it
// writes with.
func TestBuildMemory(t *testing.T) {
	const bodies, memory, writing = 100_000, 2 << 20, 4 << 20
	ctx := &watched{Context: t.Context()}
	before := liveBytes()
	b := must.Get(Create(ctx, filepath.Join(t.TempDir(), "site.rules"), BuildOptions{Memory: memory, Sources: true}))(t)
	for i := range bodies {
		must.Do(t, b.Add(body(fmt.Sprintf("https://h%d.example", i), fmt.Sprintf("User-agent: *\nDisallow: /%d\n", i))))
	}
	ctx.most = max(ctx.most, liveBytes())
	info, err := b.Finish()
	must.Need(t, err == nil && info.Bodies == bodies, "%+v, %v", info, err)
	must.Be(t, ctx.asked >= 2*bodies, "asked whether to go on %d times", ctx.asked)
	if took := int64(ctx.most - before); took > memory+writing {
		t.Errorf("%d bodies took %d bytes at most", bodies, took)
	} else {
		t.Logf("%d bytes at most", took)
	}
}
