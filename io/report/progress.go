package report

import (
	"fmt"
	"strings"

	"robotsbatch/io/store/meter"
)

// Progress is how far the evaluation of rows has come.
type Progress struct {
	Rows int64
	// Denied rows, of those with a verdict of the first agent.
	Denied, Judged int64
	// Share of the inputs that is done, from 0 to 1; negative where it is not known.
	Share float64
	// Seconds since the job began, and those that are left, negative where that is not
	// known.
	Seconds, Left float64
	// URLsPerSecond of this run.
	URLsPerSecond int64
}

// Line returns the progress in at most width columns: with all digits if they fit, else in
// short numbers and as many parts as fit.
func (p *Progress) Line(width int) string {
	var l line
	l.add(Count(p.Rows, "row", "rows"), shortNumber(p.Rows)+" rows")
	l.addTimes(p.Share, p.Left, p.Seconds)
	l.add(Number(p.URLsPerSecond)+" a second", shortNumber(p.URLsPerSecond)+"/s")
	if p.Judged > 0 {
		denied := 100 * float64(p.Denied) / float64(p.Judged)
		l.add(fmt.Sprintf("%.1f %% denied", denied), fmt.Sprintf("%.0f %% denied", denied))
	}
	return l.fit(width)
}

// line is a line of text in parts. short has a shorter text for each part.
type line struct{ parts, short []string }

func (l *line) add(part, short string) {
	l.parts, l.short = append(l.parts, part), append(l.short, short)
}

// addTimes adds the share that is done, and the seconds that are left or else those that passed.
// share and left are negative if they are not known.
func (l *line) addTimes(share, left, passed float64) {
	if share >= 0 {
		percent := fmt.Sprintf("%d %%", int(100*share))
		l.add(percent+" done", percent)
	}
	time := clock(passed)
	if left >= 0 {
		time = clock(left) + " left"
	}
	l.add(time, time)
}

// fit joins all parts. If they take more than width columns, it joins the short texts of as many first
// parts as there is room for; "" if there is none.
func (l *line) fit(width int) string {
	if all := strings.Join(l.parts, ", "); len(all) <= width {
		return all
	}
	for n := len(l.short); n > 0; n-- {
		if some := strings.Join(l.short[:n], ", "); len(some) <= width {
			return some
		}
	}
	return ""
}

// Attributes returns the progress as attributes for slog, without those that are unknown.
func (p *Progress) Attributes() []any {
	attributes := []any{"rows", p.Rows, "denied", p.Denied, "seconds", p.Seconds, "urls_per_second", p.URLsPerSecond}
	return appendTimes(attributes, p.Share, p.Left)
}

// appendTimes appends the share and the seconds left, each unless it is negative, which means
// unknown.
func appendTimes(attributes []any, share, left float64) []any {
	if share >= 0 {
		attributes = append(attributes, "share", share)
	}
	if left >= 0 {
		attributes = append(attributes, "seconds_left", left)
	}
	return attributes
}

// StepProgress is how far a step without rows has come, such as reading captures.
type StepProgress struct {
	meter.Reading
	// Seconds since the step began.
	Seconds float64
}

// shareAndLeft returns the share of the step that is done, from 0 to 1, and the seconds that are left
// at the speed so far; each is negative if it is not known.
func (p *StepProgress) shareAndLeft() (share, left float64) {
	return ShareAndLeft(float64(p.Done), float64(p.Total), float64(p.Done), p.Seconds)
}

// ShareAndLeft returns the share of total that is done, from 0 to 1, and the seconds that are left.
// Each is negative if it is not known. own is the part of done that this run did, in the given
// seconds: the rest is taken to go at its speed.
func ShareAndLeft(done, total, own, seconds float64) (share, left float64) {
	if total <= 0 {
		return -1, -1
	}
	share, left = min(1, done/total), -1
	if own > 0 {
		left = seconds * max(0, total-done) / own
	}
	return share, left
}

// Line returns the progress of the step in at most width columns.
func (p *StepProgress) Line(width int) string {
	number, brief, unit := Number, shortNumber, " "+string(p.Unit)
	if p.Unit == meter.Bytes {
		number, brief, unit = byteSize, byteSize, ""
	}
	of := ""
	if p.Total > 0 {
		of = " of " + number(p.Total)
	}
	var l line
	l.add(p.What+": "+number(p.Done)+of+unit, p.What+": "+brief(p.Done)+unit)
	share, left := p.shareAndLeft()
	l.addTimes(share, left, p.Seconds)
	rate := Rate(p.Done, p.Seconds)
	l.add(number(rate)+" a second", brief(rate)+"/s")
	return l.fit(width)
}

// Attributes returns the progress of the step as attributes for slog.
func (p *StepProgress) Attributes() []any {
	attributes := []any{"step", p.What, string(p.Unit), p.Done}
	if p.Total > 0 {
		attributes = append(attributes, "total", p.Total)
	}
	share, left := p.shareAndLeft()
	return appendTimes(append(attributes, "seconds", p.Seconds), share, left)
}

// byteSize returns a number of bytes with about three digits, such as 12.3 MiB.
func byteSize(n int64) string {
	if n < 1<<10 {
		return fmt.Sprintf("%d B", n)
	}
	return scaled(n, 1<<10, []string{" KiB", " MiB", " GiB", " TiB", " PiB", " EiB"})
}

// shortNumber returns a number with about three digits, such as 12.3M.
func shortNumber(n int64) string {
	if n < 10_000 {
		return fmt.Sprint(n)
	}
	return scaled(n, 1000, []string{"k", "M", "G", "T", "P", "E"})
}

// scaled returns a number with about three digits and the unit that this needs. The first of units
// stands for base, and each for base times the one before.
func scaled(n int64, base float64, units []string) string {
	x := float64(n) / base
	for x >= base-0.5 && len(units) > 1 {
		x, units = x/base, units[1:]
	}
	if x < 99.95 {
		return fmt.Sprintf("%.1f%s", x, units[0])
	}
	return fmt.Sprintf("%.0f%s", x, units[0])
}
