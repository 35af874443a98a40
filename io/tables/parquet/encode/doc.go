// Package encode writes rows as Parquet's column chunks, and the footer that says where they lie.
//
//	Encoder.Shred   arrays → leaves: levels and values
//	Encoder.Encode  leaves → a row group: of each leaf a dictionary and data pages, compressed,
//	                each with its checksum, and statistics
//	Encoder.Added   the same, as splice adds it to a row group of another file
//	Writer          row groups → a file
//
// A chunk has a dictionary where its values repeat enough, which its first values
// tell, and plain values else.
package encode
