//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"time"
)

const (
	// memoryLimit is the limit of a run's private writable memory in bytes (RLIMIT_DATA),
	// used or not. A limit of the address space would mean nothing, because Go reserves
	// more of it than it ever uses.
	memoryLimit = 1 << 30
	// patience is the time limit of a run.
	patience = 30 * time.Second
)

// outcome is how a run ended.
type outcome uint8

const (
	same outcome = iota
	refused
	silent
	panicked
	killed
	hung
	outcomes int = iota
)

var outcomeNames = [outcomes]string{"same", "refused", "silent", "panics", "kills", "hangs"}

// result is the result of a run.
type result struct {
	outcome outcome
	status  int
	rows    string // from the summary
	out     []byte
	stderr  string
	time    time.Duration
	memory  int64 // bytes at the peak
}

var rowsPattern = regexp.MustCompile(`robotsbatch: ([0-9,]+) rows?:`)

// job runs the program under the limits. The outcome of a successful run is silent until
// compare, given the right output, finds that it is the same.
func (b *bench) job(args ...string) result { return b.jobOn(nil, args...) }

// jobOn does what job does, with input on stdin.
func (b *bench) jobOn(stdin []byte, args ...string) result {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	limited := fmt.Sprintf(`ulimit -d %d && exec "$0" "$@"`, memoryLimit>>10)
	c := exec.CommandContext(ctx, "/bin/sh", append([]string{"-c", limited, b.program}, args...)...)
	c.WaitDelay = time.Second
	var out, stderr bytes.Buffer
	if stdin != nil {
		c.Stdin = bytes.NewReader(stdin)
	}
	c.Stdout, c.Stderr = &out, &stderr
	started := time.Now()
	err := c.Run()
	r := result{time: time.Since(started), stderr: stderr.String(), out: out.Bytes()}
	if usage, ok := c.ProcessState.SysUsage().(*syscall.Rusage); ok {
		r.memory = usage.Maxrss << 10
	}
	r.status = c.ProcessState.ExitCode()
	if m := rowsPattern.FindStringSubmatch(r.stderr); m != nil {
		r.rows = m[1]
	}
	r.outcome = r.judge(err, ctx.Err() != nil)
	return r
}

func (r *result) judge(err error, late bool) outcome {
	var exit *exec.ExitError
	switch {
	case late:
		return hung
	case err == nil:
		return silent
	case strings.Contains(r.stderr, "out of memory"), strings.Contains(r.stderr, "cannot allocate memory"):
		return killed
	case strings.Contains(r.stderr, "panic:"), strings.Contains(r.stderr, "fatal error:"), strings.Contains(r.stderr, "internal error"):
		return panicked
	case !errors.As(err, &exit), r.status < 0, !strings.HasPrefix(r.stderr, "robotsbatch: "):
		return killed
	}
	return refused
}

// compare changes the outcome of a successful run to same if its output is the right one.
func (r *result) compare(sound result) {
	if r.outcome == silent && bytes.Equal(r.out, sound.out) && r.rows == sound.rows {
		r.outcome = same
	}
}

// sound runs the program on intact input.
func (b *bench) sound(args ...string) (result, error) {
	r := b.job(args...)
	if r.outcome != silent {
		return r, fmt.Errorf("%s: the sound input: status %d: %s", strings.Join(args, " "), r.status, r.stderr)
	}
	return r, nil
}
