//go:build !purego

package batch

import "golang.org/x/sys/cpu"

// placeOf is a hash of a URL's beginning up to the first octet behind its path's
// slash; 0 if it is none that is to be kept. Not all octets count, for two with
// the same hash do no more than to take each other's place.
func placeOf(url []byte) uint64 {
	if cap(url) < beforeHost+placeWindow || !cpu.X86.HasAVX2 {
		return placePortable(url)
	}
	return placeAVX2(url)
}

// placeAVX2 is placeOf for a URL whose memory, which is a column's, goes on for at
// least beforeHost+placeWindow octets from where it begins.
//
//go:noescape
func placeAVX2(url []byte) uint64
