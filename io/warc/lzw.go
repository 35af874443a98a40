package warc

import (
	"bufio"
	"errors"
	"io"
)

// lzwReader decodes the output of the compress program, which HTTP calls the
// compress coding (RFC 9110 §8.4.1.1). compress/lzw reads the variants of GIF and
// PDF, which differ: here codes have 9 to 16 bits and are written in groups of
// eight; when their width changes, the rest of the group is padding.
type lzwReader struct {
	r       *bufio.Reader
	maxBits uint
	block   bool // code 256 clears the table

	bits  uint             // width of a code now
	group [lzwMaxBits]byte // eight codes
	size  uint             // bits in group
	at    uint             // bits of them that were read

	free     int // the next code to be defined
	previous int // the code before, -1 for none
	first    byte
	prefix   [1 << lzwMaxBits]uint16
	suffix   [1 << lzwMaxBits]byte
	text     [1 << lzwMaxBits]byte // of a code, from its end
	left     []byte                // of text, not handed out yet
	err      error
}

const (
	lzwMagic    = "\x1F\x9D"
	lzwMinBits  = 9
	lzwMaxBits  = 16
	lzwClear    = 256
	lzwLiterals = 256
)

var errLZW = errors.New("compress: invalid data")

// reset starts to read a body.
func (z *lzwReader) reset(r *bufio.Reader) error {
	var head [len(lzwMagic) + 1]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return err
	}
	flags := head[len(lzwMagic)]
	z.r, z.left, z.err = r, nil, nil
	z.maxBits, z.block = uint(flags&0x1F), flags&0x80 != 0
	if string(head[:len(lzwMagic)]) != lzwMagic || z.maxBits < lzwMinBits || z.maxBits > lzwMaxBits {
		return errLZW
	}
	for i := range lzwLiterals {
		z.suffix[i] = byte(i)
	}
	z.clear()
	return nil
}

// clear forgets all codes but the literals.
func (z *lzwReader) clear() {
	z.bits, z.at, z.size = lzwMinBits, 0, 0
	z.previous, z.free = -1, lzwLiterals
	if z.block {
		z.free = lzwClear + 1
	}
}

// code reads the next code.
func (z *lzwReader) code() (int, error) {
	if z.free >= 1<<z.bits && z.bits < z.maxBits {
		z.bits++
		z.at, z.size = 0, 0
	}
	if z.at+z.bits > z.size {
		n, err := io.ReadFull(z.r, z.group[:z.bits])
		if z.at, z.size = 0, 8*uint(n); z.size < z.bits {
			if err == io.ErrUnexpectedEOF {
				err = io.EOF // the padding of the last code
			}
			return 0, err
		}
	}
	code := 0
	for i := range z.bits {
		bit := z.at + i
		code |= int(z.group[bit/8]>>(bit%8)&1) << i
	}
	z.at += z.bits
	return code, nil
}

// decode sets left to the text of the next code.
func (z *lzwReader) decode() error {
	code, err := z.code()
	for err == nil && z.block && code == lzwClear {
		z.clear()
		code, err = z.code()
	}
	if err != nil {
		return err
	}
	if code > z.free || code >= lzwLiterals && z.previous < 0 {
		return errLZW
	}
	at, known := len(z.text), code
	if code == z.free { // defined by itself: the text before and its first byte
		at--
		z.text[at] = z.first
		known = z.previous
	}
	for known >= lzwLiterals {
		at--
		z.text[at] = z.suffix[known]
		known = int(z.prefix[known])
	}
	z.first = z.suffix[known]
	at--
	z.text[at] = z.first
	z.left = z.text[at:]
	if z.previous >= 0 && z.free < 1<<z.maxBits {
		z.prefix[z.free], z.suffix[z.free] = uint16(z.previous), z.first
		z.free++
	}
	z.previous = code
	return nil
}

func (z *lzwReader) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		if len(z.left) == 0 {
			if z.err == nil {
				z.err = z.decode()
			}
			if z.err != nil {
				break
			}
		}
		step := copy(p[n:], z.left)
		z.left = z.left[step:]
		n += step
	}
	if n > 0 {
		return n, nil
	}
	return 0, z.err
}
