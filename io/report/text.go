package report

import (
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"robotsbatch/batch"
	"robotsbatch/io/store/blob"
)

// clock returns seconds as M:SS or, from an hour on, as H:MM:SS.
func clock(seconds float64) string {
	s := int64(seconds)
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

// Rate returns rows per second.
func Rate(rows int64, seconds float64) int64 {
	if seconds <= 0 {
		return 0
	}
	return int64(float64(rows) / seconds)
}

// Number returns a number with commas between its thousands.
func Number(n int64) string { return grouped(fmt.Sprint(n)) }

// grouped puts commas between the thousands of an integer.
func grouped(digits string) string {
	sign, digits := strings.HasPrefix(digits, "-"), strings.TrimPrefix(digits, "-")
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	if sign {
		return "-" + digits
	}
	return digits
}

// sumText returns a sum for people: an integer with commas, another number with up to six
// digits after the point.
func sumText(s *batch.Sum) string {
	if digits, ok := s.Integer(); ok {
		return grouped(digits)
	}
	x := s.Float()
	switch {
	case math.IsInf(x, 0):
		return "more than a 64-bit float holds"
	case math.Abs(x) >= 1e21 || x != 0 && math.Abs(x) < 1e-6:
		return strconv.FormatFloat(x, 'g', 6, 64)
	}
	whole, fraction, _ := strings.Cut(strconv.FormatFloat(x, 'f', 6, 64), ".")
	if fraction = strings.TrimRight(fraction, "0"); fraction != "" {
		fraction = "." + fraction
	}
	return grouped(whole) + fraction
}

// Count returns a number of things, such as "1 row" and "2,000 rows".
func Count(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Number(n) + " " + many
}

// counted has the arguments of Count.
type counted struct {
	n         int64
	one, many string
}

// countTexts returns the text of Count for each number that is not 0.
func countTexts(all []counted) (texts []string) {
	for _, c := range all {
		if c.n > 0 {
			texts = append(texts, Count(c.n, c.one, c.many))
		}
	}
	return texts
}

// Age returns a time span for people without units that are zero, such as "36h"; from two days
// on in days, such as "155.8 days".
func Age(d time.Duration) string {
	const day = 24 * time.Hour
	if d > 2*day {
		return strings.TrimSuffix(strconv.FormatFloat(d.Hours()/24, 'f', 1, 64), ".0") + " days"
	}
	text := d.String()
	for _, zero := range []string{"m0s", "h0m"} { // with the unit before, so that 10s stays
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-len("0s")]
		}
	}
	return text
}

// FileNames returns a few names of files for people, without their folders. Objects keep their
// names.
func FileNames(names []string) string {
	const most = 5
	var short []string
	for _, name := range names[:min(len(names), most)] {
		if name = blob.Shown(name); !strings.Contains(name, "://") {
			name = filepath.Base(name)
		}
		short = append(short, Printable(name))
	}
	text := strings.Join(short, ", ")
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %s more", Number(int64(more)))
	}
	return text
}

// Printable returns s with characters that a terminal might obey as %XX: control characters,
// those that change the direction of text, and bytes that are not UTF-8.
func Printable(s string) string {
	harmless := func(r rune) bool { return !unicode.IsControl(r) && !unicode.Is(unicode.Bidi_Control, r) }
	if utf8.ValidString(s) && strings.IndexFunc(s, func(r rune) bool { return !harmless(r) }) < 0 {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		if harmless(r) && (r != utf8.RuneError || size > 1) {
			b.WriteString(s[:size])
		} else {
			for _, c := range []byte(s[:size]) {
				fmt.Fprintf(&b, "%%%02X", c)
			}
		}
		s = s[size:]
	}
	return b.String()
}
