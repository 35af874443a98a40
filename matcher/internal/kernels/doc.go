// Package kernels has the inner loops of the matcher that are written in assembly, and
// unchecked loads of numbers.
//
// Each kernel has one contract and two implementations: assembly for processors with AVX2
// (Sign also for AVX-512), and plain Go for other processors and the build tag
// purego. A fuzz test checks that both agree, and a benchmark measures each, as impl=asm
// and impl=go.
//
//	Sign       texts → their signatures
//	IndexPair  where two bytes occur at a given distance
//	PlainHost  where a URL's authority ends, and whether it needs no work
//	PrefixRun  how many consecutive values start with a prefix
//
// The loads take offsets from compiled rules, which are checked when rules are compiled or
// opened. With the build tag nounsafe, Go checks each load.
package kernels
