package tableio

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"robotsbatch/batch"
)

// Tables are refused, not misread, where numbers in memory are not those in files.
func TestByteOrder(t *testing.T) {
	little := binary.NativeEndian.Uint16([]byte{1, 0}) == 1
	schema := arrow.NewSchema([]arrow.Field{{Name: "url", Type: arrow.BinaryTypes.String}}, nil)
	_, in := Locate(schema, "", batch.KeepAll)
	_, out := NewOutput(batch.Layout{URLColumn: "url"}, nil, memory.NewGoAllocator())
	for _, err := range []error{in, out} {
		if little != (err == nil) || !little && !errors.Is(err, errByteOrder) {
			t.Errorf("little-endian %v: %v", little, err)
		}
	}
}
