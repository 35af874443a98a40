// Package text reads and writes lists of URLs, one a line.
//
// A row is a line that is not blank: it has octets other than SP, TAB, CR, VT
// and FF. It is kept as it is, without its line end, which is LF or CRLF; a CR
// elsewhere is part of the row. The last line needs no line end. A UTF-8 byte
// order mark at the very beginning is skipped.
//
// Because lines and rows are not the same when some are blank, and because
// people count lines, batches and errors of a list speak of lines:
// batch.Batch.FirstRow is the number of lines before the batch.
package text
