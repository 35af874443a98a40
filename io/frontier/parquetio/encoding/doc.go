// Package encoding decodes the byte arrays of Parquet's pages into offsets and
// bytes. What a page says of itself is checked against the bytes that are there
// before anything is taken for it.
//
// A decoder is made for the values of a page and reads them part by part. It
// keeps what it is given, and nothing of what it fills.
package encoding
