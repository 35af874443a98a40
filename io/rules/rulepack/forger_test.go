package rulepack

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
)

var forged = flag.Int("forged", 0, "how many packs TestForgedPack makes, instead of the usual few")

// field is a number in a pack that says where something is, or of how much there is.
type field struct{ at, size int }

// forger makes packs with right checksums of one in which fields are changed.
type forger struct {
	sound   []byte
	kinds   []string
	fields  map[string][]field
	answers [][]string
	entries []Entry
	random  *rand.Rand
}

// newForger returns a forger of a pack, whose notes and records it stores uncompressed.
func newForger(t *testing.T, data []byte, entries []Entry) *forger {
	f := &forger{fields: map[string][]field{}, entries: entries, random: rand.New(rand.NewPCG(1, 2))}
	f.sound = forge(t, data, storePlain)
	p := must.Get(openCopy(f.sound, Options{Explain: true}))(t)
	must.Do(t, p.Verify())
	f.findFields(p)
	for kind := range f.fields {
		f.kinds = append(f.kinds, kind)
	}
	slices.Sort(f.kinds)
	f.answers, _ = f.use(t, f.sound)
	return f
}

// storePlain replaces compressed blobs by plain ones.
func storePlain(s *[sectionKinds][]byte) {
	rows := s[bodiesSection]
	for _, blobs := range []struct{ kind, column int }{{notesSection, 8}, {recordsSection, 16}} {
		var all []byte
		for at := 0; at+rowSize < len(rows); at += rowSize {
			start, end := rows[at+blobs.column:], le64(rows[at+rowSize+blobs.column:])
			data, err := openBlob(s[blobs.kind][le64(start):end], maxNotes*largestCompiled)
			if err != nil {
				panic(err)
			}
			binary.LittleEndian.PutUint64(start, uint64(len(all)))
			if len(data) > 0 {
				head := binary.LittleEndian.AppendUint32(make([]byte, 4), uint32(len(data)))
				all = append(append(all, head...), data...)
			}
		}
		binary.LittleEndian.PutUint64(rows[len(rows)-rowSize+blobs.column:], uint64(len(all)))
		s[blobs.kind] = all
	}
}

// add adds fields of a size from an offset on up to another.
func (f *forger) add(kind string, from, to, size int) {
	for ; from+size <= to; from += size {
		f.fields[kind] = append(f.fields[kind], field{from, size})
	}
}

func (f *forger) findFields(p *Pack) {
	end := len(f.sound)
	table := int(le64(f.sound[end-trailerSize:]))
	f.add("header", 8, headerSize, 4)
	f.add("table", table, end-trailerSize, 8)
	f.add("trailer", end-trailerSize, end-8, 4)
	f.add("any byte", 0, end, 1)
	at := map[string]int{}
	for _, s := range p.info.Sections {
		at[s.Name] = int(s.Offset)
		if size := map[string]int{"meta": 8, "directory": 8, "bodies": 8, "starts": 8, "names": 4, "notes": 4, "records": 1, "intervals": 4}[s.Name]; size > 0 {
			f.add(s.Name, int(s.Offset), int(s.Offset+s.Length), size)
		}
	}
	for number := range p.buckets {
		b, start := bucket(p.authorities[p.start(number):]), at["authorities"]+int(p.start(number))
		f.add("bucket", start+4, start+8, 4)
		f.add("bucket", start+8, start+b.size(), 2)
	}
	for number := range p.bodies {
		r := readRow(p.rows, number)
		f.findBody(p.rules[r.rules[0]:r.rules[1]], at["rules"]+int(r.rules[0]))
	}
}

// findBody finds the fields of a body, whose layout matcher.Body describes.
func (f *forger) findBody(data []byte, at int) {
	groups, names, start := int(le32(data[28:])), int(le32(data[24:])), 32
	f.add("body", at+4, at+32, 4)
	f.add("body", at+32, at+32+8*groups+8*names, 4)
	start += 8*groups + 8*names
	if data[14]&2 != 0 {
		start += 4 + int(le32(data[start:]))
	}
	start = (start + 31) &^ 31
	low := start
	for i := range groups {
		high := start + int(le32(data[32+8*i:]))
		f.findGroup(data[low:high], at+low)
		low = (high + 31) &^ 31
	}
}

// findGroup finds the fields of a compiled group.
func (f *forger) findGroup(data []byte, at int) {
	f.add("group", at, at+32, 4)
	low := at + 32
	for i, size := range []int{32, 16, 12, 28, 8, 20, 8, 1, 1} {
		header := []int{0, 1, 2, 3, 4, 4, 5, 6, 7}[i]
		high := low + size*int(le32(data[4*header:])&(1<<30-1))
		if kind := []string{"nodes", "leaves", "ends", "lists", "", "suffixes", "literals", "", "index"}[i]; kind != "" {
			f.add(kind, low, high, 4)
		}
		low = high
	}
}

