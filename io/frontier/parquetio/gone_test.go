package parquetio

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"

	"robotsbatch/io/frontier/tableio/tablestest"
	"robotsbatch/io/store/must"
)

// No value of a row that is left out is anywhere in the output: not in pages, dictionaries,
// statistics or headers.
func TestPassThroughSelectedGone(t *testing.T) {
	const rows, number = 600, 0x474E4F47
	for name, gone := range map[string]func(row int) bool{
		"every second": func(row int) bool { return row%2 == 1 },
		"one":          func(row int) bool { return row == 17 },
		"the last":     func(row int) bool { return row >= 400 },
		"some":         func(row int) bool { return 100 <= row && row < 130 },
	} {
		for _, distinct := range []int{rows, 20} {
			texts := array.NewStringBuilder(memory.NewGoAllocator())
			numbers := array.NewInt32Builder(memory.NewGoAllocator())
			for row := range rows {
				mark, n := "kept", int32(row%distinct)
				if gone(row) {
					mark, n = "GONE", number
				}
				texts.Append(fmt.Sprintf("%s%d%s", mark, row%distinct, strings.Repeat(" text", row%7)))
				numbers.Append(n)
			}
			record := tablestest.NewRecord([]string{"url", "text", "number"}, tablestest.URLArray(rows, false), texts.NewArray(), numbers.NewArray())
			for _, version := range []parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2} {
				data := libraryWrite(t, compress.Codecs.Uncompressed, version, rows, record)
				out := must.Get(passSelected(0, func(row int64) bool { return !gone(int(row)) }, data))(t)
				for _, mark := range []string{"GONE", string(binary.LittleEndian.AppendUint32(nil, number))} {
					if before, after := bytes.Count(data, []byte(mark)), bytes.Count(out, []byte(mark)); before == 0 || after > 0 {
						t.Errorf("%s of %d values: %q is in the output %d times, and was in the input %d times", name, distinct, mark, after, before)
					}
				}
			}
		}
	}
}
