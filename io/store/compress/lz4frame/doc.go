// Package lz4frame reads LZ4 frames that lie in memory, and cuts ranges out of what they
// hold without compressing the rest again.
//
// A frame is blocks of up to 64 KiB, or more. A block's matches begin at most 64 KiB
// before it, or in the block itself where the frame says that its blocks are independent.
// So a block can be copied if neither it nor the 64 KiB before it were cut:
//
//	kept        ████████████████████  ███████████████████████
//	blocks      │ 0  │ 1  │ 2  │ 3  │ 4  │ 5  │ 6  │ 7  │ 8  │
//	            copied         new       new  copied    new
//
// The others are compressed again, each without what lies before it.
//
// https://github.com/lz4/lz4/blob/dev/doc/lz4_Frame_format.md describes the format.
package lz4frame
