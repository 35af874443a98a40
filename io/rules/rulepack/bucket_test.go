package rulepack

import (
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"robotsbatch/io/store/must"
)

// makeBucket makes a bucket of authorities with these hashes, of which the fingerprints
// are taken.
func makeBucket(t testing.TB, hashes []uint64, authorities []string) bucket {
	t.Helper()
	w := newBucketWriter(io.Discard, 0)
	for i, a := range authorities {
		must.Do(t, w.add(hashes[i], origin{body: uint32(i)}, []byte(a)))
	}
	must.Do(t, w.finish())
	b := bucket(w.buffer)
	must.Do(t, b.check(0))
	return b
}

// TestBucketFind looks for each authority of buckets of all usual sizes, and for others
// with the same fingerprint, where fingerprints are equal, 0, or differ in one bit.
func TestBucketFind(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	prints := []uint64{0, 1, 2, 0x7FFF, 0x8000, 0x8001, 0x0100, 0xFFFE, 0xFFFF}
	for range 5000 {
		hashes := make([]uint64, rng.IntN(scanned+1))
		authorities := make([]string, len(hashes))
		for i := range hashes {
			hashes[i] = prints[rng.IntN(len(prints))]
			authorities[i] = fmt.Sprintf("%s%c", []string{http, https, ftp, "x"}[i%4], 'a'+i/4)
		}
		b := makeBucket(t, hashes, authorities)
		for i, a := range authorities {
			place, known := b.find(hashes[i], []byte(a))
			must.Need(t, known && int(b.origin(place).body) == i, "%x: %s is authority %d, %v", hashes, a, place, known)
			place, known = b.find(hashes[i], []byte(a+"b"))
			must.Need(t, !known, "%x: %sb is authority %d", hashes, a, place)
		}
		place, known := b.find(prints[rng.IntN(len(prints))], []byte("nobody"))
		must.Need(t, !known, "%x: nobody is authority %d", hashes, place)
	}
}

// TestEqualFingerprints compares equalFingerprints with a loop: it finds each fingerprint that is the
// one, and names others only behind such.
func TestEqualFingerprints(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 100_000 {
		print := uint16(rng.Uint32())
		var prints [2 * fingerprintBlock]byte
		var want, zero uint64
		for i := range fingerprintBlock {
			p := [...]uint16{print, print ^ 1, print ^ 0x8000, print + 1, print - 1, ^print, uint16(rng.Uint32())}[rng.IntN(7)]
			prints[2*i], prints[2*i+1] = byte(p), byte(p>>8)
			if p == print {
				want |= 1 << (16*(i%4) + i/4)
			}
			if p^print <= 1 {
				zero |= 1 << (16*(i%4) + i/4)
			}
		}
		got := equalFingerprints(prints[:], print)
		must.Need(t, got&want == want && got&^zero == 0, "%04x in %x: %x, want %x", print, prints, got, want)
	}
}

// A bucket of more authorities than are looked through one by one is searched by
// halves, by hash and then by text.
func TestLargeBucketFind(t *testing.T) {
	for _, n := range []int{scanned, scanned + 1, 500} {
		entries := sameBucket(n)
		slices.SortFunc(entries, func(x, y Entry) int {
			if a, b := hashOf(x.Authority), hashOf(y.Authority); a != b {
				return map[bool]int{true: -1, false: 1}[a < b]
			}
			return compareAuthorities(x.Authority, y.Authority)
		})
		var hashes []uint64
		var authorities []string
		for _, e := range entries {
			hashes, authorities = append(hashes, hashOf(e.Authority)), append(authorities, string(e.Authority))
		}
		b := makeBucket(t, hashes, authorities)
		for i, a := range authorities {
			place, known := b.find(hashes[i], []byte(a))
			must.Need(t, known && int(b.origin(place).body) == i, "%s of %d: authority %d, %v", a, n, place, known)
			other := []byte(a + ".")
			place, known = b.find(hashOf(other), other)
			must.Need(t, !known, "%s of %d: authority %d", other, n, place)
		}
	}
}
