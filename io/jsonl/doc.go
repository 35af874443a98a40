// Package jsonl writes one JSON object (RFC 8259) a line.
//
// The keys are the columns' names, in their order. A row without a verdict has
// null there. Strings are not escaped more than they must be; octets that are
// not UTF-8, which JSON cannot hold, become U+FFFD.
package jsonl
