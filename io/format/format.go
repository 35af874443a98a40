// Package format tells which format an input has, by its first octets and then
// by its name, and which an output has, by its name.
package format

import "robotsbatch/io/compress"

// Format is a data format.
type Format uint8

const (
	Unknown Format = iota
	Arrow          // Arrow IPC file
	ArrowS         // Arrow IPC stream
	Parquet
	Text
	CSV
	TSV
	JSONL
	CDXJ
	WARC
	RulePack
)

// HeadSize is how many first octets Detect wants.
const HeadSize = 4096

// Detect tells the format of an input from its first octets, after
// decompression, and its name (without compression suffix; may be empty).
func Detect(head []byte, name string) Format { panic("todo") }

// Parse reads a format's name as -in-format and -out-format take it.
func Parse(name string) (Format, error) { panic("todo") }

// ByName tells format and compression of an output by its name.
func ByName(name string) (Format, compress.Codec) { panic("todo") }
