package rulepack

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"robotsbatch/io/store/blob"
	"robotsbatch/io/store/budget"
	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
	"robotsbatch/matcher/robotstxt"
)

// memoryFile is a file in memory.
type memoryFile struct {
	blob.Writer
	bytes.Buffer
}

func (m *memoryFile) Write(p []byte) (int, error) { return m.Buffer.Write(p) }

// forge returns a pack with other sections, sealed with the checksums that they have.
func forge(t testing.TB, data []byte, change func(sections *[sectionKinds][]byte)) []byte {
	t.Helper()
	f := file{mapping: mapping{data: bytes.Clone(data)}}
	must.Do(t, f.findSections())
	var sections [sectionKinds][]byte
	for kind := range sections {
		sections[kind] = f.table[kind].data
	}
	change(&sections)
	resealParts(sections)
	var out memoryFile
	w := newPackWriter(context.Background(), &out, &Info{Version: f.info.Version, Partition: f.info.Partition, Partitions: f.info.Partitions})
	for _, s := range f.info.Sections {
		for kind, name := range sectionNames {
			if name == s.Name {
				w.beginSection(kind)
				_, _ = w.Write(sections[kind]) // to memory
			}
		}
	}
	must.Do(t, w.finish())
	return out.Bytes()
}

// onePack is a pack of one authority.
func onePack(t testing.TB, text string, o BuildOptions) []byte {
	return read(t, build(t, []Entry{body("https://a.example", text)}, o, 1))
}

// everyUse opens a pack of a limit in each way and uses its only body.
func everyUse(data []byte, limit int) map[string]error {
	errs := map[string]error{}
	job := func(name string, o Options) {
		o.Limit = limit
		p, err := openCopy(data, o)
		var found matcher.Origin
		if err == nil {
			err = p.Lookup([]byte("https://a.example"), &found)
		}
		errs[name] = err
	}
	job("explain", Options{Chains: testChains, Explain: true})
	job("records", Options{Chains: testChains, Records: true})
	job("usage", Options{Chains: testChains, Usage: statedOptions})
	p, err := openCopy(data, Options{Explain: true, Limit: limit})
	if err != nil {
		errs["open"] = err
		return errs
	}
	errs["verify"] = p.Verify()
	_, errs["body"] = p.describeBody(0)
	return errs
}

// What is compressed says how long it is, and no more than the bytes that count of a body
// can give is decompressed, or made of it, even if the pack says that any number counts.
func TestBlobsAreBounded(t *testing.T) {
	sound := onePack(t, "User-agent: *\nDisallow: /a\nContent-Usage: train-ai=n\nSitemap: https://a.example/s.xml\nCrawl-delay: 1\n", BuildOptions{})
	zeros := make([]byte, 200<<20)
	few := make([]byte, maxRecords*robotstxt.DefaultLimit)
	sitemaps := func(n int, rest []byte) []byte { return append(binary.AppendUvarint(nil, uint64(n)), rest[:n+1]...) }
	for _, test := range []struct {
		name         string
		kind, column int
		data         []byte
		fails        string // the uses that fail
	}{
		{"many sitemaps", recordsSection, 16, sitemaps(len(zeros)-1, zeros), "records usage verify body"},
		{"more sitemaps than lines", recordsSection, 16, sitemaps(3_000_000, few), "records usage verify body"},
		{"long notes", notesSection, 8, zeros, "explain verify body"},
	} {
		for limit, most := range map[int]uint64{robotstxt.DefaultLimit: 64 << 20, math.MaxInt: 128 << 20} {
			forged := forge(t, sound, func(s *[sectionKinds][]byte) {
				binary.LittleEndian.PutUint64(s[metaSection][8:], uint64(limit))
				s[test.kind] = appendBlob(nil, test.data)
				binary.LittleEndian.PutUint64(s[bodiesSection][rowSize+test.column:], uint64(len(s[test.kind])))
			})
			var errs map[string]error
			n := must.Allocated(func() { errs = everyUse(forged, limit) })
			must.Be(t, n <= most, "%s, limit %d: %d bytes of memory for a pack of %d", test.name, limit, n, len(forged))
			for use, err := range errs {
				must.Equal(t, strings.Contains(test.fails, use), errors.Is(err, ErrDamaged), test.name, "limit", limit, use, err)
			}
		}
	}
}

// A compiled body that has no notes is damage where rules are described, and verdicts need none.
func TestBodyWithoutNotes(t *testing.T) {
	forged := forge(t, onePack(t, "User-agent: *\nDisallow: /a\n", BuildOptions{}), func(s *[sectionKinds][]byte) {
		s[notesSection] = nil
		binary.LittleEndian.PutUint64(s[bodiesSection][rowSize+8:], 0)
	})
	for use, err := range everyUse(forged, 0) {
		must.Equal(t, strings.Contains("explain verify body", use), errors.Is(err, ErrDamaged), use, err)
	}
}

