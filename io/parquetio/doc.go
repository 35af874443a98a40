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
//
// From Parquet to Parquet the columns pass through: of a row group of which all
// rows come out only the URLs are decoded and only the verdicts encoded.
//
//	Source.PassThrough  splice: the footer's fields, and where chunks lie
//	passing.Encode      columns: verdicts → levels and values; encode: → pages.
//	                    Of a row group of which some rows come out all columns
//	passing.Write       splice: chunks copied, verdicts behind them
//	passing.Close       splice: the footer, its offsets changed
//
// Any other table is encoded as a whole.
//
//	Sink.Encode     columns: rows that come out, verdicts → levels and values;
//	                encode: → pages, compressed. Of small batches the levels and
//	                values are kept until they make a row group
//	Sink.Write      its bytes, in order
//	Sink.Close      one footer for all
//
// DESIGN.md tells how a row group passes through, from the naive algorithm up, with
// an example whose bytes are in testdata/design.txt.
//
// No library stands between a file and its arrays. Those there are for Go lose
// nullability, zones and logical types without a word, trust the counts that
// they read, and refuse a third of Arrow's types; the mapping that would have
// hidden that is larger than what decodes pages.
//
// Input is not trusted: see [robotsbatch/io/parquetio/layout]. What a batch
// decodes to is limited.
package parquetio
