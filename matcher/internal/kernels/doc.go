// Package kernels holds the inner loops of the matcher that are written in
// assembly, and loads of numbers that check no bounds.
//
// Each kernel has one contract and two implementations: one for processors with
// AVX2 (a few for AVX-512), and a portable twin in plain Go, which other processors
// and the build tag purego use. A fuzz test holds them equal, and a benchmark
// measures each, as impl=asm and impl=go.
//
//	Sign          texts → their signatures
//	FirstFit      signatures of paths and of literals → the first path that fits
//	FirstWithout  signatures of literals → the first one that fits
//	IndexPair     where two bytes are at a distance
//	PlainHost     where a URL's authority ends, and whether it is plain
//	PrefixRun     how many values in a row start with a prefix
//	HasControl    whether a column has a line end or a NUL
//
// The loads take an offset from compiled rules, all whose offsets were checked when
// they were made or opened. The build tag nounsafe has Go check them again.
package kernels
