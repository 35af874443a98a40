package parquetio

import (
	"bytes"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/memory"
)

// Growing in small steps copies little, keeps what is there, and adds zeros.
func TestGrowing(t *testing.T) {
	g := growing{memory.NewGoAllocator()}
	var b []byte
	moved := 0
	for size := 64; size <= 64<<10; size += 64 {
		grown := g.Reallocate(size, b)
		if len(grown) != size || !bytes.Equal(grown[:len(b)], b) || !bytes.Equal(grown[len(b):], make([]byte, size-len(b))) {
			t.Fatalf("size %d: not what was there and zeros", size)
		}
		if len(b) > 0 && &grown[0] != &b[0] {
			moved++
		}
		for i := len(b); i < size; i++ {
			grown[i] = byte(i) | 1
		}
		b = grown
	}
	if moved > 12 {
		t.Errorf("copied %d times in growing to %d octets", moved, len(b))
	}
	if b = g.Reallocate(64, b); len(b) != 64 {
		t.Fatalf("%d octets, want 64", len(b))
	}
	if b = g.Reallocate(128, b); !bytes.Equal(b[64:], make([]byte, 64)) {
		t.Error("what was cut off came back")
	}
}
