//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"robotsbatch/bench/figures"
)

const (
	robotsbatch = "robotsbatch"
	// base is the engine that the others are compared with.
	base = "polars"
)

// engine is a program that copies a table.
type engine struct {
	name string
	runs []measurement // one per round
}

// measurement is what a process used.
type measurement struct {
	wall, cpu float64 // seconds
	peak      float64 // MiB of memory
}

// enginesFor returns the engines that copy a table, and records their versions.
func (o *options) enginesFor(t *table, versions map[string]string) ([]*engine, error) {
	names := []string{robotsbatch, base, "duckdb", "pyarrow"}
	if filepath.Ext(t.file) != ".parquet" {
		names = slices.DeleteFunc(names, func(name string) bool { return name == "duckdb" }) // DuckDB cannot read Arrow files itself
	}
	var engines []*engine
	for _, name := range names {
		if versions[name] == "" {
			out, err := exec.Command(o.python, o.script, "version", name).Output()
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			versions[name] = strings.TrimSpace(string(out))
		}
		engines = append(engines, &engine{name: name})
	}
	return engines, nil
}

// measure lets all engines copy a table, in turns. Each round starts with another engine.
func (o *options) measure(t *table, scratch string) error {
	out := filepath.Join(scratch, "out"+filepath.Ext(t.file))
	for round := range o.rounds + 1 {
		for i := range t.engines {
			e := t.engines[(round+i)%len(t.engines)]
			m, err := measureRun(o.command(e.name, t.file, out))
			if err == nil && round == 0 {
				err = o.check(t.file, out)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", e.name, err)
			}
			if err := os.Remove(out); err != nil {
				return err
			}
			if round > 0 {
				e.runs = append(e.runs, m)
			}
		}
	}
	return nil
}

func (o *options) command(engine, in, out string) *exec.Cmd {
	threads := strconv.Itoa(o.threads)
	if engine != robotsbatch {
		return exec.Command(o.python, o.script, "copy", engine, in, out, threads)
	}
	c := exec.Command(o.robotsbatch, "-in", in, "-rules", o.rules, "-agent", o.agent, "-out", out, "-workers", threads, "-quiet")
	c.Env = append(os.Environ(), "GOMAXPROCS="+threads)
	return c
}

func measureRun(c *exec.Cmd) (measurement, error) {
	var stderr strings.Builder
	c.Stderr = &stderr
	started := time.Now()
	if err := c.Run(); err != nil {
		return measurement{}, fmt.Errorf("%w: %s", err, stderr.String())
	}
	usage := c.ProcessState.SysUsage().(*syscall.Rusage)
	return measurement{
		wall: time.Since(started).Seconds(),
		cpu:  (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds(),
		peak: float64(usage.Maxrss) / 1024, // kilobytes on Linux
	}, nil
}

// check compares an output with the input.
func (o *options) check(in, out string) error {
	c := exec.Command(o.python, o.script, "check", in, out)
	if text, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, text)
	}
	return nil
}

func wall(m measurement) float64 { return m.wall }
func cpu(m measurement) float64  { return m.cpu }
func peak(m measurement) float64 { return m.peak }

// median returns the median of a number over the runs.
func (e *engine) median(number func(measurement) float64) float64 {
	var numbers []float64
	for _, m := range e.runs {
		numbers = append(numbers, number(m))
	}
	return figures.Median(numbers)
}

// ratio returns the median of the ratios of a number to that of the other engine in the
// same round.
func (e *engine) ratio(other *engine, number func(measurement) float64) float64 {
	var ratios []float64
	for i, m := range e.runs {
		ratios = append(ratios, number(m)/number(other.runs[i]))
	}
	return figures.Median(ratios)
}

// engine returns the engine with a name.
func (t *table) engine(name string) *engine {
	return t.engines[slices.IndexFunc(t.engines, func(e *engine) bool { return e.name == name })]
}
