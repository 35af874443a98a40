// Package arrowipc reads and writes URL batches in Arrow IPC files and streams, through
// [robotsbatch/io/tables/arrow/ipc].
//
// A [Source] finds the columns with the URLs and hands out the pieces of each record batch, which
// workers decode. Where the output is Arrow with all columns or the URLs' alone, record batches pass
// through ([Source.PassThrough]): only the URLs are decoded, and the sink copies each record
// batch and adds the verdict columns, once those of all its pieces are made.
//
//	Next            a piece of a part that the reader gives
//	Piece.Decode    its columns → URLs, and a record or what passes through
//	Sink.Encode     rows that are written, and verdicts → columns → messages
//	Sink.Write      bytes, in order
package arrowipc
