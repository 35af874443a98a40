// Package encoding has the encodings of the values of Parquet's pages, a file each: how it is
// read, and how values are written in it. A table of [Decoder]s says which types an encoding has.
//
//	Decoder    the values of a page in order: some of them → Values, others skipped
//	Page       a whole page, any of whose values can be taken, and runs of them written in
//	           the page's encoding
//
// Levels and indices are numbers that [layout.Hybrid] reads and [layout.AppendHybrid] writes.
//
// What a page says of itself is checked against the bytes that are there before anything is
// taken for it. A decoder keeps what it is given, and nothing of what it fills.
package encoding
