// Package robotstxt parses a robots.txt body into groups, rules and other records
// (RFC 9309 §2.2).
//
// Parsing never fails: it uses what it can and reports the rest as a [Warning] with its
// line number (RFC 9309 §2.3.1.5). [Profile] lists how the two profiles differ.
//
// The package parses and does not interpret: package matcher decides which groups a crawler
// obeys and what a pattern matches.
//
// A body may be hostile. [Parse] takes time and memory linear in the bytes that it reads,
// whatever they are. It copies none of them, except those of a UTF-16 body, which it
// decodes.
package robotstxt
