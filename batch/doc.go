// Package batch runs a job: it takes batches of URLs from a [Source], has workers
// evaluate them, and hands verdict columns to a [Sink] in the order in which the
// batches came.
//
// Workers decode and encode, too: a Source hands out pieces that are read but not
// decoded, a Sink turns a batch into bytes before it writes them. Only reading and
// writing are sequential. Package evaluate has the [Evaluator] that asks rules.
//
//	Source.Next ─ Piece.Decode ─ Evaluator.Evaluate ─ Sink.Encode ─ Sink.Write
//	   reader   └──────────────── worker ────────────────────────┘    writer
//
// The batches in flight share the job's memory: a piece says how much it takes, and
// a sink takes more from the batch's [Grant]. Several outputs share a [Pool] of workers and
// memory, each on a [Lane] of it, and the oldest goes first.
package batch
