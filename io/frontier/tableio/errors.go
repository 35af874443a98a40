package tableio

import (
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow/endian"

	"robotsbatch/batch/option"
	"robotsbatch/io/tables"
)

// Worded adds to an error of the library of tables which options help, if it is or wraps a LimitError. The
// result wraps no LimitError, so that it does not change if Worded is called again.
func Worded(err error) error {
	var limit *tables.LimitError
	if !errors.As(err, &limit) {
		return err
	}
	switch limit.Help {
	case tables.MoreMemory:
		return option.Errorf("%v: raise %s", err, option.Memory)
	case tables.FewerRows:
		return option.Errorf("%v: lower %s", err, option.BatchRows)
	case tables.MoreMemory | tables.FewerRows:
		return option.Errorf("%v: raise %s, or lower %s", err, option.Memory, option.BatchRows)
	case tables.Recode:
		return option.Errorf("%v: use %s", err, option.Compression.With("zstd"))
	case tables.LeaveOut:
		return option.Errorf("%v: leave it out with %s", err, option.Columns.With("url"))
	default: // tables.CopyAll | tables.LeaveOut, of an Arrow column
		return option.Errorf("%v: write Arrow with all rows and columns, or leave it out with %s", err, option.Columns.With("url"))
	}
}

// columnError says which column an error is about.
func columnError(name string, err error) error { return fmt.Errorf("column %q: %w", name, err) }

// checkByteOrder returns an error on big-endian processors. Values are used as they lie in files,
// in little-endian order: such a processor would read and write wrong values without an error.
func checkByteOrder() error {
	if endian.IsBigEndian {
		return errors.New("only text can be read and written on this big-endian processor: Arrow and Parquet are little-endian")
	}
	return nil
}
