//go:build linux

package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"

	"robotsbatch/bench/corpus"
	"robotsbatch/bench/corpus/export"
)

// section is one kind of fault.
type section struct {
	name, about string
	run         func(*bench) error
}

var sections = []section{
	{"robots", "hostile robots.txt against hostile URLs", robotsSection},
	{"bombs", "inputs that are small and want to be large", bombsSection},
}

// bench is the setting of all sections.
type bench struct {
	program string  // robotsbatch
	scratch string  // a folder, removed at the end
	scale   float64 // factor for the number of faults
	seed    uint64
	workers int
}

// times scales a number of faults.
func (b *bench) times(n int) int { return max(1, int(float64(n)*b.scale)) }

// path returns the path of a file in the scratch folder.
func (b *bench) path(name string) string { return filepath.Join(b.scratch, name) }

func main() {
	b := &bench{}
	flag.StringVar(&b.program, "robotsbatch", "", "the program (required)")
	flag.Float64Var(&b.scale, "n", 1, "scale of the number of faults")
	flag.Uint64Var(&b.seed, "seed", 1, "of the faults")
	flag.IntVar(&b.workers, "workers", runtime.GOMAXPROCS(0), "programs at once")
	makeBomb := flag.Int("bomb", -1, "make the input of that number of the section bombs, in the file that is the argument")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: faults -robotsbatch PROGRAM [flags] [SECTION...]; the sections, by default all:")
		for _, s := range sections {
			fmt.Fprintf(flag.CommandLine.Output(), "  %-9s %s\n", s.name, s.about)
		}
		flag.PrintDefaults()
	}
	flag.Parse()
	var err error
	if *makeBomb >= 0 {
		err = bombs[*makeBomb].make(flag.Arg(0))
	} else {
		err = b.run(flag.Args())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "faults:", err)
		os.Exit(1)
	}
}

func (b *bench) run(names []string) (err error) {
	if b.program == "" {
		return errors.New("-robotsbatch is required")
	}
	if b.program, err = filepath.Abs(b.program); err != nil {
		return err
	}
	chosen, err := choose(names)
	if err != nil {
		return err
	}
	if b.scratch, err = os.MkdirTemp("", "faults."); err != nil {
		return err
	}
	defer os.RemoveAll(b.scratch)
	interrupt := make(chan os.Signal, 1)
	signal.Notify(interrupt, os.Interrupt)
	go func() {
		<-interrupt
		os.RemoveAll(b.scratch)
		os.Exit(1)
	}()
	if len(chosen) == 1 {
		return chosen[0].run(b)
	}
	var failed error
	for _, s := range chosen {
		if err := again(s.name); err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", s.name, err))
		}
	}
	return failed
}

// again runs this program as a child with other arguments, such as a single section. The
// system counts the parent's memory as the child's, so a parent that starts jobs must be
// small.
func again(more ...string) error {
	var flags []string
	flag.Visit(func(f *flag.Flag) { flags = append(flags, "-"+f.Name+"="+f.Value.String()) })
	c := exec.Command(os.Args[0], append(flags, more...)...)
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	return c.Run()
}

// choose returns the sections with these names, all if there are none.
func choose(names []string) ([]section, error) {
	if len(names) == 0 {
		return sections, nil
	}
	var chosen []section
	for _, name := range names {
		i := slices.IndexFunc(sections, func(s section) bool { return s.name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no section %q", name)
		}
		chosen = append(chosen, sections[i])
	}
	return chosen, nil
}

// writeRules writes the rules of the sample corpus, once.
func (b *bench) writeRules() error {
	folder := b.path("rules")
	if _, err := os.Stat(folder); err == nil {
		return nil
	}
	return export.Rules(folder, corpus.New(corpus.SampleOptions()))
}
