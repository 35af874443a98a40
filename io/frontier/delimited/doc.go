// Package delimited reads and writes values with a separator between them, such
// as csv (RFC 4180), with a header, and reads crawl indexes in the CDX format.
//
// # Reading
//
// The first row that is not empty is the header, whose fields name the columns.
// A field in quotes may have separators, line ends and doubled quotes, in tsv too. A
// line ends with LF or CRLF, the last one needs no end, and a byte order mark before
// the first is skipped. Where RFC 4180 says nothing:
//
//   - A quote in a field that does not start with one is a plain character, and
//     what follows a closing quote belongs to the value.
//   - An empty line is no row, even with one column: an empty value is written "".
//   - A row with fewer fields than the header has nulls at its end. One with more
//     is an error, and so is a quote that nothing closes.
//   - Bytes that are not UTF-8 stay as they are.
//
// A row may have several lines. Batches and errors count lines, because people do:
// batch.Batch.FirstRow is the number of lines before the batch, including the header's.
//
// # Writing
//
// A line ends with LF. A field with a separator, a quote, CR or LF is quoted, in tsv
// too. Null is an empty field. The only field of a row is quoted when it is empty, so
// that no reader takes the line for blank.
// Bytes that are not UTF-8 are written as they are.
package delimited
