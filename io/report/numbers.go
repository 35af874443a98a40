package report

import (
	"fmt"
	"strings"
	"time"
)

// Clock is a duration as minutes and seconds, with hours where there are any.
func Clock(seconds float64) string {
	s := int64(seconds)
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

// Rate is rows a second.
func Rate(rows int64, seconds float64) int64 {
	if seconds <= 0 {
		return 0
	}
	return int64(float64(rows) / seconds)
}

// Number is a number with commas between its thousands.
func Number(n int64) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// Count is a number of things, such as "1 row" and "2,000 rows".
func Count(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Number(n) + " " + many
}

// Age is a time span without units that are zero, such as "36h".
func Age(d time.Duration) string {
	text := d.String()
	for _, none := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, none) {
			text = text[:len(text)-2]
		}
	}
	return text
}
