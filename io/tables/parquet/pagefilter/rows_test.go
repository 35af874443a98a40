package pagefilter

import (
	"math/rand/v2"
	"slices"
	"testing"

	"robotsbatch/io/tables"
)

// Rows count and find runs as a list of booleans does.
func TestRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 500 {
		want := make([]bool, rng.IntN(300))
		rows := NewSelection(len(want))
		for range rng.IntN(12) {
			low := rng.IntN(len(want) + 1)
			high := min(len(want), low+rng.IntN([]int{2, 20, 200}[round%3]))
			rows.Keep(low, high)
			for i := low; i < high; i++ {
				want[i] = true
			}
		}
		if rows.Len() != len(want) {
			t.Fatalf("%d rows, want %d", rows.Len(), len(want))
		}
		for i := range want {
			if rows.has(i) != want[i] {
				t.Fatalf("row %d of %v", i, want)
			}
		}
		for range 20 {
			low := rng.IntN(len(want) + 1)
			high := low + rng.IntN(len(want)-low+1)
			count := 0
			var runs tables.Rows
			for i := low; i < high; i++ {
				if !want[i] {
					continue
				}
				count++
				if n := len(runs); n > 0 && runs[n-1].High == i-low {
					runs[n-1].High++
				} else {
					runs = append(runs, tables.Run{Low: i - low, High: i - low + 1})
				}
			}
			if got := rows.Count(low, high); got != count {
				t.Fatalf("%d of %d to %d, want %d", got, low, high, count)
			}
			if got := rows.appendRuns(nil, low, high, low); !slices.Equal(got, runs) {
				t.Fatalf("%v of %d to %d, want %v", got, low, high, runs)
			}
		}
	}
}
