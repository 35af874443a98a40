package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"robotsbatch/bench/figures"
)

// jsonLines returns what the runners printed, one line per run, in the order of runs.
func jsonLines(runners []runner) ([]byte, error) {
	var all []result
	for _, r := range runners {
		all = append(all, r.results...)
	}
	slices.SortStableFunc(all, func(a, b result) int { return a.Round - b.Round })
	var lines bytes.Buffer
	encoder := json.NewEncoder(&lines)
	encoder.SetEscapeHTML(false)
	for _, result := range all {
		if err := encoder.Encode(result); err != nil {
			return nil, err
		}
	}
	return lines.Bytes(), nil
}

// header describes what was measured.
func header(o options, f *frontier) string {
	return fmt.Sprintf("%s %s, %s of them in ASCII on hosts with a robots.txt, %s robots.txt files (%s needed); agent %s; medians of %d rounds.\n",
		figures.Thousands(f.total), o.data, figures.Thousands(len(f.rows)), figures.Thousands(f.files), figures.Thousands(f.needed), o.agent, o.count)
}

// table returns one line per runner, in Markdown.
func table(runners []runner) string {
	var b strings.Builder
	b.WriteString("| library | version | language | library alone: CPU ns a URL | times ours | from the URL: CPU ns | times ours | same verdict | other verdicts from the URL | parsing all files once, ms | share of parsing for each URL |\n")
	b.WriteString("|---|---|---|---:|---:|---:|---:|---:|---:|---:|---:|\n")
	ours, oursOfJob := runners[0].median(cpu), runners[0].median(jobCPU)
	for i, r := range runners {
		if r.skipped != "" {
			fmt.Fprintf(&b, "| %s | | %s | not measured: %s | | | | | | | |\n", r.name, r.language, cell(r.skipped))
			continue
		}
		agreement := "–"
		if i > 0 {
			agreement = share(r.agreed, len(r.verdicts))
		}
		nanos, ofJob := r.median(cpu), r.median(jobCPU)
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n",
			r.name, r.results[0].Version, r.language, number(nanos), number(nanos/ours), number(ofJob), number(ofJob/oursOfJob),
			agreement, figures.Thousands(r.results[0].JobDiffer), number(r.median(parsing)), r.parsingShare())
	}
	return b.String()
}

// parsingShare is how much of the library's time goes into parsing, where it parses for each
// URL.
func (r *runner) parsingShare() string {
	parsing := r.median(func(result result) float64 { return result.ParseCPU })
	if parsing == 0 {
		return "–"
	}
	return fmt.Sprintf("%.0f %%", min(100, 100*parsing/r.median(cpu)))
}

// disagreements returns one line for each reason of each peer, in Markdown.
func disagreements(runners []runner) string {
	var b strings.Builder
	b.WriteString("| library | other verdict because of | URLs | for example (our reason) |\n|---|---|---:|---|\n")
	for _, r := range runners[1:] {
		for _, k := range r.kinds {
			fmt.Fprintf(&b, "| %s | %s | %s | `%s` |\n", r.name, k.kind, figures.Thousands(k.count), cell(k.example))
		}
	}
	return b.String()
}

// cell escapes text for a cell of a table.
func cell(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7F {
			return ' '
		}
		return r
	}, text)
	return strings.NewReplacer("|", "\\|", "`", "'").Replace(text)
}

// Figures of a run, for median.
func cpu(r result) float64     { return r.CPU }
func jobCPU(r result) float64  { return r.JobCPU }
func parsing(r result) float64 { return r.Parse }

// median returns the median of a value over the runs, or the mean of the two middle ones.
func (r *runner) median(value func(result) float64) float64 {
	var values []float64
	for _, result := range r.results {
		values = append(values, value(result))
	}
	return figures.Median(values)
}

// number formats a measured number: two digits below ten, else an integer.
func number(x float64) string {
	if x < 9.95 {
		return fmt.Sprintf("%.1f", x)
	}
	return figures.Thousands(int(math.Round(x)))
}

// share formats a percentage; it is 100 only if nothing is missing.
func share(part, whole int) string {
	if part == whole {
		return "100 %"
	}
	return fmt.Sprintf("%.3f %%", min(100*float64(part)/float64(whole), 99.999))
}
