// Package matcher is the engine: it compiles the groups of a robots.txt into tries and
// decides which rule covers a path (RFC 9309 §2.2).
//
// It takes bytes and returns decisions. It reads no files, knows no column format and
// starts no goroutines. A [Trie] is immutable and may be shared; a [Target] or a [Decider]
// belongs to one goroutine.
//
// The steps for one URL:
//
//	urls.Scratch.Split  URL → authority | path?query
//	Origins.Lookup      authority → Origin: access and one Trie per agent
//	Target.Set          path?query → its normalised spellings, made when needed
//	IsRobotsTxt         path → whether it is allowed whatever the rules
//	Trie.Match          Target → Decision: verdict, reason and rule
//
// A [Decider] does the last three steps for the rows of a column.
//
// DESIGN.md derives the algorithm from the naive one, with one robots.txt as example down
// to its compiled bytes.
package matcher
