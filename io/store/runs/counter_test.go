package runs_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"robotsbatch/io/store/must"
	"robotsbatch/io/store/runs"
)

// Sums are the same with little memory and with much, and come in order.
func TestCounter(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	want := make(map[string]int64)
	var keys []string
	for range 20000 {
		key := fmt.Sprintf("https://%s%d.example", strings.Repeat("\x00a", rng.IntN(4)), rng.IntN(3000))
		keys = append(keys, key)
		want[key] += int64(len(key))
	}
	want[""] += 2
	want[strings.Repeat("k", runs.MaxKey)] += 1
	for _, memory := range []int64{1 << 10, 1 << 30} {
		c := runs.NewCounter(memory, t.TempDir())
		var group sync.WaitGroup
		for part := range slices.Chunk(keys, 5000) {
			group.Go(func() {
				for _, key := range part {
					if err := c.Add([]byte(key), int64(len(key))); err != nil {
						t.Error(err)
					}
				}
			})
		}
		group.Wait()
		for _, key := range []string{"", strings.Repeat("k", runs.MaxKey), ""} {
			must.Do(t, c.Add([]byte(key), 1))
		}
		got := make(map[string]int64)
		last := ""
		err := c.Merge(func(key []byte, sum int64) error {
			must.Be(t, string(key) >= last, "%q after %q", key, last)
			last = string(key)
			got[last] = sum
			return nil
		})
		must.Be(t, err == nil && maps.Equal(got, want), "memory %d: %d keys, %v; want %d", memory, len(got), err, len(want))
		enough := errors.New("enough")
		must.Is(t, c.Merge(func([]byte, int64) error { return enough }), enough)
		c.Close()
	}
	empty := runs.NewCounter(1<<10, t.TempDir())
	defer empty.Close()
	must.Do(t, empty.Merge(func([]byte, int64) error { return errors.New("a key") }))
}
