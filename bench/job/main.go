//go:build unix

// Job runs the whole job with an evaluator that sets every bit (-identity): the same
// source, decoding, sink and encoding; only the evaluation and the rules are left out. The
// time of the job by the time of that is what evaluating costs where it is used. Without
// -identity it is the job of robotsbatch, for a profile.
//
//	go run ./bench/job -in FRONTIER -out FILE [-identity | -rules FOLDER_OR_PACK] [-workers N] [-cpuprofile FILE]
//
// The output has the format of the input, .arrow or .parquet.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	var j job
	flag.StringVar(&j.in, "in", "", "frontier, .arrow or .parquet")
	flag.StringVar(&j.out, "out", "", "output of the same format")
	flag.StringVar(&j.rules, "rules", "", "folder of robots.txt files or rule pack")
	flag.BoolVar(&j.identity, "identity", false, "set every bit")
	flag.IntVar(&j.workers, "workers", 0, "batches at a time")
	flag.StringVar(&j.cpuProfile, "cpuprofile", "", "write a profile of the processor time")
	flag.Parse()
	if err := j.run(); err != nil {
		fmt.Fprintln(os.Stderr, "job:", err)
		os.Exit(1)
	}
}
