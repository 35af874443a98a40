//go:build linux

package main

import (
	"fmt"
	"html"
	"math"
	"strings"

	"robotsbatch/bench/figures"

	"robotsbatch/bench/chart"
)

// These are measures of the chart in pixels.
const (
	chartWidth = 760
	chartLeft  = 130 // start of the bars
	chartRight = 560 // end of the scale; the numbers follow
	chartTop   = 72
	tableStep  = 34 // height of a table's name
	barStep    = 26
	barHeight  = 18
)

// drawChart draws the wall times of engines divided by Polars', as bars in SVG, grouped by
// table.
func drawChart(tables []*table) string {
	longest, height := 1.0, chartTop
	for _, t := range tables {
		height += tableStep + barStep*len(t.engines)
		for _, e := range t.engines {
			longest = max(longest, e.runs.Ratio(t.engine(base).runs, figures.Wall))
		}
	}
	scale := math.Ceil(2*longest) / 2
	x := func(ratio float64) float64 { return chartLeft + (chartRight-chartLeft)*ratio/scale }

	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" role="img" aria-labelledby="title">`+"\n", chartWidth, height+34)
	b.WriteString(`<title id="title">Time to evaluate and copy a table by the time that Polars takes to copy it</title>` + "\n" + chart.Style)
	b.WriteString(`<rect class="page" width="100%" height="100%" rx="6"/>
<text class="head" x="16" y="26">Time from file to file</text>
<text class="small" x="16" y="44">robotsbatch decides and copies, the others only copy; by the time of Polars, shorter is faster</text>
`)
	for ratio := 0.0; ratio <= scale; ratio += 0.5 {
		fmt.Fprintf(&b, `<line class="grid" x1="%.1f" y1="%d" x2="%.1[1]f" y2="%[3]d"/>`+"\n", x(ratio), chartTop-8, height)
		fmt.Fprintf(&b, `<text class="small" x="%.1f" y="%d" text-anchor="middle">%g</text>`+"\n", x(ratio), height+18, ratio)
	}
	top := chartTop
	for _, t := range tables {
		fmt.Fprintf(&b, `<text class="small" x="16" y="%d">%s, %s</text>`+"\n", top+20, html.EscapeString(t.name), format(t.file))
		top += tableStep
		for _, e := range t.engines {
			drawBar(&b, t, e, top, x)
			top += barStep
		}
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func drawBar(b *strings.Builder, t *table, e *engine, top int, x func(ratio float64) float64) {
	class := "bar"
	if e.name == robotsbatch {
		class = "bar own"
	}
	ratio := e.runs.Ratio(t.engine(base).runs, figures.Wall)
	fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="end">%s</text>`+"\n", chartLeft-10, top+14, e.name)
	fmt.Fprintf(b, `<rect class="%s" x="%d" y="%d" width="%.1f" height="%d" rx="3"/>`+"\n", class, chartLeft, top, x(ratio)-chartLeft, barHeight)
	fmt.Fprintf(b, `<text x="%.1f" y="%d">%.2f <tspan class="small">(%.2f s)</tspan></text>`+"\n", x(ratio)+8, top+14, ratio, e.runs.Median(figures.Wall))
}
