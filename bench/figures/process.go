//go:build unix

package figures

import (
	"os/exec"
	"syscall"
	"time"
)

// Usage is what a process used.
type Usage struct {
	Wall, CPU float64 // seconds; CPU is user and system time
	Peak      int64   // bytes of memory, mapped files included
}

// Run runs a command to its end and returns what it used.
func Run(c *exec.Cmd) (Usage, error) {
	started := time.Now()
	if err := c.Run(); err != nil {
		return Usage{}, err
	}
	usage := c.ProcessState.SysUsage().(*syscall.Rusage)
	return Usage{
		Wall: time.Since(started).Seconds(),
		CPU:  (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds(),
		Peak: int64(usage.Maxrss) << 10, // kilobytes on Linux
	}, nil
}

// Wall returns the seconds that passed.
func Wall(u Usage) float64 { return u.Wall }

// CPU returns the seconds of processor time.
func CPU(u Usage) float64 { return u.CPU }

// MiB returns the peak of memory in MiB.
func MiB(u Usage) float64 { return float64(u.Peak) / (1 << 20) }

// Runs are what the runs of one command used, one for each round.
type Runs []Usage

// Median returns the median of a figure over the runs.
func (r Runs) Median(figure func(Usage) float64) float64 {
	var numbers []float64
	for _, u := range r {
		numbers = append(numbers, figure(u))
	}
	return Median(numbers)
}

// Ratio returns the median of the ratios of a figure to that of the other's run in the
// same round.
func (r Runs) Ratio(other Runs, figure func(Usage) float64) float64 {
	var ratios []float64
	for i, u := range r {
		ratios = append(ratios, figure(u)/figure(other[i]))
	}
	return Median(ratios)
}
