package matcher

import (
	"encoding/binary"
	"testing"
)

// FuzzFirstFit compares firstFit with its twin in plain Go. Octets are spread
// thinly over the sketches, so that some fit and some do not.
func FuzzFirstFit(f *testing.F) {
	f.Add([]byte{0, 1, 3, 7, 15, 255}, []byte{8, 64, 65, 1})
	f.Add([]byte{1, 2, 128, 4}, []byte{16, 17, 18, 19, 20, 21, 8, 5})
	f.Add([]byte{0, 15}, []byte{16, 32, 16, 32, 16, 32, 16, 32, 16, 1, 32})
	f.Add([]byte{0, 15}, []byte{})
	f.Fuzz(func(t *testing.T, some, others []byte) {
		spread := func(octet byte) Sketch { return Sketch(octet&0x3F) | Sketch(octet>>6)<<40 | Sketch(octet>>7)<<62 }
		paths := make([]Sketch, len(some))
		for i, octet := range some {
			paths[i] = spread(octet)
		}
		var tails []byte
		for _, octet := range others {
			tails = binary.LittleEndian.AppendUint64(tails, uint64(spread(octet)&^hardBits))
		}
		wantPath, want := firstFitPortable(paths, tails)
		for name, kernel := range fitKernels() {
			if path, tail := kernel(paths, tails); path != wantPath || tail != want {
				t.Fatalf("%s: %x in %x: path %d, tail %d, not %d, %d", name, tails, paths, path, tail, wantPath, want)
			}
		}
	})
}
