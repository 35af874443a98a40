package batch

import (
	"testing"

	"robotsbatch/io/store/must"
)

func TestPart(t *testing.T) {
	if low, high := (Part{}).Of(7); low != 0 || high != 7 {
		t.Errorf("all of 7: %d to %d", low, high)
	}
	for n := range 20 {
		for count := 1; count < 25; count++ {
			at := 0
			for index := range count {
				low, high := (Part{index, count}).Of(n)
				if low != at || high-low < n/count || high-low > (n+count-1)/count {
					t.Fatalf("part %d of %d of %d: %d to %d, and %d came before", index, count, n, low, high, at)
				}
				at = high
			}
			must.Need(t, at == n, "%d parts of %d have %d", count, n, at)
		}
	}
}
