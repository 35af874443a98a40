// Package delimited writes comma- or tab-separated values (RFC 4180) with a
// header.
//
// A line ends with LF. A field is quoted when it has a separator, a quote, CR or
// LF in it, also where tabs separate. Null is an empty field; where it is the
// only one of its row it is quoted, so that no reader takes the line for blank.
// Octets that are not UTF-8 are written as they are.
package delimited
