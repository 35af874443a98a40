package rulepack

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"robotsbatch/io/store/must"
	"robotsbatch/io/store/runs"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/robotstxt"
	"robotsbatch/matcher/usage"
)

// statedEntries are authorities with statements: of the same bytes, of the same meaning, of
// many meanings, too long to be shared, and of bodies that are kept as their source.
func statedEntries(distinct int) []Entry {
	var entries []Entry
	add := func(text string) {
		entries = append(entries, body(fmt.Sprintf("https://s%d.example", len(entries)), text))
	}
	for i := range 6 {
		add("User-agent: *\nContent-Usage: train-ai=n\nDisallow: /a\n")
		add(strings.Repeat("\n", i) + "User-agent: *\nContent-Usage: train-ai=n\nDisallow: /a\n")
		add(strings.Repeat("# x\n", i) + "User-agent: C\nContent-Usage: train-ai=n\nContent-Usage: /b train-ai=y\nUser-agent: *\nDisallow: /a\n")
		add(fmt.Sprintf("License: https://l.example/%d\nUser-agent: *\nContent-Signal: search=no\n", i%2))
		add("User-agent: *\nDisallow: /\n")
		add("User-agent: D\nContent-Usage: x=y\nDisallow: /\n")
	}
	for i := range distinct {
		add(fmt.Sprintf("User-agent: *\nContent-Usage: /p%d train-ai=n\nContent-Usage: train-ai=y\n", i))
	}
	add("User-agent: *\nContent-Usage: train-ai=y\n" + strings.Repeat("Content-Usage: /b train-ai=n\n", longestStatements/20))
	for _, e := range testEntries() {
		e.Body = append(slices.Clip(e.Body), "\nUser-agent: *\nContent-Usage: /a train-ai=n\n"...)
		entries = append(entries, e)
	}
	return entries
}

var statedOptions = matcher.UsageOptions{Uses: []usage.Use{{Key: "train-ai"}, {Directive: usage.ContentSignal, Key: "search"}}, Licenses: true}

// said is what statements say of a few paths.
func said(u *matcher.Usage, p matcher.Profile) string {
	if u == nil {
		return ""
	}
	var b strings.Builder
	values := make([]usage.Value, len(testChains)*len(statedOptions.Uses))
	for _, path := range []string{"/", "/a", "/b", "/p7", "/p149"} {
		var target matcher.Target
		target.Set([]byte(path), p)
		u.Decide(&target, values)
		fmt.Fprint(&b, path, values)
		for agent := range testChains {
			line := u.Explain(&target, agent, 0)
			fmt.Fprint(&b, u.Licenses(agent), line.Line, string(line.Text))
		}
	}
	return b.String()
}

// A body whose head has the key of other statements than its records is damaged.
func TestAnotherBodysStatements(t *testing.T) {
	text := func(value string) string { return "User-agent: *\nContent-Usage: train-ai=" + value + "\n" }
	data := read(t, build(t, []Entry{body("https://a.example", text("n"))}, BuildOptions{}, 1))
	key := func(value string) []byte {
		f := robotstxt.Parse([]byte(text(value)), robotstxt.Options{})
		key := matcher.KeyOfStatements(f.AppendStatements(nil))
		return key[:]
	}
	for _, value := range []string{"n", "y"} {
		forged := bytes.Replace(data, key("n"), key(value), 1)
		must.Need(t, bytes.Count(forged, key(value)) == 1, "the pack lacks its key")
		reseal(forged)
		p := must.Get(openCopy(forged, Options{Chains: testChains, Usage: statedOptions}))(t)
		var o matcher.Origin
		err := p.Lookup([]byte("https://a.example"), &o)
		must.Be(t, (err == nil) == (value == "n") && (err == nil || errors.Is(err, ErrDamaged)), "%s: %v", value, err)
	}
}

