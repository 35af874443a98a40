package batch

import (
	"testing"

	"robotsbatch/io/store/must"
)

func TestPart(t *testing.T) {
	low, high := (Part{}).Of(7)
	must.Be(t, low == 0 && high == 7, "all of 7: %d to %d", low, high)
	for n := range 20 {
		for count := 1; count < 25; count++ {
			at := 0
			for index := range count {
				low, high := (Part{index, count}).Of(n)
				must.Need(t, low == at && high-low >= n/count && high-low <= (n+count-1)/count, "part %d of %d of %d: %d to %d, and %d came before", index, count, n, low, high, at)
				at = high
			}
			must.Need(t, at == n, "%d parts of %d have %d", count, n, at)
		}
	}
}
