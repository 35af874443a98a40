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

// runner is one implementation with its measurements.
type runner struct {
	name     string
	language string   // with the version of its compiler or runtime
	command  []string // without the arguments that all runners get
	skipped  string   // why it is not measured; empty if it is

	passes  int
	results []result
	// verdicts are those of the library alone, one per URL: 1 allowed, 0 denied, 2 no
	// answer.
	verdicts []byte
	written  []byte // verdicts, then those of the whole job

	agreed int
	kinds  []kindCount
}

// result is one run. The runner prints the version and the measured numbers.
type result struct {
	Round    int    `json:"round"`
	Name     string `json:"name"`
	Version  string `json:"version"`
	Language string `json:"language"`
	URLs     int    `json:"urls"`
	Passes   int    `json:"passes"`

	// These are for the library alone, given the rules of the URL's host.
	CPU  float64 `json:"cpu_ns_per_url"`
	Wall float64 `json:"wall_ns_per_url"`
	// These are for the whole job: splitting the URL, finding the rules of its host, and
	// the library.
	JobCPU  float64 `json:"job_cpu_ns_per_url"`
	JobWall float64 `json:"job_wall_ns_per_url"`
	// JobDiffer is the number of URLs that have another verdict in the whole job.
	JobDiffer int `json:"job_differ"`

	Parse float64 `json:"parse_ms"`
	// ParseCPU is the part of CPU that parses, of a library that parses for each URL; 0 for
	// one that keeps what it parsed.
	ParseCPU float64 `json:"parse_ns_per_url,omitempty"`
}

// readRunners reads the file that lists the runners. A line has a name, a language, and a
// command with its arguments, separated by tabs. For a runner that is skipped, the command
// is empty and the reason follows.
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

// measurement has the runs of all runners on one list of URLs.
type measurement struct {
	runners []runner
	rules   string
	list    string
	agent   string
	dir     string // for what the runners write
}

const (
	// runTime is about how long the timed part of a run takes, unless fewestPasses take
	// longer.
	runTime = 500 * time.Millisecond
	// fewestPasses give just-in-time compilers time to warm up: a runner makes as many
	// passes before it starts the clock.
	fewestPasses = 3
	mostPasses   = 1000
	// deadline is the time after which a run has failed.
	deadline = 5 * time.Minute
)

// run runs everything once to learn its speed, and then count times. Each round runs all
// runners, so that a disturbance affects all of them.
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
			result.Round = round
			r.results = append(r.results, result)
			fmt.Fprintf(os.Stderr, "round %d of %d: %s: %.1f ns a URL, from the URL %.1f ns\n",
				round, count, r.name, result.CPU, result.JobCPU)
		}
	}
	return nil
}

// once runs a runner in a process of its own. The verdicts must be those of the run before.
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
	measured := result{CPU: -1, JobCPU: -1} // not reported by the runner
	if err := json.Unmarshal(stdout.Bytes(), &measured); err != nil {
		return result{}, fmt.Errorf("printed %q: %w", stdout.String(), err)
	}
	written, err := os.ReadFile(out)
	if err != nil {
		return result{}, err
	}
	if len(written) != 2*urls {
		return result{}, fmt.Errorf("wrote %d verdicts for %d URLs, want two each", len(written), urls)
	}
	if measured.CPU < 0 || measured.JobCPU < 0 {
		return result{}, fmt.Errorf("printed %q: want the times of the library alone and of the whole job", stdout.String())
	}
	if r.written != nil && !bytes.Equal(written, r.written) {
		return result{}, errors.New("other verdicts than in the run before")
	}
	r.written, r.verdicts = written, written[:urls]
	measured.Name, measured.Language, measured.URLs, measured.Passes = r.name, r.language, urls, r.passes
	for i, verdict := range r.verdicts {
		if written[urls+i] != verdict {
			measured.JobDiffer++
		}
	}
	return measured, os.Remove(out)
}

// lastLine returns the last line of a text that is not empty.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}
