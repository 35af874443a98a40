package tableio

import (
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"robotsbatch/batch"
	"robotsbatch/io/frontier/tableio/tablestest"
	"robotsbatch/io/store/must"
)

// A time is the same moment whatever type the column has.
func TestTimesOfEveryType(t *testing.T) {
	const noon = 1772366400 // 2026-03-01T12:00:00Z
	text := `["2026-03-01T12:00:00Z",null,"20260301120000","x"]`
	wantText := []int64{noon, batch.NoTime, noon, batch.NoTime}
	wantDigits := []int64{noon, batch.NoTime, noon, batch.TooFine}
	digits := fmt.Sprintf(`[%d,null,20260301120000,1772366400000]`, noon)
	tests := []struct {
		dt   arrow.DataType
		json string
		want []int64
	}{
		{&arrow.TimestampType{Unit: arrow.Second}, `["2026-03-01 12:00:00",null]`, []int64{noon, batch.NoTime}},
		{&arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: "UTC"}, `["2026-03-01 12:00:00.999",null]`, []int64{noon, batch.NoTime}},
		{&arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "America/New_York"}, `["2026-03-01 12:00:00",null]`, []int64{noon, batch.NoTime}},
		{&arrow.TimestampType{Unit: arrow.Nanosecond}, `["1969-12-31 23:59:59.5"]`, []int64{-1}},
		{arrow.FixedWidthTypes.Date32, `["2026-03-01",null]`, []int64{noon + 12*60*60 - 1, batch.NoTime}},
		{arrow.FixedWidthTypes.Date64, `["2026-03-01",null]`, []int64{noon + 12*60*60 - 1, batch.NoTime}},
		{arrow.PrimitiveTypes.Int32, `[1772366400,null,0]`, []int64{noon, batch.NoTime, 0}},
		{arrow.PrimitiveTypes.Uint32, `[1772366400,null,0]`, []int64{noon, batch.NoTime, 0}},
		{arrow.PrimitiveTypes.Int64, digits, wantDigits},
		{arrow.PrimitiveTypes.Uint64, digits, wantDigits},
		{arrow.PrimitiveTypes.Float64, `[1772366400,null,1772366400.9,20260301120000,1772366400000,1e300,-0.5]`, []int64{noon, batch.NoTime, noon, noon, batch.TooFine, batch.NoTime, -1}},
		{arrow.BinaryTypes.String, text, wantText},
		{arrow.BinaryTypes.LargeString, text, wantText},
		{arrow.BinaryTypes.StringView, text, wantText},
		{&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}, text, wantText},
		{&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.PrimitiveTypes.Int64}, digits, wantDigits},
		{arrow.Null, `[null,null]`, []int64{batch.NoTime, batch.NoTime}},
	}
	for _, test := range tests {
		t.Run(test.dt.String(), func(t *testing.T) {
			if !holdsTimes(test.dt) {
				t.Fatal("the type holds no times")
			}
			a := tablestest.FromJSON(t, test.dt, test.json)
			checkTimes(t, a, test.want)
			if a.Len() > 1 {
				checkTimes(t, array.NewSlice(a, 1, int64(a.Len())), test.want[1:])
			}
		})
	}
	for _, dt := range []arrow.DataType{arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Float32, arrow.ListOf(arrow.PrimitiveTypes.Int64)} {
		if holdsTimes(dt) {
			t.Errorf("%s holds times", dt)
		}
	}
}

func checkTimes(t *testing.T, a arrow.Array, want []int64) {
	t.Helper()
	got := must.Get(times(a))(t)
	for row := range want {
		must.Equal(t, got[row], want[row], "row", row)
	}
}
