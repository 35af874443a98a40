// Package layout reads and writes the structure of Parquet files, but no value:
// the footer, the headers of pages, their checksums, codecs and levels.
//
//	ReadFooter   the footer → File: schema elements, row groups, column chunks,
//	             their counts and ranges checked
//	Stream       bytes of a chunk → Page: header and body, checksum verified
//	Page.Open    the body decompressed; Page.Split its levels and values
//	Pages        all of that, page by page of a chunk
//	Hybrid       runs of equal numbers and packed ones: levels, dictionary indices
//	Append       a structure of parquet.thrift, whose fields are listed once to read and
//	             to write it
//
// Nothing in a file is trusted. Before memory is taken, the elements of a list
// are held against the bytes that are left, a page against the rest of its
// chunk, and its decompressed size against what its codec can make of its
// bytes. An error says what is wrong; the caller adds file, row group and
// column.
package layout
