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
		switch {
		case alone < job:
			bar.Inner, more = alone, append(more, number(alone)+" alone")
		case alone > job:
			bar.Inner, more = job, append(more, number(alone)+" alone, by another entry point")
		}
		if share := r.parsingShare(); share != "–" {
			more = append(more, share+" parsing")
		}
		bar.More = strings.Join(more, ", ")
		bars = append(bars, bar)
	}
	c := figures.Chart{
		Title: "Processor time per URL",
		About: []string{
			"nanoseconds from the URL to the verdict; shorter is faster",
			"narrow: the library alone, given the parsed rules of the host; parsing: it parses the robots.txt for each URL",
		},
		Panels: []figures.Panel{{Title: "all", Most: figures.Nice(slowest), Bars: bars}},
	}
	if near := figures.Nice(20 * fastest); figures.Nice(slowest) >= 4*near {
		fit := slices.DeleteFunc(slices.Clone(bars), func(b figures.Bar) bool { return b.Value > near })
		c.Panels = append(c.Panels, figures.Panel{Title: fmt.Sprintf("the first %s ns, enlarged: what takes no longer", number(near)), Most: near, Bars: fit})
	}
	return c.SVG()
}
