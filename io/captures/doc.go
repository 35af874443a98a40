// Package captures finds out what a crawl's fetches of robots.txt mean: of
// several captures of one authority it finds the one that decides, and it
// follows redirects.
//
// A [Set] takes captures from any readers, in any order, over any number of files
// and by several goroutines at once; [Set.Resolve] then says of each authority
// what decides about it. What a capture means is said by package access; a
// redirect means what its target means, over at most access.MaxHops hops, for the
// authority that was asked first (RFC 9309 §2.3.1.2). [Table] and [JSONL] read
// captures from tables; package warc does from WARC files.
//
// # Sources
//
// Captures come from sources, which are ranked. The first source that has a
// capture of a URL decides about it, with those of its captures alone; of these
// the newest counts. Redirects lead anywhere, into all sources.
//
// # What it costs
//
// Bodies are handed on as they come and are not kept. A capture becomes a record
// of 64 octets and its authority, which waits in as much memory as Options say
// and beyond that in a temporary file. In memory are, whatever they say, 16
// octets for each redirect and 48 for each URL that one leads to, and for a moment
// the records of one URL.
package captures
