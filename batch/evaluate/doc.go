// Package evaluate turns batches of URLs into verdict bits: it is what one worker
// of a job does between decoding a batch and encoding it.
//
//	split rows into (authority, run of rows) ─ look 64 authorities up ─
//	decide each authority's rows together ─ bits
//
// The law that its tests hold: in any list, in any order, several times through
// one [Evaluator], each row gets what it gets alone in a fresh one.
package evaluate
