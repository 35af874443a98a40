package report

import (
	"math"
	"testing"
	"time"
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
		if got := test.p.Line(test.width); got != test.want {
			t.Errorf("%d columns: %q, want %q", test.width, got, test.want)
		}
	}
	for width := range 120 {
		if got := known.Line(width); len(got) > width {
			t.Errorf("%d columns: %q has %d", width, got, len(got))
		}
	}
}

func TestShortNumber(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 9999: "9999", 10_000: "10.0k", 99_949: "99.9k", 99_950: "100k", 999_499: "999k", 999_500: "1.0M", 12_345_678: "12.3M", math.MaxInt64: "9.2E",
	} {
		if got := shortNumber(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

func TestExtent(t *testing.T) {
	started := time.Now()
	e := NewExtent([]float64{100, 100, 300, 500}, started)
	at := func(read, share, left float64) {
		t.Helper()
		s, l := e.At(read, started.Add(10*time.Second))
		if math.Abs(s-share) > 1e-9 || math.Abs(l-left) > 1e-9 {
			t.Errorf("%g inputs read: %g done, %g s left, want %g, %g", read, s, l, share, left)
		}
	}
	at(0, 0, -1)
	at(1.5, 0.15, 10*0.85/0.15)
	e.Skip(2)
	at(0, 0.2, -1)
	at(1, 0.5, 10*0.5/0.3)
	e.Next(1)
	at(0.5, 0.75, 10*0.25/0.55)
	at(7, 1, 0)
	e = NewExtent(nil, started)
	e.Next(1)
	at(1, -1, -1)
}
