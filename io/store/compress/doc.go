// Package compress reads and writes the compressions that wrap a whole file:
// gzip (RFC 1952) and zstd (RFC 8878).
//
// Both formats are sequences: members one after another are one gzip file,
// frames one after another one zstd file. [NewReader] reads such sequences, and
// [AppendCompressed] makes one more member or frame, so that the parts of an
// output can be compressed at the same time and written in order.
//
// [DecodeZstd] and [AppendZstd] are for the blocks of known size that tables are
// made of.
package compress
