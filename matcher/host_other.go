//go:build !amd64 || purego

package matcher

// plainHost returns where the authority that begins at start ends, and whether it
// is a host as keys have it, without port: labels of octets that stand for
// themselves, none of them empty.
func plainHost(url []byte, start int) (end int, plain bool) { return plainHostPortable(url, start) }
