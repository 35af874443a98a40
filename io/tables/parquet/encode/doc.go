// Package encode writes leaves as Parquet's column chunks, and the footer that
// says where they lie.
//
//	Encoder.Chunk  a leaf → its dictionary and data pages, compressed, each with
//	               its checksum, and statistics
//	Footer         chunks, in the order in which they lie in the file → the footer
//
// A chunk has a dictionary where its values repeat enough, which its first values
// tell, and plain values else.
package encode
