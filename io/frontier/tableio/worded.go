package tableio

import (
	"errors"

	"robotsbatch/batch/option"
	"robotsbatch/io/tables"
)

// Worded adds to an error of the library of tables which options would help. The result wraps
// no LimitError, so that it is not worded twice.
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
