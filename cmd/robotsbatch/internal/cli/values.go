package cli

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Word is one of the words that a flag takes.
type Word[T any] struct {
	Name  string
	Value T
}

// Choice is the value of a flag that takes one of some words. Set stores the word that was given, or
// returns an error for another one.
type Choice struct {
	Words []string
	Set   func(string) error
}

// OneOf returns the value of a flag that takes one of words: it sets dst to that word's Value.
func OneOf[T any](dst *T, words ...Word[T]) Choice {
	names := Names(words)
	return Choice{names, func(s string) error {
		at := slices.Index(names, s)
		if at < 0 {
			return fmt.Errorf("want %s", InWords(names, "or"))
		}
		*dst = words[at].Value
		return nil
	}}
}

// InWords joins names by commas, with word, such as "and", before the last. There must be a name.
func InWords(names []string, word string) string {
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " " + word + " " + names[last]
}

// Map returns what of returns for each item, in their order.
func Map[T, R any](items []T, of func(T) R) (all []R) {
	for _, item := range items {
		all = append(all, of(item))
	}
	return all
}

// WordsOf returns words for values, each named by its String method.
func WordsOf[T fmt.Stringer](values ...T) []Word[T] {
	return Map(values, func(value T) Word[T] { return Word[T]{value.String(), value} })
}

// Names returns the names of words, in their order.
func Names[T any](words []Word[T]) []string {
	return Map(words, func(w Word[T]) string { return w.Name })
}

// NameOf returns the word for a value; empty if there is none.
func NameOf[T comparable](words []Word[T], value T) string {
	if at := slices.IndexFunc(words, func(w Word[T]) bool { return w.Value == value }); at >= 0 {
		return words[at].Name
	}
	return ""
}

// Count returns the function for a flag that takes a number from 1: it sets dst.
func Count[T int | int64](dst *T) func(string) error {
	bits := 64
	if _, isInt := any(dst).(*int); isInt { // which has 32 on some machines, and the same most on all
		bits = 32
	}
	return func(s string) error {
		n, err := strconv.ParseInt(s, 10, bits)
		if err != nil || n < 1 {
			return fmt.Errorf("want a number from 1 to %d", uint64(1)<<(bits-1)-1)
		}
		*dst = T(n)
		return nil
	}
}

// sizeForm is a number with a unit, such as 512, 512b, 512k, 512kb or 512kib.
var sizeForm = regexp.MustCompile(`^(\d+)(?:([kmgt])(i?b)?|b?)$`)

// Size returns the function for a flag that takes a number of bytes, at least least: it sets
// dst. 512MiB and 512M are 512 << 20, 512MB is 512 million. Case does not matter.
func Size[T int | int64](dst *T, least T) func(string) error {
	return func(s string) error {
		n, ok := parseSize(s)
		switch size := T(n); {
		case !ok || int64(size) != n:
			return errors.New("want a whole number with a unit, such as 512MiB (units: B; K, M, G, T or KiB, MiB, GiB, TiB; KB, MB, GB, TB for powers of 1000)")
		case size < least:
			return fmt.Errorf("want at least %s", SizeText(int64(least)))
		default:
			*dst = size
			return nil
		}
	}
}

// parseSize parses a number of bytes as Size takes it. ok is false if s is no such number, or a number
// beyond int64.
func parseSize(s string) (n int64, ok bool) {
	form := sizeForm.FindStringSubmatch(strings.ToLower(s))
	if form == nil {
		return 0, false
	}
	n, err := strconv.ParseInt(form[1], 10, 64)
	base := int64(1 << 10)
	if form[3] == "b" {
		base = 1000
	}
	for range strings.Index(" kmgt", form[2]) { // 0 without a unit
		if n > math.MaxInt64/base {
			return 0, false
		}
		n *= base
	}
	return n, err == nil
}

// SizeText returns a number of bytes with its largest whole unit, as Size takes it.
func SizeText(n int64) string {
	units := []string{"B", "KiB", "MiB", "GiB"}
	for n > 0 && n%1024 == 0 && len(units) > 1 {
		n, units = n/1024, units[1:]
	}
	return fmt.Sprintf("%d%s", n, units[0])
}

// Age returns the function for a flag that takes a time span of at least a second, such as 36h
// or 7d: it sets dst.
func Age(dst *time.Duration) func(string) error {
	return func(s string) error {
		age, err := time.ParseDuration(s)
		if days, ok := strings.CutSuffix(s, "d"); ok {
			var n int64
			n, err = strconv.ParseInt(days, 10, 64)
			age = 24 * time.Hour * time.Duration(min(max(n, 0), int64(math.MaxInt64/(24*time.Hour)))) // at most what a Duration holds
		}
		if err != nil || age < time.Second {
			return errors.New("want a time span of a second or more, such as 36h or 7d (units: s, m, h, d)")
		}
		*dst = age
		return nil
	}
}

// Time returns the function for a flag that takes a time as RFC 3339 defines it, or a day,
// which means its end: it sets dst.
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

// Allowance is the most rows without a verdict with which a job still succeeds: a number, or a
// percentage of all rows. The zero value allows any number.
type Allowance struct {
	text    string // as Set took it; empty for any number
	most    float64
	percent bool // most is one
}

// Set parses a number, such as 1000, or a percentage, such as 0.5%.
func (a *Allowance) Set(s string) error {
	digits, percent := strings.CutSuffix(s, "%")
	most, err := strconv.ParseFloat(digits, 64)
	_, notWhole := strconv.ParseUint(digits, 10, 63)
	switch {
	case percent && (err != nil || !(most >= 0 && most <= 100)): // NaN is neither
		return errors.New("want a percentage from 0% to 100%")
	case !percent && notWhole != nil:
		return errors.New("want a number of rows, such as 1000, or a percentage, such as 0.5%")
	}
	*a = Allowance{s, most, percent}
	return nil
}

// Permits reports whether unknown of rows may be without a verdict.
func (a Allowance) Permits(unknown, rows int64) bool {
	if a.percent {
		return float64(unknown)*100 <= a.most*float64(rows)
	}
	return a.text == "" || float64(unknown) <= a.most
}

func (a Allowance) String() string { return a.text }

// TimeOrColumn returns the function for a flag that takes a time, or column:NAME for a column
// with a time for each row: it sets t or column, and clears the other.
func TimeOrColumn(t *time.Time, column *string) func(string) error {
	return func(s string) error {
		name, isColumn := strings.CutPrefix(s, "column:")
		if isColumn && name == "" {
			return errors.New("want the name of a column, such as column:fetch_time")
		}
		*t, *column = time.Time{}, name
		if isColumn {
			return nil
		}
		*column = ""
		if err := Time(t)(s); err != nil {
			return fmt.Errorf("%w; or column:fetch_time for a column of times", err)
		}
		return nil
	}
}

// Separator returns the function for a flag that takes the character between the fields of
// csv: it sets dst.
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
