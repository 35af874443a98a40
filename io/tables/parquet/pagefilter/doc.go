// Package pagefilter leaves rows out of a page of a Parquet file, and keeps its encoding.
//
// What the values mean is not looked at. A page of any type is levels and values, and
// a row is some of the first and the values that belong to them:
//
//	kept rows ─ repetition levels → kept entries ─ definition levels →
//	kept values ─ encoding: runs of bytes, or numbers → a page, compressed again
//
// Indices into a dictionary stay as they are, unless it is trimmed to the entries that are
// still used ([Dictionary]). Values in PLAIN are copied in runs: of texts only the lengths are
// read.
package pagefilter
