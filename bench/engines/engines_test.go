//go:build linux

package main

import (
	"encoding/xml"
	"io"
	"math"
	"strings"
	"testing"

	"robotsbatch/bench/figures"
)

// measured returns a table with two engines whose ratios are known: robotsbatch took 1/2,
// 1/4 and 3/4 of the time in three rounds.
func measured() *table {
	return &table{name: "three <columns>", file: "x.parquet", goal: 0.45, engines: []*engine{
		{name: robotsbatch, runs: figures.Runs{{Wall: 1, CPU: 2, Peak: 100 << 20}, {Wall: 1, CPU: 3, Peak: 90 << 20}, {Wall: 3, CPU: 1, Peak: 300 << 20}}},
		{name: base, runs: figures.Runs{{Wall: 2, CPU: 8, Peak: 500 << 20}, {Wall: 4, CPU: 4, Peak: 600 << 20}, {Wall: 4, CPU: 10, Peak: 700 << 20}}},
	}}
}

// TestRatio: a ratio is the median of the ratios within rounds, not the ratio of medians.
func TestRatio(t *testing.T) {
	tab := measured()
	own, polars := tab.engines[0], tab.engine(base)
	if got := own.runs.Ratio(polars.runs, figures.Wall); got != 0.5 {
		t.Errorf("wall by Polars: %v, want 0.5", got)
	}
	if got := own.runs.Ratio(polars.runs, figures.CPU); got != 0.25 {
		t.Errorf("CPU by Polars: %v, want 0.25", got)
	}
	if got := own.runs.Median(figures.MiB); got != 100 {
		t.Errorf("peak: %v, want 100", got)
	}
	if got := figures.Median([]float64{4, 1, 2, 3}); math.Abs(got-2.5) > 1e-9 {
		t.Errorf("median of four: %v, want 2.5", got)
	}
}

func TestReport(t *testing.T) {
	got := report([]*table{measured()}, map[string]string{robotsbatch: "abc", base: "2.1.0"})
	for _, want := range []string{
		"## three <columns>, Parquet",
		"| robotsbatch | abc | 1.00 | 2.00 | 100 | 0.50 | 0.25 | 0.45, 256 MiB: missed by wall |",
		"| polars | 2.1.0 | 4.00 | 8.00 | 600 | 1.00 | 1.00 |  |",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the report lacks %q:\n%s", want, got)
		}
	}
	tab := measured()
	tab.goal = 0.5
	if got := tab.judge(tab.engines[0]); got != "0.50, 256 MiB: reached" {
		t.Errorf("goal 0.5: %s", got)
	}
}

func TestHeader(t *testing.T) {
	o := options{rules: t.TempDir(), agent: "CCBot", rounds: 5, threads: 2, commit: "abc", data: "two tables"}
	got := header(&o)
	for _, want := range []string{"with 2 threads", "verdicts for CCBot", "medians of 5 rounds", "the rules are a folder", "Data: two tables.", "commit abc"} {
		if !strings.Contains(got, want) {
			t.Errorf("the header lacks %q:\n%s", want, got)
		}
	}
}

// TestChart: the chart is XML and has a bar for each engine.
func TestChart(t *testing.T) {
	svg := drawChart([]*table{measured(), measured()})
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if bars, own := strings.Count(svg, `class="bar`), strings.Count(svg, `class="bar own"`); bars != 4 || own != 2 {
		t.Errorf("%d bars, %d of them robotsbatch's", bars, own)
	}
}

func TestCases(t *testing.T) {
	var c cases
	if err := c.Set("a b=dir/x.arrow=0.25"); err != nil || len(c) != 1 || c[0].goal != 0.25 || c[0].file != "dir/x.arrow" {
		t.Errorf("%v: %v", c, err)
	}
	for _, bad := range []string{"", "a=b", "a=b=c", "a=b=1=2"} {
		if err := c.Set(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
