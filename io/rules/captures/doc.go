// Package captures decides, from a crawl's fetches of robots.txt, which rules an
// authority has: it finds the capture that counts and follows redirects.
//
// A [Set] takes captures from any readers, in any order, from any number of files and
// goroutines. [Set.Resolve] then decides about each authority. Package access defines
// the outcome of one capture. A redirect has the outcome of its target, over at most
// access.MaxHops hops, for the authority that was asked first (RFC 9309 §2.3.1.2).
// With a history it decides for every time; it merges consecutive captures with the
// same outcome and keeps the times of the first and the last. [Table] reads captures
// from tables and from lines of objects, package warc reads them from WARC files.
//
// # Sources
//
// Captures come from ranked sources. The first source with a capture of a URL decides
// about that URL, by the newest of its own captures. Redirects may lead into any
// source.
//
// # Revisits
//
// A WARC revisit has no body: it names the record, the payload, or the URL and the time of
// a 2xx that has it. What revisits name is collected while captures are read, and found in
// a pass over all waiting captures, before they are resolved.
//
// # What a pack dropped
//
// A rule pack keeps captures for a later [Set], see [Set.Continue], but not all of them. What a new
// redirect or revisit refers to and is not there may have been dropped: it is taken as an answer
// whose body is gone. That denies, until a later answer decides, and is counted as Stats.Dropped.
//
// # Bodies
//
// A body that is still gzip or zstd is decompressed, whatever its headers said. Read as
// text, it would have no groups and so allow everything. [Stats] counts these bodies.
//
// # What it costs
//
// Bodies are handed on at once and not kept. A capture waits as 64 bytes and
// its authority, in memory up to Options.Memory, and beyond that in a
// temporary file. On top of that, memory holds 16 bytes for each target of a redirect, some 40
// for each record, payload or fetch that a revisit refers to, with a history 16 for each change of
// a target, and for a moment the intervals and times of one URL. All of this has a bound, beyond
// which there is an error.
package captures
