//go:build !purego

package matcher

import "golang.org/x/sys/cpu"

// mayHaveLineOctet is true where there is an octet of at most '\r': hardly any
// column of URLs has one, and to know that takes a third of the time of looking
// for three octets one after the other. Without AVX2, and for what is shorter
// than a load of 32 octets, it does not look.
func mayHaveLineOctet(data []byte) bool {
	return len(data) < 32 || !cpu.X86.HasAVX2 || hasControl(data)
}

// hasControl tells whether there is an octet of at most '\r' in data, which has
// at least 32.
//
//go:noescape
func hasControl(data []byte) bool
