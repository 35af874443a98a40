//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
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
	done outcome = iota
	refused
	panicked
	killed
	hung
	outcomes int = iota
)

var outcomeNames = [outcomes]string{"done", "refused", "panics", "kills", "hangs"}

// result is the result of a run.
type result struct {
	outcome outcome
	status  int
	out     []byte
	stderr  string
	time    time.Duration
	memory  int64 // bytes at the peak
}

// job runs the program under the limits.
func (b *bench) job(args ...string) result {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	limited := fmt.Sprintf(`ulimit -d %d && exec "$0" "$@"`, memoryLimit>>10)
	c := exec.CommandContext(ctx, "/bin/sh", append([]string{"-c", limited, b.program}, args...)...)
	c.WaitDelay = time.Second
	var out, stderr bytes.Buffer
	c.Stdout, c.Stderr = &out, &stderr
	started := time.Now()
	err := c.Run()
	r := result{time: time.Since(started), stderr: stderr.String(), out: out.Bytes()}
	if usage, ok := c.ProcessState.SysUsage().(*syscall.Rusage); ok {
		r.memory = int64(usage.Maxrss) << 10
	}
	r.status = c.ProcessState.ExitCode()
	r.outcome = r.judge(err, ctx.Err() != nil)
	return r
}

func (r *result) judge(err error, late bool) outcome {
	var exit *exec.ExitError
	switch {
	case late:
		return hung
	case err == nil:
		return done
	case strings.Contains(r.stderr, "out of memory"), strings.Contains(r.stderr, "cannot allocate memory"):
		return killed
	case strings.Contains(r.stderr, "panic:"), strings.Contains(r.stderr, "fatal error:"), strings.Contains(r.stderr, "internal error"):
		return panicked
	case !errors.As(err, &exit), r.status < 0, !strings.HasPrefix(r.stderr, "robotsbatch: "):
		return killed
	}
	return refused
}
