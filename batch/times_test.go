package batch

import (
	"testing"
	"time"

	"robotsbatch/io/store/must"
)

func TestParseSeconds(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).Unix()
	for _, test := range []struct {
		text string
		want int64
	}{
		{"2026-03-01T12:00:00Z", noon},
		{"2026-03-01T14:00:00+02:00", noon},
		{"2026-03-01T12:00:00.999Z", noon},
		{"2026-03-01 12:00:00Z", noon},
		{"2026-03-01 14:00:00+02:00", noon},
		{"2026-03-01 12:00:00", noon},
		{"2026-03-01 12:00:00.5", noon},
		{"2026-03-01T12:00:00", noon},
		{"2026-03-01 12:00:00+00", noon},
		{"2026-03-01 06:00:00.123456-06", noon},
		{"2026-03-01 17:30:00+0530", noon},
		{"2026-03-01T12:00:00.000+0000", noon},
		{"2026-03-01 12:00:00 UTC", noon},
		{"2026-03-01 12:00:00 CET", NoTime},
		{"2026-03-01 12:00:00+", NoTime},
		{" 20260301120000 ", noon},
		{"1772366400", noon},
		{"1772366400.0", noon},
		{"1772366400.75", noon},
		{"1.7723664E9", noon},
		{"20260301120000.0", noon},
		{"20260301.0", noon + 12*60*60 - 1},
		{"1772366400000.0", TooFine},
		{"1e300", NoTime},
		{"1.2.3", NoTime},
		{"NaN", NoTime},
		{"0x1p4", NoTime},
		{".", NoTime},
		{"0", 0},
		{"-1", -1},
		{"2026-03-01", noon + 12*60*60 - 1},
		{"", NoTime},
		{"yesterday", NoTime},
		{"20260230000000", NoTime},
		{"20261301000000", NoTime},
		{"20260301240000", NoTime},
		{"20260301126000", NoTime},
		{"20260301120060", NoTime},
		{"1772366400000", TooFine},
		{"1772366400000000", TooFine},
		{"1772366400000000000", TooFine},
		{"20260301", noon + 12*60*60 - 1},
		{"20260230", 20260230},
		{"18991231", 18991231},
		{"99999999999999999999", NoTime},
		{"2026-02-30", NoTime},
	} {
		must.Equal(t, ParseSeconds([]byte(test.text)), test.want, test.text)
	}
}

// A time that is written as text and read again is the same, in any zone.
func FuzzParseSeconds(f *testing.F) {
	f.Add(int64(1772366400), 0)
	f.Add(int64(-1), 3600)
	f.Fuzz(func(t *testing.T, seconds int64, zone int) {
		if SecondsOf(seconds) != seconds || seconds < firstSecond+24*60*60 || seconds > lastSecond-24*60*60 {
			return
		}
		at := time.Unix(seconds, 0).In(time.FixedZone("", zone%(12*60)*60))
		must.Equal(t, ParseSeconds([]byte(at.Format(time.RFC3339))), seconds, at.Format(time.RFC3339))
		got := ParseSeconds([]byte(at.UTC().Format("20060102150405")))
		must.Be(t, got == seconds || at.Year() < 1000, "%s: %d, want %d", at.UTC().Format("20060102150405"), got, seconds)
	})
}

// A day of 8 digits, and milliseconds, are no time of a capture.
func TestParseTimeOfNumbers(t *testing.T) {
	for _, text := range []string{"20260301", "1772366400000", "x"} {
		at, ok := ParseTime([]byte(text))
		must.Be(t, !ok, "%s is %s", text, at)
	}
	at, ok := ParseTime([]byte("20260301120000"))
	must.Be(t, ok && at.Unix() == 1772366400, "14 digits are %s", at)
	for text, micro := range map[string]int64{
		"1772366400.25": 250_000, "2026-03-01T12:00:00.25Z": 250_000, "1772366400.001": 1000, "2026-03-01T12:00:00.001Z": 1000,
		"1772366400.999999": 999_999, "0.9999999": 999_999 - 1772366400_000_000, // stays in its second
	} {
		at, ok := ParseTime([]byte(text))
		must.Be(t, ok && at.UnixMicro() == 1772366400_000_000+micro && at.Nanosecond()%1000 == 0, "%s is %s", text, at)
	}
}
