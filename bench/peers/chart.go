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
	chartWidth  = 960
	chartTop    = 96
	barHeight   = 22
	innerHeight = 8
	barStep     = 34
	// The names end at namesEnd. The numbers stand behind the bars, so the panels end before
	// the next begins.
	namesEnd = 168
)

// panel is a part of the chart with a linear scale from 0 to most.
type panel struct {
	left, width float64
	most        float64
	title       string
	// numbers says that the bars' values stand behind them.
	numbers bool
}

// x is where a time ends, which may be beyond the panel.
func (p *panel) x(nanos float64) float64 { return p.left + p.width*nanos/p.most }

// drawChart draws the runners' times as bars in SVG, the fastest on top: the whole job from
// the URL, and within it a narrow bar for the library alone. Scales are linear, so that a
// bar of twice the length is twice the time. Where that leaves nothing to see of the
// fastest, a second panel shows the first part of the scale enlarged.
func drawChart(runners []runner) string {
	measured := slices.DeleteFunc(slices.Clone(runners), func(r runner) bool { return r.skipped != "" })
	slices.SortStableFunc(measured, func(a, b runner) int { return cmp.Compare(a.median(jobCPU), b.median(jobCPU)) })
	bottom := chartTop + barStep*len(measured)

	var b strings.Builder
	fmt.Fprintf(&b, chartHead, chartWidth, bottom+34)
	for _, p := range panels(measured) {
		p.grid(&b, bottom)
		for i, r := range measured {
			class := "bar"
			if r.name == runners[0].name {
				class = "bar own"
			}
			p.bar(&b, &r, class, chartTop+barStep*i)
		}
	}
	for i, r := range measured {
		language, _, _ := strings.Cut(r.language, " ")
		fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end">%s <tspan class="small">%s</tspan></text>`+"\n",
			namesEnd-8, chartTop+barStep*i+16, html.EscapeString(r.name), html.EscapeString(language))
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// panels returns one for all times, and one of the fastest if these are too short in it.
func panels(measured []runner) []panel {
	fastest, slowest := math.Inf(1), 0.0
	for _, r := range measured {
		fastest = min(fastest, r.median(cpu), r.median(jobCPU))
		slowest = max(slowest, r.median(cpu), r.median(jobCPU))
	}
	all := panel{left: namesEnd, width: 560, most: nice(slowest), title: "all", numbers: true}
	near := nice(20 * fastest)
	if all.most < 4*near {
		return []panel{all}
	}
	all.width = 320
	return []panel{all, {left: 690, width: 240, most: near, title: fmt.Sprintf("the first %s ns, enlarged", number(near))}}
}

// nice is the least of 1, 2 and 5 times a power of ten that is not below x.
func nice(x float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(x)))
	for _, times := range []float64{1, 2, 5} {
		if times*power >= x*0.999999 {
			return times * power
		}
	}
	return 10 * power
}

func (p *panel) grid(b *strings.Builder, bottom int) {
	fmt.Fprintf(b, `<text class="small" x="%.0f" y="%d">%s</text>`+"\n", p.left, chartTop-16, p.title)
	for i := range 5 {
		nanos := p.most * float64(i) / 4
		fmt.Fprintf(b, `<line class="grid" x1="%.1f" y1="%d" x2="%.1[1]f" y2="%[3]d"/>`+"\n", p.x(nanos), chartTop-8, bottom)
		fmt.Fprintf(b, `<text class="small" x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n", p.x(nanos), bottom+18, tick(nanos))
	}
}

// bar draws one runner. One whose library alone takes as long as all has no inner bar. A
// bar that is longer than the panel ends in a gap and a point.
func (p *panel) bar(b *strings.Builder, r *runner, class string, top int) {
	alone, job := r.median(cpu), r.median(jobCPU)
	end := p.x(job)
	cut := job > p.most
	if cut {
		end = p.left + p.width - 8
		fmt.Fprintf(b, `<path class="%s" d="M%.1f,%d l8,%d l-8,%d Z"/>`+"\n", class, end+4, top, barHeight/2, barHeight/2)
	}
	fmt.Fprintf(b, `<rect class="%s" x="%.1f" y="%d" width="%.1f" height="%d"/>`+"\n", class, p.left, top, max(end-p.left, 0.5), barHeight)
	var within []string
	if alone != job {
		fmt.Fprintf(b, `<rect class="alone" x="%.1f" y="%d" width="%.1f" height="%d"/>`+"\n",
			p.left, top+(barHeight-innerHeight)/2, min(p.x(alone), p.left+p.width-8)-p.left, innerHeight)
		within = append(within, number(alone)+" alone")
	}
	if !p.numbers {
		return
	}
	if share := r.parsingShare(); share != "–" {
		within = append(within, share+" parsing")
	}
	text := ""
	if len(within) > 0 {
		text = fmt.Sprintf(` <tspan class="small">(%s)</tspan>`, strings.Join(within, ", "))
	}
	fmt.Fprintf(b, `<text x="%.1f" y="%d">%s%s</text>`+"\n", max(end, p.x(alone))+8, top+16, number(job), text)
}

// chartHead is the start of the chart; width and height are filled in.
const chartHead = `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" role="img" aria-labelledby="title">
<title id="title">Processor time a URL of robots.txt implementations</title>
` + chart.Style + `<rect class="page" width="100%%" height="100%%" rx="6"/>
<text class="head" x="16" y="26">Processor time a URL</text>
<text class="small" x="16" y="44">nanoseconds from the URL to the verdict; shorter is faster</text>
<text class="small" x="16" y="61">narrow: the library alone, given the parsed rules of the host; parsing: it parses the robots.txt for each URL</text>
`

// tick labels a time.
func tick(nanos float64) string {
	if nanos < 10 && nanos != math.Trunc(nanos) {
		return fmt.Sprint(nanos)
	}
	return thousands(int(math.Round(nanos)))
}
