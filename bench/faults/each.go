//go:build linux

package main

import (
	"errors"
	"strings"
	"sync"
)

// firstLines returns enough of a message to see what it is about.
func firstLines(s string) string {
	lines := strings.SplitN(strings.TrimSpace(s), "\n", 4)
	return strings.Join(lines[:min(3, len(lines))], " | ")
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
