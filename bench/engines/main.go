//go:build linux

// Engines compares robotsbatch with engines that copy the same table and append a constant
// boolean column. It measures whole processes, from file to file, with the same number of
// threads. The difference is the cost of deciding.
//
//	go run ./bench/engines -robotsbatch PROGRAM -python PYTHON -rules RULES -case 'three columns=FILE=0.45'...
//
// The programs take turns, in another order each round. The first round is not counted; in
// it each output is compared with the input, and nothing is recorded if one differs. A
// ratio is the median, over the rounds, of the ratio to Polars in the same round.
// scripts/engines.sh makes the data and calls this program.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// options are the values of the flags.
type options struct {
	robotsbatch, python, script string
	rules, agent                string
	cases                       cases
	rounds, threads             int
	commit, data, record, name  string
	engines                     string
}

// table is a file to be copied.
type table struct {
	name, file string
	goal       float64 // the largest ratio of robotsbatch's time to Polars'; 0 for no goal
	engines    []*engine
}

type cases []*table

func (c *cases) String() string { return "" }

func (c *cases) Set(s string) error {
	parts := strings.Split(s, "=")
	if len(parts) != 3 {
		return errors.New("want NAME=FILE=GOAL")
	}
	goal, err := strconv.ParseFloat(parts[2], 64)
	*c = append(*c, &table{name: parts[0], file: parts[1], goal: goal})
	return err
}

func main() {
	var o options
	flag.StringVar(&o.robotsbatch, "robotsbatch", "", "the program (required)")
	flag.StringVar(&o.python, "python", "", "a Python that has the engines (required)")
	flag.StringVar(&o.script, "script", "bench/engines/engines.py", "what copies with the engines")
	flag.StringVar(&o.rules, "rules", "", "folder of robots.txt files or rule pack (required)")
	flag.StringVar(&o.agent, "agent", "CCBot", "product token to evaluate for")
	flag.Var(&o.cases, "case", "NAME=FILE=GOAL: a table, .parquet or .arrow, and how much of Polars' time is aimed at, or 0 (required, repeatable)")
	flag.IntVar(&o.rounds, "rounds", 5, "rounds; medians are reported")
	flag.IntVar(&o.threads, "threads", 2, "threads of each engine")
	flag.StringVar(&o.engines, "engines", base+",duckdb,pyarrow", "the engines to compare with, separated by commas; "+base+" must be one")
	flag.StringVar(&o.commit, "commit", "unknown", "what was measured, for the record's header")
	flag.StringVar(&o.data, "data", "tables", "what the tables have, for the record's header")
	flag.StringVar(&o.record, "record", "bench/record", "folder for NAME-DATE.md and NAME.svg")
	flag.StringVar(&o.name, "name", "engines", "what the record is called")
	flag.Parse()
	if o.robotsbatch == "" || o.python == "" || o.rules == "" || len(o.cases) == 0 || o.rounds < 1 || o.threads < 1 || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "engines: -robotsbatch, -python, -rules and -case are required, and there is nothing but flags")
		flag.Usage()
		os.Exit(2)
	}
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "engines:", err)
		os.Exit(1)
	}
}

func run(o options) error {
	scratch, err := os.MkdirTemp("", "engines.")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	versions := map[string]string{robotsbatch: o.commit}
	for _, t := range o.cases {
		if t.engines, err = o.enginesFor(t, versions); err != nil {
			return err
		}
		if err := o.measure(t, scratch); err != nil {
			return fmt.Errorf("%s: %w", t.file, err)
		}
	}
	page := header(&o) + "\n" + report(o.cases, versions)
	fmt.Print(page)
	name := filepath.Join(o.record, o.name+"-"+time.Now().UTC().Format(time.DateOnly)+".md")
	return errors.Join(
		os.MkdirAll(o.record, 0o777),
		os.WriteFile(name, []byte(page), 0o666),
		os.WriteFile(filepath.Join(o.record, o.name+".svg"), []byte(drawChart(o.cases)), 0o666),
	)
}
