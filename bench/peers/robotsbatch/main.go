//go:build unix

// Robotsbatch is the runner of this project's own engine.
package main

import (
	"bytes"
	"encoding/json"
	"log"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"robotsbatch/batch"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/robotstxt"
)

var version = "unknown" // the linker sets it

func main() {
	rules, list, agent, out := os.Args[1], os.Args[2], os.Args[3], os.Args[4]
	passes := must(strconv.Atoi(os.Args[5]))
	batches, table, parse := load(rules, must(os.ReadFile(list)), agent)
	evaluator, verdicts := batch.NewEvaluator(table, batch.Options{}), make([]batch.Verdicts, len(batches))
	evaluate := func() {
		for range passes {
			for i := range batches {
				must(0, evaluator.Evaluate(&batches[i], &verdicts[i]))
			}
		}
	}
	evaluate() // to warm up
	cpu, wall := cpuTime(), time.Now()
	evaluate()
	cpu, elapsed := cpuTime()-cpu, time.Since(wall)
	var octets []byte
	for _, v := range verdicts {
		for i := range v.Rows {
			octets = append(octets, v.Agents[0].Allowed[i>>3]>>(i&7)&1)
		}
	}
	must(0, os.WriteFile(out, octets, 0o666))
	n := float64(len(octets) * passes)
	must(0, json.NewEncoder(os.Stdout).Encode(map[string]any{
		"name": "robotsbatch", "version": version, "urls": len(octets), "passes": passes,
		"cpu_ns_per_url": float64(cpu) / n, "wall_ns_per_url": float64(elapsed) / n, "parse_ms": parse.Seconds() * 1e3,
	}))
}

// load lays out the URLs in batches and compiles the rules of their hosts.
func load(rules string, list []byte, agent string) (batches []batch.Batch, table *matcher.Table, parse time.Duration) {
	table = new(matcher.Table)
	origins := make(map[string]matcher.Origin)
	var scratch matcher.Scratch
	for line := range bytes.Lines(list) {
		columns := bytes.SplitN(line, []byte("\t"), 3)
		file, url := string(columns[0]), columns[1]
		if n := len(batches); n == 0 || batches[n-1].URLs.Len() == batch.DefaultRows {
			batches = append(batches, batch.Batch{URLs: batch.Column{Offsets32: []int32{0}}})
		}
		c := &batches[len(batches)-1].URLs
		c.Data = append(c.Data, url...)
		c.Offsets32 = append(c.Offsets32, int32(len(c.Data)))
		origin, known := origins[file]
		if !known {
			body := must(os.ReadFile(filepath.Join(rules, file)))
			start := cpuTime()
			parsed := robotstxt.Parse(body, robotstxt.Options{})
			origin = matcher.Origin{Access: access.Rules, Tries: matcher.Compile(parsed, []matcher.Chain{{agent}})}
			parse += cpuTime() - start
			origins[file] = origin
		}
		key, _, _ := scratch.Split(url)
		table.Add(key, origin)
	}
	return batches, table, parse
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
