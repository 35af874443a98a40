// Package decode reads the column chunks of Parquet files, of every type and
// encoding, run of rows by run of rows.
//
//	chunk ─ layout.Pages: levels counted, page decompressed ─ levels and values of
//	the run's rows → columns.Leaf
//
// A run may begin and end anywhere in a page. Nothing is kept by what a page
// says of itself: what is decoded is what the rows asked for have, up to a limit.
package decode
