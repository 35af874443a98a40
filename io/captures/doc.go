// Package captures decides by a crawl's fetches of robots.txt: of several captures of an
// authority it finds the one that counts, and it follows redirects.
//
// A [Set] takes captures from any readers, in any order, from any number of files and
// goroutines. [Set.Resolve] then says what decides about each authority. Package access
// says what one capture means. A redirect means what its target means, over at most
// access.MaxHops hops, for the authority that was asked first (RFC 9309 §2.3.1.2).
// [Set.ResolveHistory] says it for every time: of captures in a row that say the same it
// keeps when the first and the last were made. [Table] and [JSONL] read captures from tables, package warc from WARC files.
//
// # Sources
//
// Captures come from ranked sources. The first source that has a capture of a URL
// decides about it by its own captures alone, of which the newest counts. Redirects
// lead into all sources.
//
// # Bodies
//
// A body that is still gzip or zstd is decompressed, whatever its headers said: read as
// text it would have no groups, and so allow everything. [Stats] counts these bodies.
//
// # What it costs
//
// Bodies are handed on at once and not kept. A capture becomes a record of 64 bytes and
// its authority. Records wait in as much memory as Options permit, and beyond that in a
// temporary file. On top of that come 16 bytes for each redirect, 64 for each URL that
// one leads to (with a history 16 more for each
// time that it changes, up to a bound), and for a moment the records of one URL.
package captures
