package rulesdir

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
)

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
		if size := d.rules.Size(); memory > 0 && size > memory {
			t.Errorf("memory %d: %d bytes are kept", memory, size)
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
		must.Do(t, d.Lookup([]byte("http://a"), new(matcher.Origin)))
		return d.rules.Size()
	}
	one, three := size(everyone), size([]matcher.Chain{{"a"}, {"b"}, {matcher.Everyone}})
	if one < 1000 || three < one || three > one+1000 {
		t.Errorf("%d bytes for one agent, %d for three with the same group", one, three)
	}
}
