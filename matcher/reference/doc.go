// Package reference is a slow, complete and obvious implementation of this
// project's reading of RFC 9309, the oracle that the engine is tested against.
//
// It is written to be read in one sitting and shares no code with the engine:
// a mistake would have to be made twice to go unnoticed. Everything is a
// string, a slice or a loop; nothing is fast, and nothing is exponential.
//
//	SplitURL   URL → authority | path?query
//	Parse      body → groups, their user-agent lines and their rules
//	Decide     groups + agents + path → verdict, reason and rule
//	Captures   fetches + time → what is known of a robots.txt then
//
// Two profiles are known. RFC9309 follows the RFC, and Google's open-source
// parser where the RFC is silent; Google promises parity with that parser. A
// comment that begins with a profile's name marks each place where they differ.
package reference

// Profile is a reading of the protocol.
type Profile int

const (
	// RFC9309 follows RFC 9309, and Google's parser where the RFC is silent.
	RFC9309 Profile = iota
	// Google follows Google's open-source parser in everything.
	Google
)
