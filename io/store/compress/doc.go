// Package compress reads and writes the compressions that wrap a whole file:
// gzip (RFC 1952) and zstd (RFC 8878).
//
// Both formats are sequences: members one after another are one gzip file,
// frames one after another one zstd file. [NewReader] reads such sequences, and
// [AppendCompressed] makes one more member or frame, so that the parts of an
// output can be compressed at the same time and written in order.
//
// [Fill] and [Append] are for the blocks of known size that tables are made of, which
// have more codecs: Snappy, LZ4 and Brotli as well.
//
// A new codec is a line of the table in codec.go. Formats that may have it inside name it
// in their own tables: of numbers, and of what may be written.
package compress
