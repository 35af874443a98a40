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
	runs figures.Runs
}

// enginesFor returns the engines that copy a table, and records their versions.
func (o *options) enginesFor(t *table, versions map[string]string) ([]*engine, error) {
	names := append([]string{robotsbatch}, strings.Split(o.engines, ",")...)
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

// measureRun runs a command and adds what it wrote to stderr to its error.
func measureRun(c *exec.Cmd) (figures.Usage, error) {
	var stderr strings.Builder
	c.Stderr = &stderr
	u, err := figures.Run(c)
	if err != nil {
		return u, fmt.Errorf("%w: %s", err, stderr.String())
	}
	return u, nil
}

// check compares an output with the input.
func (o *options) check(in, out string) error {
	c := exec.Command(o.python, o.script, "check", in, out)
	if text, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, text)
	}
	return nil
}

// engine returns the engine with a name.
func (t *table) engine(name string) *engine {
	return t.engines[slices.IndexFunc(t.engines, func(e *engine) bool { return e.name == name })]
}
