package arrowipc

import (
	"errors"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"robotsbatch/io/frontier/tableio/tablestest"
	"robotsbatch/io/store/budget"
)

// What a schema says besides its columns counts: it is refused before it is read where
// the memory is too small for it, in a file and in a stream.
func TestSchemaMetadataCounts(t *testing.T) {
	m := arrow.MetadataFrom(map[string]string{"k": strings.Repeat("x", 5<<20)})
	url := tablestest.URLArray(5, false)
	schema := arrow.NewSchema([]arrow.Field{{Name: "url", Type: url.DataType()}}, &m)
	record := tablestest.NewRecord([]string{"url"}, url)
	for _, pipe := range []bool{false, true} {
		for _, stream := range []bool{false, true} {
			data := libraryWrite(t, encoding{stream: stream}, schema, array.NewRecord(schema, record.Columns(), record.NumRows()))
			var large *budget.MemoryError
			if _, err := open(data, pipe, Options{Name: "in", Memory: 12 << 20}); !errors.As(err, &large) || large.Need < 5<<20 || large.Limit != 2<<20 {
				t.Errorf("pipe %v, stream %v: %v", pipe, stream, err)
			}
			src, err := open(data, pipe, Options{Name: "in", Memory: 36 << 20})
			if err != nil {
				t.Fatalf("pipe %v, stream %v: %v", pipe, stream, err)
			}
			_ = src.Close()
		}
	}
}
