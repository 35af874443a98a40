// Package batch runs the job: it takes batches of URLs from a [Source],
// evaluates them in a pool of workers against a [matcher.Origins], and hands
// verdict columns to a [Sink] in the order in which the batches came.
//
// Decoding and encoding happen in the workers, too: a Source hands out pieces
// that are read but not yet decoded, a Sink turns a batch into bytes before it
// writes them. Only reading and writing are sequential.
//
//	Source.Next ─ Piece.Decode ─ Evaluator.Evaluate ─ Sink.Encode ─ Sink.Write
//	   reader   └──────────────── worker ────────────────────────┘    writer
//
// Batches share the job's memory by what pieces say of themselves and by the
// [Grant] that sinks take it from.
package batch
