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
	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/io/format"
)

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

// isTableFormat tells whether a format has columns and can be written.
func isTableFormat(f format.Format) bool { return f.Writable() && f != format.Text }

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

// timeOrColumn sets a time, or the column that has one for each row.
func timeOrColumn(t *time.Time, column *string) func(string) error {
	return func(s string) error {
		name, is := strings.CutPrefix(s, "column:")
		switch {
		case !is:
			*column = ""
			if err := cli.Time(t)(s); err != nil {
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
