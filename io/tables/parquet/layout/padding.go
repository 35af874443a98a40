package layout

import (
	"bytes"
	"encoding/binary"
	"errors"
)

var (
	errFewValues  = errors.New("damaged: its values are not as many as it says")
	errManyValues = errors.New("damaged: it has more than its values")
)

// mostPadding is the most unused bytes that may follow the values of a page.
// fastparquet writes 8.
const mostPadding = 8

// CheckPadding returns an error unless rest, the bytes after the values of a page, is at most mostPadding
// zeros. More could be values of a page whose levels are damaged: DuckDB 2.0 writes some that a null struct
// hides, and readers that do not check give the rows after it other values.
func CheckPadding(rest []byte) error {
	if len(rest) > mostPadding || len(bytes.TrimLeft(rest, "\x00")) > 0 {
		return errManyValues
	}
	return nil
}

// CutPadding returns the first n bytes of a page's values. Fewer bytes, or more than CheckPadding allows after
// them, are an error.
func CutPadding(values []byte, n int) ([]byte, error) {
	if uint(n) > uint(len(values)) { // n may be negative where an int has 32 bits
		return nil, errFewValues
	}
	return values[:n], CheckPadding(values[n:])
}

// NewBooleans reads booleans in the encoding RLE: their hybrid after its length in four bytes.
func NewBooleans(values []byte) (Hybrid, error) {
	if len(values) < 4 {
		return Hybrid{}, errFewValues
	}
	runs, err := CutPadding(values[4:], int(binary.LittleEndian.Uint32(values)))
	return NewHybrid(runs, 1), err
}
