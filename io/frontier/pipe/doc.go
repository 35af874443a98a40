// Package pipe answers an Arrow stream of URLs with a stream of verdicts, batch by
// batch, for a program at the other end that waits for each answer.
//
// The contract, on which a client without threads can rely:
//
//	in                        out
//	schema               ──▶
//	                     ◀──  schema, before a batch is read
//	batch 0              ──▶
//	                     ◀──  batch 0, flushed, once all of it was read
//	…
//	end marker           ──▶
//	                     ◀──  end marker; nothing after the client's is read
//
// Each batch has one answer with its rows in order, even if no row
// is written. An input that ends without its end marker is an error, and an answer
// without one is incomplete.
package pipe
