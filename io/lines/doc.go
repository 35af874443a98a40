// Package lines holds what the outputs that are made of lines (text, csv, tsv
// and jsonl) have in common: which columns a row has, how their values are
// written as text and as JSON, and how batches become one output.
package lines