// A body that is kept as its source is no longer than what counts of it.
func TestSourceIsBounded(t *testing.T) {
	long := func(n int) []byte {
		text := bytes.Repeat([]byte("Allow: /a*b\n"), n/12+1)[:n]
		f := robotstxt.Parse([]byte("User-agent: *\n"), robotstxt.Options{})
		source := matcher.AppendSource(nil, f, text)
		return append(source, make([]byte, -len(source)&(matcher.BodyAlignment-1))...)
	}
	sound := onePack(t, "User-agent: *\nDisallow: /a\n", BuildOptions{Sources: true})
	for size, fails := range map[int]bool{robotstxt.DefaultLimit: false, robotstxt.DefaultLimit + 1000: true, 100 << 20: true} {
		forged := forge(t, sound, func(s *[sectionKinds][]byte) {
			s[rulesSection] = long(size)
			binary.LittleEndian.PutUint64(s[bodiesSection][rowSize:], uint64(len(s[rulesSection])))
		})
		n := must.Allocated(func() {
			for use, err := range everyUse(forged, 0) {
				must.Equal(t, fails, errors.Is(err, ErrDamaged), size, "bytes", use, err)
			}
		})
		must.Be(t, !fails || n <= 1<<20, "a source of %d bytes takes %d bytes of memory", size, n)
	}
}

// The records and the notes of a body that has as much of them as a body can have are within
// the bounds.
func TestLargestRecordsAndNotes(t *testing.T) {
	fill := func(line func(i int) string) string {
		var b strings.Builder
		for i := 0; b.Len() < robotstxt.DefaultLimit-1000; i++ {
			b.WriteString(line(i))
		}
		return b.String()
	}
	merged := "User-agent: *\n"
	for i := range 8 {
		merged += fmt.Sprintf("User-agent: %c\nDisallow: /%c\n", 'a'+i, 'a'+i)
	}
	merged += "User-agent: a\nUser-agent: b\nUser-agent: c\nUser-agent: d\nUser-agent: e\nUser-agent: f\n"
	for name, text := range map[string]string{
		"sitemaps": fill(func(int) string { return "sitemap:\n" }),
		"agents":   fill(func(i int) string { return fmt.Sprintf("useragent:a%x\n", i) }) + "crawl-delay:1\n",
		"delays":   "User-agent: *\n" + fill(func(i int) string { return fmt.Sprintf("user-agent:a%x\ncrawl-delay:1\n", i) }),
		"stated":   "User-agent: *\n" + fill(func(int) string { return "content-usage:/\xff train-ai=n\n" }),
		"merged":   merged + fill(func(i int) string { return fmt.Sprintf("allow:/%x\n", i) }),
		"bytes":    merged + fill(func(i int) string { return fmt.Sprintf("allow:/%x\xff\xff\xff\xff\n", i) }),
	} {
		utf16 := []byte{0xFF, 0xFE}
		for _, r := range text {
			utf16 = append(utf16, byte(min(r, 0xFF)), 0)
		}
		for _, text := range []string{text, string(utf16[:min(len(utf16), robotstxt.DefaultLimit)])} {
			p := must.Get(openCopy(onePack(t, text, BuildOptions{}), Options{Explain: true}))(t)
			err := p.Verify()
			must.Be(t, err == nil, "%s: %v", name, err)
			r := readRow(p.rows, 0)
			if notes := p.notes[r.notes[0]:r.notes[1]]; len(notes) > 0 {
				t.Logf("%s: compiled %v, %.1f times the bytes in notes", name, r.flags&bodySource == 0, float64(le32(notes[4:]))/float64(len(text)))
			}
		}
	}
}

// A body that is kept as its source and takes more memory to compile than may be lent is an error
// that says so, in each use, before it takes any.
func TestSourceTakesFromBudget(t *testing.T) {
	text := "User-agent: *\n" + strings.Repeat("Allow: /\n", 200_000)
	p, err := openCopy(onePack(t, text, BuildOptions{Limit: 4 << 20}), Options{Chains: testChains, Limit: 4 << 20, Explain: true, Budget: budget.New(64 << 20)})
	must.Do(t, err)
	uses := map[string]func() error{
		"lookup": func() error { return p.Lookup([]byte("https://a.example"), new(matcher.Origin)) },
		"body": func() error {
			a, _, err := p.Authority([]byte("https://a.example"))
			if err == nil {
				_, err = p.Body(a.Body)
			}
			return err
		},
	}
	for name, use := range uses {
		var large *budget.MemoryError
		n := must.Allocated(func() { err = use() })
		must.Be(t, n <= 2*uint64(len(text)), "%s: %d bytes of memory for a body of %d", name, n, len(text))
		must.Need(t, errors.As(err, &large) && large.Need == matcher.CompileMemory([]byte(text)) && large.Limit == 32<<20, "%s: %v", name, err)
	}
	p.budget = budget.New(2 * matcher.CompileMemory([]byte(text)))
	for name, use := range uses {
		err := use()
		must.Be(t, err == nil, "%s, with enough: %v", name, err)
	}
}

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
	n := must.Short(150, 900)
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
