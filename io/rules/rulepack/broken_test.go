package rulepack

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/usage"
)

// smallEntries are few authorities, of all kinds but the large ones.
func smallEntries() []Entry {
	entries := slices.DeleteFunc(testEntries(), func(e Entry) bool {
		return strings.Contains(string(e.Authority), "many.") || strings.Contains(string(e.Authority), "long.")
	})
	return append(entries, body("https://stated.example", "User-agent: *\nContent-Usage: /a train-ai=n\nContent-Signal: search=yes\n"))
}

// smallPack is a pack of smallEntries and of a bucket that is larger than a page.
func smallPack(t testing.TB) []byte {
	entries := smallEntries()
	for _, e := range sameBucket(120) {
		entries = append(entries, body(string(e.Authority), "User-agent: *\nDisallow: /a*b\n"))
	}
	return read(t, build(t, entries, BuildOptions{Maker: "robotsbatch test"}, 1))
}

var brokenChains = []matcher.Chain{{"*"}, {"C", "A"}}

// answers are what a pack says of authorities, or how it fails.
func answers(t testing.TB, p *Pack, entries []Entry) []string {
	list := make([]string, len(entries))
	for i, e := range entries {
		var o matcher.Origin
		if err := p.Lookup(e.Authority, &o); err != nil {
			must.Need(t, errors.Is(err, ErrDamaged), "%s: %v", e.Authority, err)
			list[i] = "error"
			continue
		}
		spans, err := spansOf(p, e.Authority)
		if err != nil {
			must.Need(t, errors.Is(err, ErrDamaged), "%s: %v", e.Authority, err)
			list[i] = "error"
			continue
		}
		list[i] = spans + fmt.Sprint(o.Access, o.Facts.Status, o.Facts.Fetched, " ", decisions(o.Tries, []string{"/a", "/b", "/ab"}))
		if r := o.Facts.Records; r != nil {
			list[i] += fmt.Sprint(r.CrawlDelays, r.Sitemaps, r.Digest)
		}
	}
	return list
}

// spansOf is what a pack with a history says of all times.
func spansOf(p *Pack, authority []byte) (string, error) {
	if !p.info.History {
		return "", nil
	}
	spans, err := p.AppendSpans(nil, authority)
	if err != nil {
		return "", err
	}
	text := ""
	for _, s := range spans {
		var o matcher.Origin
		if err := p.OpenSpan(authority, &s, &o); err != nil {
			return "", err
		}
		text += fmt.Sprint(s.From, s.Fetched, s.Seen, o.Access, o.Stale, o.Facts.Status, decisions(o.Tries, []string{"/a", "/b", "/ab"}), "; ")
	}
	return text, nil
}

// smallPacks are packs without a history and with one.
func smallPacks(t testing.TB) [][]byte { return [][]byte{smallPack(t), historyPack(t)} }

// isKnown reports whether an error is one that packs have.
func isKnown(err error) bool {
	for _, known := range []error{errNotPack, ErrVersion, ErrDamaged, ErrMismatch} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}

func TestCutPack(t *testing.T) {
	for _, data := range smallPacks(t) {
		for size := range data {
			p, err := openCopy(data[:size:size], Options{})
			must.Need(t, p == nil && isKnown(err), "cut to %d of %d bytes: %v", size, len(data), err)
		}
	}
}

// A flipped bit is an error wherever it is used, and Verify finds it wherever it
// is. It never is another answer.
func TestFlippedBits(t *testing.T) {
	for _, data := range smallPacks(t) {
		for _, o := range []Options{{Chains: brokenChains, Explain: true, Records: true}, {Chains: brokenChains}, {Chains: brokenChains[1:]}} {
			testFlippedBits(t, data, o)
		}
	}
}

