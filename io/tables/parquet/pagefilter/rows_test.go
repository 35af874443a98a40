package pagefilter

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"robotsbatch/io/store/must"
	"robotsbatch/io/tables"
	"robotsbatch/io/tables/parquet/columns"
	"robotsbatch/io/tables/parquet/encoding"
	"robotsbatch/io/tables/parquet/layout"
)

// Rows count and find runs as a list of booleans does.
func TestRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 500 {
		want := make([]bool, rng.IntN(300))
		rows := NewSelection(len(want))
		for range rng.IntN(12) {
			low := rng.IntN(len(want) + 1)
			high := min(len(want), low+rng.IntN([]int{2, 20, 200}[round%3]))
			rows.Keep(low, high)
			for i := low; i < high; i++ {
				want[i] = true
			}
		}
		must.Need(t, rows.Len() == len(want), "%d rows, want %d", rows.Len(), len(want))
		for i := range want {
			must.Need(t, rows.has(i) == want[i], "row %d of %v", i, want)
		}
		for range 20 {
			low := rng.IntN(len(want) + 1)
			high := low + rng.IntN(len(want)-low+1)
			count := 0
			var runs tables.Rows
			for i := low; i < high; i++ {
				if !want[i] {
					continue
				}
				count++
				if n := len(runs); n > 0 && runs[n-1].High == i-low {
					runs[n-1].High++
				} else {
					runs = append(runs, tables.Run{Low: i - low, High: i - low + 1})
				}
			}
			got := rows.Count(low, high)
			must.Need(t, got == count, "%d of %d to %d, want %d", got, low, high, count)
			if got := rows.bits.AppendRuns(nil, low, high, low); !slices.Equal(got, runs) {
				t.Fatalf("%v of %d to %d, want %v", got, low, high, runs)
			}
		}
	}
}

// Bounds are those of the kept values alone, as the column's type is compared.
func TestBounds(t *testing.T) {
	i32 := func(v int32) string { return string(binary.LittleEndian.AppendUint32(nil, uint32(v))) }
	f64 := func(v float64) string { return string(binary.LittleEndian.AppendUint64(nil, math.Float64bits(v))) }
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
			must.Be(t, string(b.Low) == test.low && string(b.High) == test.high, "%q to %q, want %q to %q", b.Low, b.High, test.low, test.high)
			must.Be(t, test.name != "long" || utf8.Valid(b.Low) && utf8.Valid(b.High), "%q to %q are no UTF-8", b.Low, b.High)
		})
	}
}
