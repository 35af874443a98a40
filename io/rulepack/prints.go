package rulepack

import "bytes"

// behindPrints is how many octets lie behind the fingerprints of a page at least, of
// which firstPrint may read: those of the texts' ends and of the origins, or zeros.
const behindPrints = 30

// firstPrintPortable is firstPrint in plain Go.
func firstPrintPortable(prints []byte, print uint16) int {
	for i := 0; i < len(prints); i++ {
		found := bytes.IndexByte(prints[i:], byte(print))
		if found < 0 {
			break
		}
		if i += found; i%2 == 0 && prints[i+1] == byte(print>>8) {
			return i / 2
		}
	}
	return len(prints) / 2
}
