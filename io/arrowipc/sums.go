package arrowipc

import (
	"encoding/hex"
	"fmt"

	"github.com/zeebo/xxh3"
)

// A file that this package writes has a checksum of every message in it, which
// Arrow has no place for but the footer's own metadata: under sumsKey, 16
// hexadecimal digits for each block of a dictionary, then for each of a record
// batch, of XXH3 with 64 bits over the block's octets. Other readers leave them
// alone; this one compares, so that a changed octet of a message is an error
// where Arrow itself may have no way to tell. Streams have no footer and so no
// checksums.
const sumsKey = "robotsbatch.xxh3_64"

// sumSize is how many digits a checksum has.
const sumSize = 16

// sum is the checksum of a message.
func (m message) sum() uint64 { return blockSum(m.head, m.body) }

func blockSum(head, body []byte) uint64 {
	var h xxh3.Hasher
	_, _ = h.Write(head) // never an error
	_, _ = h.Write(body)
	return h.Sum64()
}

// appendSums appends the checksums of all blocks.
func appendSums(dst []byte, lists ...[]block) []byte {
	for _, list := range lists {
		for _, b := range list {
			dst = fmt.Appendf(dst, "%0*x", sumSize, b.sum)
		}
	}
	return dst
}

// takeSums gives blocks the checksums that the footer's metadata has for them,
// if it has any.
func takeSums(root table, lists ...[]block) {
	root.tables(4, func(pair table) {
		f := pair.f
		keyAt, keySize := pair.vector(0, 1)
		at, size := pair.vector(1, 1)
		if f.err != nil || string(f.at(keyAt, keySize)) != sumsKey {
			return
		}
		text := f.at(at, size)
		for _, list := range lists {
			for i := range list {
				var octets [sumSize / 2]byte
				if len(text) < sumSize {
					f.fail("the footer has too few checksums")
					return
				}
				if _, err := hex.Decode(octets[:], text[:sumSize]); err != nil {
					f.fail("the footer's checksums are none")
					return
				}
				text = text[sumSize:]
				for _, c := range octets {
					list[i].sum = list[i].sum<<8 | uint64(c)
				}
				list[i].summed = true
			}
		}
		if len(text) > 0 {
			f.fail("the footer has too many checksums")
		}
	})
}
