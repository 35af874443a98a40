// Package parquetio reads and writes URL batches in Apache Parquet files.
//
// A [Source] reads the footer; workers read and decode. A piece is a run of at
// most BatchRows rows of a row group. The columns of a row group are decoded
// run by run, each column by one worker at a time, so that of a large row group
// only what is in flight lies decoded in memory.
//
//	Open            footer: checked, then the library's metadata and schema
//	Next            the next run of rows
//	Piece.Decode    pages, decompressed → Arrow library → check → record, URL
//	                column
//	Sink.Encode     rows that come out, verdicts → a file of one row group, or
//	                more where they are large → its pages, compressed
//	Sink.Write      its octets, in order; its footer's entries, shifted
//	Sink.Close      one footer for all
//
// Input is not trusted. The library panics on damaged files and allocates what
// they ask for, partly on goroutines of its own. So the footer's structure, sizes
// and offsets are checked before it sees them. Compressed pages it never sees at
// all: they are held against their checksums and decompressed here, one at a time,
// to just as many octets as their headers say. It runs with panics caught and
// buffers limited, and what a batch decodes to is limited, too.
//
// A panic on one of its goroutines would end the program. It starts them for
// fields with structs, whose columns it decodes side by side: these are decoded
// on ours first, which shows every panic that it would come to, and then again.
// The other way, a process apart for each file, was not taken: of thousands of
// changed octets (bench/record/faults-*.md) none came past the checks, and a
// process costs every sound file a start and a copy of its columns.
package parquetio
