package cli

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Word is one of the words that a flag takes.
type Word[T any] struct {
	Name  string
	Value T
}

// OneOf sets dst to the value of the word that the flag was given.
func OneOf[T any](dst *T, words ...Word[T]) func(string) error {
	return func(s string) error {
		names := make([]string, len(words))
		for i, w := range words {
			if w.Name == s {
				*dst = w.Value
				return nil
			}
			names[i] = w.Name
		}
		last := len(names) - 1
		return fmt.Errorf("want %s or %s", strings.Join(names[:last], ", "), names[last])
	}
}

// Names are the words, in their order.
func Names[T any](words []Word[T]) (names []string) {
	for _, w := range words {
		names = append(names, w.Name)
	}
	return names
}

// NameOf returns the word for a value; empty if there is none.
func NameOf[T comparable](words []Word[T], value T) string {
	for _, w := range words {
		if w.Value == value {
			return w.Name
		}
	}
	return ""
}

// Append appends a name to dst.
func Append(dst *[]string) func(string) error {
	return func(s string) error {
		if s == "" {
			return errors.New("want a name")
		}
		*dst = append(*dst, s)
		return nil
	}
}

// Count sets dst to a number from 1.
func Count(dst *int) func(string) error {
	return func(s string) error {
		n, err := strconv.ParseInt(s, 10, 32)
		if err != nil || n < 1 {
			return errors.New("want a number from 1")
		}
		*dst = int(n)
		return nil
	}
}

// Rows sets dst to a number of rows, from 1.
func Rows(dst *int64) func(string) error {
	return func(s string) error {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || n < 1 {
			return errors.New("want a number from 1")
		}
		*dst = n
		return nil
	}
}

// sizeUnits are in an order in which no unit is the end of a later one.
var sizeUnits = []Word[int64]{
	{"kib", 1 << 10},
	{"mib", 1 << 20},
	{"gib", 1 << 30},
	{"tib", 1 << 40},
	{"kb", 1e3},
	{"mb", 1e6},
	{"gb", 1e9},
	{"tb", 1e12},
	{"k", 1 << 10},
	{"m", 1 << 20},
	{"g", 1 << 30},
	{"t", 1 << 40},
	{"b", 1},
	{"", 1},
}

// Size sets dst to a number of bytes of at least least: 512MiB or 512M is 512 << 20, and 512MB
// is 512 million. Case does not matter.
func Size(dst *int64, least int64) func(string) error {
	return func(s string) error {
		for _, unit := range sizeUnits {
			digits, ok := strings.CutSuffix(strings.ToLower(s), unit.Name)
			if !ok {
				continue
			}
			n, err := strconv.ParseInt(digits, 10, 64)
			if err != nil || n < 0 || n > math.MaxInt64/unit.Value {
				break
			}
			if n *= unit.Value; n < least {
				return fmt.Errorf("want at least %s", SizeText(least))
			}
			*dst = n
			return nil
		}
		return errors.New("want a whole number with a unit, such as 512MiB (units: B; K, M, G, T or KiB, MiB, GiB, TiB; KB, MB, GB, TB for powers of 1000)")
	}
}

// SizeText is a size as Size takes it.
func SizeText(n int64) string {
	for _, unit := range []Word[int64]{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if n >= unit.Value && n%unit.Value == 0 {
			return fmt.Sprintf("%d%s", n/unit.Value, unit.Name)
		}
	}
	return fmt.Sprintf("%dB", n)
}

// Age sets dst to a time span of at least a second, such as 36h or 7d.
func Age(dst *time.Duration) func(string) error {
	return func(s string) error {
		age, err := time.ParseDuration(s)
		if days, ok := strings.CutSuffix(s, "d"); ok {
			var n int64
			n, err = strconv.ParseInt(days, 10, 64)
			age = 24 * time.Hour * time.Duration(min(n, int64(math.MaxInt64/(24*time.Hour))))
		}
		if err != nil || age < time.Second {
			return errors.New("want a time span of a second or more, such as 36h or 7d (units: s, m, h, d)")
		}
		*dst = age
		return nil
	}
}

// Time sets dst to a time as RFC 3339 defines it, or to the end of a day.
func Time(dst *time.Time) func(string) error {
	return func(s string) error {
		t, err := time.Parse(time.RFC3339, s)
		if err != nil {
			if t, err = time.Parse(time.DateOnly, s); err != nil {
				return fmt.Errorf("want a time such as 2026-03-01T12:00:00Z, or a day such as 2026-03-01, which stands for its end")
			}
			t = t.AddDate(0, 0, 1).Add(-time.Nanosecond)
		}
		*dst = t.UTC()
		return nil
	}
}

// Allowance is how many rows without a verdict are still success: a number, or
// a percentage of all rows.
type Allowance struct {
	value   float64
	percent bool
}

// Unlimited allows any number.
var Unlimited = Allowance{value: math.Inf(1)}

// Set sets it to a number or a percentage.
func (a *Allowance) Set(s string) error {
	digits, percent := strings.CutSuffix(s, "%")
	if percent {
		v, err := strconv.ParseFloat(digits, 64)
		if err != nil || !(v >= 0 && v <= 100) {
			return errors.New("want a percentage from 0% to 100%")
		}
		*a = Allowance{v, true}
		return nil
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 {
		return errors.New("want a number of rows, such as 1000, or a percentage, such as 0.5%")
	}
	*a = Allowance{float64(n), false}
	return nil
}

// Permits tells whether unknown of rows may be without a verdict.
func (a Allowance) Permits(unknown, rows int64) bool {
	if a.percent {
		return float64(unknown)*100 <= a.value*float64(rows)
	}
	return float64(unknown) <= a.value
}

func (a Allowance) String() string {
	text := strconv.FormatFloat(a.value, 'f', -1, 64)
	if a.percent {
		text += "%"
	}
	return text
}

// TimeOrColumn sets a time, or the column that has one for each row.
func TimeOrColumn(t *time.Time, column *string) func(string) error {
	return func(s string) error {
		name, is := strings.CutPrefix(s, "column:")
		switch {
		case !is:
			*column = ""
			if err := Time(t)(s); err != nil {
				return fmt.Errorf("%w; or column:fetch_time for a column of times", err)
			}
			return nil
		case name == "":
			return errors.New("want the name of a column, such as column:fetch_time")
		}
		*t, *column = time.Time{}, name
		return nil
	}
}

// Separator sets dst to what separates the fields of csv.
func Separator(dst *byte) func(string) error {
	return func(s string) error {
		if s == "tab" || s == `\t` {
			s = "\t"
		}
		if len(s) != 1 || s != "\t" && !strings.Contains("!#$%&'()*+,-./:;<=>?@[]^_`{|}~ ", s) {
			return errors.New("want one character such as ; or |, or tab")
		}
		*dst = s[0]
		return nil
	}
}