func testFlippedBits(t *testing.T, data []byte, options Options) {
	entries := smallEntries()
	sound := must.Get(openCopy(data, options))(t)
	want := answers(t, sound, entries)
	failed, stride := 0, must.Short(37, 1)
	if !options.Explain { // it reads less, and nothing else
		stride = must.Short(37, 7)
	}
	for i := 0; i < len(data); i += stride {
		bit := byte(1) << (i % 8)
		data[i] ^= bit
		p, err := openCopy(data, options)
		switch {
		case err != nil && !isKnown(err):
			t.Fatalf("byte %d: %v", i, err)
		case err == nil:
			for j, got := range answers(t, p, entries) {
				must.Need(t, got == want[j] || got == "error", "byte %d: %s is %q, not %q", i, entries[j].Authority, got, want[j])
				if got == "error" {
					failed++
				}
			}
			if !options.Explain {
				break
			}
			err := p.Verify()
			must.Need(t, errors.Is(err, ErrDamaged), "byte %d: Verify says %v", i, err)
		}
		data[i] ^= bit
	}
	must.Be(t, failed != 0, "no lookup ever failed")
}

// What has no meaning yet is 0 in the header and in the table of sections, though a
// checksum agrees with another value.
func TestVerifyReadsReservedBytes(t *testing.T) {
	data := smallPack(t)
	table := le64(data[len(data)-trailerSize:])
	for _, at := range []uint64{uint64(headerUsed), headerSize - 1, table + sectionUsed, table + 2*sectionSize - 1} {
		bad := slices.Clone(data)
		bad[at] = 1
		reseal(bad)
		p, err := openCopy(bad, Options{})
		must.Need(t, err == nil, "byte %d: %v", at, err)
		must.Is(t, p.Verify(), ErrDamaged, "byte", at, "Verify")
	}
}

// reseal makes the checksums of a pack right again that was broken where they
// are not, as somebody would who means harm. It leaves alone what does not even
// look like a pack.
func reseal(data []byte) {
	size := uint64(len(data))
	if size < headerSize+trailerSize {
		return
	}
	trailer := data[size-trailerSize:]
	at, count := le64(trailer), uint64(le32(trailer[8:]))
	if at < headerSize || at > size || count > 100 || at+count*sectionSize != size-trailerSize {
		return
	}
	table := data[at : size-trailerSize]
	var found [sectionKinds][]byte
	for entry := table; len(entry) > 0; entry = entry[sectionSize:] {
		if kind, offset, length := le32(entry), le64(entry[8:]), le64(entry[16:]); kind < sectionKinds && offset <= at && length <= at-offset {
			found[kind] = data[offset : offset+length]
		}
	}
	resealParts(found)
	for entry := table; len(entry) > 0; entry = entry[sectionSize:] {
		if kind := le32(entry); kind < sectionKinds {
			binary.LittleEndian.PutUint32(entry[4:], checksum(found[kind]))
		}
	}
	binary.LittleEndian.PutUint32(trailer[12:], tableChecksum(data[:headerSize], table, trailer))
}

// resealBuckets does so for the buckets that lie inside.
func resealBuckets(directory, authorities []byte) {
	for number := uint32(0); len(directory) >= 8; number++ {
		start := le64(directory)
		directory = directory[8:]
		if start > uint64(len(authorities)) {
			continue
		}
		b := bucket(authorities[start:])
		if err := b.check(number); errors.Is(err, errBucketChecksum) {
			binary.LittleEndian.PutUint32(b, bucketChecksum(number, b[4:b.size()]))
		}
	}
}

// resealIntervals does so for buckets of intervals.
func resealIntervals(starts, data []byte) {
	for number := 0; 8*(number+2) <= len(starts); number++ {
		if b, ok := within(data, [2]uint64{le64(starts[8*number:]), le64(starts[8*(number+1):])}); ok && len(b) >= intervalHeaderSize {
			binary.LittleEndian.PutUint32(b, bucketChecksum(uint32(number), b[4:]))
		}
	}
}