// change changes a field.
func (f *forger) change(data []byte) (what string) {
	kind := f.kinds[f.random.IntN(len(f.kinds))]
	x := f.fields[kind][f.random.IntN(len(f.fields[kind]))]
	y := f.fields[kind][f.random.IntN(len(f.fields[kind]))]
	read := func(x field) (n uint64) {
		for i := range x.size {
			n |= uint64(data[x.at+i]) << (8 * i)
		}
		return n
	}
	old := read(x)
	edges := []uint64{0, 1, 2, 100, 1 << 16, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1<<63 - 1, 1<<64 - 1, uint64(len(data))}
	now := [...]uint64{
		old + 1, old - 1, 2 * old, old / 2, old ^ 1<<f.random.IntN(8*x.size), read(y), read(y), uint64(f.random.IntN(64)),
		edges[f.random.IntN(len(edges))], old + uint64(f.random.IntN(4096)),
	}[f.random.IntN(10)]
	for i := range x.size {
		data[x.at+i] = byte(now >> (8 * i))
	}
	return fmt.Sprintf("%s at %d: %d for %d", kind, x.at, now, old)
}

var forgerPaths = []string{"/", "/a", "/ab", "/b", "/x5y", "/1x57yz", "/?a", "/%61", "/" + strings.Repeat("a", 2000), "/x1y" + strings.Repeat("x7yz", 300)}

// use does everything with what may be a pack. It returns what each way of asking says of each
// authority, and whether Verify finds the pack sound.
func (f *forger) use(t *testing.T, data []byte) (all [][]string, verified bool) {
	for _, o := range []Options{
		{Chains: brokenChains}, {Chains: brokenChains, Explain: true}, {Chains: brokenChains, Records: true, Usage: statedOptions}, {Chains: brokenChains[1:], AsOf: 250},
	} {
		p, err := openCopy(data, o)
		if err != nil {
			must.Need(t, isKnown(err), "%v", err)
			return nil, false
		}
		all = append(all, answers(t, p, f.entries))
		for _, e := range f.entries {
			var found matcher.Origin
			if p.Lookup(e.Authority, &found) == nil {
				decisions(found.Tries, forgerPaths)
			}
		}
	}
	p := must.Get(openCopy(data, Options{Explain: true}))(t)
	err := p.Verify()
	must.Need(t, err == nil || isKnown(err), "%v", err)
	for number := range min(p.bodies, 20) {
		if b, err := p.describeBody(number); err == nil && b.Compiled != nil {
			for _, trie := range b.Compiled.Groups() {
				trie.Written()
			}
		}
	}
	_ = p.Each(func([]byte, Authority) error { return nil })
	return all, err == nil
}

// What has right checksums may still be wrong. Nothing panics, takes long or much memory:
// a forged pack is refused, says what it said, or is a sound pack of other rules. It can only
// find reading outside with the build tag purego, or by luck.
func TestForgedPack(t *testing.T) {
	entries := smallEntries()
	packs := [][]byte{smallPack(t), historyPack(t)}
	var many strings.Builder
	many.WriteString("User-agent: *\n")
	for i := range 150 {
		fmt.Fprintf(&many, "Disallow: /*x%dy*z\nAllow: /%s*q\n", i, strings.Repeat("a", i%7))
	}
	indexed := append(slices.Clone(entries[:3]), body("https://many.example", many.String()))
	packs = append(packs, read(t, build(t, indexed, BuildOptions{}, 1)))
	n := 900
	if testing.Short() {
		n = 150
	}
	if *forged > 0 {
		n = *forged
	}
	for i, data := range packs {
		of := entries
		if i == 2 {
			of = indexed
		}
		f := newForger(t, data, of)
		result := map[string]int{}
		longest, most := time.Duration(0), uint64(0)
		for range n / len(packs) {
			data, what := bytes.Clone(f.sound), ""
			for range 1 + f.random.IntN(2) {
				what += f.change(data) + "; "
			}
			reseal(data)
			var all [][]string
			var verified bool
			start := time.Now()
			size := must.Allocated(func() {
				defer func() {
					if r := recover(); r != nil {
						t.Fatalf("%s: %v\n%s", what, r, debug.Stack())
					}
				}()
				all, verified = f.use(t, data)
			})
			took := time.Since(start)
			longest, most = max(longest, took), max(most, size)
			must.Be(t, took <= 10*time.Second && size <= 256<<20, "%s: %v, %d bytes of memory", what, took, size)
			result[f.compare(all, verified)]++
		}
		t.Logf("of %d bytes: %v, at most %v and %d bytes of memory", len(f.sound), result, longest, most)
	}
}

// compare says what a forged pack says, compared with the sound one.
func (f *forger) compare(all [][]string, verified bool) string {
	if all == nil {
		return "refused when opened"
	}
	refused, other := false, false
	for i := range all {
		for j := range all[i] {
			refused = refused || all[i][j] == "error"
			other = other || all[i][j] != "error" && all[i][j] != f.answers[i][j]
		}
	}
	switch {
	case other && verified:
		return "sound with other rules"
	case other && refused:
		return "some refused, some of other rules"
	case other:
		return "of other rules, which verify refuses"
	case refused:
		return "refused when used"
	case verified:
		return "equal"
	}
	return "equal, refused by verify"
}
