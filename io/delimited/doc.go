// Package delimited reads and writes values with a separator between them, such
// as csv (RFC 4180), with a header, and reads crawl indexes in the CDX format.
//
// # Reading
//
// The first row that is not empty is the header, whose fields name the columns.
// A field in quotes may have separators and line ends in it, and a quote as two;
// tabs make no difference. A line ends with LF or CRLF, the last one needs no
// end, and a byte order mark before the first is skipped. Where RFC 4180 says
// nothing:
//
//   - A quote within a field that does not start with one is a character like
//     others, and what follows a closing quote belongs to the value.
//   - An empty line is no row, also where there is one column: there an empty
//     value is written "".
//   - A row with fewer fields than the header has nulls at its end. One with more
//     is an error, for nobody can tell which of them belongs where; so is a quote
//     that nothing closes.
//   - Octets that are not UTF-8 stay as they are.
//
// Because rows may have several lines, and because people count lines, batches
// and errors speak of lines: batch.Batch.FirstRow is the number of lines before
// the batch, those of the header included.
//
// # Writing
//
// A line ends with LF. A field is quoted when it has a separator, a quote, CR or
// LF in it, also where tabs separate. Null is an empty field; where it is the
// only one of its row it is quoted, so that no reader takes the line for blank.
// Octets that are not UTF-8 are written as they are.
package delimited
