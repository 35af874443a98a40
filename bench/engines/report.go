//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"robotsbatch/bench/figures"
)

// memoryGoal is the most memory that robotsbatch may use, in MiB.
const memoryGoal = 256

// header describes what was measured, and on what machine.
func header(o *options) string {
	return fmt.Sprintf(`# robotsbatch beside engines that copy tables

Each copies the same file and appends a column of booleans, with %d threads and zstd:
robotsbatch its verdicts for %s, the others a constant. Wall time, processor time (user
and system) and peak memory are those of the whole process, for the others with the
start of Python, medians of %d rounds in turns; the ratios are medians of those within
a round. Every output was compared with
the input, value by value. DuckDB reads no Arrow files. Goals are for wall and
processor time by Polars', and %d MiB, mapped files included: the rules are %s.

Data: %s.
%s, commit %s, %s, %s, %d cores.
`, o.threads, o.agent, o.rounds, memoryGoal, rulesOf(o.rules), o.data,
		time.Now().UTC().Format(time.DateOnly), o.commit, runtime.Version(), figures.Processor(), runtime.NumCPU())
}

// rulesOf describes the source of rules: a pack is mapped.
func rulesOf(name string) string {
	info, err := os.Stat(name)
	if err != nil || info.IsDir() {
		return "a folder"
	}
	return fmt.Sprintf("a pack of %.0f MB", float64(info.Size())/1e6)
}

// report returns a Markdown table for each file.
func report(tables []*table, versions map[string]string) string {
	var b strings.Builder
	for i, t := range tables {
		if i > 0 {
			b.WriteByte('\n')
		}
		size := int64(0)
		if info, err := os.Stat(t.file); err == nil {
			size = info.Size()
		}
		fmt.Fprintf(&b, "## %s, %s, %.1f MB\n\n", t.name, format(t.file), float64(size)/1e6)
		b.WriteString("| engine | version | wall s | CPU s | peak MiB | wall by Polars | CPU by Polars | goal |\n|---|---|---:|---:|---:|---:|---:|---:|\n")
		for _, e := range t.engines {
			goal := ""
			if e.name == robotsbatch {
				goal = t.judge(e)
			}
			polars := t.engine(base)
			fmt.Fprintf(&b, "| %s | %s | %.2f | %.2f | %.0f | %.2f | %.2f | %s |\n", e.name, versions[e.name],
				e.runs.Median(figures.Wall), e.runs.Median(figures.CPU), e.runs.Median(figures.MiB), e.runs.Ratio(polars.runs, figures.Wall), e.runs.Ratio(polars.runs, figures.CPU), goal)
		}
	}
	return b.String()
}

// judge formats the goals, and marks those that are missed.
func (t *table) judge(e *engine) string {
	polars := t.engine(base)
	var missed []string
	if t.goal > 0 {
		if e.runs.Ratio(polars.runs, figures.Wall) > t.goal {
			missed = append(missed, "wall")
		}
		if e.runs.Ratio(polars.runs, figures.CPU) > t.goal {
			missed = append(missed, "CPU")
		}
	}
	if e.runs.Median(figures.MiB) > memoryGoal {
		missed = append(missed, "memory")
	}
	text := fmt.Sprintf("%d MiB", memoryGoal)
	if t.goal > 0 {
		text = fmt.Sprintf("%.2f, %s", t.goal, text)
	}
	if len(missed) == 0 {
		return text + ": reached"
	}
	return text + ": missed by " + strings.Join(missed, ", ")
}

func format(file string) string {
	if filepath.Ext(file) == ".parquet" {
		return "Parquet"
	}
	return "Arrow"
}
