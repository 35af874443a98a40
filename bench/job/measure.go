//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// bench runs variants of a job.
type bench struct {
	scratch string
	program string // robotsbatch, if it runs, too
	count   int
}

// variant is one way to do a job.
type variant struct {
	name    string
	program string // empty: this one
	args    []string
	runs    []measurement
	beside  []measurement // of what it is compared with, one just before each run
}

// measurement is what one run took.
type measurement struct {
	wall, cpu float64 // seconds
	peak      int64   // bytes of memory, mapped files included
}

// measure runs each variant count times, and base just before each of these runs:
// the machine's speed may change within seconds, and what changes from one run to
// the next changes few of the ratios. The first round is not counted; it warms up
// what files there are.
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

// median is that of a number of each run.
func (v *variant) median(number func(measurement) float64) float64 {
	var numbers []float64
	for _, m := range v.runs {
		numbers = append(numbers, number(m))
	}
	return median(numbers)
}

// ratio is the median of how many times as large a number of each run is as that of
// the run just before.
func (v *variant) ratio(number func(measurement) float64) float64 {
	var ratios []float64
	for i, m := range v.runs {
		ratios = append(ratios, number(m)/number(v.beside[i]))
	}
	return median(ratios)
}

func median(numbers []float64) float64 {
	slices.Sort(numbers)
	return numbers[len(numbers)/2]
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
