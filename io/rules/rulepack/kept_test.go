package rulepack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"robotsbatch/io/rules/captures"
	"robotsbatch/matcher/access"
)

// keptPack is a pack that keeps captures: of an authority, of another URL, and as intervals.
func keptPack(t *testing.T) []byte {
	t.Helper()
	name := filepath.Join(t.TempDir(), "kept.rules")
	b, err := Create(context.Background(), name, BuildOptions{History: true})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Abort()
	var kept [3]uint64
	for i := range kept {
		kept[i], err = b.Keep([]byte(deny(fmt.Sprint("/", i))+"User-agent: a\nAllow: /b\n"), i == 1)
		err = errors.Join(err, b.AddElsewhere([16]byte{byte(i)}, Captures{Rows: []byte{4, 0, 0, 2}, Bodies: kept[i : i+1]}))
	}
	b.Payload(kept[2], 7)
	b.SetCaptured(Captured{Policy: access.Policy{DenyUnresolved: true}, Later: true, Newest: 9, Sources: []SourceKind{CapturesSource}})
	for i := range 20 {
		entry := Entry{Authority: fmt.Appendf(nil, "https://h%d.example", i), Access: access.Rules, Kept: kept[i%2], Status: 200, Fetched: 5}
		switch i % 3 {
		case 0:
			entry.Captures = Captures{Rows: []byte{4, 0, 0, 2, 1, 0, 8}, Bodies: kept[:1]}
		case 1:
			entry.History = []access.Interval{{From: 5, Fetched: 5, Seen: 9, Times: []uint32{5, 6, 9}, Access: access.Rules, Kept: kept[1], Status: 200}}
		}
		err = errors.Join(err, b.Add(entry))
	}
	if err == nil {
		_, err = b.Finish()
	}
	if err != nil {
		t.Fatal(err)
	}
	return read(t, name)
}

// take lists what a pack keeps, and adds it to a set of captures.
func take(data []byte, folder string) (taken []string, err error) {
	p, err := openCopy(data, Options{})
	if err != nil {
		return nil, err
	}
	defer func() { _ = p.Close() }()
	b, err := Create(context.Background(), filepath.Join(folder, "taken.rules"), BuildOptions{})
	if err != nil {
		return nil, err
	}
	defer b.Abort()
	set := captures.NewSet(captures.Options{Bodies: b})
	defer set.Close()
	payload := func(kept, name uint64) { taken = append(taken, fmt.Sprint("payload ", kept, " ", name)) }
	return taken, b.Take(p, payload, func(k *Known) error {
		taken = append(taken, fmt.Sprintf("%s %x %v %v", k.Authority, k.Key, k.Captures, k.Intervals))
		return set.Add(k.Authority, k.Key, captures.Kept(k.Captures), []access.Interval{{Times: []uint32{1}, Access: access.Rules, Kept: 1}})
	})
}

// What a pack keeps of captures comes back.
func TestTake(t *testing.T) {
	data := keptPack(t)
	p, err := openCopy(data, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.Close() }()
	if err := p.Verify(); err != nil {
		t.Error(err)
	}
	c, err := p.Captured()
	want := Captured{Policy: access.Policy{DenyUnresolved: true}, Later: true, Newest: 9, Sources: []SourceKind{CapturesSource}}
	if err != nil || fmt.Sprint(*c) != fmt.Sprint(want) {
		t.Errorf("captured %v, %v", c, err)
	}
	taken, err := take(data, t.TempDir())
	if err != nil || len(taken) != 1+3+20 {
		t.Errorf("%q, %v", taken, err)
	}
	for _, line := range []string{
		"payload 3 7", " 00000000000000000000000000000000 {[4 0 0 2] [1]} []",
		"https://h0.example  {[4 0 0 2 1 0 8] [1]} []",
		fmt.Sprintf("https://h1.example  {[] []} [{5 5 9 [5 6 9] 1 %d false 200}]", uint64(keptLimited+2)),
		"https://h2.example  {[] []} [{0 5 5 [5] 1 1 false 200}]",
	} {
		if !slices.Contains(taken, line) {
			t.Errorf("no %q in %q", line, taken)
		}
	}
}

// A pack that keeps captures may say anything, with right checksums: that is an error, or other
// captures.
func TestTakeForged(t *testing.T) {
	sound, folder := keptPack(t), t.TempDir()
	random := rand.New(rand.NewPCG(1, 2))
	failed := 0
	for _, kind := range []int{capturesSection, capturesSection, rulesSection, bodiesSection, authoritiesSection, intervalsSection, namesSection} {
		for range 150 {
			forged := forge(t, sound, func(s *[sectionKinds][]byte) {
				s[kind] = bytes.Clone(s[kind])
				s[kind][random.IntN(len(s[kind]))] = byte(random.IntN(256))
			})
			if _, err := take(forged, folder); err != nil {
				failed++
			}
		}
	}
	if failed == 0 {
		t.Error("nothing that was forged is an error")
	}
	forged := forge(t, sound, func(s *[sectionKinds][]byte) { s[namesSection] = make([]byte, namesHeaderSize) })
	if _, err := take(forged, folder); !errors.Is(err, ErrDamaged) {
		t.Errorf("bodies with names of agents that the pack does not have: %v", err)
	}
	for n := range 200 { // cut off
		forged := forge(t, sound, func(s *[sectionKinds][]byte) {
			s[capturesSection] = s[capturesSection][:min(n, len(s[capturesSection]))]
		})
		_, _ = take(forged, folder)
	}
}
