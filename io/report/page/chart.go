package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Kind is the meaning of a colour.
type Kind uint8

const (
	Plain Kind = iota
	Allowed
	// AllowedUnruled is allowed because there are no rules.
	AllowedUnruled
	Denied
	Unknown
	// Least, Some and Most are steps of one colour, for more and more of the same.
	Least
	Some
	Most
)

var kindClasses = [...]string{"plain", "allowed", "unruled", "denied", "unknown", "least", "some", "most"}

// Bars is a bar for each thing, cut into parts.
type Bars struct {
	// Parts are what the parts of each bar are, for the legend.
	Parts []Series
	Bars  []Bar
}

// Series is what a part of each bar is.
type Series struct {
	Name string
	Kind Kind
}

// Bar is a bar of Bars. All bars are equally long, whatever their parts sum up to.
type Bar struct {
	Name string
	// Values are its parts, not negative.
	Values []float64
	// Text says the same to who cannot see it.
	Text string
}

// write implements Part: the legend, and a bar cut into its parts for each thing.
func (b *Bars) write(w *writer) {
	w.legend(b.used())
	for _, bar := range b.Bars {
		total := 0.0
		for _, value := range bar.Values {
			total += value
		}
		w.line(`<div class="bar"><span>%s</span><svg role="img" aria-label="%s" width="100%%" height="18">`, bar.Name, bar.Name+": "+bar.Text)
		x := 0.0
		for i, value := range bar.Values {
			if total > 0 && value > 0 {
				width := 100 * value / total
				w.line(`<rect class="%s" x="%.3f%%" width="%.3f%%" height="18"/>`, kindClasses[b.Parts[i].Kind], x, width)
				x += width
			}
		}
		w.line("</svg></div>")
	}
}

// used returns the parts that are not 0 in all bars.
func (b *Bars) used() []Series {
	var shown []Series
	for i, part := range b.Parts {
		if slices.ContainsFunc(b.Bars, func(bar Bar) bool { return bar.Values[i] > 0 }) {
			shown = append(shown, part)
		}
	}
	return shown
}

// legend writes the names and colours of parts; nothing for a single one.
func (w *writer) legend(parts []Series) {
	if len(parts) < 2 {
		return
	}
	w.raw(`<p class="legend">`)
	for _, part := range parts {
		w.line(`<span><i class="%s"></i>%s</span>`, kindClasses[part.Kind], part.Name)
	}
	w.raw("</p>\n")
}

// Columns is a column for each of a few classes.
type Columns struct {
	// Title says what is counted.
	Title   string
	Columns []Bar // of one value each
}

// write implements Part. Positions are in percent, so that text keeps its size on a narrow
// screen.
func (c *Columns) write(w *writer) {
	const height, label = 150.0, 18.0
	most := 0.0
	var texts []string
	for _, column := range c.Columns {
		most = max(most, column.Values[0])
		texts = append(texts, column.Name+": "+column.Text)
	}
	if most <= 0 {
		return
	}
	w.line(`<figure><figcaption>%s</figcaption><svg role="img" aria-label="%s" width="100%%" height="%.0f">`, c.Title, c.Title+". "+strings.Join(texts, ", "), height+2*label)
	step := 100 / float64(len(c.Columns))
	for i, column := range c.Columns {
		tall := height * column.Values[0] / most
		left, middle := float64(i)*step, (float64(i)+0.5)*step
		w.line(`<rect class="plain" x="%.3f%%" y="%.1f" width="%.3f%%" height="%.1f"/>`, left+0.1*step, label+height-tall, 0.8*step, tall)
		w.line(`<text x="%.3f%%" y="%.1f">%s</text>`, middle, label+height-tall-4, column.Text)
		w.line(`<text x="%.3f%%" y="%.1f">%s</text>`, middle, height+2*label-4, column.Name)
	}
	w.line("</svg></figure>")
}

// Details is a part that a reader opens.
type Details struct {
	Name string
	Part Part
}

// write implements Part.
func (d *Details) write(w *writer) {
	w.line("<details><summary>%s</summary>", d.Name)
	d.Part.write(w)
	w.line("</details>")
}

// Lines are shares over time, a line each.
type Lines struct {
	// Title says what they are.
	Title string
	// X are the names of the times.
	X []string
	// Lines are at most 6.
	Lines []SeriesLine
	// YText says a share.
	YText func(float64) string
}

