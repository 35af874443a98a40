// Package decode reads the column chunks of Parquet files, of every type and
// encoding, run of rows by run of rows.
//
//	Reader.Next  pages as they lie → Part: those of the next rows of a leaf
//	Part.Decode  pages decompressed, levels counted ─ encoding.Decoder → columns.Leaf
//	Column.Take  both, for all leaves of a column, by any worker → array
//
// A run may begin and end anywhere in a page. Pages are read in order, and decompressed and
// decoded by whoever has their rows: nobody waits for a neighbour. Two parts may share a page,
// which the first of them decompresses; the second goes on where the first ended, or skips
// what comes before. Lists are decoded as they are read, because only their levels say where
// rows end, and so are pages of DELTA_BYTE_ARRAY, because one may build on the one before,
// and pages with more entries than are skipped sooner than waited for.
//
// Nothing is kept by what a page says of itself: what is decoded is what the rows asked for
// have, up to a limit.
package decode
