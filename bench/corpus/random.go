package corpus

import "math/bits"

// random is SplitMix64: a full-period generator of eight bytes. Any seeds will do, even
// consecutive ones. It is written out here so that a corpus stays the same whatever the
// standard library does.
type random uint64

// next returns eight random bytes.
func (r *random) next() uint64 {
	*r += 0x9E3779B97F4A7C15
	z := uint64(*r)
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// below returns a number in [0, n).
func (r *random) below(n int) int {
	hi, _ := bits.Mul64(r.next(), uint64(n))
	return int(hi)
}

// hit returns true with the given odds.
func (r *random) hit(o odds) bool { return r.next()>>32 < uint64(o) }

// oneIn returns true once in n times.
func (r *random) oneIn(n int) bool { return r.below(n) == 0 }

// pick returns one of the words.
func (r *random) pick(words []string) string { return words[r.below(len(words))] }

// odds are a probability in units of 2⁻³².
type odds uint64

// share converts a probability to odds. The product is exact, so all machines agree.
func share(p float64) odds { return odds(p * (1 << 32)) }

// derive returns the generator for part n of something with its own seed.
func derive(seed uint64, n int) random {
	r := random(seed ^ uint64(n)*0xD1342543DE82EF95)
	return random(r.next())
}

// mulDiv returns a·b/c, rounded down. The result must fit 64 bits.
func mulDiv(a, b, c uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	quotient, _ := bits.Div64(hi, lo, c)
	return quotient
}

// shuffle is a permutation of [0, n): i becomes (factor·i + shift) mod n. Neighbours land
// far apart, so any interval is spread evenly.
type shuffle struct{ n, factor, shift uint64 }

// newShuffle returns a permutation drawn at random. Its factor has no divisor in common with n, so no two
// numbers become the same.
func newShuffle(n int, r *random) shuffle {
	s := shuffle{n: uint64(n), shift: uint64(r.below(n))}
	for s.factor = 1 + uint64(r.below(n)); gcd(s.factor, s.n) != 1; {
		s.factor++
	}
	return s
}

// at returns what i becomes.
func (s shuffle) at(i int) uint64 { return (s.factor*uint64(i) + s.shift) % s.n }

// gcd returns the greatest common divisor.
func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
