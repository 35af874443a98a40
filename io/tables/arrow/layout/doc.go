// Package layout reads and writes what lies in an Arrow IPC file or stream, Feather version 2 among
// them: messages, the metadata in them, and the footer.
//
//	[OpenFile], [OpenStream]  a [Framer], which gives messages in their order: marker, metadata,
//	                          body; checked, not decoded
//	[Schema]                  a schema in Arrow's types, and the [Shape] of each column: its arrays
//	                          and buffers
//	[BatchMeta]               the arrays and buffers of a record batch
//	[RecordMessage]           metadata, with room for a checksum of the message ([Header] reads it)
//
// Each file uses only files further down:
//
//	stream.go, file.go  messages in a stream, and in a file with its footer
//	frames.go           a message as it lies there, and the end of a file
//	schema.go           a schema: read, built, and joined from two
//	inflate.go          the body of a record batch: checked, decompressed, decimals widened
//	columns.go          which arrays and buffers a column has in a record batch
//	types.go            the library's types as the format's tables, and back
//	build.go            metadata that is written
//	sums.go, strict.go  checksums of messages; what readers in C++ refuse in metadata
//	metadata.go         metadata that is read: header, record batch, footer
//	flatbuf.go          any flatbuffer, each reference checked
//	codecs.go           buffers, compressed and decompressed
//
// Of the Arrow library only types are used: flatbuffers are read by way of [Table], which checks
// every reference. Lengths are checked against the input's size and a limit before anything is
// allocated. An input that ends before its end marker or footer is an error.
package layout
