// Package reference implements RFC 9309, with this project's choices where the RFC is
// silent, slowly and obviously. Tests compare the engine with it.
//
// It is written to be read in one sitting, and it shares no code with the engine: a mistake
// goes unnoticed only if it is made twice. It uses strings, slices and loops. Nothing is
// fast, and nothing takes exponential time.
//
//	SplitURL   URL → authority | path?query
//	Parse      body → groups, their user-agent lines and their rules
//	Decide     groups + agents + path → verdict, reason and rule
//	Captures   fetches + time → the state of a robots.txt at that time
//
// There are two profiles. RFC9309 follows the RFC, and Google's open-source parser where
// the RFC is silent; Google follows that parser in everything. A comment that starts with a
// profile's name marks each place where they differ.
package reference

// Profile is the dialect of the protocol to follow.
type Profile int

const (
	// RFC9309 follows RFC 9309, and Google's parser where the RFC is silent.
	RFC9309 Profile = iota
	// Google follows Google's open-source parser in everything.
	Google
)
