package main

import (
	"cmp"
	"fmt"
	"html"
	"math"
	"slices"
	"strings"

	"robotsbatch/bench/chart"
)

// These are measures of the chart in pixels.
const (
	chartWidth  = 760
	chartLeft   = 200 // start of the bars
	chartRight  = 560 // end of the scale; the numbers follow
	chartTop    = 82
	barHeight   = 22
	innerHeight = 8
	barStep     = 34
)

// drawChart draws the runners' times as bars in SVG, on a logarithmic scale, the fastest on
// top: the whole job from the URL, and within it a narrow bar for the library alone.
func drawChart(runners []runner) string {
	measured := slices.DeleteFunc(slices.Clone(runners), func(r runner) bool { return r.skipped != "" })
	slices.SortStableFunc(measured, func(a, b runner) int { return cmp.Compare(a.median(jobCPU), b.median(jobCPU)) })
	low, high := scale(measured)
	x := func(nanos float64) float64 {
		return chartLeft + (chartRight-chartLeft)*(math.Log10(nanos)-low)/(high-low)
	}
	bottom := chartTop + barStep*len(measured)

	var b strings.Builder
	fmt.Fprintf(&b, chartHead, chartWidth, bottom+34)
	for power := low; power <= high; power++ {
		at := x(math.Pow(10, power))
		fmt.Fprintf(&b, `<line class="grid" x1="%.1f" y1="%d" x2="%.1[1]f" y2="%[3]d"/>`+"\n", at, chartTop-8, bottom)
		fmt.Fprintf(&b, `<text class="small" x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n", at, bottom+18, tick(power))
	}
	for i, r := range measured {
		class := "bar"
		if r.name == runners[0].name {
			class = "bar own"
		}
		drawBar(&b, &r, class, chartTop+barStep*i, x)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// scale returns the range of the chart in powers of ten.
func scale(measured []runner) (low, high float64) {
	var times []float64
	for _, r := range measured {
		times = append(times, r.median(cpu), r.median(jobCPU))
	}
	fastest, slowest := math.Log10(slices.Min(times)), math.Log10(slices.Max(times))
	low, high = math.Floor(fastest), math.Ceil(slowest)
	low, high = min(low, high-1), max(high, low+1)
	if fastest-low < 0.1 {
		low-- // so that the shortest bar is visible
	}
	return low, high
}

// drawBar draws one runner. A runner with a single time has no inner bar.
func drawBar(b *strings.Builder, r *runner, class string, top int, x func(nanos float64) float64) {
	alone, job := r.median(cpu), r.median(jobCPU)
	language, _, _ := strings.Cut(r.language, " ")
	fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="end">%s <tspan class="small">%s</tspan></text>`+"\n",
		chartLeft-10, top+16, html.EscapeString(r.name), html.EscapeString(language))
	fmt.Fprintf(b, `<rect class="%s" x="%d" y="%d" width="%.1f" height="%d" rx="3"/>`+"\n",
		class, chartLeft, top, x(job)-chartLeft, barHeight)
	within, end := "", x(job)
	if alone != job {
		fmt.Fprintf(b, `<rect class="alone" x="%d" y="%d" width="%.1f" height="%d" rx="2"/>`+"\n",
			chartLeft, top+(barHeight-innerHeight)/2, x(alone)-chartLeft, innerHeight)
		within = fmt.Sprintf(` <tspan class="small">(%s alone)</tspan>`, number(alone))
		end = max(end, x(alone)) // the job may be faster if it calls a cheaper function
	}
	fmt.Fprintf(b, `<text x="%.1f" y="%d">%s%s</text>`+"\n", end+8, top+16, number(job), within)
}

// chartHead is the start of the chart; width and height are filled in.
const chartHead = `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" role="img" aria-labelledby="title">
<title id="title">Processor time a URL of robots.txt implementations, logarithmic scale</title>
` + chart.Style + `<rect class="page" width="100%%" height="100%%" rx="6"/>
<text class="head" x="16" y="26">Processor time a URL</text>
<text class="small" x="16" y="44">nanoseconds from the URL to the verdict, logarithmic scale; shorter is faster</text>
<text class="small" x="16" y="61">narrow: the library alone, given the parsed rules of the host</text>
`

// tick labels a power of ten.
func tick(power float64) string {
	if power < 0 {
		return fmt.Sprint(math.Pow(10, power))
	}
	return thousands(int(math.Pow(10, power)))
}
