// Package layout reads and writes what lies in an Arrow IPC file or stream, Feather version 2 among
// them: messages, the metadata in them, and the footer.
//
//	[OpenFile], [OpenStream]  a [Framer], which gives messages in their order: marker, metadata,
//	                          body; checked, not decoded
//	[ParseSchema]             a schema in Arrow's types, and the [Shape] of each column: its arrays
//	                          and buffers
//	[BatchMeta]               the arrays and buffers of a record batch
//	[RecordMessage]           metadata, with room for a checksum of the message ([Header] reads it)
//
// Of the Arrow library only types are used: flatbuffers are read by way of [Table], which checks
// every reference. Lengths are checked against the input's size and a limit before anything is
// allocated. An input that ends before its end marker or footer is an error.
package layout
