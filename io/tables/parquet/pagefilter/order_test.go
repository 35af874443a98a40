package pagefilter

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"robotsbatch/io/tables"

	"robotsbatch/io/store/must"
	"robotsbatch/io/tables/parquet/columns"
	"robotsbatch/io/tables/parquet/encoding"
	"robotsbatch/io/tables/parquet/layout"
)

// Bounds are those of the kept values alone, as the column's type is compared.
func TestBounds(t *testing.T) {
	i32 := func(v int32) string { return string(binary.LittleEndian.AppendUint32(nil, uint32(v))) }
	f64 := func(v float64) string {
		return string(binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)))
	}
	long := strings.Repeat("a", 63)
	for _, test := range []struct {
		name      string
		order     columns.Order
		kept      []string
		low, high string
	}{
		{"signed", columns.Signed, []string{i32(3), i32(-5), i32(4)}, i32(-5), i32(4)},
		{"unsigned", columns.Unsigned, []string{i32(3), i32(-5), i32(4)}, i32(3), i32(-5)},
		{"booleans", columns.Unsigned, []string{"\x01", "\x00"}, "\x00", "\x01"},
		{"floating", columns.Floating, []string{f64(math.NaN()), f64(2), f64(-1)}, f64(-1), f64(2)},
		{"zeros", columns.Floating, []string{f64(0)}, f64(math.Copysign(0, -1)), f64(0)},
		{"no number", columns.Floating, []string{f64(math.NaN())}, "", ""},
		{"bytes", columns.ByBytes, []string{"b", "", "\xff", "a"}, "", "\xff"},
		{"signed bytes", columns.SignedBytes, []string{"\x00\x01", "\xff\xfe", "\x00\x00"}, "\xff\xfe", "\x00\x01"},
		{"long", columns.ByBytes, []string{long + "äöü"}, long, strings.Repeat("a", 62) + "b"},
		{"nothing above", columns.ByBytes, []string{strings.Repeat("ö", 40)}, "", ""},
		{"no order", columns.NoOrder, []string{"a"}, "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			var values [][]byte
			for _, v := range append([]string{strings.Repeat("\x00", len(test.kept[0]))}, append(test.kept, strings.Repeat("\x7f", len(test.kept[0])))...) {
				values = append(values, []byte(v))
			}
			var all encoding.Page
			must.Do(t, all.Open(encoding.Body{Type: layout.ByteArray, Values: appendPlain(nil, layout.ByteArray, values), Present: len(values)}))
			b := bounds(test.order, &all, tables.Rows{{Low: 1, High: len(values) - 1}})
			if string(b.Low) != test.low || string(b.High) != test.high {
				t.Errorf("%q to %q, want %q to %q", b.Low, b.High, test.low, test.high)
			}
			if test.name == "long" && !(utf8.Valid(b.Low) && utf8.Valid(b.High)) {
				t.Errorf("%q to %q are no UTF-8", b.Low, b.High)
			}
		})
	}
}
