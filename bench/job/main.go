//go:build unix

// Job measures the whole job beside the same job run by an evaluator that sets
// every bit: the same source, the same decoding, the same sink and encoding,
// only the evaluation and the rules are left out. What the job takes by what
// that takes says what evaluating costs where it is used, and no evaluator could
// bring it below one.
//
//	go run ./bench/job -in FRONTIER -rules FOLDER_OR_PACK… [-program ROBOTSBATCH] [-count N]
//
// Each run is a process of its own. A ratio is the median of those of a run and the
// run without evaluation just before it.
// Processor time is that of the process, user and system, start and end
// included. scripts/job.sh makes the data, runs it and records what it prints.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"robotsbatch/bench/figures"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "job:", err)
		os.Exit(1)
	}
}

// list is a flag that may be repeated.
type list []string

func (l *list) String() string     { return strings.Join(*l, " ") }
func (l *list) Set(s string) error { *l = append(*l, s); return nil }

func run() error {
	var inputs, rules list
	flag.Var(&inputs, "in", "frontier, .arrow or .parquet; what comes out is the same format (repeatable)")
	flag.Var(&rules, "rules", "folder of robots.txt files or rule pack (repeatable)")
	program := flag.String("program", "", "the robotsbatch program: to run it, too, and see that it costs what is measured here")
	count := flag.Int("count", 9, "rounds; medians are taken over them")
	cores := flag.Bool("cores", true, "compare one worker with two as well")
	var j job
	flag.BoolVar(&j.identity, "identity", false, "of a run: set every bit")
	flag.IntVar(&j.workers, "workers", 0, "of a run: batches at a time")
	flag.StringVar(&j.out, "out", "", "of a run: do it once, and write this")
	flag.StringVar(&j.cpuProfile, "cpuprofile", "", "of a run: write a profile of its processor time")
	flag.Parse()
	switch {
	case len(inputs) == 0 || len(rules) == 0 && !j.identity:
		return errors.New("-in and -rules are required")
	case j.out != "":
		j.in, j.rules = inputs[0], rules
		return j.run()
	}
	scratch, err := os.MkdirTemp("", "job.")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	b := bench{scratch: scratch, program: *program, count: *count}
	for _, in := range inputs {
		if err := b.compare(in, rules); err != nil {
			return err
		}
	}
	if !*cores {
		return nil
	}
	for _, in := range inputs {
		for _, r := range rules {
			if err := b.scale(in, r); err != nil {
				return err
			}
		}
	}
	return nil
}

// compare runs the job with each of the rules, and without any.
func (b *bench) compare(in string, rules []string) error {
	identity := &variant{name: "every bit set", args: []string{"-in", in, "-identity"}}
	var variants []*variant
	for _, r := range rules {
		variants = append(variants, &variant{name: "rules: " + kind(r), args: []string{"-in", in, "-rules", r}})
		if b.program != "" {
			variants = append(variants, &variant{
				name: "robotsbatch, " + kind(r), program: b.program,
				args: []string{"-in", in, "-rules", r, "-agent", agent, "-quiet"},
			})
		}
	}
	if err := b.measure(in, identity, variants); err != nil {
		return err
	}
	fmt.Printf("%s in, the same out\n", format(in))
	fmt.Printf("%-24s %8s %8s %8s %8s %10s\n", "", "wall s", "ratio", "cpu s", "ratio", "peak MiB")
	const times = "%-24s %8.3f %8.2f %8.3f %8.2f %10.0f\n"
	fmt.Printf(times, identity.name, identity.runs.Median(figures.Wall), 1.0, identity.runs.Median(figures.CPU), 1.0, identity.runs.Median(figures.MiB))
	for _, v := range variants {
		fmt.Printf(times, v.name, v.runs.Median(figures.Wall), v.runs.Ratio(v.beside, figures.Wall), v.runs.Median(figures.CPU), v.runs.Ratio(v.beside, figures.CPU), v.runs.Median(figures.MiB))
	}
	fmt.Println()
	return nil
}

// scale runs the job with one worker and with two.
func (b *bench) scale(in, rules string) error {
	with := func(n string) *variant {
		return &variant{name: n + " workers", args: []string{"-in", in, "-rules", rules, "-workers", n}}
	}
	one, two := with("1"), with("2")
	if err := b.measure(in, one, []*variant{two}); err != nil {
		return err
	}
	fmt.Printf("%s, rules: %s, two workers by one: %.2f times the URLs a second (%.3f s and %.3f s; processor time %.3f s and %.3f s)\n",
		format(in), kind(rules), 1/two.runs.Ratio(two.beside, figures.Wall), one.runs.Median(figures.Wall), two.runs.Median(figures.Wall), one.runs.Median(figures.CPU), two.runs.Median(figures.CPU))
	return nil
}

func format(name string) string { return strings.TrimPrefix(filepath.Ext(name), ".") }

// kind says what rules are in.
func kind(rules string) string {
	if info, err := os.Stat(rules); err == nil && info.IsDir() {
		return "folder"
	}
	return "pack"
}
