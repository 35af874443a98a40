//go:build unix

package rulepack

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"robotsbatch/bench/corpus"
	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/robotstxt"
)

// TestCutWhileOpen cuts a pack under a reader, at each place where that may
// meet a lookup: the system answers the next read behind the end with a signal.
func TestCutWhileOpen(t *testing.T) {
	c := corpus.New(corpus.Options{Origins: 2000, Missing: -1})
	original := read(t, buildCorpus(t, c, robotstxt.RFC9309))
	var authorities [][]byte
	var keys []matcher.Key
	for o := range c.Origins() {
		authorities = append(authorities, o.Authority())
		keys = append(keys, matcher.Key{Text: o.Authority()})
	}
	for _, size := range []int{0, 1, 4096, len(original) / 4, len(original) / 2, len(original) - 1} {
		name := filepath.Join(t.TempDir(), "cut.rules")
		must.Do(t, os.WriteFile(name, original, 0o666))
		p := mustOpen(t, name, Options{Chains: []matcher.Chain{{"CCBot"}}})
		var o matcher.Origin
		must.Do(t, p.Lookup(authorities[0], &o))
		kept := o.Tries[0]
		must.Do(t, os.Truncate(name, int64(size)))
		var failed error
		for _, authority := range authorities {
			if err := p.Lookup(authority, &o); err != nil {
				failed = err
			}
		}
		must.Be(t, failed != nil || size > len(original)/2, "cut to %d bytes: no lookup failed", size)
		must.Be(t, failed == nil || strings.Contains(failed.Error(), name), "cut to %d bytes: %v", size, failed)
		_, err := p.LookupAll(keys, make([]matcher.Origin, len(keys)))
		must.Be(t, (err != nil) == (failed != nil), "cut to %d bytes: all at once: %v, one by one: %v", size, err, failed)
		err = p.Unchanged()
		must.Be(t, errors.Is(err, ErrChanged) && strings.Contains(err.Error(), name), "cut to %d bytes: Unchanged: %v", size, err)
		kept.Written() // what was looked up is a copy
		must.Fail(t, p.Verify(), "cut to", size, "bytes: Verify")
		must.Do(t, p.Close())
		if p, err := Inspect(name, ""); err == nil {
			p.Close()
			t.Errorf("cut to %d bytes: it opens", size)
		}
	}
}

// TestOverwrittenWhileOpen writes other bytes over a pack in use: whatever a
// lookup says then, it says it, and Unchanged tells.
func TestOverwrittenWhileOpen(t *testing.T) {
	c := corpus.New(corpus.Options{Origins: 500, Missing: -1})
	original := read(t, buildCorpus(t, c, robotstxt.RFC9309))
	for _, filler := range []byte{0, 0xFF, 0x55, 1} {
		name := filepath.Join(t.TempDir(), "site.rules")
		must.Do(t, os.WriteFile(name, original, 0o666))
		p := mustOpen(t, name, Options{Chains: []matcher.Chain{{"CCBot"}}, Explain: true})
		var o matcher.Origin
		look := func() {
			for origin := range c.Origins() {
				_ = p.Lookup(origin.Authority(), &o) // an error or not
			}
		}
		look()
		must.Do(t, p.Unchanged())
		f := must.Get(os.OpenFile(name, os.O_WRONLY, 0))(t)
		data := make([]byte, len(original))
		for i := range data {
			data[i] = filler
		}
		must.Get(f.Write(data))(t)
		f.Close()
		later := time.Now().Add(time.Hour) // clocks of file systems tick slowly
		must.Do(t, os.Chtimes(name, later, later))
		look()
		must.Is(t, p.Unchanged(), ErrChanged, "Unchanged")
		p.Close()
	}
}

// TestReplacedWhileOpen puts another pack in a pack's place, which is allowed.
func TestReplacedWhileOpen(t *testing.T) {
	c := corpus.New(corpus.Options{Origins: 50, Missing: -1})
	name := buildCorpus(t, c, robotstxt.RFC9309)
	p := mustOpen(t, name, Options{})
	other := name + ".new"
	must.Do(t, os.WriteFile(other, []byte("something else"), 0o666))
	must.Do(t, os.Rename(other, name))
	must.Do(t, errors.Join(p.Unchanged(), p.Verify()))
}

// TestChecksum has packs that differ in one rule.
func TestChecksum(t *testing.T) {
	var sums []string
	for _, body := range []string{"User-agent: *\nDisallow: /a\n", "User-agent: *\nDisallow: /b\n", "User-agent: *\nDisallow: /a\n"} {
		name := build(t, []Entry{{Authority: []byte("http://a.example"), Access: access.Rules, Body: []byte(body)}}, BuildOptions{}, 1)
		p := must.Get(Inspect(name, ""))(t)
		sums = append(sums, p.Info().Checksum)
		p.Close()
	}
	must.Be(t, sums[0] != sums[1] && sums[0] == sums[2] && len(sums[0]) == 32, "checksums %q", sums)
}
