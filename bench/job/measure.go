//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

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
	runs    []measurement
	beside  []measurement // the runs that it is compared with, one just before each of its own
}

// measurement is what one run used.
type measurement struct {
	wall, cpu float64 // seconds
	peak      int64   // bytes of memory, including mapped files
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

// median returns the median of a number over the runs.
func (v *variant) median(number func(measurement) float64) float64 {
	var numbers []float64
	for _, m := range v.runs {
		numbers = append(numbers, number(m))
	}
	return figures.Median(numbers)
}

// ratio returns the median of the ratios of a number to that of the run just before.
func (v *variant) ratio(number func(measurement) float64) float64 {
	var ratios []float64
	for i, m := range v.runs {
		ratios = append(ratios, number(m)/number(v.beside[i]))
	}
	return figures.Median(ratios)
}

func wall(m measurement) float64 { return m.wall }
func cpu(m measurement) float64  { return m.cpu }
func peak(m measurement) float64 { return float64(m.peak) }

// run runs a variant in a process of its own.
func (b *bench) run(in string, v *variant) (m measurement, err error) {
	program := v.program
	if program == "" {
		if program, err = os.Executable(); err != nil {
			return m, err
		}
	}
	out := filepath.Join(b.scratch, "out"+filepath.Ext(in))
	defer os.Remove(out)
	cmd := exec.Command(program, append(v.args, "-out", out)...)
	cmd.Stderr = os.Stderr
	started := time.Now()
	if err := cmd.Run(); err != nil {
		return m, err
	}
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	return measurement{
		wall: time.Since(started).Seconds(),
		cpu:  (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(),
		peak: int64(usage.Maxrss) << 10, // kilobytes on Linux
	}, nil
}
