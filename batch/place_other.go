//go:build !amd64 || purego

package batch

// placeOf is a hash of a URL's beginning up to the first octet behind its path's
// slash; 0 if it is none that is to be kept. Not all octets count, for two with
// the same hash do no more than to take each other's place.
func placeOf(url []byte) uint64 { return placePortable(url) }
