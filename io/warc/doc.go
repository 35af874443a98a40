// Package warc reads the responses of WARC files (ISO 28500, versions 1.0 and
// 1.1) as captures: those of robots.txt, and all others, for any URL may be the
// target of a redirect.
//
// A [Reader] goes through a file once, as a stream. It may be plain, gzip with
// one record or more a member, or zstd. Records other than HTTP responses are
// skipped: requests, metadata, DNS lookups, and revisits, whose body lies
// elsewhere. What is broken is skipped, too, and reported: a member that cannot
// be decompressed, a record whose length is wrong, a response that is no HTTP.
// Reading goes on at the next record that can be found.
//
// # Bodies
//
// Chunks are joined and gzip, deflate, br and zstd decoded, each up to the limit
// and one octet, so that no body, however well it is compressed, takes more
// memory. Crawlers often store bodies decoded and leave the headers as they
// were: a body that does not look like what its headers say is taken as it is. A
// body that ends too early, that its decoder gives up on after the beginning, or
// whose record has WARC-Truncated, is cut.
package warc
