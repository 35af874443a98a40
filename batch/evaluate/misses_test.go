package evaluate

import (
	"fmt"
	"slices"
	"sync"
	"testing"
)

// A sample is that of the lowest hashes, whoever adds them in whatever order, each once.
func TestMisses(t *testing.T) {
	name := func(hash int) string { return fmt.Sprintf("https://%05d.example", hash) }
	for _, count := range []int{0, 1, mostMisses - 1, mostMisses, mostMisses + 1, 1000} {
		var m Misses
		var adding sync.WaitGroup
		for start := range 4 {
			adding.Go(func() {
				for i := range count {
					hash := (i*7 + start*count/4) % max(count, 1)
					if count%7 == 0 {
						hash = (i + start) % count
					}
					m.add([]byte(name(hash)), uint64(hash))
				}
			})
		}
		adding.Wait()
		var want []string
		for hash := range min(count, mostMisses) {
			want = append(want, name(hash))
		}
		if got := m.Authorities(); !slices.Equal(got, want) {
			t.Errorf("of %d: %d: %.3q", count, len(got), got)
		}
	}
	(*Misses)(nil).add([]byte("x"), 1)
}
