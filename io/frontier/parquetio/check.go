package parquetio

import (
	"fmt"
	"io"

	"robotsbatch/batch"
	"robotsbatch/io/frontier/tableio"
)

// CheckFile decodes all columns of the Parquet file of size bytes in r, reads their
// indexes, and returns the number of rows. The file needs no URLs. memory is the most bytes of a page decompressed, and
// of a column's values in a run of rows. An error names the place.
func CheckFile(r io.ReaderAt, size, memory int64) (rows int64, err error) {
	defer func() { err = tableio.Worded(err) }()
	s := newSource(readerAt{r}, size, Options{Memory: memory, Keep: batch.KeepAll})
	if err = s.readSchema(); err == nil {
		err = s.readColumns(nil, s.whole.Schema)
	}
	if err != nil {
		return 0, err
	}
	for i := range s.whole.File.Groups {
		g := newRowGroup(s, i)
		for run := range g.runs {
			for _, c := range g.columns {
				values, err := c.Take(run)
				if err != nil {
					return 0, fmt.Errorf("row group %d: %w", i, err)
				}
				values.Release()
			}
		}
		for j := range s.whole.File.Groups[i].Chunks {
			if err := s.whole.File.CheckIndexes(r, &s.whole.File.Groups[i].Chunks[j]); err != nil {
				return 0, fmt.Errorf("row group %d: column %q: %w", i, s.whole.File.Path(j), err)
			}
		}
	}
	return s.whole.File.Rows, nil
}

// readerAt is a File whose Close does nothing.
type readerAt struct{ io.ReaderAt }

func (readerAt) Close() error { return nil }
