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
// capture and until Finish, 40 octets, and for each URL that was captured or redirected to, its
// text once (beyond 128 octets a hash of it) and some 60 octets more. A million
// captures of different authorities were measured to take 150 MB. To it come the
// compiled rules of each distinct body as far as a capture that decides needs
// them, and until Finish of all: 1 KB for six rules and one agent. None of it is
// bounded but by what the files have.
package captures
