// Package warc reads the HTTP responses and revisits of WARC files (ISO 28500, versions 1.0
// and 1.1) as captures: those of robots.txt and all others, since any URL may be the
// target of a redirect.
//
// A [Reader] reads a file once, as a stream: plain, gzip with one or more records a
// member, or zstd. A resource record of plain text counts as a response with status 200 that has its
// block as the body. The Reader skips all other records: requests, metadata and DNS lookups.
//
// It reports what is broken: a member that cannot be decompressed, a record of a wrong length or
// without a date, a response that is not HTTP. A broken response becomes a fetch without an answer
// if its URL can be read: without any capture the host would be allowed. Reading goes on at the
// next record.
//
// [Records] reads single records, which the rows of a table name.
//
// # Headers
//
// Lines that are no fields are skipped, and a line that starts with a blank continues
// the field before it, in the record's header and in the response's. An interim
// response (1xx) that another response follows is skipped.
//
// # Revisits
//
// A revisit with the profile server-not-modified is a 304. Any other is marked as
// [captures.Capture].Revisit, with what it refers to, unless its block has an HTTP header
// with a status other than 2xx, which says enough by itself.
//
// # Bodies
//
// Chunks are joined, and gzip, deflate, compress, br and zstd are decoded, whether
// Content-Encoding or Transfer-Encoding names them. Each step stops at
// Options.BodySize, so no body takes more memory, however well it is compressed.
//
// Crawlers store bodies as sent, or decoded with the headers left as they were, or
// anything between. So each step looks at the bytes: text is not decoded again, and
// what has no chunks is not taken apart. Where Content-Length and the stored length
// differ, all that is stored is the body: [captures.Capture].Longer marks a longer
// one, and Cut a shorter one. Cut also marks a body that its decoder cannot read to
// the end, and one whose record has WARC-Truncated.
package warc
