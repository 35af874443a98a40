package batch

import (
	"math"
	"math/rand/v2"
	"testing"

	"robotsbatch/io/store/must"
)

func TestDistinct(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{0, 1, 1000, 3_000_000} {
		var all, odd, even distinct
		for i := range n {
			hash := rng.Uint64()
			all.add([]uint64{hash, hash})
			if i%2 == 0 {
				even.add([]uint64{hash})
			} else {
				odd.add([]uint64{hash})
			}
		}
		odd.merge(&even)
		tolerance := 0.0
		if n > exactLimit {
			tolerance = 0.04 * float64(n) // five standard errors
		}
		for name, got := range map[string]int64{"one": all.count(), "merged": odd.count()} {
			must.Be(t, math.Abs(float64(got)-float64(n)) <= tolerance, "%s: counted %d of %d", name, got, n)
		}
	}
}

// TestDistinctZero: a hash of 0, which marks a free slot, is counted like any other.
func TestDistinctZero(t *testing.T) {
	var d distinct
	for n := int64(1); n < 3; n++ {
		d.add([]uint64{0})
		must.Equal(t, d.count(), 1, "counted", "after adding it", n)
	}
	var e distinct
	e.add([]uint64{7})
	if e.count() != 1 { // it has slots by now
		t.Fatal("7 was not counted")
	}
	e.add([]uint64{0})
	must.Equal(t, e.count(), 2, "counted")
}
