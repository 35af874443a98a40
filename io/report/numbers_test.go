package report

import "testing"

func TestNumber(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 123456: "123,456", 1234567: "1,234,567"} {
		if got := Number(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
}

func TestClock(t *testing.T) {
	for seconds, want := range map[float64]string{0: "0:00", 9.9: "0:09", 61: "1:01", 3600: "1:00:00", 36061: "10:01:01"} {
		if got := clock(seconds); got != want {
			t.Errorf("%v: %s", seconds, got)
		}
	}
}
