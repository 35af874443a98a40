package report

import (
	"math"
	"slices"
	"testing"

	"robotsbatch/io/store/meter"
	"robotsbatch/io/store/must"
)

func TestProgressFits(t *testing.T) {
	known := Progress{Rows: 123_456_789, Denied: 1, Judged: 3, Share: 0.4321, Seconds: 3700, Left: 4871.5, URLsPerSecond: 4_567_890}
	unknown := Progress{Rows: 12, Judged: 12, Share: -1, Seconds: 61, Left: -1}
	for _, test := range []struct {
		p     Progress
		width int
		want  string
	}{
		{known, 80, "123,456,789 rows, 43 % done, 1:21:11 left, 4,567,890 a second, 33.3 % denied"},
		{known, 79, "123,456,789 rows, 43 % done, 1:21:11 left, 4,567,890 a second, 33.3 % denied"},
		{known, 60, "123M rows, 43 %, 1:21:11 left, 4.6M/s, 33 % denied"},
		{known, 40, "123M rows, 43 %, 1:21:11 left, 4.6M/s"},
		{known, 20, "123M rows, 43 %"},
		{known, 3, ""},
		{unknown, 80, "12 rows, 1:01, 0 a second, 0.0 % denied"},
		{unknown, 38, "12 rows, 1:01, 0/s, 0 % denied"},
	} {
		must.Equal(t, test.p.Line(test.width), test.want, test.width, "columns")
	}
	for width := range 120 {
		got := known.Line(width)
		must.Be(t, len(got) <= width, "%d columns: %q has %d", width, got, len(got))
	}
}

func TestStepProgressFits(t *testing.T) {
	captures := StepProgress{meter.Reading{What: "reading captures", Unit: meter.Bytes, Done: 3 << 28, Total: 3 << 30}, 10}
	hosts := StepProgress{meter.Reading{What: "reading rules", Unit: meter.Hosts, Done: 12_345, Total: 20_000}, 61}
	unknown := StepProgress{meter.Reading{What: "reading captures", Unit: meter.Files, Done: 3}, 61}
	for _, test := range []struct {
		p     StepProgress
		width int
		want  string
	}{
		{captures, 80, "reading captures: 768 MiB of 3.0 GiB, 25 % done, 0:30 left, 76.8 MiB a second"},
		{captures, 60, "reading captures: 768 MiB, 25 %, 0:30 left, 76.8 MiB/s"},
		{captures, 20, ""},
		{hosts, 80, "reading rules: 12,345 of 20,000 hosts, 61 % done, 0:37 left, 202 a second"},
		{hosts, 50, "reading rules: 12.3k hosts, 61 %, 0:37 left, 202/s"},
		{unknown, 80, "reading captures: 3 files, 1:01, 0 a second"},
	} {
		must.Equal(t, test.p.Line(test.width), test.want, test.width, "columns")
	}
	want := []any{"step", "reading rules", "hosts", int64(12_345), "total", int64(20_000), "seconds", 61.0, "share", 0.61725}
	got := hosts.Attributes()
	must.Be(t, len(got) == len(want)+2 && slices.Equal(got[:len(want)], want), "%v", got)
}

func TestByteSize(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 B", 1023: "1023 B", 1 << 10: "1.0 KiB", 1<<20 - 1: "1.0 MiB", 5 << 29: "2.5 GiB", 300 << 20: "300 MiB", math.MaxInt64: "8.0 EiB",
	} {
		must.Equal(t, byteSize(n), want, n)
	}
}

func TestShortNumber(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 9999: "9999", 10_000: "10.0k", 99_949: "99.9k", 99_950: "100k", 999_499: "999k", 999_500: "1.0M", 12_345_678: "12.3M", math.MaxInt64: "9.2E",
	} {
		must.Equal(t, shortNumber(n), want, n)
	}
}
