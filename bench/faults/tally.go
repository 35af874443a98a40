//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// part is the part of a file that a changed byte belongs to.
type part struct {
	name string
	// valid means that another value may be valid too, so that the change cannot be
	// detected.
	valid bool
}

// tally counts outcomes by part.
type tally struct {
	title string

	mu      sync.Mutex
	parts   []part
	counts  map[part]*[outcomes]int
	bad     []string // runs with a wrong outcome
	slowest time.Duration
	largest int64
}

func newTally(title string) *tally {
	return &tally{title: title, counts: make(map[part]*[outcomes]int)}
}

// add counts a run. what describes how to repeat it.
func (t *tally) add(p part, r result, what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.counts[p] == nil {
		t.counts[p] = new([outcomes]int)
		t.parts = append(t.parts, p)
	}
	t.counts[p][r.outcome]++
	t.slowest, t.largest = max(t.slowest, r.time), max(t.largest, r.memory)
	if r.outcome > silent || r.outcome == silent && !p.valid {
		t.bad = append(t.bad, fmt.Sprintf("%s: %s: %s: %s", what, p.name, outcomeNames[r.outcome], firstLines(r.stderr)))
	}
}

// complain records a wrong result of a run that add accepts.
func (t *tally) complain(what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.bad = append(t.bad, what)
}

// firstLines returns enough of a message to see what it is about.
func firstLines(s string) string {
	lines := strings.SplitN(strings.TrimSpace(s), "\n", 4)
	return strings.Join(lines[:min(3, len(lines))], " | ")
}

// print prints the table, and the wrong outcomes to stderr.
func (t *tally) print() error {
	slices.SortFunc(t.parts, func(x, y part) int { return strings.Compare(x.name, y.name) })
	fmt.Printf("\n## %s\n\n| part | faults | %s |\n|---|%s\n", t.title, strings.Join(outcomeNames[:], " | "), strings.Repeat("---:|", outcomes+1))
	var total [outcomes]int
	for _, p := range t.parts {
		row(p.name, *t.counts[p])
		for i, n := range t.counts[p] {
			total[i] += n
		}
	}
	row("all", total)
	fmt.Printf("\nThe slowest run took %.2f s, the largest %d MiB.\n", t.slowest.Seconds(), t.largest>>20)
	for _, bad := range t.bad[:min(len(t.bad), 50)] {
		fmt.Fprintln(os.Stderr, bad)
	}
	if len(t.bad) > 0 {
		return fmt.Errorf("%d faults ended as none should", len(t.bad))
	}
	return nil
}

func row(name string, counts [outcomes]int) {
	sum := 0
	for _, n := range counts {
		sum += n
	}
	fmt.Printf("| %s | %d |", name, sum)
	for _, n := range counts {
		fmt.Printf(" %d |", n)
	}
	fmt.Println()
}

// each calls f with every number below n, on several goroutines. worker is the number of
// the goroutine.
func (b *bench) each(n int, f func(worker, i int) error) error {
	var mu sync.Mutex
	var failed error
	next := 0
	take := func() (int, bool) {
		mu.Lock()
		defer mu.Unlock()
		next++
		return next - 1, next <= n && failed == nil
	}
	var group sync.WaitGroup
	for worker := range b.workers {
		group.Go(func() {
			for i, ok := take(); ok; i, ok = take() {
				if err := f(worker, i); err != nil {
					mu.Lock()
					failed = errors.Join(failed, err)
					mu.Unlock()
				}
			}
		})
	}
	group.Wait()
	return failed
}
