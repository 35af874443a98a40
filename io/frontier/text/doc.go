// Package text reads and writes lists of URLs, one a line.
//
// A row is a line that is not blank: it has bytes other than SP, TAB, CR, VT
// and FF. It is kept as it is, without its line end, which is LF or CRLF; a CR
// elsewhere is part of the row. The last line needs no line end. A UTF-8 byte
// order mark at the very beginning is skipped.
//
// Blank lines are no rows, and people count lines. Batches and errors of a list
// therefore count lines: batch.Batch.FirstRow is the number of lines before the batch.
package text
