package lz4frame

import (
	"encoding/binary"
	"slices"

	"github.com/pierrec/lz4/v4"

	"robotsbatch/io/store/compress/zstdcut"
)

// Cut appends to dst a frame whose content is the kept ranges of the decoded frame's content.
// The ranges are in order and do not touch. The new blocks have checksums if those of the
// decoded frame have. Cut returns false and appends nothing if Decode returned false.
//
// A block that does not change is copied as it lies, with its size and checksum. If copied is
// not nil, Cut does not append such a block, which is bytes low to high-1 of the decoded frame:
// it calls copied, which returns dst, maybe extended. So the caller may leave the block where it is.
func (f *Frame) Cut(dst []byte, kept []zstdcut.Range, copied func(dst []byte, low, high int) []byte) ([]byte, bool) {
	if len(f.blocks) == 0 {
		return dst, false
	}
	if f.compressor == nil {
		f.compressor = new(lz4.Compressor)
	}
	f.pending = f.pending[:0]
	dst = binary.LittleEndian.AppendUint32(dst, magic)
	head := [2]byte{f.flags &^ (contentSize | contentChecksum), f.sizes}
	dst = append(dst, head[0], head[1], byte(checksum(head[:])>>8)) // the header has one byte of its checksum
	f.eachBlock(kept, func(b *block, begin int, kept []zstdcut.Range) {
		if f.canCopy(begin, b.plainEnd, kept[0]) {
			dst = f.flush(dst)
			if copied == nil {
				dst = append(dst, f.data[b.begin-headSize:b.end]...)
			} else {
				dst = copied(dst, b.begin-headSize, b.end)
			}
		} else {
			dst = f.keep(dst, begin, b.plainEnd, kept)
		}
	})
	dst = f.flush(dst)
	return append(dst, 0, 0, 0, 0), true // a size of 0 ends the frame
}

// Changed returns the size in bytes of the old blocks that Cut compresses again.
func (f *Frame) Changed(kept []zstdcut.Range) (size int) {
	f.eachBlock(kept, func(b *block, begin int, kept []zstdcut.Range) {
		if !f.canCopy(begin, b.plainEnd, kept[0]) {
			size += b.end - b.begin
		}
	})
	return size
}

// eachBlock calls do for each block up to the last kept range. begin is where the block's content
// begins in f.plain; kept are the ranges that end after begin.
func (f *Frame) eachBlock(kept []zstdcut.Range, do func(b *block, begin int, kept []zstdcut.Range)) {
	begin := 0
	for i := range f.blocks {
		b := &f.blocks[i]
		for len(kept) > 0 && kept[0].High <= begin {
			kept = kept[1:]
		}
		if len(kept) == 0 {
			return
		}
		do(b, begin, kept)
		begin = b.plainEnd
	}
}

// canCopy reports whether a block can be copied as it lies. Its content is the bytes from begin to end-1. Kept range r
// must have them and, unless blocks are independent, the window before them, which the block's matches may copy.
func (f *Frame) canCopy(begin, end int, r zstdcut.Range) bool {
	from := begin
	if f.flags&independent == 0 {
		from = max(0, begin-window)
	}
	return r.Low <= from && end <= r.High
}

// keep adds the kept parts of the bytes from begin to end-1 to f.pending, and appends a block of these to
// dst whenever it is full.
func (f *Frame) keep(dst []byte, begin, end int, kept []zstdcut.Range) []byte {
	for _, r := range kept {
		if r.Low >= end {
			break
		}
		for part := f.plain[max(begin, r.Low):min(end, r.High)]; len(part) > 0; {
			n := min(len(part), f.most()-len(f.pending))
			f.pending = append(f.pending, part[:n]...)
			if part = part[n:]; len(f.pending) == f.most() {
				dst = f.flush(dst)
			}
		}
	}
	return dst
}

// flush appends a block of f.pending, if there are any bytes: compressed if that is smaller.
func (f *Frame) flush(dst []byte) []byte {
	if len(f.pending) == 0 {
		return dst
	}
	at, most := len(dst)+headSize, lz4.CompressBlockBound(len(f.pending))
	dst = slices.Grow(dst, headSize+most)[:at]
	n, err := f.compressor.CompressBlock(f.pending, dst[at:at+most])
	head := uint32(n)
	if err != nil || n == 0 || n >= len(f.pending) {
		n = copy(dst[at:at+most], f.pending)
		head = uint32(n) | storedBlock
	}
	binary.LittleEndian.PutUint32(dst[at-headSize:], head)
	f.pending = f.pending[:0]
	dst = dst[:at+n]
	if f.flags&blockChecksum != 0 {
		dst = binary.LittleEndian.AppendUint32(dst, checksum(dst[at:]))
	}
	return dst
}
