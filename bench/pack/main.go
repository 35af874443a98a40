//go:build linux

// Pack measures what opening a rule pack and looking up authorities cost with none of it in
// memory. scripts/measure.sh pack runs it. The pack is of a corpus with these numbers:
//
//	go run ./bench/pack -origins 1000000 -bodies 100000 FILE
package main

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"robotsbatch/bench/corpus"
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
	lookups := flag.Int("lookups", 1000, "cold lookups to measure")
	flag.Parse()
	if flag.NArg() != 1 {
		return errors.New("want the name of a pack")
	}
	c := corpus.New(corpus.Options{Origins: *origins, Missing: -1, Distinct: float64(*bodies) / float64(*origins)})
	return measureCold(c, flag.Arg(0), *lookups)
}

// measureCold opens a pack with none of it in memory and looks up authorities, each once.
func measureCold(c *corpus.Corpus, name string, lookups int) error {
	if err := coldOpens(name); err != nil {
		return err
	}
	p, err := rulepack.Inspect(name, "") // Inspect reads only what is asked for
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
	return int64(usage.Majflt)
}