// resealParts does so for buckets, rows and blobs.
func resealParts(found [sectionKinds][]byte) {
	resealBuckets(found[directorySection], found[authoritiesSection])
	resealIntervals(found[startsSection], found[intervalsSection])
	rows := found[bodiesSection]
	for number := uint32(0); rowSize*(int(number)+2) <= len(rows); number++ {
		r := readRow(rows, number)
		if rules, ok := within(found[rulesSection], r.rules); ok {
			resealBody(rules)
			binary.LittleEndian.PutUint32(rows[rowSize*int(number)+24:], r.sum(number, rules))
		}
		for _, blobs := range [...]struct {
			kind   int
			bounds [2]uint64
		}{{notesSection, r.notes}, {recordsSection, r.records}} {
			if blob, ok := within(found[blobs.kind], blobs.bounds); ok && len(blob) > blobHeaderSize {
				binary.LittleEndian.PutUint32(blob, checksum(blob[4:]))
			}
		}
	}
}

// resealBody makes the checksums of a body right, as far as its tables are in it.
func resealBody(data []byte) {
	if len(data) < 32 {
		return
	}
	names, groups := uint64(le32(data[24:])), uint64(le32(data[28:]))
	start := 32 + 8*groups + 8*names
	if more := start + 4; data[14]&2 != 0 && more <= uint64(len(data)) { // another table
		start = more + uint64(le32(data[start:]))
	}
	start = (start + 31) &^ 31
	if start > uint64(len(data)) {
		return
	}
	low := start
	for i := range groups {
		field := data[32+8*i:]
		high := start + uint64(le32(field))
		if low <= high && high <= uint64(len(data)) {
			binary.LittleEndian.PutUint32(field[4:], checksum(data[low:high]))
		}
		low = (high + 31) &^ 31
	}
	binary.LittleEndian.PutUint32(data, checksum(data[4:start]))
}

// useBroken does everything with bytes that may be a pack.
func useBroken(t testing.TB, data []byte, entries []Entry) {
	p, err := openCopy(data, Options{Chains: brokenChains, Explain: true})
	if err != nil {
		must.Need(t, isKnown(err), "%v", err)
		return
	}
	answers(t, p, entries)
	err = p.Verify()
	must.Need(t, err == nil || errors.Is(err, ErrDamaged), "%v", err)
	for number := range min(p.bodies, 20) {
		if b, err := p.describeBody(number); err == nil && b.Compiled != nil {
			for name := range b.Compiled.Names() {
				decisions(b.Compiled.Tries(nil, []matcher.Chain{{string(name)}}), testPaths[:3])
			}
		}
	}
	for _, chains := range [][]matcher.Chain{brokenChains, brokenChains[:1], brokenChains[1:2]} {
		useInPlace(t, data, chains, entries)
	}
}

// useInPlace matches what may be a pack where it lies.
func useInPlace(t testing.TB, data []byte, chains []matcher.Chain, entries []Entry) {
	silent, err := openCopy(data, Options{Chains: chains, Usage: statedOptions})
	if err != nil {
		must.Need(t, isKnown(err), "%v", err)
		return
	}
	var o matcher.Origin
	for _, e := range entries {
		if err := silent.Lookup(e.Authority, &o); err != nil || o.Access != access.Rules {
			continue
		}
		decisions(o.Tries, testPaths[:3])
		if o.Facts.Usage != nil {
			var target matcher.Target
			target.Set([]byte("/a"), silent.info.Profile)
			o.Facts.Usage.Decide(&target, make([]usage.Value, len(chains)*len(statedOptions.Uses)))
		}
	}
}

// edit changes a few bytes as a list of numbers says: places and values.
func edit(data []byte, edits []byte) {
	for ; len(edits) >= 6; edits = edits[6:] {
		at := int(le32(edits)) % len(data)
		copy(data[at:], edits[4:6])
	}
}

// FuzzOpenPack opens a pack that was edited and sealed again, or only edited.
func FuzzOpenPack(f *testing.F) {
	packs := smallPacks(f)
	entries := smallEntries()
	f.Add([]byte("123456"), true)
	f.Add([]byte{0, 16, 0, 0, 1, 0, 8, 16, 0, 0, 1, 1}, true)
	f.Add([]byte{0, 0, 0, 0, 1, 0}, false)
	f.Fuzz(func(t *testing.T, edits []byte, seal bool) {
		data := slices.Clone(packs[len(edits)%len(packs)])
		edit(data, edits)
		if seal {
			reseal(data)
		}
		useBroken(t, data, entries)
	})
}
