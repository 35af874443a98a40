//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
}

// measurement is what one run took.
type measurement struct {
	wall, cpu float64 // seconds
	peak      int64   // octets of memory, mapped files included
}

// measure runs each variant once to warm up what files there are, and then all
// of them count times, one after the other. A round begins with another variant
// each time, so that none always follows the same.
func (b *bench) measure(in string, variants []*variant) error {
	for round := range b.count + 1 {
		for i := range variants {
			v := variants[(i+round)%len(variants)]
			m, err := b.run(in, v)
			if err != nil {
				return fmt.Errorf("%s: %w", v.name, err)
			}
			if round > 0 {
				v.runs = append(v.runs, m)
			}
		}
	}
	return nil
}

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
