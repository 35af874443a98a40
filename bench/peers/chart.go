package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"robotsbatch/bench/figures"
)

// drawChart draws the runners' times, the fastest on top: the whole job from the URL, and
// within it a narrow bar for the library alone. Where the scale for all leaves nothing to see
// of the fastest, a second panel shows its first part enlarged.
func drawChart(runners []runner) string {
	measured := slices.DeleteFunc(slices.Clone(runners), func(r runner) bool { return r.skipped != "" })
	slices.SortStableFunc(measured, func(a, b runner) int { return cmp.Compare(a.median(jobCPU), b.median(jobCPU)) })
	fastest, slowest := math.Inf(1), 0.0
	var bars []figures.Bar
	for _, r := range measured {
		alone, job := r.median(cpu), r.median(jobCPU)
		fastest, slowest = min(fastest, alone, job), max(slowest, alone, job)
		language, _, _ := strings.Cut(r.language, " ")
		bar := figures.Bar{Name: r.name, Note: language, Value: job, Text: number(job), Own: r.name == runners[0].name}
		var more []string
		if alone != job {
			bar.Inner, more = alone, append(more, number(alone)+" alone")
		}
		if share := r.parsingShare(); share != "–" {
			more = append(more, share+" parsing")
		}
		bar.More = strings.Join(more, ", ")
		bars = append(bars, bar)
	}
	c := figures.Chart{
		Title: "Processor time a URL",
		About: []string{
			"nanoseconds from the URL to the verdict; shorter is faster",
			"narrow: the library alone, given the parsed rules of the host; parsing: it parses the robots.txt for each URL",
		},
		Panels: []figures.Panel{{Title: "all", Most: nice(slowest), Bars: bars}},
	}
	if near := nice(20 * fastest); nice(slowest) >= 4*near {
		c.Panels = append(c.Panels, figures.Panel{Title: fmt.Sprintf("the first %s ns, enlarged", number(near)), Most: near, Bars: bars})
	}
	return c.SVG()
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
