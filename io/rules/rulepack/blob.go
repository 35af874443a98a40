package rulepack

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

const (
	blobHeaderSize = 8
	// maxNotes and maxRecords bound the decompressed notes and records of a body, as
	// multiples of the bytes that count of it. Notes have 16 bytes for a line, in each of
	// the up to eight groups that it is merged into; records have the names of agents twice
	// and the texts of lines once more in statements.
	maxNotes, maxRecords = 64, 8
	// leastCompressed is the fewest bytes that are worth compressing.
	leastCompressed = 128
	// blobWindow is how far back the compression looks.
	blobWindow = 256 << 10
)

// encoder and decoder are shared: EncodeAll and DecodeAll are safe for concurrent use.
var (
	encoder = sync.OnceValue(func() *zstd.Encoder {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(blobWindow), zstd.WithEncoderCRC(false))
		if err != nil {
			panic("" + err.Error())
		}
		return e
	})
	decoder = sync.OnceValue(func() *zstd.Decoder {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecodeAllCapLimit(true))
		if err != nil {
			panic("" + err.Error())
		}
		return d
	})
)

// appendBlob appends a blob of data to dst, and nothing if there is no data.
func appendBlob(dst, data []byte) []byte {
	if len(data) == 0 {
		return dst
	}
	start := len(dst)
	dst = binary.LittleEndian.AppendUint32(dst, 0)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(data)))
	if len(data) >= leastCompressed {
		dst = encoder().EncodeAll(data, dst)
	}
	if len(data) < leastCompressed || len(dst)-start-blobHeaderSize >= len(data) {
		dst = append(dst[:start+blobHeaderSize], data...)
	}
	binary.LittleEndian.PutUint32(dst[start:], checksum(dst[start+4:]))
	return dst
}

// openBlob returns a copy of a blob's data, of at most a number of bytes; bodyRules explains
// why a copy.
func openBlob(blob []byte, most int64) ([]byte, error) {
	if len(blob) == 0 {
		return nil, nil
	}
	if int64(len(blob)) > blobHeaderSize+most {
		return nil, fmt.Errorf("%w: %d bytes, at most %d are possible", ErrDamaged, len(blob), most)
	}
	blob = bytes.Clone(blob)
	if len(blob) <= blobHeaderSize || checksum(blob[4:]) != le32(blob) {
		return nil, fmt.Errorf("%w: checksum", ErrDamaged)
	}
	length, data := le32(blob[4:]), blob[blobHeaderSize:]
	if uint64(length) == uint64(len(data)) {
		return data, nil
	}
	if int64(length) > most {
		return nil, fmt.Errorf("%w: %d bytes, at most %d are possible", ErrDamaged, length, most)
	}
	opened, err := decoder().DecodeAll(data, make([]byte, 0, length))
	if err != nil || len(opened) != int(length) {
		return nil, fmt.Errorf("%w: decompression", ErrDamaged)
	}
	return opened, nil
}
