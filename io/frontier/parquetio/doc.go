// Package parquetio reads and writes URL batches in Apache Parquet files.
//
// A [Source] reads the footer; workers read and decode. A piece is a run of at
// most BatchRows rows of a row group. The columns of a row group are decoded run by
// run, each column by one worker at a time. So only the runs in flight of a large row
// group are in memory decoded.
//
//	Open            layout: the footer, checked; columns: its schema in Arrow
//	Next            the next run of rows
//	Piece.Decode    decode: pages → levels and values; columns: → arrays
//
// From Parquet to Parquet the columns pass through: if all rows of a row group come
// out, only its URLs are decoded and only the verdicts encoded.
//
//	Source.PassThrough  splice: the footer's fields, and where chunks lie
//	passing.Encode      columns: verdicts → levels and values; encode: → pages.
//	passing.Write       splice: chunks copied, verdicts after them; if some rows of a
//	                    row group are left out, workers filter its pages
//	passing.Close       splice: the footer, its offsets changed
//
// Any other table is encoded as a whole.
//
//	Sink.Encode     columns: selected rows, verdicts → levels and values;
//	                encode: → pages, compressed. Of small batches the levels and
//	                values are kept until they make a row group
//	Sink.Write      its bytes, in order
//	Sink.Close      one footer for all
//
// io/tables/DESIGN.md tells how a table passes through, from the naive algorithm up, with
// an example whose bytes are in testdata/design.txt.
//
// This package decodes and encodes without a Parquet library. Those for Go silently
// lose nullability, time zones and logical types, trust the counts that they read, and
// refuse a third of Arrow's types. Working around that takes more code than decoding
// pages.
//
// Input is not trusted: see [robotsbatch/io/tables/parquet/layout]. The decoded size of a
// batch is limited.
package parquetio
