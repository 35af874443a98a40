package tableio

import (
	"errors"

	"github.com/apache/arrow/go/v15/arrow/endian"
)

// checkByteOrder returns an error on big-endian processors. Values are used as they lie in a file,
// in little-endian order: such a processor would read and write wrong ones without an error.
func checkByteOrder() error {
	if endian.IsBigEndian {
		return errors.New("only text can be read and written on this big-endian processor: Arrow and Parquet are little-endian")
	}
	return nil
}
