package figures

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// Chart is a bar chart in SVG, which follows the reader's choice of light or dark.
type Chart struct {
	Title  string
	About  []string // small lines below the title
	Panels []Panel  // one below the other
}

// Panel is a part of a chart with a linear scale from 0 to Most.
type Panel struct {
	Title string
	Most  float64
	Bars  []Bar
}

// Bar is a bar with a name before it and a value after it.
type Bar struct {
	Name, Note string
	Value      float64
	Inner      float64 // the length of a narrow bar within it; 0 for none
	Text, More string  // the value, and what is said of it in small letters
	Own        bool    // this project's
}

// These are measures in pixels.
const (
	chartWidth  = 840
	chartLeft   = 190 // start of the bars
	chartRight  = 560 // end of the scale
	titleHeight = 34
	axisHeight  = 34
	barStep     = 30
	barHeight   = 20
	innerHeight = 8
)

// Nice is the least of 1, 2 and 5 times a power of ten that is not below x.
func Nice(x float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(x)))
	for _, times := range []float64{1, 2, 5} {
		if times*power >= x*0.999999 {
			return times * power
		}
	}
	return 10 * power
}

// SVG draws the chart. A bar that is longer than its panel ends in a gap and a point.
func (c *Chart) SVG() string {
	var b strings.Builder
	top := 30 + 17*len(c.About)
	for i, line := range c.About {
		fmt.Fprintf(&b, `<text class="small" x="16" y="%d">%s</text>`+"\n", 44+17*i, html.EscapeString(line))
	}
	for _, p := range c.Panels {
		top = p.draw(&b, top)
	}
	title := html.EscapeString(c.Title)
	return fmt.Sprintf(chartHead, chartWidth, top+6, title, title) + b.String() + "</svg>\n"
}

const chartHead = `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" role="img" aria-labelledby="title">
<title id="title">%s</title>
<style>
text { font: 13px system-ui, sans-serif; fill: #1f2328 }
.head { font-weight: 600; font-size: 15px }
.small { font-size: 12px; fill: #59636e }
.page { fill: #fff }
.grid { stroke: #d1d9e0 }
.bar { fill: #b6bec7 }
.own { fill: #0969da }
.inner { fill: #59636e }
@media (prefers-color-scheme: dark) {
text { fill: #f0f6fc }
.small { fill: #9198a1 }
.page { fill: #0d1117 }
.grid { stroke: #3d444d }
.bar { fill: #3d444d }
.own { fill: #4493f8 }
.inner { fill: #9198a1 }
}
</style>
<rect class="page" width="100%%" height="100%%" rx="6"/>
<text class="head" x="16" y="26">%s</text>
`

// draw draws a panel and returns where the next one starts.
func (p *Panel) draw(b *strings.Builder, top int) int {
	x := func(value float64) float64 { return chartLeft + (chartRight-chartLeft)*min(1, value/p.Most) }
	fmt.Fprintf(b, `<text class="small" x="16" y="%d">%s</text>`+"\n", top+20, html.EscapeString(p.Title))
	top += titleHeight
	bottom := top + barStep*len(p.Bars)
	for i := range 5 {
		value := p.Most * float64(i) / 4
		fmt.Fprintf(b, `<line class="grid" x1="%.1f" y1="%d" x2="%.1[1]f" y2="%[3]d"/>`+"\n", x(value), top-6, bottom)
		text := fmt.Sprintf("%g", value)
		if value >= 1000 {
			text = Thousands(int(value))
		}
		fmt.Fprintf(b, `<text class="small" x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n", x(value), bottom+16, text)
	}
	for i, bar := range p.Bars {
		bar.draw(b, top+barStep*i, x, bar.Value > p.Most)
	}
	return bottom + axisHeight
}

// draw draws a bar whose upper edge is at top. x returns the place of a value on the scale. A bar that is
// cut ends in a gap and a point.
func (r *Bar) draw(b *strings.Builder, top int, x func(float64) float64, cut bool) {
	class, end := "bar", x(r.Value)
	if r.Own {
		class = "bar own"
	}
	fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="end">%s <tspan class="small">%s</tspan></text>`+"\n",
		chartLeft-8, top+15, html.EscapeString(r.Name), html.EscapeString(r.Note))
	if cut {
		end -= 8
		fmt.Fprintf(b, `<path class="%s" d="M%.1f,%d l8,%d l-8,%d Z"/>`+"\n", class, end+4, top, barHeight/2, barHeight/2)
	}
	fmt.Fprintf(b, `<rect class="%s" x="%d" y="%d" width="%.1f" height="%d"/>`+"\n", class, chartLeft, top, max(end-chartLeft, 0.5), barHeight)
	if r.Inner > 0 {
		fmt.Fprintf(b, `<rect class="inner" x="%d" y="%d" width="%.1f" height="%d"/>`+"\n",
			chartLeft, top+(barHeight-innerHeight)/2, min(x(r.Inner), end)-chartLeft, innerHeight)
	}
	fmt.Fprintf(b, `<text x="%.1f" y="%d">%s <tspan class="small">%s</tspan></text>`+"\n", end+12, top+15, html.EscapeString(r.Text), html.EscapeString(r.More))
}
