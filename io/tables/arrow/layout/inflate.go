package layout

import (
	"encoding/binary"
	"errors"
	"fmt"

	"robotsbatch/io/store/compress"
)

// PrefixSize is the length of the prefix of each compressed buffer: the decompressed
// size as a signed integer, or -1 if the buffer is not compressed.
const PrefixSize = 8

// ErrShort is returned for a buffer with fewer bytes than its values take.
var ErrShort = errors.New("damaged: a buffer is too short")

// storedPrefix is -1 without a sign.
const storedPrefix = 1<<64 - 1

// IsStored reports whether a buffer of a compressed body is not compressed itself. It must have its prefix.
func IsStored(buffer []byte) bool { return binary.LittleEndian.Uint64(buffer) == storedPrefix }

// UncompressedSize returns the decompressed size of a buffer of a compressed body, by its prefix.
func UncompressedSize(buffer []byte) (int64, error) {
	if len(buffer) < PrefixSize {
		return 0, errors.New("damaged: a compressed buffer without its size")
	}
	if IsStored(buffer) {
		return int64(len(buffer)) - PrefixSize, nil
	}
	size := int64(binary.LittleEndian.Uint64(buffer))
	if size < 0 {
		return 0, fmt.Errorf("damaged: a compressed buffer of %d bytes", size)
	}
	return size, nil
}

// Inflation decompresses the buffers of a body and widens its decimals. The Arrow library's
// own decompression allocates whatever a frame's header asks for, and stops before the checksum
// at the frame's end. Goroutines may work on several buffers at once.
type Inflation struct {
	from  *BatchMeta // of body
	body  []byte
	Plain *BatchMeta // of Out
	Out   []byte     // the new body, whose buffers Buffer fills
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

// Buffer inflates buffer i.
func (n *Inflation) Buffer(i int) error {
	s, to := n.from.Buffers[i], n.Plain.Buffers[i]
	if s.Length == 0 {
		return nil
	}
	dst := n.Out[to.Offset : to.Offset+to.Length]
	size := to.Length / n.from.widened(i)
	// Narrow decimals come to the end of their room, from which widenValues spreads them.
	if err := Decompress(dst[to.Length-size:], n.body[s.Offset:s.Offset+s.Length], n.from.Codec); err != nil {
		return fmt.Errorf("buffer %d does not decompress: %w", i, err)
	}
	if to.Length > size {
		widenValues(dst, int(size), n.from.Narrow[i])
	}
	return nil
}

// Inflate returns a body decompressed and widened, with its metadata. Both are b and body if nothing is to be
// done. total is as in NewInflation.
func Inflate(b *BatchMeta, body []byte, total int64) (*BatchMeta, []byte, error) {
	if !b.Packed() {
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

// Packed reports whether an [Inflation] has anything to do: buffers are compressed, or decimals narrow.
func (b *BatchMeta) Packed() bool { return b.Codec != CodecNone || b.Narrow != nil }

// Decompress fills dst with the decompressed bytes of a buffer, which must be as many. The buffer begins with
// its prefix, unless codec is CodecNone.
func Decompress(dst, buffer []byte, codec int8) error {
	if codec == CodecNone {
		copy(dst, buffer)
		return nil
	}
	src := buffer[PrefixSize:]
	if IsStored(buffer) {
		copy(dst, src)
		return nil
	}
	return compress.Fill(dst, src, Codecs[codec])
}
