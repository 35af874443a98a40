// Package arrowipc reads and writes URL batches in Arrow IPC files and
// streams, Feather version 2 among them.
//
// A [Source] only frames messages; the worker that takes a piece decodes its record
// batch. A record batch of more than BatchRows rows becomes several pieces: the first
// worker decodes it, all share it, and the last piece frees it.
//
//	Next            message: marker, metadata, body; checked, not decoded
//	Piece.Decode    decompress → arrays where they lie → check → record, URL column
//	Sink.Encode     rows that are written → compact columns, verdicts → message,
//	                or more where they are large
//	Sink.Write      bytes, in order
//
// When all rows and columns come out as Arrow, they pass through instead
// ([Source.PassThrough]): only the URLs are read and decoded, and the sink copies each
// input message and adds the verdict columns.
//
//	Next            metadata; of a file's body the URLs' buffers alone
//	Piece.Decode    decompress → arrays where they lie → check → URL column
//	Sink.Encode     verdicts → buffers; of the last piece of a record batch: metadata
//	Sink.Write      metadata, the input's body from the file, our buffers
//
// If rows are left out, a record batch's buffers are gathered: runs of their bytes are copied,
// and nothing is decoded (see [gathering]). Of dictionaries the output has what kept rows use
// (see [keptValues]).
//
// Of the Arrow library only types, arrays and records are used: flatbuffers are read by [flat],
// and messages are written from arrays' buffers.
//
// Input is not trusted. Lengths are checked against the input's size and
// [Options.Memory] before anything is allocated. The package's own metadata reader
// checks every reference, and offsets, indices and views are checked in all decoded
// columns. Columns that pass through are not checked: a damaged one is copied as it is. Of
// what is gathered, offsets and views are checked.
// An input that ends before its end marker or footer is an error. Every message that
// the sink encodes carries its own checksum, which the source compares.
package arrowipc
