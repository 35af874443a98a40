// Package jsonl reads and writes one JSON object (RFC 8259) a line, and reads
// crawl indexes (CDXJ): a sort key, a timestamp and an object a line, with a
// blank between them.
//
// # Reading
//
// The URL is the string of one key of the object, the last one if the key is repeated;
// an object without "url" may have it in other case. Bytes that are not UTF-8 stay as
// they are, and half of a surrogate pair is U+FFFD. A line without an object, or whose
// object has no such string, is a row with a null URL. Source.Complete returns an error
// if no row has the key.
//
// A blank line is not a row. A line ends with LF or CRLF, the last one needs no end,
// and a byte order mark before the first is skipped. batch.Batch.FirstRow is the number
// of lines before the batch.
//
// # Writing
//
// The keys are the columns' names, in their order. A missing verdict is null. Strings
// are escaped where necessary. Bytes that are not UTF-8 become U+FFFD, because JSON
// cannot hold them.
//
// An object that was read from jsonl is written byte for byte, with the verdicts
// at its end; white space around it is left out. In a crawl index's row its keys come
// after "surt" and "timestamp", unless the object has those keys itself. A line without
// an object is written as the string of the key "line", so that each line of the output
// is JSON.
package jsonl
