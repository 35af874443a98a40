//go:build !purego

package matcher

import "golang.org/x/sys/cpu"

// hostWindow is how many octets plainHostAVX2 looks at.
const hostWindow = 32

// plainHost returns where the authority that begins at start ends, and whether it
// is a host as keys have it, without port: labels of octets that stand for
// themselves, none of them empty.
func plainHost(url []byte, start int) (end int, plain bool) {
	if cap(url)-start >= hostWindow && cpu.X86.HasAVX2 {
		n := plainHostAVX2(url[start:], &hostNibbles)
		if end := start + n; n > 0 && end < len(url) && octets[url[end]]&endsAuthority != 0 {
			return end, true
		}
	}
	return plainHostPortable(url, start)
}

// hostNibbles says which octets a host as keys have it is of: those of which the
// element of the lower half in the first row and that of the upper half in the
// second one have a bit in common. Both rows, of sixteen elements, are there
// twice, once for each half of a register.
var hostNibbles = func() (table [64]byte) {
	for c := range 128 {
		if c == '.' || octets[c]&isLabel != 0 {
			table[c&15] |= 1 << (c >> 4)
			table[16+c&15] |= 1 << (c >> 4)
		}
	}
	for high := range 8 {
		table[32+high], table[48+high] = 1<<high, 1<<high
	}
	return table
}()

// plainHostAVX2 returns how many of the hostWindow octets from where url begins,
// some of them maybe behind its end in the same memory, are a host as keys have
// it; 0 if that is none, if a label of it is empty or if all of them are.
//
//go:noescape
func plainHostAVX2(url []byte, nibbles *[64]byte) int
