//go:build linux

package figures

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Usage is what a process and the children that it waited for used.
type Usage struct {
	Wall, CPU float64 // seconds; CPU is user and system time
	Peak      float64 // MiB of memory, mapped files included
	Private   float64 // MiB of memory without mapped files, which the system may drop
}

// Run runs a command to its end and returns what it used. An error has what the command
// wrote to stderr.
func Run(c *exec.Cmd) (Usage, error) {
	var stderr bytes.Buffer
	c.Stderr = &stderr
	started := time.Now()
	if err := c.Start(); err != nil {
		return Usage{}, err
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	private, err := watch(c.Process.Pid, ended)
	if err != nil {
		return Usage{}, fmt.Errorf("%w: %s", err, &stderr)
	}
	return Usage{
		Wall:    time.Since(started).Seconds(),
		CPU:     (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds(),
		Peak:    float64(c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss) / 1024,
		Private: private,
	}, nil
}

// watch looks at the private memory of a process until it ends, and returns the most.
func watch(pid int, ended <-chan error) (peak float64, err error) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			return peak, err
		case <-tick.C:
			status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)) // it may have just ended
			_, after, _ := bytes.Cut(status, []byte("RssAnon:"))
			line, _, _ := bytes.Cut(after, []byte(" kB"))
			kilobytes, _ := strconv.ParseFloat(string(bytes.TrimSpace(line)), 64)
			peak = max(peak, kilobytes/1024)
		}
	}
}

// ThreadTime returns the processor time of the thread.
func ThreadTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		panic(err) // every Linux has this clock
	}
	return time.Duration(t.Nano())
}
