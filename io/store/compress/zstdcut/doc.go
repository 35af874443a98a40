// Package zstdcut keeps some byte ranges of a zstd frame without compressing them again.
//
// The naive way is to decompress the frame, to copy the ranges and to compress them. Most of
// its time goes to finding matches, and the frame has these already. [Cutter.Cut] takes them
// from there. Its caller has decompressed the frame anyway, to find the ranges.
//
// The words are those of RFC 8878. A frame is blocks of up to 128 KiB. A compressed block has
// literals, coded by Huffman, and sequences: literal length, match length and offset, each
// coded by an FSE table. In this frame of the zstd program each of three rows has 17 bytes:
//
//	content    https://a.test/1·ftp://b.example/·https://a.test/3·
//	literals   https://a.test/1·ftp://b.example/·3·
//	sequences  34 literals, match of 15 bytes from 34 back
//
// Cut out the second row, bytes 17 to 33. Its literals go, and the match is nearer to what it copies:
//
//	content    https://a.test/1·https://a.test/3·
//	literals   https://a.test/1·3·
//	sequences  17 literals, match of 15 bytes from 17 back
//
// The rules that lead there, for each sequence:
//
//   - Literals that are cut are removed.
//   - A match that copies kept bytes is kept. If there is a cut between, its offset is smaller.
//   - A match that copies bytes that are cut becomes literals, even if a copy of these is kept: to look for
//     it takes 1.04 to 1.09 times the time of a job, and makes texts smaller by less than 1 %.
//
// Then the block is coded. Literals are compressed again if they changed. Sequences are coded
// by FSE tables of the block's own: the predefined tables make frames up to 1.34 times as large.
//
// Most blocks take less:
//
//	blocks before the first cut            copied
//	blocks whose matches copy bytes        copied if repeat offsets, FSE tables and the
//	after the last cut only                Huffman tree are those of the old frame; else
//	                                       the literals are copied, the sequences coded
//	blocks that are cut out                read, for the tables and offsets after them
//
// If 4 in 100 rows of 24 KB are cut, this takes about 0.58 of the time of compressing at the fastest
// level, and makes 1.014 times the bytes (bench/record/zstdcut-2026-11-25.txt). Matches of bytes that
// are cut became literals later, which adds up to 0.008 (bench/record/tables-ablation-2026-11-27.md). Shorter
// ranges take longer, which [Worth] knows; bench/record/zstdcut-choices-2026-11-26.md has figures.
//
// Cut trusts neither the frame nor its content: what does not fit is an error. A new frame has
// no checksum, as the old one's was checked when it was decompressed.
//
// Tests cut frames of klauspost/compress at all its levels, and of the zstd program at levels
// −5 to 22, with long windows, small blocks, with and without checksum and content size, over
// texts and numbers. klauspost/compress and the zstd program decode each result. Frames with
// dictionaries are refused. Frames with changed bits are cut to what they decode to, or refused.
package zstdcut