// The statements of a body are what is compiled of its text, whether bodies share them or
// not, and however often and from however many goroutines they are asked for.
func TestStatementsAreShared(t *testing.T) {
	const most = 100
	entries := statedEntries(most + 50)
	name := build(t, entries, BuildOptions{}, 2)
	for _, o := range []Options{{}, {Records: true}, {Explain: true}} {
		o.Chains, o.Usage = testChains, statedOptions
		o.Usage.Explain = o.Explain
		p := mustOpen(t, name, o)
		p.statements.most = most
		want := make([]string, len(entries))
		for i, e := range entries {
			if e.Access == access.Rules {
				f := robotstxt.Parse(e.Body, robotstxt.Options{})
				want[i] = said(matcher.CompileUsage(f, matcher.NewAgents(testChains), o.Usage), p.info.Profile)
			}
		}
		var group sync.WaitGroup
		for w := range 3 {
			group.Go(func() {
				var origin matcher.Origin
				for i := range 2 * len(entries) {
					i = (i + w*50) % len(entries)
					if err := p.Lookup(entries[i].Authority, &origin); err != nil {
						t.Error(err)
						return
					}
					if got := said(origin.Facts.Usage, p.info.Profile); got != want[i] {
						t.Errorf("%s: %s, want %s", entries[i].Authority, got, want[i])
						return
					}
				}
			})
		}
		group.Wait()
	}
	// Those that say the same are one, in lines of other numbers too.
	p := mustOpen(t, name, Options{Chains: testChains, Usage: statedOptions})
	var first, other matcher.Origin
	for i := range 6 {
		for _, e := range []Entry{entries[0], entries[6*i], entries[6*i+1]} {
			must.Do(t, p.Lookup(e.Authority, &other))
			if first.Facts.Usage == nil {
				first.Facts.Usage = other.Facts.Usage
			}
			must.Be(t, other.Facts.Usage == first.Facts.Usage && other.Facts.Usage != nil, "%s has statements of its own", e.Authority)
		}
	}
	pass := func() {
		for _, e := range entries[:36] {
			must.Do(t, p.Lookup(e.Authority, &other))
		}
	}
	pass()
	n := testing.AllocsPerRun(10, pass)
	must.Be(t, n == 0, "%v allocations", n)
}

// Bodies come back in their order, once each and unchanged, whatever the memory, and whether
// the first hosts that were known had the same order.
func TestStore(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, limit := range []int64{0, 300, 5000, 1 << 30} {
		for _, late := range []int{0, 10, 1} { // one body in so many gets another first host
			folder := t.TempDir()
			b := bodies{
				table:   newBodyTable(limit, limit, folder),
				store:   bodyStore{limit: limit, spill: runs.Spill{Folder: folder}},
				ordered: runs.NewSorter(bodyMetaForm, limit, folder),
			}
			var texts [][]byte
			update := func(number uint32, change func(k *bodyMeta)) {
				t.Helper()
				must.Do(t, b.table.update(number, change))
			}
			for number := range uint32(500) {
				_, _, err := b.numberOf(digest{byte(number), byte(number >> 8)}, 0)
				must.Do(t, err)
				update(number, func(k *bodyMeta) { binary.BigEndian.PutUint64(k.first[:], rng.Uint64()) })
				texts = append(texts, bytes.Repeat([]byte{byte(number), byte(number >> 8)}, 1+rng.IntN(100)))
				if number%100 == 0 {
					texts[number] = bytes.Repeat(texts[number], copyingSize/len(texts[number])+1)
				}
				must.Do(t, b.store.add(number, texts[number], &b.table))
			}
			for number := range b.table.n {
				update(number, func(k *bodyMeta) {
					k.units = 1
					k.used = rng.IntN(5) > 0
					if late > 0 && int(number)%late == 0 {
						binary.BigEndian.PutUint64(k.first[:], rng.Uint64())
					}
				})
			}
			must.Do(t, b.store.finish(&b.table))
			var want, got []byte
			var last surtStart
			err := b.order(func(k *bodyMeta) {
				must.Need(t, bytes.Compare(last[:], k.first[:]) <= 0, "body %d is behind one of a later host", k.number)
				last = k.first
				want = append(want, texts[k.number]...)
			})
			must.Do(t, err)
			place := uint32(0)
			must.Do(t, b.store.each(b.each, func(k *bodyMeta, stored []byte) error {
				at, err := b.placed(k.number)
				must.Be(t, err == nil && at.place == place, "body %d is at %d, not %d, %v", k.number, at.place, place, err)
				place++
				got = append(got, stored...)
				return nil
			}))
			must.Be(t, bytes.Equal(got, want), "memory %d, one in %d late: the bodies differ", limit, late)
			must.Equal(t, b.store.spill.Size() > 0, limit < 1<<30, "memory", limit)
			enough := errors.New("enough")
			must.Is(t, b.store.each(b.each, func(*bodyMeta, []byte) error { return enough }), enough)
			b.close()
		}
	}
}
