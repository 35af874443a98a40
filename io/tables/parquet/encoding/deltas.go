package encoding

import (
	"encoding/binary"
	"errors"
	"math/bits"

	"robotsbatch/io/tables"
	"robotsbatch/io/tables/parquet/layout"
)

// deltas are integers in DELTA_BINARY_PACKED.
type deltas struct {
	delta
	width int // bytes of an integer: 4 or 8
}

// openDeltas returns a decoder of integers in DELTA_BINARY_PACKED. A page without values may lack the header.
func openDeltas(b *Body) (Decoder, error) {
	if b.Present == 0 {
		return &plain{}, nil // of no values
	}
	d, err := newDelta(b.Values)
	if err == nil && d.Left != int64(b.Present) {
		err = errCount
	}
	return &deltas{d, b.Width}, err
}

// Next implements [Decoder]: an integer becomes d.width bytes, the lowest first. It needs no limit, because
// the values of a page have at most 8 bytes each.
func (d *deltas) Next(dst *Values, n int, _ int64) error {
	var scratch [block]int64
	for n > 0 {
		part := scratch[:min(n, block)]
		if err := d.Read(part); err != nil {
			return err
		}
		for _, v := range part {
			if d.width == 4 {
				dst.Data = binary.LittleEndian.AppendUint32(dst.Data, uint32(v))
			} else {
				dst.Data = binary.LittleEndian.AppendUint64(dst.Data, uint64(v))
			}
		}
		n -= len(part)
	}
	return nil
}

// Done implements [Decoder]. openDeltas has compared the header's count, and bytes after the last block are ignored.
func (d *deltas) Done() error { return nil }

// writeDeltas appends runs of integers of p in DELTA_BINARY_PACKED.
func writeDeltas(p *Page, dst []byte, runs []tables.Run) ([]byte, error) {
	p.numbers = p.numbers[:0]
	for _, r := range runs {
		for i := r.Low; i < r.High; i++ {
			if p.Width == 4 {
				p.numbers = append(p.numbers, int64(int32(binary.LittleEndian.Uint32(p.Data[4*i:]))))
			} else {
				p.numbers = append(p.numbers, int64(binary.LittleEndian.Uint64(p.Data[8*i:])))
			}
		}
	}
	return AppendDeltas(dst, p.numbers, p.Width), nil
}

// delta reads numbers in the encoding DELTA_BINARY_PACKED:
//
//	header   numbers of a block, miniblocks of a block, how many numbers there
//	         are, the first one
//	block    the smallest difference; a byte a miniblock, the bits of each
//	         difference in it; the miniblocks: differences less the smallest
//
// Numbers are added up in 64 bits and may overflow. No memory is taken for the
// header's counts: a block is read when its first number is.
type delta struct {
	data []byte // after the current miniblock
	// Left counts the numbers to come.
	Left int64

	isFirst    bool   // the next number is the header's
	value      int64  // the number that was read last, or the header's
	miniblocks int    // of a block
	numbers    int    // of a miniblock
	least      int64  // the smallest difference of the block
	widths     []byte // of the block's miniblocks to come
	packed     []byte // the current miniblock
	width      int    // bits of a difference in packed
	bit        int    // where in packed the next difference begins
	inPacked   int    // differences in packed that were not read
}

// maxBlock is the most numbers that a block may have; writers take some hundreds.
const maxBlock = 1 << 20

var errDelta = errors.New("damaged: a page's differences cannot be read")

// newDelta reads the header. Blocks must have a multiple of 128 numbers, and miniblocks a multiple of 32. It
// refuses a count of numbers for which data has too few bytes.
func newDelta(data []byte) (delta, error) {
	var head [3]uint64
	for i := range head {
		v, n := binary.Uvarint(data)
		if n <= 0 {
			return delta{}, errDelta
		}
		head[i], data = v, data[n:]
	}
	value, n := binary.Varint(data)
	block, miniblocks, count := head[0], head[1], head[2]
	validBlock := block > 0 && block%128 == 0 && block <= maxBlock
	validMiniblocks := miniblocks > 0 && block%miniblocks == 0 && block/miniblocks%32 == 0
	if n <= 0 || !validBlock || !validMiniblocks || count > 1<<31 { // no page has more values
		return delta{}, errDelta
	}
	d := delta{data: data[n:], Left: int64(count), isFirst: true, value: value, miniblocks: int(miniblocks), numbers: int(block / miniblocks)}
	// Each block before the last has a byte at least for its smallest difference, and one for each miniblock.
	if count > 1 && (count-1)/block*(1+miniblocks) > uint64(len(d.data)) {
		return delta{}, errDelta
	}
	return d, nil
}

