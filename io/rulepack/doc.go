// Package rulepack keeps compiled rules of many authorities in one file, a rule
// pack, that is mapped into memory and used as it lies.
//
// A [Builder] makes a pack of what rules sources know; [Open] makes a
// [matcher.Origins] of it. A pack has the rules of every agent in it, each
// distinct body once, compiled under one profile and one size limit, which are
// recorded.
//
// # The file
//
// All numbers are little-endian.
//
//	header    32 octets: magic (format.RulePackMagic), u32 version, zeros
//	sections  each from a multiple of 8 octets on, that of the pages from one of
//	          4,096; zeros between them
//	table     32 octets a section: u32 kind, u32 checksum, u64 offset, u64
//	          length, u64 0
//	trailer   32 octets: u64 offset of the table, u32 number of sections, u32
//	          checksum of header, table and these 12 octets, u64 size of the
//	          file, magic of the end
//
// What is written last says where everything is, so a pack is written in one
// go, and one that was cut has no end. Opening reads the header, the table, the
// trailer and the section meta, and nothing that grows with the pack.
//
// Checksums are CRC-32C: it finds every flipped bit and every run of up to 32
// changed ones, whatever the section's size, processors compute it faster than
// memory delivers, and Go's library has it. It is no protection against somebody
// who makes a pack to do harm; for that, nothing that is read from a pack leads
// outside of it or to unbounded work.
//
// The sections are:
//
//	meta       profile, size limit, counts, who made it; see meta.go
//	directory  u32 page for each group of hashes, and the number of pages
//	pages      4,096 octets each: the authorities; see page.go
//	bodies     32 octets a body; see bodies.go
//	rules      compiled bodies, as matcher.Body has them; or the source of those
//	           that cannot be compiled for all agents
//	notes      a blob a body: what explanations need
//	records    a blob a body: sitemaps and crawl-delays; see records.go
//
// A blob is u32 checksum, u32 length, and so many octets, compressed by zstd
// when that makes them fewer.
//
// An authority's hash, XXH3 with 64 bits, times the number of groups gives, in
// its upper 64 bits, its group, of about four authorities. The directory says in
// which page the group is; there, 16 bits of the hash find the authority's text,
// which must be the same: a hash is no proof. A group that is larger than a page
// (hosts can be chosen so that it is) goes on in the pages that follow, which
// are searched by halves. So a lookup touches one page of the directory and one
// of the pages, and a body's row and rules if they are not open already.
//
// Pages, rows and bodies have checksums of their own, which are checked when
// they are first used: a damaged pack gives an error, not another verdict.
// [Pack.Verify] checks everything.
//
// The same input gives the same octets, whatever the number of goroutines: in a
// pack are no times but those of fetches, and bodies lie in the order of their
// SHA-256.
package rulepack
