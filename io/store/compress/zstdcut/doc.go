// Package zstdcut cuts ranges out of what a zstd frame holds, without compressing the
// rest again.
//
// A frame is blocks of up to 128 KiB. A block has literals, packed by Huffman codes, and
// sequences: a number of literals, then a match: a length and a distance back.
//
//	https://a.test/1 https://a.test/2 https://a.test/3
//	literals: https://a.test/1·    then 16 bytes from 17 back,  literals: 2·  …
//
// Where the middle is cut out, the third text's match begins in what is gone: its bytes
// become literals. What reaches over the cut comes from less far back now. All other
// sequences stay, so nothing has to be searched, which is what compression spends its time
// on: the sequences of a block are read and written with the tables that it has.
//
//	block before the first cut                     copied as it lies
//	block whose matches all begin after a cut      copied, once the last three
//	                                               distances and the tables are those
//	                                               that it was written with
//	other blocks                                   sequences written again, and the
//	                                               literals if there are more or fewer
//
// RFC 8878 has the format; names are its own.
package zstdcut
