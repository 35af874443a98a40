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
//	Sink.Write      bytes, in order
//
// When all rows and columns come out as Arrow, they pass through instead
// ([Source.PassThrough]): only the URLs are read and decoded, and the sink copies
// each message of the input, to which it adds the verdict columns.
//
//	Next            metadata; of a file's body the URLs' buffers alone
//	Piece.Decode    decompress → Arrow library → check → URL column
//	Sink.Encode     verdicts → buffers; of the last piece of a record batch: metadata
//	Sink.Write      metadata, the input's body from the file, our buffers
//
// Input is not trusted. Lengths are checked against what is there and against
// [Options.Memory] before anything is allocated, metadata is read by a reader
// of its own that checks every reference, and offsets, indices and views are
// checked in all columns that are decoded. What passes through is not looked at: a
// damaged column stays as damaged as it was. An input that ends before its end
// marker, or its footer, is an error. In what the sink encoded every message has a
// checksum of itself, which is checked.
package arrowipc
