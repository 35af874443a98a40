package partition

import (
	"encoding/binary"
	"testing"

	"github.com/cespare/xxhash/v2"

	"robotsbatch/io/store/must"
)

// sparkHash is XXH64 with another hash as its seed. Spark hashes the arguments of xxhash64
// in this way, one after the other.
func sparkHash(seed int64, data []byte) int64 {
	d := xxhash.NewWithSeed(uint64(seed))
	_, _ = d.Write(data)
	return int64(d.Sum64())
}

// The documentation of Spark's xxhash64 has the example: SELECT xxhash64('Spark',
// array(123), 2) is 5602566077635097486. It hashes integers as four bytes.
func TestSparksExample(t *testing.T) {
	number := func(n uint32) []byte { return binary.LittleEndian.AppendUint32(nil, n) }
	must.Equal(t, sparkHash(sparkHash(Hash([]byte("Spark")), number(123)), number(2)), 5602566077635097486, "xxhash64('Spark', array(123), 2)")
}

// Hashes must not change from version to version: packs and tables are partitioned by them.
func TestHash(t *testing.T) {
	for authority, want := range map[string]struct {
		hash int64
		of   int
	}{
		"https://example.com":                                     {hash: -2690290139961063022, of: 2},
		"http://example.com:8080":                                 {hash: -809038105997760701, of: 3},
		"https://www.xn--bcher-kva.example-with-a-long-name.test": {hash: -1990268634544783140, of: 12},
	} {
		hash := Hash([]byte(authority))
		must.Be(t, hash == want.hash && Of(hash, 16) == want.of, "%q: {hash: %d, of: %d},", authority, hash, Of(hash, 16))
	}
}

func TestOf(t *testing.T) {
	for hash, want := range map[int64]int{0: 0, 5: 5, 7: 0, -1: 6, -7: 0, -8: 6, 1<<63 - 1: 0, -1 << 63: 6} {
		must.Equal(t, Of(hash, 7), want, "pmod", hash, "7")
	}
}

func BenchmarkHash(b *testing.B) {
	authority := []byte("https://www.example.com")
	for b.Loop() {
		Hash(authority)
	}
}
