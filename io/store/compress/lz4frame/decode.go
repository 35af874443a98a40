package lz4frame

import (
	"encoding/binary"
	"math/bits"

	"github.com/pierrec/lz4/v4"
)

const (
	magic = 0x184D2204
	// window is how far back a match may begin.
	window = 64 << 10
	// storedBlock marks a block's size if it is not compressed.
	storedBlock = uint32(1 << 31)
	// headSize is the number of bytes of a block's size, before the block, and sumSize that of a
	// checksum, after what it covers.
	headSize, sumSize = 4, 4
)

// Flags of a frame.
const (
	version1        = 1 << 6
	versions        = 3 << 6
	independent     = 1 << 5
	blockChecksum   = 1 << 4
	contentSize     = 1 << 3
	contentChecksum = 1 << 2
	reserved        = 1 << 1
	dictionary      = 1 << 0
)

// Frame is a frame that was decoded, with what [Frame.Cut] needs of it. One goroutine may
// use it at a time, for one frame after another.
type Frame struct {
	flags, sizes byte    // of the header
	data, plain  []byte  // compressed and decompressed
	blocks       []block // none if Decode returned false

	pending    []byte // kept bytes that are not in a block yet
	compressor *lz4.Compressor
}

// block says where a block of a frame lies.
type block struct {
	begin, end int // in the frame: after the block's size, and after its checksum
	plainEnd   int // in the decompressed bytes: where the block's content ends
}

// Decode decompresses a frame into dst, which it fills. It returns false, with anything in dst, for
// a frame that is damaged or does not hold exactly len(dst) bytes, and for one that only the lz4
// library reads: one that needs a dictionary, has tiny blocks or is not of the usual version.
// The memory that it takes does not depend on sizes that the frame claims.
func Decode(dst, frame []byte) bool { return new(Frame).Decode(dst, frame) }

// Decode does what the function Decode does. Both slices must stay unchanged until the last
// call of Cut.
func (f *Frame) Decode(dst, frame []byte) bool {
	f.blocks, f.data, f.plain = f.blocks[:0], frame, dst
	ok := f.decode()
	if !ok {
		f.blocks = f.blocks[:0]
	}
	return ok
}

// decode is Decode for f.data and f.plain. After false the list of blocks is of no use.
func (f *Frame) decode() bool {
	at, simple := f.header()
	if !simple {
		return false
	}
	most, done := f.most(), 0 // done bytes are decompressed
	for len(f.data)-at >= headSize {
		head := binary.LittleEndian.Uint32(f.data[at:])
		at += headSize
		if head == 0 { // the mark of the end
			return done == len(f.plain) && f.ends(at)
		}
		size := int(head &^ storedBlock)
		// A frame of many tiny blocks is not simple: its list of blocks would be larger.
		if size > most || size > len(f.data)-at || len(f.blocks) > 16+len(f.plain)>>10 {
			return false
		}
		n, ok := f.decodeBlock(done, f.data[at:at+size], head&storedBlock != 0)
		if !ok {
			return false
		}
		done += n
		end, ok := f.blockEnd(at, size)
		if !ok {
			return false
		}
		f.blocks = append(f.blocks, block{begin: at, end: end, plainEnd: done})
		at = end
	}
	return false
}

// blockEnd returns the end of the block of size bytes at offset at, its checksum included. ok is false if
// blocks have checksums and this one's is wrong.
func (f *Frame) blockEnd(at, size int) (end int, ok bool) {
	end = at + size
	if f.flags&blockChecksum == 0 {
		return end, true
	}
	if len(f.data)-end < sumSize {
		return end, false
	}
	return end + sumSize, binary.LittleEndian.Uint32(f.data[end:]) == checksum(f.data[at:end])
}

// ends reports whether the frame ends as it should at offset at, where its blocks end: with the right
// checksum of what it holds, if it has one.
func (f *Frame) ends(at int) bool {
	if f.flags&contentChecksum == 0 {
		return at == len(f.data)
	}
	return at+sumSize == len(f.data) && binary.LittleEndian.Uint32(f.data[at:]) == checksum(f.plain)
}

// decodeBlock decompresses a block, or copies it if it is stored, to f.plain from byte done on, and returns
// the number of bytes. ok is false if it is damaged or has too many.
func (f *Frame) decodeBlock(done int, data []byte, stored bool) (n int, ok bool) {
	dst := f.plain[done:min(len(f.plain), done+f.most())]
	if stored {
		return copy(dst, data), len(data) <= len(dst)
	}
	before := f.plain[max(0, done-window):done]
	if f.flags&independent != 0 {
		before = nil
	}
	n, err := lz4.UncompressBlockWithDict(data, dst, before)
	return n, err == nil
}

// header reads the header into f.flags and f.sizes, and returns its size. simple is false if it is damaged, of
// another version, or needs a dictionary.
func (f *Frame) header() (n int, simple bool) {
	n = 6 // the magic number's 4 bytes, the flags and the sizes
	if len(f.data) <= n || binary.LittleEndian.Uint32(f.data) != magic {
		return 0, false
	}
	f.flags, f.sizes = f.data[4], f.data[5]
	if f.flags&(versions|reserved|dictionary) != version1 || f.sizes>>4 < 4 || f.sizes>>4 > 7 { // codes of 64 KiB to 4 MiB
		return 0, false
	}
	if f.flags&contentSize != 0 {
		n += 8 // the size, which the caller knows
	}
	if len(f.data) <= n || f.data[n] != byte(checksum(f.data[4:n])>>8) { // one byte of the checksum
		return 0, false
	}
	return n + 1, true
}

// most returns the most bytes that a block holds, decompressed.
func (f *Frame) most() int { return 1 << (8 + 2*(f.sizes>>4)) }

// The primes of XXH32.
const (
	prime1 uint32 = 2654435761
	prime2 uint32 = 2246822519
	prime3 uint32 = 3266489917
	prime4 uint32 = 668265263
	prime5 uint32 = 374761393
)

// checksum returns the XXH32 of p, with the seed 0.
func checksum(p []byte) uint32 {
	n, h := uint32(len(p)), prime5
	if len(p) >= 16 {
		a, b, c, d := prime1, prime2, uint32(0), uint32(0) // the four accumulators
		a += b                                             // in two steps: the sums of constants would overflow
		d -= prime1
		for ; len(p) >= 16; p = p[16:] {
			a = round(a, p[0:4])
			b = round(b, p[4:8])
			c = round(c, p[8:12])
			d = round(d, p[12:16])
		}
		h = bits.RotateLeft32(a, 1) + bits.RotateLeft32(b, 7) + bits.RotateLeft32(c, 12) + bits.RotateLeft32(d, 18)
	}
	h += n
	for ; len(p) >= 4; p = p[4:] {
		h = bits.RotateLeft32(h+binary.LittleEndian.Uint32(p)*prime3, 17) * prime4
	}
	for _, v := range p {
		h = bits.RotateLeft32(h+uint32(v)*prime5, 11) * prime1
	}
	h = (h ^ h>>15) * prime2
	h = (h ^ h>>13) * prime3
	return h ^ h>>16
}

// round adds the first four bytes of p to an accumulator.
func round(v uint32, p []byte) uint32 {
	return bits.RotateLeft32(v+binary.LittleEndian.Uint32(p)*prime2, 13) * prime1
}
