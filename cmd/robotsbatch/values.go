package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"robotsbatch/batch"
	"robotsbatch/io/format"
)

// word is one of the words that a flag takes.
type word[T any] struct {
	name  string
	value T
}

// oneOf sets dst to the value of the word that the flag was given.
func oneOf[T any](dst *T, words ...word[T]) func(string) error {
	return func(s string) error {
		names := make([]string, len(words))
		for i, w := range words {
			if w.name == s {
				*dst = w.value
				return nil
			}
			names[i] = w.name
		}
		last := len(names) - 1
		return fmt.Errorf("want %s or %s", strings.Join(names[:last], ", "), names[last])
	}
}

// formatOf sets dst to a format that available says yes to.
func formatOf(dst *format.Format, available func(format.Format) bool) func(string) error {
	return func(s string) error {
		f, err := format.Parse(s)
		if err == nil && available(f) {
			*dst = f
			return nil
		}
		names := formatNames(available)
		if err == nil {
			return fmt.Errorf("not available in this version, which has %s", strings.Join(names, ", "))
		}
		return fmt.Errorf("want one of %s", strings.Join(names, ", "))
	}
}

// formatNames are the names of the formats that available says yes to.
func formatNames(available func(format.Format) bool) []string {
	var names []string
	for f := format.Arrow; f <= format.CDX; f++ {
		if available(f) {
			names = append(names, f.String())
		}
	}
	slices.Sort(names)
	return names
}

func appendTo(dst *[]string) func(string) error {
	return func(s string) error {
		if s == "" {
			return errors.New("want a name")
		}
		*dst = append(*dst, s)
		return nil
	}
}

// countOf sets dst to a number from 1.
func countOf(dst *int) func(string) error {
	return func(s string) error {
		n, err := strconv.ParseInt(s, 10, 32)
		if err != nil || n < 1 {
			return errors.New("want a number from 1")
		}
		*dst = int(n)
		return nil
	}
}

var sizeUnits = []word[int64]{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}, {"B", 1}, {"", 1},
}

// sizeOf sets dst to a number of octets, such as 512MiB, of at least least.
func sizeOf(dst *int64, least int64) func(string) error {
	return func(s string) error {
		for _, unit := range sizeUnits {
			digits, ok := strings.CutSuffix(s, unit.name)
			if !ok {
				continue
			}
			n, err := strconv.ParseInt(digits, 10, 64)
			if err != nil || n < 0 || n > math.MaxInt64/unit.value {
				break
			}
			if n *= unit.value; n < least {
				return fmt.Errorf("want at least %s", sizeText(least))
			}
			*dst = n
			return nil
		}
		return errors.New("want a size such as 512MiB (units: B, KiB, MiB, GiB, TiB)")
	}
}

func sizeText(n int64) string {
	for _, unit := range []word[int64]{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if n >= unit.value && n%unit.value == 0 {
			return fmt.Sprintf("%d%s", n/unit.value, unit.name)
		}
	}
	return fmt.Sprintf("%dB", n)
}

// allowance is how many rows without a verdict are still success: a number, or
// a percentage of all rows.
type allowance struct {
	value   float64
	percent bool
}

var unlimited = allowance{value: math.Inf(1)}

func (a *allowance) set(s string) error {
	digits, percent := strings.CutSuffix(s, "%")
	if percent {
		v, err := strconv.ParseFloat(digits, 64)
		if err != nil || !(v >= 0 && v <= 100) {
			return errors.New("want a percentage from 0% to 100%")
		}
		*a = allowance{v, true}
		return nil
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 {
		return errors.New("want a number of rows, such as 1000, or a percentage, such as 0.5%")
	}
	*a = allowance{float64(n), false}
	return nil
}

// permits tells whether unknown of rows may be without a verdict.
func (a allowance) permits(unknown, rows int64) bool {
	if a.percent {
		return float64(unknown)*100 <= a.value*float64(rows)
	}
	return float64(unknown) <= a.value
}

func (a allowance) String() string {
	text := strconv.FormatFloat(a.value, 'f', -1, 64)
	if a.percent {
		text += "%"
	}
	return text
}

// columnsOf adds columns of facts, by commas, each once.
func columnsOf(dst *[]batch.ColumnKind) func(string) error {
	return func(s string) error {
		for _, name := range strings.Split(s, ",") {
			kind, err := batch.ParseWith(name)
			if err != nil {
				return err
			}
			if !slices.Contains(*dst, kind) {
				*dst = append(*dst, kind)
			}
		}
		return nil
	}
}

// ageOf sets dst to a time span of at least a second, such as 36h or 7d.
func ageOf(dst *time.Duration) func(string) error {
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

// separatorOf sets dst to what separates the fields of csv.
func separatorOf(dst *byte) func(string) error {
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

// timeOf sets dst to a time as RFC 3339 has it, or to the end of a day.
func timeOf(dst *time.Time) func(string) error {
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
