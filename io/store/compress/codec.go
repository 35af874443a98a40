package compress

import (
	"path/filepath"
	"strings"
)

// Codec is a compression of a whole file.
type Codec uint8

const (
	// None is no compression.
	None Codec = iota
	// Gzip is RFC 1952, any number of members.
	Gzip
	// Zstd is RFC 8878, any number of frames.
	Zstd
)

// String returns "none", "gzip" or "zstd".
func (c Codec) String() string {
	switch c {
	case None:
		return "none"
	case Gzip:
		return "gzip"
	case Zstd:
		return "zstd"
	}
	return "codec(?)"
}

// Ending is how the names of files end that are compressed, such as ".gz".
func (c Codec) Ending() string {
	switch c {
	case Gzip:
		return ".gz"
	case Zstd:
		return ".zst"
	}
	return ""
}

// DetectSize is how many first bytes Detect needs; with fewer it may return None for a
// compressed file that is cut off.
const DetectSize = 4

// Detect returns the codec of a file by its first bytes. A zstd file may start with
// a skippable frame, as those of pzstd do.
func Detect(head []byte) Codec {
	switch {
	case len(head) >= 2 && head[0] == 0x1F && head[1] == 0x8B:
		return Gzip
	case len(head) < DetectSize:
		return None
	case head[0] == 0x28 && head[1] == 0xB5 && head[2] == 0x2F && head[3] == 0xFD,
		head[0]&0xF0 == 0x50 && head[1] == 0x2A && head[2] == 0x4D && head[3] == 0x18:
		return Zstd
	}
	return None
}

// ByName tells the codec by a file name's ending (.gz or .zst, in any case) and
// returns the name without it.
func ByName(name string) (c Codec, plain string) {
	ending := filepath.Ext(name)
	switch strings.ToLower(ending) {
	case ".gz":
		c = Gzip
	case ".zst":
		c = Zstd
	default:
		return None, name
	}
	return c, strings.TrimSuffix(name, ending)
}