// SeriesLine is a line of Lines: a share from 0 to 1 for each time.
type SeriesLine struct {
	Name string
	Y    []float64
}

// write implements Part. The lines are in an SVG of their own, which is stretched to the
// page's width; text is not. Each line's name and last share stand at its end, and the legend
// is in the order of the last shares. A name that would cover another is moved, and a line
// that equals an earlier one is drawn a little higher.
func (l *Lines) write(w *writer) {
	const height, label, plot = 220.0, 18.0, 84.0
	if len(l.X) < 2 {
		return
	}
	most := 0.0
	var texts []string
	order := make([]int, len(l.Lines))
	for i, line := range l.Lines {
		order[i] = i
		most = max(most, slices.Max(line.Y))
		texts = append(texts, fmt.Sprintf("%s from %s to %s", line.Name, l.YText(line.Y[0]), l.YText(line.Y[len(line.Y)-1])))
	}
	if most <= 0 {
		return
	}
	most = niceShare(most)
	last := func(i int) float64 { return l.Lines[i].Y[len(l.X)-1] }
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(last(b), last(a)) })
	w.line("<figure><figcaption>%s</figcaption>", l.Title)
	w.raw(`<p class="legend">`)
	for _, i := range order {
		w.line(`<span><i class="line%d"></i>%s <b>%s</b></span>`, i, l.Lines[i].Name, l.YText(last(i)))
	}
	w.raw("</p>\n")
	w.line(`<svg role="img" aria-label="%s" width="100%%" height="%.0f">`, l.Title+": "+strings.Join(texts, ", "), height+2*label)
	for step := range 5 {
		y := label + height*(1-float64(step)/4)
		w.line(`<line class="grid" x1="0" x2="%.0f%%" y1="%.1f" y2="%.1[2]f"/>`, plot, y)
		if step > 0 { // 0 needs none, and lines near it would cross it
			w.line(`<text class="first" x="0" y="%.1f">%s</text>`, y-4, l.YText(most*float64(step)/4))
		}
	}
	w.line(`<svg y="%.0f" width="%.0f%%" height="%.0f" viewBox="0 0 1000 %.0f" preserveAspectRatio="none">`, label, plot, height, height)
	for i, line := range l.Lines {
		var points strings.Builder
		equal := 0
		for _, before := range l.Lines[:i] {
			if slices.Equal(before.Y, line.Y) {
				equal++
			}
		}
		for x, y := range line.Y {
			fmt.Fprintf(&points, "%.2f,%.2f ", 1000*float64(x)/float64(len(l.X)-1), height*(1-y/most)-3*float64(equal))
		}
		w.line(`<polyline class="line%d" points="%s"/>`, i, points.String())
	}
	w.line("</svg>")
	below := label - 8 // the place of the label before
	for n, i := range order {
		room := 14 * float64(len(order)-n-1)
		y := min(max(label+height*(1-last(i)/most)+4, below+14), label+height+4-room)
		w.line(`<text class="end line%d" x="%.0f%%" y="%.1f">%s %s</text>`, i, plot+1, y, shortName(l.Lines[i].Name), l.YText(last(i)))
		below = y
	}
	w.line(`<text class="first" x="0" y="%.0f">%s</text>`, height+2*label-3, l.X[0])
	if middle := len(l.X) / 2; len(l.X) > 4 {
		w.line(`<text x="%.2f%%" y="%.0f">%s</text>`, plot*float64(middle)/float64(len(l.X)-1), height+2*label-3, l.X[middle])
	}
	w.line(`<text class="last" x="%.0f%%" y="%.0f">%s</text>`, plot, height+2*label-3, l.X[len(l.X)-1])
	w.line("</svg></figure>")
}

// shortName cuts a name so that it fits at the end of a line.
func shortName(name string) string {
	if runes := []rune(name); len(runes) > 16 {
		return string(runes[:15]) + "…"
	}
	return name
}

// niceShare returns the end of a scale up to a share: the least round number that is not below
// it.
func niceShare(most float64) float64 {
	for _, end := range []float64{0.002, 0.004, 0.008, 0.02, 0.04, 0.08, 0.12, 0.2, 0.32, 0.4, 0.6, 0.8} {
		if most <= end {
			return end
		}
	}
	return 1
}
