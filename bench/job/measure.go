//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"robotsbatch/bench/figures"
)

// bench runs variants of a job.
type bench struct {
	scratch string
	program string // robotsbatch, if it takes part
	count   int
}

// variant is one way to run a job.
type variant struct {
	name    string
	program string // empty: this program
	args    []string
	runs    figures.Runs
	beside  figures.Runs // the runs that it is compared with, one just before each of its own
}

// measure runs each variant count times, and base just before each of these runs. The
// machine's speed may change within seconds; such a change affects few of the ratios. The
// first round warms up the files and is not counted.
func (b *bench) measure(in string, base *variant, variants []*variant) error {
	for round := range b.count + 1 {
		for _, v := range variants {
			beside, err := b.run(in, base)
			if err != nil {
				return fmt.Errorf("%s: %w", base.name, err)
			}
			m, err := b.run(in, v)
			if err != nil {
				return fmt.Errorf("%s: %w", v.name, err)
			}
			if round > 0 {
				base.runs = append(base.runs, beside)
				v.runs = append(v.runs, m)
				v.beside = append(v.beside, beside)
			}
		}
	}
	return nil
}

// run runs a variant in a process of its own.
func (b *bench) run(in string, v *variant) (u figures.Usage, err error) {
	program := v.program
	if program == "" {
		if program, err = os.Executable(); err != nil {
			return u, err
		}
	}
	out := filepath.Join(b.scratch, "out"+filepath.Ext(in))
	defer os.Remove(out)
	cmd := exec.Command(program, append(v.args, "-out", out)...)
	cmd.Stderr = os.Stderr
	return figures.Run(cmd)
}
