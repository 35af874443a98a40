package rulepack

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"

	"robotsbatch/io/store/compress"
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

// encoder is shared: EncodeAll is safe for concurrent use.
var encoder = sync.OnceValue(func() *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(blobWindow), zstd.WithEncoderCRC(false))
	if err != nil {
		panic(err) // the options are constants
	}
	return e
})

// appendBlob appends data to dst as a blob: a checksum, the length of data, and data itself,
// compressed with zstd if that makes it smaller. If data is empty, it appends nothing.
func appendBlob(dst, data []byte) []byte {
	if len(data) == 0 {
		return dst
	}
	start := len(dst)
	dst = append32(dst, 0, uint32(len(data))) // the checksum is set below
	if len(data) >= leastCompressed {
		dst = encoder().EncodeAll(data, dst)
	}
	if len(data) < leastCompressed || len(dst)-start-blobHeaderSize >= len(data) {
		dst = append(dst[:start+blobHeaderSize], data...)
	}
	binary.LittleEndian.PutUint32(dst[start:], checksum(dst[start+4:]))
	return dst
}

// openBlob checks a blob that appendBlob made, and returns its data, decompressed, in memory of its
// own. An empty blob has no data. It is an error if the data is longer than most bytes.
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
		return data, nil // not compressed
	}
	if int64(length) > most {
		return nil, fmt.Errorf("%w: %d bytes, at most %d are possible", ErrDamaged, length, most)
	}
	opened := make([]byte, length)
	if compress.Fill(opened, data, compress.Zstd) != nil {
		return nil, fmt.Errorf("%w: decompression", ErrDamaged)
	}
	return opened, nil
}
