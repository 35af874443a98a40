package rulepack

import (
	"crypto/sha256"
	"encoding/binary"
	"testing"
)

// Digests are numbered in the order in which they come, and are found again.
func TestDigests(t *testing.T) {
	digestOf := func(i uint32) digest { return sha256.Sum256(binary.LittleEndian.AppendUint32(nil, i)) }
	var d digests
	for i := range uint32(3*listChunk + 5) {
		x := digestOf(i)
		if number, ok := d.find(&x); ok {
			t.Fatalf("digest %d is there already, as %d", i, number)
		}
		d.add(&x)
		for _, earlier := range []uint32{i, i / 2, 0} {
			x := digestOf(earlier)
			if number, ok := d.find(&x); !ok || number != earlier || *d.at(earlier) != x {
				t.Fatalf("after %d digests number %d is %d, %t", i+1, earlier, number, ok)
			}
		}
	}
}
