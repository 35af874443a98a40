// Package matcher is the engine: it splits URLs, compiles a body's groups into
// tries, and decides which rule of an origin covers a path (RFC 9309 §2.2).
//
// Bytes go in and decisions come out. The package reads no files, knows no
// column format and starts no goroutine; a [Scratch] is one goroutine's own
// memory, a [Trie] is immutable and may be shared.
//
// A URL's way through it:
//
//	urls.Scratch.Split   URL → authority | path?query
//	Origins.Lookup  authority → Origin: access and one Trie an agent
//	Target.Set      path?query → its normalised spellings, made when needed
//	Trie.Match      Target → Decision: verdict, reason and rule
//
// DESIGN.md tells how, from the naive algorithm up, with one robots.txt carried through
// to its compiled bytes.
package matcher
