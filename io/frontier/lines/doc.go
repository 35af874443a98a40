// Package lines holds what the formats that are made of lines (text, csv, tsv,
// jsonl and CDXJ) have in common: how an input is cut into blocks of whole
// records, which columns a row of an output has, how their values are written
// as text and as JSON, and how batches become one output.
package lines
