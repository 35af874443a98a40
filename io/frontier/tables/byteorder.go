package tables

import (
	"errors"

	"github.com/apache/arrow/go/v15/arrow/endian"
)

// errByteOrder is checkByteOrder's error.
var errByteOrder = errors.New("Arrow and Parquet are read and written only on little-endian processors: use text here")

// checkByteOrder returns an error on big-endian processors. Values are used as they lie in a
// file, and files are little-endian: others would be read, not refused.
func checkByteOrder() error {
	if endian.IsBigEndian {
		return errByteOrder
	}
	return nil
}
