// Package arrowipc reads and writes URL batches in Arrow IPC files and
// streams, Feather version 2 among them.
//
// A [Source] only frames messages; a piece decodes its record batch on the
// worker that takes it. A record batch of more than BatchRows rows becomes
// several pieces: the first worker decodes it, all share it, and its memory is
// given back with the last of them.
//
//	Next            message: marker, metadata, body; checked, not decoded
//	Piece.Decode    decompress → Arrow library → check → record, URL column
//	Sink.Encode     rows that come out → compact columns, verdicts → message,
//	                or more where they are large
//	Sink.Write      octets, in order
//
// Input is not trusted. Lengths are checked against what is there and against
// [Options.Memory] before anything is allocated, metadata is read by a reader
// of its own that checks every reference, and offsets, indices and views are
// checked in all columns, for all of them are passed on. An input that ends
// before its end marker, or its footer, is an error. In what the sink wrote
// every message has a checksum of itself, which is checked.
package arrowipc
