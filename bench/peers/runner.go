package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// runner is one implementation and what was measured of it.
type runner struct {
	name     string
	language string   // with the version of its compiler or runtime
	command  []string // without the arguments that all runners have
	skipped  string   // why it is not measured; empty when it is

	passes   int
	results  []result
	verdicts []byte // 1 allowed, 0 denied, 2 no answer; one a URL

	agreed int
	kinds  []kindCount
}

// result is what a runner prints of one run.
type result struct {
	Round    int     `json:"round"`
	Name     string  `json:"name"`
	Version  string  `json:"version"`
	Language string  `json:"language"`
	URLs     int     `json:"urls"`
	Passes   int     `json:"passes"`
	CPU      float64 `json:"cpu_ns_per_url"`
	Wall     float64 `json:"wall_ns_per_url"`
	Parse    float64 `json:"parse_ms"`
}

// readRunners reads the file that names the runners: a line each, of name,
// language and command with its arguments, or name, language, nothing and why
// it is skipped, separated by tabs.
func readRunners(name string) ([]runner, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var runners []runner
	for line := range strings.Lines(string(data)) {
		columns := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if len(columns) < 3 || columns[2] == "" && len(columns) != 4 {
			return nil, fmt.Errorf("%s: %q: want name, language and command, separated by tabs", name, line)
		}
		r := runner{name: columns[0], language: columns[1], command: columns[2:]}
		if columns[2] == "" {
			r.command, r.skipped = nil, columns[3]
		}
		runners = append(runners, r)
	}
	if len(runners) == 0 || runners[0].skipped != "" {
		return nil, fmt.Errorf("%s: the first runner, which the others are compared with, is missing", name)
	}
	return runners, nil
}

// measurement is the runs of all runners on one list of URLs.
type measurement struct {
	runners []runner
	rules   string
	list    string
	agent   string
	dir     string // for what the runners write
}

const (
	// runTime is about how long the timed part of a run takes, unless fewest
	// passes take longer.
	runTime = 500 * time.Millisecond
	// fewestPasses give just-in-time compilers time to warm up: a runner makes
	// as many passes before it starts the clock.
	fewestPasses = 3
	mostPasses   = 1000
	// deadline is when a run has failed.
	deadline = 5 * time.Minute
)

// run runs everything once to see how fast it is, and then count times: each
// round runs all runners, so that what disturbs the machine disturbs them all.
func (m *measurement) run(urls, count int) error {
	for round := range count + 1 {
		for i := range m.runners {
			r := &m.runners[i]
			if r.skipped != "" {
				continue
			}
			if round == 0 {
				r.passes = 1
			}
			result, err := m.once(r, urls)
			if err != nil {
				if i == 0 {
					return fmt.Errorf("%s: %w", r.name, err)
				}
				r.skipped, r.results = err.Error(), nil
				continue
			}
			if round == 0 {
				needed := float64(runTime) / max(1, result.CPU*float64(urls))
				r.passes = int(min(max(needed, fewestPasses), mostPasses))
				continue
			}
			result.Round, result.Name, result.Language = round, r.name, r.language
			r.results = append(r.results, result)
			fmt.Fprintf(os.Stderr, "round %d of %d: %s: %.1f ns a URL\n", round, count, r.name, result.CPU)
		}
	}
	return nil
}

// once is one run in a process of its own. The verdicts must be those of the
// run before.
func (m *measurement) once(r *runner, urls int) (result, error) {
	out := filepath.Join(m.dir, "verdicts")
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	arguments := append(r.command[1:len(r.command):len(r.command)], m.rules, m.list, m.agent, out, strconv.Itoa(r.passes))
	cmd := exec.CommandContext(ctx, r.command[0], arguments...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return result{}, fmt.Errorf("%w: %s", errors.Join(err, ctx.Err()), lastLine(stderr.String()))
	}
	var measured result
	if err := json.Unmarshal(stdout.Bytes(), &measured); err != nil {
		return result{}, fmt.Errorf("printed %q: %w", stdout.String(), err)
	}
	verdicts, err := os.ReadFile(out)
	if err != nil {
		return result{}, err
	}
	if measured.URLs != urls || len(verdicts) != urls || measured.CPU < 0 {
		return result{}, fmt.Errorf("measured %d URLs of %d, %d verdicts, at %g ns", measured.URLs, urls, len(verdicts), measured.CPU)
	}
	if r.verdicts != nil && !bytes.Equal(verdicts, r.verdicts) {
		return result{}, errors.New("other verdicts than in the run before")
	}
	r.verdicts = verdicts
	return measured, os.Remove(out)
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}