// nextMiniblock begins the next miniblock, and before it the next block if the current one is at its end.
func (d *delta) nextMiniblock() error {
	if len(d.widths) == 0 {
		least, n := binary.Varint(d.data)
		if n <= 0 || d.miniblocks > len(d.data)-n {
			return errDelta
		}
		d.least = least
		d.widths, d.data = d.data[n:n+d.miniblocks], d.data[n+d.miniblocks:]
	}
	d.width, d.widths = int(d.widths[0]), d.widths[1:]
	if d.width > 64 {
		return errDelta
	}
	size := d.numbers / 8 * d.width // miniblocks have a multiple of 8 numbers
	// The last miniblock may end with its last number, without padding.
	if size > len(d.data) {
		if d.Left > int64(d.numbers) || (d.Left*int64(d.width)+7)/8 > int64(len(d.data)) {
			return errDelta
		}
		size = len(d.data)
	}
	d.packed, d.data = d.data[:size], d.data[size:]
	d.bit, d.inPacked = 0, d.numbers
	return nil
}

// Read reads the next len(dst) numbers.
func (d *delta) Read(dst []int64) error {
	if int64(len(dst)) > d.Left {
		return errDelta
	}
	for len(dst) > 0 {
		if d.isFirst {
			dst[0], dst, d.isFirst = d.value, dst[1:], false
			d.Left--
			continue
		}
		if d.inPacked == 0 {
			if err := d.nextMiniblock(); err != nil {
				return err
			}
		}
		n := min(d.inPacked, len(dst))
		d.unpack(dst[:n])
		d.inPacked -= n
		d.Left -= int64(n)
		dst = dst[n:]
	}
	return nil
}

// unpack reads the next len(dst) numbers of the current miniblock, which has as many. Up to 56 bits, a
// difference lies within 8 bytes wherever it begins, and is read by one load, which saves 5 % of a job.
func (d *delta) unpack(dst []int64) {
	value, bit, width := d.value, d.bit, d.width
	i := 0
	if width <= 56 {
		mask := uint64(1)<<width - 1
		for ; i < len(dst) && bit>>3+8 <= len(d.packed); i++ {
			value += d.least + int64(binary.LittleEndian.Uint64(d.packed[bit>>3:])>>(bit&7)&mask)
			dst[i] = value
			bit += width
		}
	}
	for ; i < len(dst); i++ {
		value += d.least + int64(layout.BitsAt(d.packed, bit, width))
		dst[i] = value
		bit += width
	}
	d.value, d.bit = value, bit
}

// rest returns the bytes after all numbers. Call it before Read; it changes only its copy of d.
func (d delta) rest() ([]byte, error) {
	if d.isFirst && d.Left > 0 {
		d.isFirst = false
		d.Left--
	}
	for d.Left > 0 { // each pass skips a miniblock
		if err := d.nextMiniblock(); err != nil {
			return nil, err
		}
		d.Left -= min(int64(d.numbers), d.Left)
	}
	return d.data, nil
}

// Numbers in a block and in a miniblock of AppendDeltas.
const (
	deltaBlock = 128
	deltaMini  = 32
)

// AppendDeltas appends values in DELTA_BINARY_PACKED. width is 4 or 8, the bytes of an integer.
func AppendDeltas(dst []byte, values []int64, width int) []byte {
	dst = binary.AppendUvarint(dst, deltaBlock)
	dst = binary.AppendUvarint(dst, deltaBlock/deltaMini)
	dst = binary.AppendUvarint(dst, uint64(len(values)))
	if len(values) == 0 {
		return append(dst, 0) // in place of the first one
	}
	dst = binary.AppendVarint(dst, narrow(values[0], width))
	for i := 1; i < len(values); i += deltaBlock {
		dst = appendDeltaBlock(dst, values[i-1:min(i+deltaBlock, len(values))], width)
	}
	return dst
}

// narrow returns v modulo 2^32, with its sign, if width is 4: differences of 32-bit integers wrap around.
func narrow(v int64, width int) int64 {
	if width == 4 {
		return int64(int32(v))
	}
	return v
}

// appendDeltaBlock appends one block with the differences between values, of which there are two at least:
// the first is the last one of the block before. width is 4 or 8, the bytes of an integer.
func appendDeltaBlock(dst []byte, values []int64, width int) []byte {
	var deltas [deltaBlock]uint64
	n := len(values) - 1
	least := narrow(values[1]-values[0], width)
	for i := range n {
		d := narrow(values[i+1]-values[i], width)
		deltas[i], least = uint64(d), min(least, d)
	}
	dst = binary.AppendVarint(dst, least)
	widthsAt := len(dst)
	dst = append(dst, 0, 0, 0, 0) // a byte for each miniblock: its width, set below
	for mini := 0; mini*deltaMini < n; mini++ {
		part := deltas[mini*deltaMini:][:deltaMini]
		all := uint64(0) // the bits that are set in any difference: its length is that of the largest
		for i := range part[:min(deltaMini, n-mini*deltaMini)] {
			part[i] -= uint64(least)
			if width == 4 {
				part[i] &= 1<<32 - 1
			}
			all |= part[i]
		}
		bitWidth := bits.Len64(all)
		dst[widthsAt+mini] = byte(bitWidth)
		dst = layout.AppendPacked(dst, part, bitWidth) // zeros, where the last one has fewer
	}
	return dst
}
