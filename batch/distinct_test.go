package batch

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestDistinct(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{0, 1, 1000, 3_000_000} {
		var all, odd, even distinct
		for i := range n {
			hash := rng.Uint64()
			all.add(hash)
			all.add(hash)
			if i%2 == 0 {
				even.add(hash)
			} else {
				odd.add(hash)
			}
		}
		odd.merge(&even)
		tolerance := 0.0
		if n > exactLimit {
			tolerance = 0.04 * float64(n) // five standard errors
		}
		for name, got := range map[string]int64{"one": all.count(), "merged": odd.count()} {
			if math.Abs(float64(got)-float64(n)) > tolerance {
				t.Errorf("%s: counted %d of %d", name, got, n)
			}
		}
	}
}
