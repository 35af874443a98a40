// Package partition deals authorities among the parts of rules that are too large for one
// machine, by a hash that other programs can compute, too.
//
// The hash is XXH64 with seed 42 of the authority's text, as a signed number: what
// Spark's xxhash64 function gives of the same string. An authority's partition is the
// hash modulo their number, which is not negative: Spark's pmod.
package partition

import "github.com/cespare/xxhash/v2"

// seed is Spark's.
const seed = 42

// Hash returns the hash of an authority, a key as urls.Scratch.Split returns it, such as
// https://example.com.
func Hash(authority []byte) int64 {
	var d xxhash.Digest
	d.ResetWithSeed(seed)
	_, _ = d.Write(authority) // never an error
	return int64(d.Sum64())
}

// Of returns which of count partitions has an authority of this hash.
func Of(hash int64, count int) int {
	n := int64(count)
	return int((hash%n + n) % n)
}
