// Package captures turns a crawl's fetches of robots.txt into rules: of several
// captures of one authority it finds the one that decides, follows redirects,
// and compiles each distinct body once.
//
// A [Collector] takes captures from any reader, in any order and over any number
// of files; [Collector.Finish] makes of them an [Origins], which is a
// [matcher.Origins]. What a capture means is said by package access; a redirect
// means what its target means, over at most access.MaxHops hops, for the
// authority that was asked first (RFC 9309 §2.3.1.2).
//
// # What it costs
//
// Bodies are compiled when they come and are not kept. What is kept is, for each
// capture, 40 octets, and for each URL that was captured or redirected to, its
// text once (beyond 128 octets a hash of it) and some 60 octets more: about
// 180 MB per million captures of different authorities, and twice the captures'
// own 40 MB while Finish sorts them. To it come the compiled rules of each
// distinct body, as far as a capture that decides needs them: for an agent or
// two some 0.5 to 2 KB a body.
package captures
