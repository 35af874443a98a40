package rulepack

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

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
	w := newPackWriter(context.Background(), &out, f.version, f.partition, f.partitions)
	for _, s := range f.sections {
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
