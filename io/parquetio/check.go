package parquetio

import (
	"fmt"
	"io"

	"github.com/apache/arrow/go/v15/parquet/compress"
)

// CheckPages compares the checksums of all pages in the size octets of r with
// what they are of. It is for who reads with the library, which does not, a
// table that is no input. A column of a row group may take memory octets as it
// lies there. An error names the place.
func CheckPages(r io.ReaderAt, size, memory int64) error {
	meta, end, err := readFooter(r, size, memory)
	if err == nil {
		err = checkRowGroups(meta, end)
	}
	if err != nil {
		return fmt.Errorf("parquetio: %w", err)
	}
	for group := range meta.RowGroups {
		for column := range meta.RowGroups[group].Columns {
			start, length := chunkRange(meta, group, column)
			if length > memory {
				return fmt.Errorf("parquetio: row group %d: column %d has %d octets", group, column, length)
			}
			data := make([]byte, length)
			err := readAt(r, data, start)
			if err == nil {
				codec := compress.Compression(meta.RowGroups[group].Columns[column].MetaData.Codec)
				_, err = newPlainChunk(data, codec, memory)
			}
			if err != nil {
				return fmt.Errorf("parquetio: row group %d: column %d: %w", group, column, err)
			}
		}
	}
	return nil
}
