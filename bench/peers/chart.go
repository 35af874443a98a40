package main

import (
	"cmp"
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
)

// Measures of the chart, in pixels.
const (
	chartWidth = 760
	chartLeft  = 200 // where the bars start
	chartRight = 640 // where the scale ends; the numbers have the rest
	chartTop   = 62
	barHeight  = 22
	barStep    = 34
)

// chart draws the runners' times as bars on a logarithmic scale, in SVG, the
// fastest on top.
func chart(runners []runner) string {
	measured := slices.DeleteFunc(slices.Clone(runners), func(r runner) bool { return r.skipped != "" })
	slices.SortStableFunc(measured, func(a, b runner) int { return cmp.Compare(a.median(cpu), b.median(cpu)) })
	fastest, slowest := measured[0].median(cpu), measured[len(measured)-1].median(cpu)
	low, high := math.Floor(math.Log10(fastest)), math.Ceil(math.Log10(slowest))
	low, high = min(low, high-1), max(high, low+1)
	if math.Log10(fastest)-low < 0.1 {
		low-- // the shortest bar must be seen
	}
	x := func(nanos float64) float64 {
		return chartLeft + (chartRight-chartLeft)*(math.Log10(nanos)-low)/(high-low)
	}
	bottom := chartTop + barStep*len(measured)

	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" role="img" aria-labelledby="title">
<title id="title">Processor time a URL of robots.txt implementations, logarithmic scale</title>
<style>
text { font: 13px system-ui, sans-serif; fill: #1f2328 }
.head { font-weight: 600; font-size: 15px }
.small { font-size: 12px; fill: #59636e }
.page { fill: #fff }
.grid { stroke: #d1d9e0 }
.bar { fill: #8c959f }
.own { fill: #0969da }
@media (prefers-color-scheme: dark) {
text { fill: #f0f6fc }
.small { fill: #9198a1 }
.page { fill: #0d1117 }
.grid { stroke: #3d444d }
.bar { fill: #656c76 }
.own { fill: #4493f8 }
}
</style>
<rect class="page" width="100%%" height="100%%" rx="6"/>
<text class="head" x="16" y="26">Processor time a URL</text>
<text class="small" x="16" y="44">nanoseconds, logarithmic scale; shorter is faster</text>
`, chartWidth, bottom+34)
	for power := low; power <= high; power++ {
		at := x(math.Pow(10, power))
		fmt.Fprintf(&b, `<line class="grid" x1="%.1f" y1="%d" x2="%.1[1]f" y2="%[3]d"/>`+"\n", at, chartTop-8, bottom)
		fmt.Fprintf(&b, `<text class="small" x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n", at, bottom+18, tick(power))
	}
	for i, r := range measured {
		top, end, class := chartTop+barStep*i, x(r.median(cpu)), "bar"
		if r.name == runners[0].name {
			class = "bar own"
		}
		language, _, _ := strings.Cut(r.language, " ")
		fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end">%s <tspan class="small">%s</tspan></text>`+"\n",
			chartLeft-10, top+16, html.EscapeString(r.name), html.EscapeString(language))
		fmt.Fprintf(&b, `<rect class="%s" x="%d" y="%d" width="%.1f" height="%d" rx="3"/>`+"\n",
			class, chartLeft, top, end-chartLeft, barHeight)
		fmt.Fprintf(&b, `<text x="%.1f" y="%d">%s</text>`+"\n", end+8, top+16, number(r.median(cpu)))
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// tick labels a power of ten.
func tick(power float64) string {
	if power < 0 {
		return fmt.Sprint(math.Pow(10, power))
	}
	return thousands(int(math.Pow(10, power)))
}
