// Peers compares other implementations of robots.txt with this project's: the same URLs and
// rules, in a process each. It also shows where the verdicts differ.
//
// scripts/measure.sh peers builds the runners and calls this program; bench/README.md
// describes what is compared and how a runner is called.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// options are the values of the flags.
type options struct {
	runners, urls, rules, agent, data, runs, chart string
	count                                          int
}

func main() {
	var o options
	flag.StringVar(&o.runners, "runners", "", "file that names the runners, this project's own first (required)")
	flag.StringVar(&o.urls, "urls", "", "list of URLs, compressed with zstd (required)")
	flag.StringVar(&o.rules, "rules", "", "folder of robots.txt files, HOST or HOST_PORT each (required)")
	flag.StringVar(&o.agent, "agent", "CCBot", "product token to evaluate for")
	flag.IntVar(&o.count, "count", 5, "rounds; medians are reported")
	flag.StringVar(&o.data, "data", "URLs", "what the list has, for the record's header")
	flag.StringVar(&o.runs, "runs", os.DevNull, "`file` for what the runners print, as lines of JSON")
	flag.StringVar(&o.chart, "chart", os.DevNull, "`file` for the chart, in SVG")
	flag.Parse()
	err := errors.New("-runners, -urls and -rules are required, -count is at least 1, and there is nothing but flags")
	if o.runners != "" && o.urls != "" && o.rules != "" && o.count > 0 && flag.NArg() == 0 {
		err = run(o, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

// run measures the runners, compares their verdicts, and writes the record to w.
func run(o options, w io.Writer) error {
	runners, err := readRunners(o.runners)
	if err != nil {
		return err
	}
	frontier, err := readFrontier(o.urls, o.rules)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "peers-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	m := &measurement{runners: runners, rules: o.rules, list: filepath.Join(dir, "urls.tsv"), agent: o.agent, dir: dir}
	if err := frontier.write(m.list); err != nil {
		return err
	}
	if err := m.run(len(frontier.rows), o.count); err != nil {
		return err
	}
	judge, err := newJudge(o.rules, o.agent, frontier.rows)
	if err != nil {
		return err
	}
	if err := judge.check(frontier.rows, runners[0].verdicts); err != nil {
		return err
	}
	for i := range runners[1:] {
		judge.compare(frontier.rows, &runners[0], &runners[i+1])
	}
	lines, err := jsonLines(runners)
	if err != nil {
		return err
	}
	fmt.Fprint(w, header(o, frontier)+"\n"+table(runners)+"\n"+disagreements(runners))
	return errors.Join(
		os.WriteFile(o.runs, lines, 0o666),
		os.WriteFile(o.chart, []byte(drawChart(runners)), 0o666),
	)
}
