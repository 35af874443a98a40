// Package partition assigns authorities to partitions, for rules that are too large for one
// machine. Other programs can compute the same hash.
//
// The hash is XXH64 with seed 42 of the authority's text, as a signed number: the same as
// Spark's xxhash64 of the string. An authority's partition is the hash modulo the number of
// partitions, and not negative: Spark's pmod.
package partition

import "github.com/cespare/xxhash/v2"

// seed is Spark's.
const seed = 42

// Hash returns the hash of an authority, a key as urls.Scratch.Split returns it, such as
// https://example.com.
func Hash(authority []byte) int64 {
	var d xxhash.Digest
	d.ResetWithSeed(seed)
	_, _ = d.Write(authority) // never fails
	return int64(d.Sum64())
}

// Of returns the partition, of count, for an authority with this hash.
func Of(hash int64, count int) int {
	n := int64(count)
	return int((hash%n + n) % n)
}
