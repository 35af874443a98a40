// Package compress reads and writes gzip and zstd streams.
package compress

import "io"

// Codec is a compression of a whole stream.
type Codec uint8

const (
	None Codec = iota
	Gzip
	Zstd
)

// Detect tells the codec by a stream's first octets.
func Detect(head []byte) Codec { panic("todo") }

// ByName tells the codec by a file name's ending (.gz, .zst) and returns the
// name without it.
func ByName(name string) (Codec, string) { panic("todo") }

// NewReader decompresses r.
func NewReader(r io.Reader, c Codec) (io.ReadCloser, error) { panic("todo") }

// NewWriter compresses into w. Close ends the stream and leaves w open.
func NewWriter(w io.Writer, c Codec) (io.WriteCloser, error) { panic("todo") }
