//go:build unix

// Package gorunner is shared by the runners written in Go: it reads the arguments of the
// driver, measures time and reports.
package gorunner

import (
	"encoding/json"
	"log"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Row is a URL.
type Row struct {
	Body int // index into Job.Bodies
	URL  string
	Path string // with query
}

// Job is what the arguments of a runner name.
type Job struct {
	Bodies [][]byte // robots.txt files, in the order in which rows need them
	Rows   []Row
	Agent  string

	out    string
	passes int
}

// FromArgs reads the files that the arguments name.
func FromArgs() *Job {
	rules, list := os.Args[1], string(Must(os.ReadFile(os.Args[2])))
	job := &Job{Agent: os.Args[3], out: os.Args[4], passes: Must(strconv.Atoi(os.Args[5]))}
	known := make(map[string]int)
	for line := range strings.Lines(list) {
		columns := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 3)
		body, ok := known[columns[0]]
		if !ok {
			body = len(job.Bodies)
			known[columns[0]] = body
			job.Bodies = append(job.Bodies, Must(os.ReadFile(filepath.Join(rules, columns[0]))))
		}
		job.Rows = append(job.Rows, Row{body, columns[1], columns[2]})
	}
	return job
}

// Times are the times of all passes over the rows.
type Times struct{ CPU, Wall time.Duration }

// Measure makes all passes over the rows twice: first to warm up, then timed.
func (j *Job) Measure(pass func()) (t Times) {
	for range 2 {
		t = Time(func() {
			for range j.passes {
				pass()
			}
		})
	}
	return t
}

// Time measures a call of work.
func Time(work func()) Times {
	cpu, wall := cpuTime(), time.Now()
	work()
	return Times{cpuTime() - cpu, time.Since(wall)}
}

// Report writes the verdicts of the library alone and of the whole job from the URL, one
// byte per row, and prints their times and the time of parsing.
func (j *Job) Report(version string, parse, alone, job Times, verdicts, ofJob []byte) {
	Must(0, os.WriteFile(j.out, append(verdicts[:len(verdicts):len(verdicts)], ofJob...), 0o666))
	n := float64(len(j.Rows) * j.passes)
	Must(0, json.NewEncoder(os.Stdout).Encode(map[string]any{
		"version": version, "parse_ms": parse.CPU.Seconds() * 1e3,
		"cpu_ns_per_url": float64(alone.CPU) / n, "wall_ns_per_url": float64(alone.Wall) / n,
		"job_cpu_ns_per_url": float64(job.CPU) / n, "job_wall_ns_per_url": float64(job.Wall) / n,
	}))
}

// cpuTime returns the user and system time of the process.
func cpuTime() time.Duration {
	var u syscall.Rusage
	Must(0, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Must ends the program if err is not nil.
func Must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}
