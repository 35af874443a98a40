// Package rulepack keeps the compiled rules of many authorities in one file, a rule
// pack, that is mapped into memory and used without decoding.
//
// A [Builder] makes a pack of what rules sources know; [Open] opens it as a
// [matcher.Origins]. A pack holds the rules for all agents, and each distinct body
// once. It records the profile and the size limit for which all bodies were compiled.
//
// DESIGN.md explains how a lookup works and why, with an example whose bytes are in
// testdata/example.txt. The rest of this comment is the reference of the format.
//
// # The file
//
// All numbers are little-endian.
//
//	header    32 bytes: magic (format.RulePackMagic), u32 version, 18 or with a history
//	          19, partition and number of partitions, zeros
//	sections  each from a multiple of 8 bytes on, the rules from one of 64, the
//	          authorities from one of 4,096; zeros between them
//	table     32 bytes a section: u32 kind, u32 checksum, u64 offset, u64 length,
//	          u64 0
//	trailer   32 bytes: u64 offset of the table, u32 number of sections, u32 checksum
//	          of header, table and these 12 bytes, u64 size of the file, end magic
//
// The sections are:
//
//	authorities  buckets of authorities, each with its body's place; see bucket.go
//	directory    u64 start of each bucket, and the end of the last
//	rules        compiled bodies, as matcher.Body has them, each from a multiple of 64
//	             bytes on; or the source of those that cannot be compiled for all agents
//	notes        a blob for each body: what explanations need
//	records      a blob for each body: sitemaps and crawl-delays; see records.go
//	bodies       a row of 32 bytes for each body; see bodies.go
//	digests      the SHA-256 of the source of each body
//	names        the agents that bodies name; see names.go
//	meta         profile, size limit, counts, who made it; see describe.go
//
// A pack with a history has two more:
//
//	intervals    a bucket for each of the authorities: what held when; see intervals.go
//	starts       u64 start of each of these buckets, the end of the last, and the
//	             number of intervals
//
// A pack of captures has one more:
//
//	captures     what a pack with more captures is made of; see captures.go
//
// A blob is u32 checksum, u32 length and that many bytes, compressed with zstd if that
// makes them fewer.
//
// Checksums are CRC-32C, which finds every single flipped bit and every changed run of
// up to 32 bits in a section of any size. Processors compute it faster than memory
// delivers, and Go's library has it. It does not protect against packs made to do harm:
// therefore every offset is checked before it is followed, and no content leads to
// unbounded work.
//
// The same input gives the same bytes, whatever the number of goroutines: a pack
// records no times except those of fetches, and bodies are ordered by the first host that
// has them and by their SHA-256. (One exception: when a pack has more names of agents than
// the memory holds, which bodies are kept as their source depends on who came first.)
package rulepack
