//go:build !purego

package rulepack

import "golang.org/x/sys/cpu"

// firstPrint returns the number of the first of some fingerprints, which are two
// octets each, that is this one, or of all of them. behindPrints octets lie behind
// them.
func firstPrint(prints []byte, print uint16) int {
	if !cpu.X86.HasAVX2 {
		return firstPrintPortable(prints, print)
	}
	return firstPrintAVX2(prints, print)
}

// firstPrintAVX2 is firstPrint for processors with AVX2.
//
//go:noescape
func firstPrintAVX2(prints []byte, print uint16) int
