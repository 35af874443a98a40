//go:build !amd64 || purego

package rulepack

// firstPrint returns the number of the first of some fingerprints, which are two
// octets each, that is this one, or of all of them. behindPrints octets lie behind
// them.
func firstPrint(prints []byte, print uint16) int { return firstPrintPortable(prints, print) }
