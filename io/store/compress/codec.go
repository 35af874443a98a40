package compress

import (
	"bufio"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Codec is a compression, of whole files, of the blocks that tables are made of, or of
// both.
type Codec uint8

const (
	// None is no compression.
	None Codec = iota
	// Gzip is RFC 1952, any number of members.
	Gzip
	// Zstd is RFC 8878, any number of frames.
	Zstd
	// LZ4 is LZ4 in frames. It has no files.
	LZ4
	// Snappy is one block of Snappy. It has no files.
	Snappy
	// LZ4Block is one block of LZ4 without a frame. It has no files.
	LZ4Block
	// Brotli is RFC 7932. It has no files.
	Brotli
)

// codecs describes each compression, once. Formats that name compressions by numbers of
// their own map them to a Codec.
var codecs = [...]struct {
	name string
	// ending is how the names of whole files end.
	ending string
	// begins reports whether the first bytes of a whole file are head; nil if there are no such files.
	begins func(head []byte) bool
	// open returns a reader of the decompressed bytes of a whole file, and write a writer of a file; nil if there are
	// no files. end, unless nil, must be called when the stream is not read any more.
	open  func(r *bufio.Reader, l limits) (stream io.Reader, end func(), err error)
	write func(w io.Writer) (io.WriteCloser, error)
	// add is Append, and fill is Fill.
	add  func(dst, src []byte, level int) []byte
	fill func(dst, src []byte) error
	// most is the most bytes that one compressed byte can decompress to; 0 if nothing limits that.
	most int64
}{
	None: {name: "none", open: openNone, write: writeNone, add: addNone, fill: fillNone, most: 1},
	Gzip: {
		name: "gzip", ending: ".gz", begins: beginsGzip, open: openGzip, add: addTo(gzips), fill: fillGzip, most: 1032,
		write: func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil },
	},
	Zstd: {
		name: "zstd", ending: ".zst", begins: beginsZstd, open: openZstd, add: addZstd, fill: fillZstd, most: 128 << 10 / 3,
		write: func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w, zstd.WithZeroFrames(true)) },
	},
	LZ4:      {name: "lz4", add: addTo(lz4Frames), fill: fillLZ4},
	Snappy:   {name: "snappy", add: addSnappy, fill: fillSnappy, most: 64},
	LZ4Block: {name: "lz4_raw", add: addLZ4Block, fill: fillLZ4Block, most: 255},
	Brotli:   {name: "brotli", add: addTo(brotlis), fill: fillBrotli},
}

// String returns the codec's name, such as "zstd".
func (c Codec) String() string {
	if int(c) < len(codecs) {
		return codecs[c].name
	}
	return "codec(?)"
}

// Ending returns the ending of compressed files' names, such as ".gz"; "" for None and for codecs without files.
func (c Codec) Ending() string { return codecs[c].ending }

// checkFile returns an error for a codec that does not exist, or with which no file is
// compressed as a whole.
func (c Codec) checkFile() error {
	switch {
	case int(c) >= len(codecs):
		return fmt.Errorf("unknown codec %d", c)
	case codecs[c].open == nil:
		return fmt.Errorf("there are no files of %s", c)
	}
	return nil
}

// DetectSize is the number of first bytes that Detect needs; with fewer it may return None for a
// compressed file that is cut off.
const DetectSize = 4

// MaxLayers is the number of layers of compression, one in another, that readers of small bodies undo.
const MaxLayers = 3

// Detect returns the codec of a file by its first bytes.
func Detect(head []byte) Codec {
	for c := range codecs {
		if begins := codecs[c].begins; begins != nil && begins(head) {
			return Codec(c)
		}
	}
	return None
}

// beginsGzip reports whether a file with these first bytes is of gzip.
func beginsGzip(head []byte) bool { return len(head) >= 2 && head[0] == 0x1F && head[1] == 0x8B }

// beginsZstd reports whether a file with these first bytes is of zstd. It may start with a frame or, as the files of
// pzstd do, with a skippable frame.
func beginsZstd(head []byte) bool {
	if len(head) < DetectSize {
		return false
	}
	return head[0] == 0x28 && head[1] == 0xB5 && head[2] == 0x2F && head[3] == 0xFD ||
		head[0]&0xF0 == 0x50 && head[1] == 0x2A && head[2] == 0x4D && head[3] == 0x18
}

// ByName returns the codec that the ending of a file's name stands for (.gz or .zst, in upper or lower case), and the
// name without the ending. Of other names it returns None and the name.
func ByName(name string) (c Codec, plain string) {
	ending := filepath.Ext(name)
	for c := range codecs {
		if e := codecs[c].ending; e != "" && strings.EqualFold(e, ending) {
			return Codec(c), strings.TrimSuffix(name, ending)
		}
	}
	return None, name
}
