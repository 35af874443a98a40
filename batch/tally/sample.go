package tally

import (
	"maps"
	"math"

	"github.com/zeebo/xxh3"
)

// sampleSize is the most authorities of a Sample.
const sampleSize = 1 << 14

// Counts are those of an authority.
type Counts struct {
	Rows, Denied int64 // Denied to at least one agent
}

// Sample is a random sample of the authorities, with exact counts of their rows; all of
// them while they are no more than sampleSize.
type Sample struct {
	zeros  int               // the number of zero bits that the hashes in the sample begin with
	counts map[uint64]Counts // by hash
}

// newSample returns an empty sample.
func newSample() *Sample { return &Sample{counts: make(map[uint64]Counts)} }

// Add counts rows of an authority.
func (s *Sample) Add(authority []byte, rows, denied int64) {
	s.add(xxh3.Hash(authority), Counts{rows, denied})
}

// add counts rows of an authority, given by its hash, if that is in the sample. If the sample gets too
// large, it keeps about half of it.
func (s *Sample) add(hash uint64, c Counts) {
	if !s.samples(hash) {
		return
	}
	before, ok := s.counts[hash]
	s.counts[hash] = Counts{before.Rows + c.Rows, before.Denied + c.Denied}
	if !ok && len(s.counts) > sampleSize {
		s.raise(s.zeros + 1)
	}
}

func (s *Sample) samples(hash uint64) bool { return hash>>(64-s.zeros) == 0 }

// raise requires at least a number of zeros, and drops the authorities that have fewer.
func (s *Sample) raise(zeros int) {
	s.zeros = zeros
	maps.DeleteFunc(s.counts, func(hash uint64, _ Counts) bool { return !s.samples(hash) })
}

// Merge adds what another has counted. Each lacks the authorities whose hashes have fewer zeros
// than it asks for, so the sum asks for the greater number, and for more if it gets too large.
func (s *Sample) Merge(other *Sample) {
	s.raise(max(s.zeros, other.zeros))
	for hash, c := range other.counts {
		s.add(hash, c)
	}
}

// Of returns the counts of an authority; ok is false if it is not in the sample.
func (s *Sample) Of(authority string) (c Counts, ok bool) {
	c, ok = s.counts[xxh3.HashString(authority)]
	return c, ok
}

// Len returns the number of authorities in the sample.
func (s *Sample) Len() int { return len(s.counts) }

// Scale returns the number of authorities that one of the sample stands for: 1 when all are in it.
func (s *Sample) Scale() int64 { return 1 << s.zeros }

// Count returns an estimate of the number of authorities for whose counts matches returns true, and its standard
// error. That is 0 if all authorities are in the sample, and also if none in it matches.
func (s *Sample) Count(matches func(Counts) bool) (count int64, standardError float64) {
	found := 0
	for _, c := range s.counts {
		if matches(c) {
			found++
		}
	}
	scale := float64(s.Scale())
	return int64(found) * s.Scale(), math.Sqrt(float64(found) * (scale - 1) * scale)
}
