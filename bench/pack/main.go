//go:build linux

// Pack measures rule packs of a generated corpus: the cost of building one, its size, and
// the cost of opening it and looking up authorities with none of it in memory.
// scripts/measure.sh pack runs it.
//
//	go run ./bench/pack -origins 1000000 -bodies 100000 -out FILE
//	go run ./bench/pack -origins 1000000 -bodies 100000 -measure FILE
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"robotsbatch/bench/corpus"
	"robotsbatch/bench/corpus/export"
	"robotsbatch/io/rules/rulepack"
	"robotsbatch/matcher"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

func run() error {
	origins := flag.Int("origins", 1_000_000, "authorities")
	bodies := flag.Int("bodies", 100_000, "distinct bodies")
	out := flag.String("out", "", "pack to build")
	measure := flag.String("measure", "", "pack to measure, built with the same -origins and -bodies")
	lookups := flag.Int("lookups", 1000, "cold lookups to measure")
	memory := flag.Int64("memory", 0, "bytes of memory for building; 0: the default")
	flag.Parse()
	c := corpus.New(corpus.Options{Origins: *origins, Missing: -1, Distinct: float64(*bodies) / float64(*origins)})
	switch {
	case *out != "":
		return build(c, *out, *memory)
	case *measure != "":
		return measureCold(c, *measure, *lookups)
	}
	return errors.New("-out or -measure is required")
}

// build builds a pack and prints what that used.
func build(c *corpus.Corpus, name string, memory int64) error {
	if memory <= 0 {
		memory = rulepack.DefaultBuildMemory
	}
	debug.SetMemoryLimit(max(memory, min(memory+memory/2, 512<<20))) // as robotsbatch compile does
	started := time.Now()
	b, err := rulepack.Create(context.Background(), name, rulepack.BuildOptions{Memory: memory})
	if err != nil {
		return err
	}
	defer b.Abort()
	if err := export.AddTo(b, c); err != nil {
		return err
	}
	added := time.Since(started)
	info, err := b.Finish()
	if err != nil {
		return err
	}
	fmt.Printf("built: %d authorities, %d distinct bodies of %d bytes\n", info.Authorities, info.Bodies, info.SourceBytes)
	fmt.Printf("time: %.1f s, of which %.1f s for the last part; peak of memory: %d MiB\n",
		time.Since(started).Seconds(), (time.Since(started) - added).Seconds(), peakRSS()>>20)
	fmt.Printf("file: %d bytes\n", info.Size)
	section := make(map[string]int64)
	for _, s := range info.Sections {
		fmt.Printf("  %-9s %12d\n", s.Name, s.Length)
		section[s.Name] = s.Length
	}
	fmt.Printf("beside the bodies: %.1f bytes an authority (host of %.1f bytes); a body's row: %d bytes\n",
		float64(section["directory"]+section["authorities"])/float64(info.Authorities), meanHost(c), section["bodies"]/info.Bodies)
	of := func(name string) float64 { return float64(section[name]) / float64(info.SourceBytes) }
	fmt.Printf("by the bytes of the bodies' source: compiled rules %.2f, notes %.2f, records %.3f\n", of("rules"), of("notes"), of("records"))
	return nil
}

func meanHost(c *corpus.Corpus) float64 {
	n, sum := min(c.Options().Origins, 10_000), 0
	for i := range n {
		sum += len(c.Origin(i).Host)
	}
	return float64(sum) / float64(n)
}

// measureCold opens a pack with none of it in memory and looks up authorities, each once.
func measureCold(c *corpus.Corpus, name string, lookups int) error {
	if err := coldOpens(name); err != nil {
		return err
	}
	p, err := rulepack.Inspect(name) // Inspect reads only what is asked for
	if err != nil {
		return err
	}
	defer func() { _ = p.Close() }()
	if err := warmUp(p); err != nil {
		return err
	}
	picked := rand.New(rand.NewPCG(1, 1)).Perm(c.Options().Origins)[:min(lookups, c.Options().Origins)]
	half := len(picked) / 2
	err = coldLookups("authority to its record", picked[:half], c, func(key []byte) error {
		_, known, err := p.Authority(key)
		if err == nil && !known {
			err = fmt.Errorf("%s is not known", key)
		}
		return err
	})
	if err != nil {
		return err
	}
	return coldLookups("authority to its rules and notes", picked[half:], c, func(key []byte) error {
		var o matcher.Origin
		return p.Lookup(key, &o)
	})
}

// openings is how often a pack is opened, because the disk's time varies.
const openings = 7

// coldOpens opens a pack several times, with none of it in memory, and prints how long that
// took.
func coldOpens(name string) error {
	var times []time.Duration
	var faults []int64
	for range openings {
		how, err := dropCache(name)
		if err != nil {
			return err
		}
		if len(times) == 0 {
			fmt.Printf("cold: %s\n", how)
		}
		before, started := majorFaults(), time.Now()
		p, err := rulepack.Open(name, rulepack.Options{Chains: []matcher.Chain{{"CCBot"}}})
		if err != nil {
			return err
		}
		times, faults = append(times, time.Since(started)), append(faults, majorFaults()-before)
		if err := p.Close(); err != nil {
			return err
		}
	}
	slices.Sort(times)
	fmt.Printf("open, %d times: median %v, between %v and %v; page faults that read from the disk: %v\n",
		openings, times[openings/2], times[0], times[openings-1], faults)
	return nil
}

// warmUp reads the parts of this program that were dropped from memory too.
func warmUp(p *rulepack.Pack) error {
	for i := range 100 {
		if _, _, err := p.Authority(fmt.Appendf(nil, "https://nobody%d.example", i)); err != nil {
			return err
		}
	}
	return nil
}

// coldLookups looks up origins and prints how long that took and how many pages it read.
func coldLookups(what string, origins []int, c *corpus.Corpus, lookup func([]byte) error) error {
	var times []time.Duration
	faults := make(map[int64]int)
	for _, i := range origins {
		o := c.Origin(i)
		key := o.Authority()
		before, started := majorFaults(), time.Now()
		if err := lookup(key); err != nil {
			return err
		}
		times = append(times, time.Since(started))
		faults[majorFaults()-before]++
	}
	slices.Sort(times)
	fmt.Printf("%s, %d lookups: median %v, 99 %% below %v; lookups by their page faults that read from the disk: %v\n",
		what, len(times), times[len(times)/2], times[len(times)*99/100], faults)
	return nil
}

// dropCache drops a file from the system's cache.
func dropCache(name string) (how string, err error) {
	unix.Sync()
	if os.WriteFile("/proc/sys/vm/drop_caches", []byte("3\n"), 0) == nil {
		return "the system's cache was dropped", nil
	}
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
		return "", err
	}
	return "the file was dropped from the system's cache", nil
}

func majorFaults() int64 {
	var usage unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return usage.Majflt
}

// peakRSS returns the peak memory of the process in bytes.
func peakRSS() int64 {
	var usage unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return usage.Maxrss << 10
}
