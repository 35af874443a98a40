package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Kind is what a colour means: a class of the page's style sheet.
type Kind string

const (
	Allowed Kind = "allowed"
	// AllowedUnruled is allowed because there are no rules.
	AllowedUnruled Kind = "unruled"
	Denied         Kind = "denied"
	Unknown        Kind = "unknown"
	// Least, Some and Most are steps of one colour, for more and more of the same.
	Least Kind = "least"
	Some  Kind = "some"
	Most  Kind = "most"
)

// Bars is a chart with a bar for each thing, such as an agent, cut into parts.
type Bars struct {
	// Parts describe the parts of each bar, for the legend.
	Parts []Series
	Bars  []Bar
}

// Series describes a part of each bar.
type Series struct {
	Name string
	Kind Kind
}

// Bar is a bar of Bars, or a column of Columns. All bars of a chart are equally long, whatever the sum
// of their parts.
type Bar struct {
	Name string
	// Values are its parts, not negative.
	Values []float64
	// Text says the same in words, for screen readers.
	Text string
}

// write implements Part: the legend, and a bar cut into its parts for each thing. Widths are in
// percent.
func (b *Bars) write(w *writer) {
	w.legend(b.used())
	for _, bar := range b.Bars {
		total := 0.0
		for _, value := range bar.Values {
			total += value
		}
		w.line(`<div class="bar"><span>%s</span><svg role="img" aria-label="%s" width="100%%" height="18">`, bar.Name, bar.Name+": "+bar.Text)
		left := 0.0
		for i, value := range bar.Values {
			if total > 0 && value > 0 {
				width := 100 * value / total
				w.line(`<rect class="%s" x="%.3f%%" width="%.3f%%" height="18"/>`, b.Parts[i].Kind, left, width)
				left += width
			}
		}
		w.line("</svg></div>")
	}
}

// used returns the parts that are above 0 in at least one bar.
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
		w.line(`<span><i class="%s"></i>%s</span>`, part.Kind, part.Name)
	}
	w.raw("</p>\n")
}

// Columns is a chart with a column for each of a few classes, such as ages.
type Columns struct {
	// Title says what is counted.
	Title   string
	Columns []Bar // of one value each
}

// textHeight is the height of a line of text in a chart, in pixels. textRise is how far text stands
// above what is below it.
const textHeight, textRise = 18.0, 4.0

