//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"robotsbatch/bench/corpus"
	"robotsbatch/bench/corpus/export"
)

const (
	// memoryLimit is the limit of a run's private writable memory in bytes (RLIMIT_DATA),
	// used or not. A limit of the address space would mean nothing, because Go reserves
	// more of it than it ever uses.
	memoryLimit = 1 << 30
	// patience is the time limit of a run.
	patience = 2 * time.Minute
)

func main() {
	program := flag.String("robotsbatch", "", "the program (required)")
	makeBomb := flag.Int("bomb", -1, "make the input of that number, in the file that is the argument")
	flag.Parse()
	var err error
	switch {
	case *makeBomb >= 0:
		err = bombs[*makeBomb].make(flag.Arg(0))
	case *program == "" || flag.NArg() > 0:
		err = errors.New("-robotsbatch is required, and there are no arguments")
	default:
		err = run(*program)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "faults:", err)
		os.Exit(1)
	}
}

// bombRuns are the values of -memory and -workers.
var bombRuns = []struct {
	memory  int64
	workers int
}{{64 << 20, 1}, {64 << 20, 2}, {512 << 20, 1}, {512 << 20, 2}}

// bombPeak is the most memory that the program may use in such a run: a fifth more than
// -memory, plus the fixed amount that README gives.
func bombPeak(memory int64) int64 { return memory + memory/5 + 60<<20 }

// run runs the program on all bombs.
func run(program string) error {
	scratch, err := os.MkdirTemp("", "faults.")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	list := filepath.Join(scratch, "list.txt")
	err = errors.Join(
		export.Rules(filepath.Join(scratch, "rules"), corpus.New(corpus.SampleOptions())),
		os.WriteFile(list, []byte("http://h.example/x\nhttps://h.example/y\n"), 0o666))
	if err != nil {
		return err
	}
	fmt.Printf("\n## Inputs that are small and want to be large\n\n| input | bytes | ended |")
	for _, run := range bombRuns {
		fmt.Printf(" peak MiB, -memory %d MiB, -workers %d |", run.memory>>20, run.workers)
	}
	fmt.Printf(" s | message |\n|---|---:|---|%s---:|---|\n", strings.Repeat("---:|", len(bombRuns)))
	failed := 0
	for i := range bombs {
		ok, err := bombs[i].try(i, program, scratch, list)
		if err != nil {
			return fmt.Errorf("%s: %w", bombs[i].name, err)
		}
		if !ok {
			failed++
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d inputs were not refused, or took too much memory", failed)
	}
	return nil
}

// try makes a bomb and runs the program on it with each amount of memory. ok reports
// whether all runs were as expected.
func (b *bomb) try(number int, program, scratch, list string) (ok bool, err error) {
	folder := filepath.Join(scratch, "bomb")
	defer os.RemoveAll(folder)
	name := filepath.Join(folder, b.file)
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return false, err
	}
	// The system counts the parent's memory as the child's, so a parent that starts jobs must
	// be small: a child makes the bomb.
	if said, err := exec.Command(os.Args[0], fmt.Sprint("-bomb=", number), name).CombinedOutput(); err != nil {
		return false, fmt.Errorf("%w: %s", err, said)
	}
	info, err := os.Stat(name)
	if err != nil {
		return false, err
	}
	ok = true
	var ended, peaks []string
	var last result
	for _, run := range bombRuns {
		args := append([]string{"-memory", fmt.Sprint(run.memory), "-workers", fmt.Sprint(run.workers)}, b.arguments(name, list, filepath.Join(scratch, "rules"))...)
		last = start(program, args)
		end, peak := last.outcome, fmt.Sprint(last.memory>>20)
		if end != "refused" && (end != "success" || !b.fine) {
			ok = false
			end = "**" + end + "**"
		}
		if last.memory > bombPeak(run.memory) {
			ok = false
			peak = "**" + peak + "**"
		}
		ended, peaks = append(ended, end), append(peaks, peak)
	}
	message := strings.NewReplacer(scratch, "", "|", "/", "\n", " / ").Replace(strings.TrimSpace(last.stderr))
	fmt.Printf("| %s | %d | %s | %s | %.2f | %.150s |\n", b.name, info.Size(), strings.Join(slices.Compact(ended), ", "),
		strings.Join(peaks, " | "), last.time.Seconds(), message)
	return ok, nil
}

// result is the result of a run.
type result struct {
	outcome string
	stderr  string
	time    time.Duration
	memory  int64 // bytes at the peak
}

// start runs the program under the limits.
func start(program string, args []string) result {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	limited := fmt.Sprintf(`ulimit -d %d && exec "$0" "$@"`, memoryLimit>>10)
	c := exec.CommandContext(ctx, "/bin/sh", append([]string{"-c", limited, program}, args...)...)
	c.WaitDelay = time.Second
	var stderr bytes.Buffer
	c.Stderr = &stderr
	started := time.Now()
	err := c.Run()
	return result{
		outcome: outcome(err, ctx.Err() != nil, stderr.String()), stderr: stderr.String(), time: time.Since(started),
		memory: int64(c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss) << 10,
	}
}

// outcome says how a run ended.
func outcome(err error, late bool, stderr string) string {
	var exit *exec.ExitError
	has := func(text string) bool { return strings.Contains(stderr, text) }
	switch {
	case late:
		return "hangs"
	case err == nil:
		return "success"
	case has("out of memory"), has("cannot allocate memory"):
		return "kills"
	case has("panic:"), has("fatal error:"), has("internal error"):
		return "panics"
	case !errors.As(err, &exit), exit.ExitCode() < 0, !strings.HasPrefix(stderr, "robotsbatch: "):
		return "kills"
	}
	return "refused"
}
