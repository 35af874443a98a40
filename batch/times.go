package batch

import (
	"bytes"
	"math"
	"strconv"
	"time"
)

const (
	// NoTime stands for no time in Batch.Times.
	NoTime = math.MinInt64
	// TooFine stands for a number there that would be milliseconds or less since 1970.
	TooFine = NoTime + 1
)

// The first and last second of the years that times can have, 1 and 9999; what lies outside is
// no time but a mistake, such as milliseconds that are taken for seconds.
const firstSecond, lastSecond = -62_135_596_800, 253_402_300_799

// layouts are those that databases and writers of csv have besides RFC 3339: +00 is
// PostgreSQL's zone, +0000 Java's, and UTC BigQuery's. Without a zone a time is UTC.
var layouts = func() (layouts []string) {
	for _, zone := range []string{"Z07:00", "", "Z07", "Z0700", " UTC"} {
		layouts = append(layouts, time.DateTime+zone, "2006-01-02T15:04:05"+zone)
	}
	return layouts
}()

// ParseTime reads a time: RFC 3339, also with a blank in place of the T, without a zone, or
// with a zone such as +00, +0000 or UTC; 14 digits such as 20260301120000; or seconds since
// 1970, also as a float. ok is false for anything else, a day included.
func ParseTime(text []byte) (t time.Time, ok bool) {
	text = bytes.TrimSpace(text)
	if n, fraction, ok := parseNumber(text); ok {
		return timeOf(n, fraction)
	}
	if t.UnmarshalText(text) == nil {
		return t, true
	}
	for _, layout := range layouts {
		if t, err := time.Parse(layout, string(text)); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// ParseSeconds reads the time of a row as seconds since 1970: what ParseTime takes, or
// a day, which stands for its end. It returns NoTime for anything else.
func ParseSeconds(text []byte) int64 {
	if n, _, ok := parseNumber(bytes.TrimSpace(text)); ok {
		return SecondsOf(n)
	}
	if t, ok := ParseTime(text); ok {
		return Within(t.Unix())
	}
	if day, err := time.Parse(time.DateOnly, string(bytes.TrimSpace(text))); err == nil {
		return EndOfDay(day.Unix())
	}
	return NoTime
}

// parseNumber parses an integer, or a float such as 1772366400.0 or 1.7723664E9, and returns it rounded
// down, and what was cut off, in [0, 1). ok is false for any other text.
func parseNumber(text []byte) (n int64, fraction float64, ok bool) {
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err == nil {
		return n, 0, true
	}
	if len(bytes.Trim(text, "0123456789.eE+-")) > 0 {
		return 0, 0, false
	}
	x, err := strconv.ParseFloat(string(text), 64)
	return Whole(x), x - math.Floor(x), err == nil
}

// Whole returns a float that stands for a time, rounded down to an integer; NoTime for NaN and
// for what no integer holds.
func Whole(x float64) int64 {
	if !(math.Abs(x) < 1<<63) { // true for NaN
		return NoTime
	}
	return int64(math.Floor(x))
}

// EndOfDay returns the last second of the day that starts at a second; NoTime outside the years
// that times can have.
func EndOfDay(start int64) int64 { return Within(start + 24*60*60 - 1) }

// TimeOf returns the time that a number means, as SecondsOf does, but with its fraction. ok is
// false where SecondsOf returns no time, and for a day.
func TimeOf(x float64) (t time.Time, ok bool) { return timeOf(Whole(x), x-math.Floor(x)) }

// timeOf is TimeOf for n + fraction.
func timeOf(n int64, fraction float64) (t time.Time, ok bool) {
	seconds := SecondsOf(n)
	if _, isDay := dayOf(n); isDay || seconds == NoTime || seconds == TooFine {
		return time.Time{}, false
	}
	// A float64 of our years holds a fraction to the microsecond, and often a bit less than what was
	// written: it is rounded, but not up to the next second.
	return time.Unix(seconds, 1000*int64(min(math.Round(fraction*1e6), 999_999))).UTC(), true
}

// SecondsOf returns the time of a row, in seconds since 1970, that an integer means: 14 digits
// that are a date and a time; 8 digits that are a day from 1900 to 2199, which stands for its
// end; or else seconds since 1970, from the year 1 to 9999. It returns TooFine for numbers that
// would be milliseconds or less since 1970 of years near ours, and NoTime for any other.
func SecondsOf(n int64) int64 {
	if start, isDay := dayOf(n); isDay {
		return EndOfDay(start)
	}
	switch {
	case n >= 1e13 && n < 1e14:
		return secondsOfDigits(n)
	case n >= 1e12 && n < 1e13, n >= 1e15 && n < 1e16, n >= 1e18:
		return TooFine
	}
	return Within(n)
}

// Within returns seconds since 1970, or NoTime outside the years that times can have.
func Within(seconds int64) int64 {
	if seconds < firstSecond || seconds > lastSecond {
		return NoTime
	}
	return seconds
}

// dayOf returns the first second of the day that 8 digits mean, such as 20260301; isDay is false
// for other numbers. As seconds since 1970 these 8 digits would be in August or September 1970, when
// nobody crawled.
func dayOf(n int64) (start int64, isDay bool) {
	const first, end = 1900_01_01, 2200_01_01
	if n < first || n >= end {
		return 0, false
	}
	start = secondsOfDigits(n * 1_000_000)
	return start, start != NoTime
}

// secondsOfDigits returns the time in seconds since 1970 that 14 digits mean, as crawl indexes
// write times; NoTime if a part is out of range.
func secondsOfDigits(n int64) int64 {
	cut := func() int { // cuts off the last two digits
		part := n % 100
		n /= 100
		return int(part)
	}
	second, minute, hour, day, month, year := cut(), cut(), cut(), cut(), cut(), int(n)
	t := time.Date(year, time.Month(month), day, hour, minute, second, 0, time.UTC)
	if second > 59 || minute > 59 || hour > 23 || t.Day() != day || t.Month() != time.Month(month) {
		return NoTime
	}
	return t.Unix()
}

// TimesOf parses each row of a column as ParseSeconds does; a null row is NoTime. The column must be
// valid, see Column.Validate. A run of equal rows is parsed once.
func TimesOf(c *Column) []int64 {
	times := make([]int64, c.Len())
	var last []byte
	seconds := int64(NoTime)
	for row := range times {
		if c.Null(row) {
			times[row] = NoTime
			continue
		}
		if text := c.Value(row); !bytes.Equal(text, last) {
			last, seconds = text, ParseSeconds(text)
		}
		times[row] = seconds
	}
	return times
}
