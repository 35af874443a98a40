// Package robotstxt reads a robots.txt body into its groups, rules and other
// records (RFC 9309 §2.2).
//
// Parsing never fails: whatever can be used is used, and everything else
// becomes a [Warning] with its line number (RFC 9309 §2.3.1.5). Two profiles
// are known; they differ only where the documentation of [Profile] says so.
//
// The package reads; it does not interpret. Which groups concern a crawler and
// what a pattern matches is package matcher's part.
//
// A body is hostile text until proven otherwise. [Parse] takes time and memory
// in proportion to the octets that it reads, whatever they are, and copies none
// of them but a UTF-16 body's.
package robotstxt
