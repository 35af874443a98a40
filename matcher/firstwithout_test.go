package matcher

import (
	"encoding/binary"
	"testing"
)

// TestFirstWithout puts the sketch that is looked for into every place of runs
// of every length up to some rounds.
func TestFirstWithout(t *testing.T) {
	const missing = 1<<63 | 1
	for n := range 20 {
		for at := range n + 1 {
			sketches := make([]byte, 3)
			for i := range n {
				sketch := uint64(1) << (63 * (i & 1))
				if i == at || i == at+2 {
					sketch = ^uint64(missing)
				}
				sketches = binary.LittleEndian.AppendUint64(sketches, sketch)
			}
			if got := firstWithout(sketches, 3, n, missing); got != at {
				t.Fatalf("%d of %d: %d", at, n, got)
			}
		}
	}
}