// write implements Part; it writes nothing if no value is above 0. From top to bottom, in pixels, come
// a line of texts, the columns and a line of names. Widths are in percent, so that text keeps its size
// on a narrow screen.
func (c *Columns) write(w *writer) {
	const plotHeight = 150.0
	most := 0.0
	var texts []string
	for _, column := range c.Columns {
		most = max(most, column.Values[0])
		texts = append(texts, column.Name+": "+column.Text)
	}
	if most <= 0 {
		return
	}
	bottom := plotHeight + 2*textHeight
	w.line(`<figure><figcaption>%s</figcaption><svg role="img" aria-label="%s" width="100%%" height="%.0f">`, c.Title, c.Title+". "+strings.Join(texts, ", "), bottom)
	slot := 100 / float64(len(c.Columns)) // a column, and a tenth of it on each side
	for i, column := range c.Columns {
		height := plotHeight * column.Values[0] / most
		top := textHeight + plotHeight - height
		left, middle := float64(i)*slot, (float64(i)+0.5)*slot
		w.line(`<rect class="plain" x="%.3f%%" y="%.1f" width="%.3f%%" height="%.1f"/>`, left+0.1*slot, top, 0.8*slot, height)
		w.line(`<text x="%.3f%%" y="%.1f">%s</text>`, middle, top-textRise, column.Text)
		w.line(`<text x="%.3f%%" y="%.1f">%s</text>`, middle, bottom-textRise, column.Name)
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

// Lines is a chart of shares over time, with a line for each thing.
type Lines struct {
	// Title says what they are shares of.
	Title string
	// X are the names of the times.
	X []string
	// Lines are at most 6, for which the style sheet has colours.
	Lines []SeriesLine
	// YText writes a share as text.
	YText func(share float64) string
}

// SeriesLine is a line of Lines: a share from 0 to 1 for each time.
type SeriesLine struct {
	Name string
	Y    []float64
}

// linesHeight is the height of the plot of Lines in pixels, and linesWidth its width in percent. Above
// and below it is a line of text, and to the right are names.
const linesHeight, linesWidth = 220.0, 84.0

// write implements Part; it writes nothing for a single time, or if all shares are 0. The legend begins with
// the line that ends highest.
func (l *Lines) write(w *writer) {
	if len(l.X) < 2 {
		return
	}
	most := 0.0
	var texts []string
	order := make([]int, len(l.Lines)) // indices of the lines, by their last shares
	for i, line := range l.Lines {
		order[i] = i
		most = max(most, slices.Max(line.Y))
		texts = append(texts, fmt.Sprintf("%s from %s to %s", line.Name, l.YText(line.Y[0]), l.YText(l.last(i))))
	}
	if most <= 0 {
		return
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(l.last(b), l.last(a)) })
	w.line("<figure><figcaption>%s</figcaption>", l.Title)
	w.raw(`<p class="legend">`)
	for _, i := range order {
		w.line(`<span><i class="line%d"></i>%s <b>%s</b></span>`, i, l.Lines[i].Name, l.YText(l.last(i)))
	}
	w.raw("</p>\n")
	w.line(`<svg role="img" aria-label="%s" width="100%%" height="%.0f">`, l.Title+": "+strings.Join(texts, ", "), linesHeight+2*textHeight)
	scale := niceShare(most)
	l.writeGrid(w, scale)
	l.writeLines(w, scale)
	l.writeEnds(w, scale, order)
	l.writeTimes(w)
	w.line("</svg></figure>")
}

// last returns the last share of the line with an index.
func (l *Lines) last(line int) float64 { return l.Lines[line].Y[len(l.X)-1] }

// writeGrid writes a horizontal line at 0 and at each quarter of scale, the share at the top of the
// plot.
func (l *Lines) writeGrid(w *writer, scale float64) {
	for quarter := range 5 {
		y := textHeight + linesHeight*(1-float64(quarter)/4)
		w.line(`<line class="grid" x1="0" x2="%.0f%%" y1="%.1f" y2="%.1[2]f"/>`, linesWidth, y)
		if quarter > 0 { // 0 needs no text, and lines near it would cross it
			w.line(`<text class="first" x="0" y="%.1f">%s</text>`, y-textRise, l.YText(scale*float64(quarter)/4))
		}
	}
}

// writeLines writes the lines in an SVG of their own, which is stretched to the plot's width. A line
// that equals earlier ones is drawn a little higher, so that all can be seen.
func (l *Lines) writeLines(w *writer, scale float64) {
	const width, rise = 1000, 3 // of the plot before it is stretched, and of a line above one that it equals
	w.line(`<svg y="%.0f" width="%.0f%%" height="%.0f" viewBox="0 0 %d %.0[3]f" preserveAspectRatio="none">`, textHeight, linesWidth, linesHeight, width)
	for i, line := range l.Lines {
		var points strings.Builder
		equal := 0 // earlier lines
		for _, before := range l.Lines[:i] {
			if slices.Equal(before.Y, line.Y) {
				equal++
			}
		}
		for x, share := range line.Y {
			fmt.Fprintf(&points, "%.2f,%.2f ", width*float64(x)/float64(len(l.X)-1), linesHeight*(1-share/scale)-float64(rise*equal))
		}
		w.line(`<polyline class="line%d" points="%s"/>`, i, points.String())
	}
	w.line("</svg>")
}

// writeEnds writes each line's name and last share at its end. order has the indices of the lines from
// top to bottom. A text that would cover the one above is moved down. One that would leave no room for
// the texts below is moved up.
func (l *Lines) writeEnds(w *writer, scale float64, order []int) {
	const step = 14          // from one to the next, at least
	before := textHeight - 8 // so that the first is below the upper end of the plot
	for n, i := range order {
		lowest := textHeight + linesHeight + textRise - float64(step*(len(order)-n-1)) // room for those below
		y := min(max(textHeight+linesHeight*(1-l.last(i)/scale)+textRise, before+step), lowest)
		w.line(`<text class="end line%d" x="%.0f%%" y="%.1f">%s %s</text>`, i, linesWidth+1, y, shortName(l.Lines[i].Name), l.YText(l.last(i)))
		before = y
	}
}

// writeTimes writes the first and the last time below the plot, and of more than 4 one in the middle.
func (l *Lines) writeTimes(w *writer) {
	const y = linesHeight + 2*textHeight - 3
	w.line(`<text class="first" x="0" y="%.0f">%s</text>`, y, l.X[0])
	if middle := len(l.X) / 2; len(l.X) > 4 {
		w.line(`<text x="%.2f%%" y="%.0f">%s</text>`, linesWidth*float64(middle)/float64(len(l.X)-1), y, l.X[middle])
	}
	w.line(`<text class="last" x="%.0f%%" y="%.0f">%s</text>`, linesWidth, y, l.X[len(l.X)-1])
}

// shortName cuts a name so that it fits at the end of a line.
func shortName(name string) string {
	const most = 16 // characters
	if runes := []rune(name); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return name
}

// niceShare returns the upper end of a scale for shares up to most: the least end that has round
// percentages at its quarters, such as 2, 4, 6 and 8 %.
func niceShare(most float64) float64 {
	for _, end := range []float64{0.002, 0.004, 0.008, 0.02, 0.04, 0.08, 0.12, 0.2, 0.32, 0.4, 0.6, 0.8} {
		if most <= end {
			return end
		}
	}
	return 1
}
