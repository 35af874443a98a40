package layout

import (
	"encoding/binary"
	"fmt"
	"slices"

	"robotsbatch/io/tables"
)

// CheckBody checks that every buffer that is not empty lies inside the body. It returns the size of all buffers once they
// are decompressed and decimals are widened; more than limit is an error.
func (b *BatchMeta) CheckBody(body []byte, limit int64) (int64, error) {
	var total int64
	for i, s := range b.Buffers {
		if s.Length == 0 {
			continue
		}
		if !s.In(int64(len(body))) {
			return 0, fmt.Errorf("damaged metadata: buffer %d lies outside the body", i)
		}
		size := s.Length
		if b.Codec != CodecNone {
			var err error
			if size, err = UncompressedSize(body[s.Offset : s.Offset+s.Length]); err != nil {
				return 0, fmt.Errorf("buffer %d: %w", i, err)
			}
		}
		if size > (limit-total)/b.widened(i) {
			return 0, tables.TooLarge("it takes more than %d bytes decoded", limit)
		}
		total += size * b.widened(i)
	}
	return total, nil
}

// Inflation decompresses the buffers of a body and widens its decimals. The Arrow library's
// own decompression allocates whatever a frame's header asks for, and stops before the checksum
// at the frame's end. Goroutines may work on several buffers at once.
type Inflation struct {
	from  *BatchMeta // the metadata of body
	body  []byte
	Plain *BatchMeta // the metadata of Out
	Out   []byte     // the new body, whose buffers [Inflation.Buffer] fills
}

// NewInflation returns an inflation of a body that CheckBody has checked. It allocates Out, in which buffers
// are aligned to 8 bytes. total is what CheckBody returned.
func NewInflation(b *BatchMeta, body []byte, total int64) *Inflation {
	out := make([]byte, int(total)+8*len(b.Buffers))
	plain := *b
	plain.Codec, plain.Narrow = CodecNone, nil
	plain.Buffers = make([]Span, len(b.Buffers))
	end := int64(0)
	for i, s := range b.Buffers {
		plain.Buffers[i].Offset = end
		if s.Length == 0 {
			continue
		}
		size := s.Length
		if b.Codec != CodecNone {
			size, _ = UncompressedSize(body[s.Offset : s.Offset+s.Length]) // no error: CheckBody has read it
		}
		plain.Buffers[i].Length = size * b.widened(i)
		end += (plain.Buffers[i].Length + 7) &^ 7
	}
	return &Inflation{b, body, &plain, out[:end]}
}

// Buffer decompresses buffer i into Out, and widens its decimals.
func (n *Inflation) Buffer(i int) error {
	s, to := n.from.Buffers[i], n.Plain.Buffers[i]
	if s.Length == 0 {
		return nil
	}
	dst := n.Out[to.Offset : to.Offset+to.Length]
	size := to.Length / n.from.widened(i)
	// Narrow decimals come to the end of dst: widenValues fills dst from there.
	if err := Decompress(dst[to.Length-size:], n.body[s.Offset:s.Offset+s.Length], n.from.Codec); err != nil {
		return fmt.Errorf("buffer %d does not decompress: %w", i, err)
	}
	if to.Length > size {
		widenValues(dst, int(size), n.from.Narrow[i])
	}
	return nil
}

// Inflate returns a body decompressed, with decimals widened, and its metadata: b and body themselves if there is nothing
// to do. total is as in NewInflation.
func Inflate(b *BatchMeta, body []byte, total int64) (*BatchMeta, []byte, error) {
	if !b.NeedsInflation() {
		return b, body, nil
	}
	n := NewInflation(b, body, total)
	for i := range b.Buffers {
		if err := n.Buffer(i); err != nil {
			return nil, nil, err
		}
	}
	return n.Plain, n.Out, nil
}

// NeedsInflation reports whether a body needs an [Inflation], because its buffers are compressed or have decimals to widen.
func (b *BatchMeta) NeedsInflation() bool { return b.Codec != CodecNone || b.Narrow != nil }

// The library knows only decimals of 128 and 256 bits. Those of 32 and 64 bits are
// decoded as decimals of 128, from widened values. Where they must be written unchanged,
// they are decoded as fixed-size bytes.

// SmallDecimal returns the bits of the widest decimal of 32 or 64 bits in the type, or in the values of its
// dictionary; 0 if there is none.
func (s *Shape) SmallDecimal() int {
	bits := s.decimal
	for i := range s.Children {
		bits = max(bits, s.Children[i].SmallDecimal())
	}
	if s.Values != nil {
		bits = max(bits, s.Values.SmallDecimal())
	}
	return bits
}

// SameDecimals reports whether the decimals in two shapes have the same widths. The shapes must be of the same type
// otherwise.
func SameDecimals(x, y Shape) bool {
	if x.Values != nil && y.Values != nil {
		return SameDecimals(*x.Values, *y.Values)
	}
	return x.decimal == y.decimal && slices.EqualFunc(x.Children, y.Children, SameDecimals)
}

// FindNarrow sets b.Narrow if columns, which b has, have decimals that must be widened.
func (b *BatchMeta) FindNarrow(columns []Shape) error {
	if !slices.ContainsFunc(columns, func(s Shape) bool { return s.SmallDecimal() > 0 }) {
		return nil
	}
	narrow := make([]uint8, len(b.Buffers))
	at := Cursor{Batch: b, Visit: func(s *Shape, buffer int) {
		if s.decimal > 0 {
			narrow[buffer] = uint8(s.decimal)
		}
	}}
	b.Narrow = narrow
	return at.NextAll(columns)
}

// widened returns the factor by which buffer i grows when its decimals are widened.
func (b *BatchMeta) widened(i int) int64 {
	if b.Narrow == nil || b.Narrow[i] == 0 {
		return 1
	}
	return 128 / int64(b.Narrow[i])
}

// widenValues fills dst with decimals of 128 bits. They are made of the narrower ones, of bits bits, in the last size bytes
// of dst. No value is overwritten before it is read, because the narrower ones are at the end.
func widenValues(dst []byte, size int, bits uint8) {
	src, width := dst[len(dst)-size:], int(bits/8)
	for i := range size / width {
		var value int64
		if bits == 32 {
			value = int64(int32(binary.LittleEndian.Uint32(src[4*i:])))
		} else {
			value = int64(binary.LittleEndian.Uint64(src[8*i:]))
		}
		binary.LittleEndian.PutUint64(dst[16*i:], uint64(value))
		binary.LittleEndian.PutUint64(dst[16*i+8:], uint64(value>>63)) // the sign in all bits
	}
}
