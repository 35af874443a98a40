// Package ipc reads and writes the record batches of Arrow IPC files and streams. A [Reader] only
// frames messages; whoever takes a [Part] decodes columns of it, in pieces. A [Writer] encodes
// columns, or copies those of a part: it adds columns, and keeps some rows.
//
//	Reader.Next    reads a message, and of a body in a file only the buffers of decoded columns
//	Part.Decode    decompresses these buffers, makes arrays of them where they lie, and checks them
//	Writer.Encode  makes a message of arrays
//	Writer.Copy    makes a message of the buffers that are copied, whole or gathered, and of added columns
//	Writer.Write   writes messages in order; bodies that are copied whole go from file to file
//
// Each file uses only files further down:
//
//	writer.go        an output, from its schema to its footer
//	reader.go        an input: which messages there are, and with which dictionaries
//	gather.go        of each type of column, which bytes belong to kept rows
//	buffers.go       those bytes, decompressed, cut or lifted, into a new body
//	dictionaries.go  which dictionaries, and which of their values, an output needs
//	part.go          a record batch, which several workers decode
//	copied.go        a record batch, as the reader hands it to the writer
//	texts.go         a column of texts, decompressed piece by piece
//	decoder.go       a message that was read, as arrays
//	output.go        messages into a file or stream
//	encode.go        arrays as a message
//	message.go       a message as it is written
//
// If rows are left out, a record batch's buffers are gathered: runs of their bytes are copied,
// and nothing is decoded (see [gathering]). Of dictionaries the output has what kept rows use
// (see [keptValues]).
//
// Input is not trusted: see [robotsbatch/io/tables/arrow/layout]. Offsets, indices and views are
// checked in all decoded columns. Columns that are copied are not checked: a damaged one is copied
// as it is. Of what is gathered, offsets and views are checked. Every message that is encoded
// carries its own checksum, which the reader compares.
package ipc
