//go:build linux

// Warc measures the cost of making a rule pack from a crawl's WARC files. It compares this
// with the least that any program must do: decompress them, and compile their distinct
// bodies. scripts/warc.sh runs it.
//
//	go run ./bench/warc -generate FOLDER -captures 1000000
//	go run ./bench/warc -measure FOLDER -program ./robotsbatch -count 3
//
// Each measurement is a process of its own, so that the system gives its processor time and
// peak memory.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "warc:", err)
		os.Exit(1)
	}
}

func run() error {
	generate := flag.String("generate", "", "folder to write a crawl to")
	captures := flag.Int("captures", 1_000_000, "captures of the crawl")
	files := flag.Int("files", 16, "files of the crawl")
	measure := flag.String("measure", "", "folder of a crawl to measure")
	program := flag.String("program", "", "the robotsbatch to measure")
	count := flag.Int("count", 3, "rounds")
	memory := flag.String("memory", "512MiB", "what compile may take")
	step := flag.String("step", "", "gunzip, parse or pack: the work of one measurement, in this process")
	flag.Parse()
	switch {
	case *generate != "":
		return generateCrawl(*generate, *captures, *files)
	case *step != "":
		return runStep(*step, flag.Args())
	case *measure != "" && *program != "":
		return measureAll(*measure, *program, *memory, *count)
	}
	return errors.New("-generate, or -measure and -program, is required")
}
