// Package robotstxt parses a robots.txt body into groups, rules and other records
// (RFC 9309 §2.2).
//
// Parsing never fails: it uses what it can, and reports everything else as a [Warning]
// with its line number (RFC 9309 §2.3.1.5). It knows two profiles, whose differences
// [Profile] lists.
//
// The package parses and does not interpret: package matcher decides which groups
// concern a crawler and what a pattern matches.
//
// A body is hostile text until proven otherwise. [Parse] takes time and memory in
// proportion to the bytes that it reads, whatever they are. It copies none of them,
// except those of a UTF-16 body, which it decodes.
package robotstxt
