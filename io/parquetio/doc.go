// Package parquetio reads and writes URL batches in Apache Parquet files.
//
// A [Source] reads the footer; workers read and decode. A piece is a run of at
// most BatchRows rows of a row group. The columns of a row group are decoded
// run by run, each column by one worker at a time, so that of a large row group
// only what is in flight lies decoded in memory.
//
//	Open            layout: the footer, checked; columns: its schema in Arrow
//	Next            the next run of rows
//	Piece.Decode    textcolumn: pages of flat text → offsets and bytes;
//	                decode: other pages → levels and values; columns: → arrays
//	Sink.Encode     columns: rows that come out, verdicts → levels and values;
//	                encode: → pages, compressed. Of small batches the levels and
//	                values are kept until they make a row group
//	Sink.Write      its bytes, in order
//	Sink.Close      one footer for all
//
// No library stands between a file and its arrays. Those there are for Go lose
// nullability, zones and logical types without a word, trust the counts that
// they read, and refuse a third of Arrow's types; the mapping that would have
// hidden that is larger than what decodes pages.
//
// Input is not trusted: see [robotsbatch/io/parquetio/layout]. What a batch
// decodes to is limited.
package parquetio
