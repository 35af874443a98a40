// Package parquetio reads and writes URL batches in Apache Parquet files.
//
// A [Source] reads the footer; workers read and decode. A piece is a run of at
// most BatchRows rows of a row group. The columns of a row group are decoded
// run by run, each column by one worker at a time, so that of a large row group
// only what is in flight lies decoded in memory.
//
//	Open            footer: checked, then the library's metadata and schema
//	Next            the next run of rows
//	Piece.Decode    pages → Arrow library → check → record, URL column
//	Sink.Encode     rows that come out, verdicts → a file of one row group
//	Sink.Write      its octets, in order; its footer's entries, shifted
//	Sink.Close      one footer for all
//
// Input is not trusted. The library panics on damaged files and allocates what
// they ask for, partly on goroutines of its own. So the footer's structure,
// sizes and offsets are checked before it sees them, and every page
// before its page is decompressed; it runs with panics caught and buffers
// limited; and fields with structs, which it decodes on other goroutines, are
// decoded on ours first.
package parquetio
