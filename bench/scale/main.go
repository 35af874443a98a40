//go:build linux

// Scale runs a command and prints how long it took and its peak memory: in all, and without
// mapped files, which the system may drop at any time. scripts/scale.sh runs it.
//
//	go run ./bench/scale -urls N COMMAND ARGUMENT…
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"time"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

func run() error {
	urls := flag.Int64("urls", 0, "URLs that the command has to do with")
	flag.Parse()
	if *urls <= 0 || flag.NArg() == 0 {
		return errors.New("-urls and a command are required")
	}
	cmd := exec.Command(flag.Arg(0), flag.Args()[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	started := time.Now()
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	peak, err := watch(cmd.Process.Pid, ended)
	if err != nil {
		return err
	}
	wall := time.Since(started)
	cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	fmt.Printf("%d URLs: %.1f ns a URL, %.1f ns of processor time, %.2f s; peak of memory %d MiB, mapped files included %d MiB\n",
		*urls, float64(wall)/float64(*urls), float64(cpu)/float64(*urls), wall.Seconds(), peak.anonymous>>20, peak.all>>20)
	return nil
}

// memory is the memory of a process in bytes.
type memory struct{ anonymous, all int64 }

// watch watches a process until it ends, and returns its peak memory.
func watch(pid int, ended <-chan error) (peak memory, err error) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			return peak, err
		case <-tick.C:
			status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
			if err != nil {
				continue // it has just ended
			}
			peak.anonymous = max(peak.anonymous, kilobytes(status, "RssAnon:"))
			peak.all = max(peak.all, kilobytes(status, "VmHWM:"))
		}
	}
}

// kilobytes returns a value of the process status, in bytes.
func kilobytes(status []byte, name string) int64 {
	_, after, _ := bytes.Cut(status, []byte(name))
	line, _, _ := bytes.Cut(after, []byte(" kB"))
	n, _ := strconv.ParseInt(string(bytes.TrimSpace(line)), 10, 64)
	return n << 10
}
