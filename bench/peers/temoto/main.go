//go:build unix

// Temoto is the runner of github.com/temoto/robotstxt.
package main

import (
	"bytes"
	"encoding/json"
	"log"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"syscall"
	"time"

	"github.com/temoto/robotstxt"
)

// row is a URL's path and its host's rules; nil where they did not parse.
type row struct {
	group *robotstxt.Group
	path  string
}

func main() {
	rules, list, agent, out := os.Args[1], os.Args[2], os.Args[3], os.Args[4]
	passes := must(strconv.Atoi(os.Args[5]))
	rows, parse := load(rules, must(os.ReadFile(list)), agent)
	verdicts := make([]byte, len(rows))
	evaluate(rows, verdicts, passes) // to warm up
	cpu, wall := cpuTime(), time.Now()
	evaluate(rows, verdicts, passes)
	cpu, elapsed, n := cpuTime()-cpu, time.Since(wall), float64(len(rows)*passes)
	must(0, os.WriteFile(out, verdicts, 0o666))
	info, _ := debug.ReadBuildInfo()
	must(0, json.NewEncoder(os.Stdout).Encode(map[string]any{
		"name": "temoto/robotstxt", "version": info.Deps[0].Version, "urls": len(rows), "passes": passes,
		"cpu_ns_per_url": float64(cpu) / n, "wall_ns_per_url": float64(elapsed) / n, "parse_ms": parse.Seconds() * 1e3,
	}))
}

func evaluate(rows []row, verdicts []byte, passes int) {
	for range passes {
		for i := range rows {
			if rows[i].group == nil {
				verdicts[i] = 2
			} else if rows[i].group.Test(rows[i].path) {
				verdicts[i] = 1
			}
		}
	}
}

func load(rules string, list []byte, agent string) (rows []row, parse time.Duration) {
	groups := make(map[string]*robotstxt.Group)
	for line := range bytes.Lines(list) {
		columns := bytes.SplitN(bytes.TrimSuffix(line, []byte("\n")), []byte("\t"), 3)
		file := string(columns[0])
		if _, known := groups[file]; !known {
			body := must(os.ReadFile(filepath.Join(rules, file)))
			start := cpuTime()
			groups[file] = nil
			if data, err := robotstxt.FromBytes(body); err == nil {
				groups[file] = data.FindGroup(agent)
			}
			parse += cpuTime() - start
		}
		rows = append(rows, row{groups[file], string(columns[2])})
	}
	return rows, parse
}

// cpuTime is what the process has used, in and outside the kernel.
func cpuTime() time.Duration {
	var u syscall.Rusage
	must(0, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}
