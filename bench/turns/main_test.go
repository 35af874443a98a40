//go:build linux

package main

import (
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"robotsbatch/bench/figures"
	"robotsbatch/io/store/must"
)

// measured returns a table with two runs whose ratios are known: the first took 1/2, 1/4 and
// 3/4 of the wall time in three rounds.
func measured() *table {
	own := &run{name: "robotsbatch", used: []figures.Usage{{Wall: 1, CPU: 2, Peak: 100}, {Wall: 1, CPU: 3, Peak: 90}, {Wall: 3, CPU: 1, Peak: 300}}}
	polars := &run{name: "polars", used: []figures.Usage{{Wall: 2, CPU: 8, Peak: 500}, {Wall: 4, CPU: 4, Peak: 600}, {Wall: 4, CPU: 10, Peak: 700}}}
	return &table{title: "three <columns>", goals: "wall=0.45 CPU=0.25 MiB=256", runs: []*run{own, polars}, base: polars}
}

// TestReport: a ratio is the median of the ratios within rounds, not the ratio of medians.
func TestReport(t *testing.T) {
	tab := measured()
	tab.runs[0].units, tab.runs[1].units = 1e9, 1e9
	got := tab.report()
	for _, want := range []string{
		"| robotsbatch | 1.000 | 2.000 | 2.00 | 0.50 | 0.25 | 0.10–0.75 | 300 | 0 | 0.0 | 1.0 | 2.0 |",
		"| polars | 4.000 | 8.000 | 2.50 | 1.00 | 1.00 | 1.00–1.00 | 700 | 0 | 0.0 | 4.0 | 8.0 |",
		": missed by wall, MiB.",
	} {
		must.Be(t, strings.Contains(got, want), "the report lacks %q:\n%s", want, got)
	}
	tab.goals, tab.runs[0].units = "wall=0.25", 2e9
	must.Equal(t, tab.judge(), "reached", "half of the time for twice as much")
}

// TestTurns runs commands: their order, the check, the size of outputs and the first round.
func TestTurns(t *testing.T) {
	dir := t.TempDir()
	out, log, chart := filepath.Join(dir, "out"), filepath.Join(dir, "log"), filepath.Join(dir, "chart.svg")
	must.Do(t, os.Mkdir(out, 0o777))
	sh := func(name, units string) string {
		return "run\t" + name + "\t" + units + "\tsh\t-c\tprintf " + name + " >>" + log + "; head -c 2000000 /dev/zero >" + out + "/x\n"
	}
	cases := "table\tT\tMiB=100000\ttest\t-s\t" + out + "/x\n" + sh("a", "10") + sh("b", "") + "table\tU\t\n" + sh("c", "")
	var page strings.Builder
	must.Do(t, measure(strings.NewReader(cases), &page, 2, "b", out, chart, true))
	order, _ := os.ReadFile(log)
	must.Be(t, string(order) == "abbaabccc", "the commands ran as %s", order)
	for _, want := range []string{"## T\n", "wall ÷ b", "| 2.0 |", "MiB=100000: reached.", "## U\n", "wall ÷ c"} {
		must.Be(t, strings.Contains(page.String(), want), "the report lacks %q:\n%s", want, &page)
	}
	svg, err := os.ReadFile(chart)
	must.Be(t, err == nil && strings.Count(string(svg), `class="bar`) == 3, "%v: the chart is\n%s", err, svg)
	for bad, want := range map[string]string{
		"run\ta\t\ttrue\n": "no line of cases", "table\tT\t\n": "without runs", "table\tT\n": "no line of cases",
		"table\tT\t\nrun\ta\t\tsh\t-c\techo oops >&2; false\n": "T: a: exit status 1: oops",
		"table\tT\t\tfalse\nrun\ta\t\ttrue\n":                  "a: its output: exit status 1",
	} {
		must.Say(t, measure(strings.NewReader(bad), io.Discard, 1, "", "", "", true), want, bad)
	}
}

// TestChart: the chart is XML and has a bar for each run.
func TestChart(t *testing.T) {
	svg := draw([]*table{measured(), measured()})
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	bars, own := strings.Count(svg, `class="bar`), strings.Count(svg, `class="bar own"`)
	must.Be(t, bars == 4 && own == 2, "%d bars, %d of them robotsbatch's", bars, own)
}
