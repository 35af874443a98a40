package cli

import (
	"testing"

	"robotsbatch/io/store/must"
)

func TestSizeOf(t *testing.T) {
	tests := []struct {
		text string
		want int64 // -1: refused
	}{
		{"1", 1},
		{"1B", 1},
		{"3KiB", 3 << 10},
		{"512MiB", 512 << 20},
		{"2GiB", 2 << 30},
		{"1TiB", 1 << 40},
		{"8388607TiB", 8388607 << 40},
		{"8388608TiB", -1},
		{"", -1},
		{"MiB", -1},
		{"-1", -1},
		{"200MB", 200e6},
		{"3kb", 3000},
		{"1mib", 1 << 20},
		{"512M", 512 << 20},
		{"2g", 2 << 30},
		{"7b", 7},
		{"1 GiB", -1},
		{"1iB", -1},
		{"M", -1},
		{"1.5GiB", -1},
		{"0", -1},
	}
	for _, test := range tests {
		got := int64(-1)
		if err := Size(&got, 1)(test.text); (err != nil) != (test.want < 0) || got != test.want {
			t.Errorf("%q: %d, %v; want %d", test.text, got, err, test.want)
		}
	}
	var size int64
	if err := Size(&size, 1<<20)("1023KiB"); err == nil || err.Error() != "want at least 1MiB" {
		t.Errorf("below the least size: %v", err)
	}
}

func TestAllowance(t *testing.T) {
	tests := []struct {
		text          string
		unknown, rows int64
		want          bool
	}{
		{"0", 0, 10, true},
		{"0", 1, 10, false},
		{"5", 5, 10, true},
		{"5", 6, 10, false},
		{"0%", 0, 10, true},
		{"0%", 1, 10, false},
		{"10%", 1, 10, true},
		{"10%", 2, 10, false},
		{"0.5%", 5, 1000, true},
		{"0.5%", 6, 1000, false},
		{"100%", 10, 10, true},
		{"1%", 0, 0, true},
	}
	for _, test := range tests {
		var a Allowance
		must.Do(t, a.Set(test.text))
		must.Equal(t, a.Permits(test.unknown, test.rows), test.want, "-max-invalid", a, "permits", test.unknown, test.rows)
		must.Equal(t, a.String(), test.text, "written")
	}
	must.Be(t, (Allowance{}).Permits(1<<40, 1<<40), "without -max-invalid, rows without a verdict are refused")
	for _, text := range []string{"", "%", "-1", "1.5", "101%", "NaN%", "many"} {
		var a Allowance
		must.Fail(t, a.Set(text), "-max-invalid", text, "taken as", a)
	}
}
