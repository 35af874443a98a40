package rulesdir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
	"robotsbatch/matcher/robotstxt"
)

// walked are the authorities of a folder with their bodies.
func walked(t *testing.T, d *Dir, workers int) map[string]string {
	t.Helper()
	var mu sync.Mutex
	found := make(map[string]string)
	err := d.Walk(workers, func() {}, func(authority, body []byte) error {
		mu.Lock()
		defer mu.Unlock()
		_, again := found[string(authority)]
		must.Be(t, !again, "%s comes twice", authority)
		found[string(authority)] = string(body)
		return nil
	})
	must.Do(t, err)
	return found
}

// checkWalk checks that a walk visits what Lookup knows.
func checkWalk(t *testing.T, d *Dir, names []string, wants map[string]string) {
	t.Helper()
	found := walked(t, d, 1)
	for authority, want := range wants {
		_, ok := found[authority]
		must.Be(t, ok == (want != ""), "%s: visited: %v, by Lookup's file %q", authority, ok, want)
	}
	for authority, got := range found {
		file, err := which(d, names, authority)
		must.Be(t, err == nil && file != "" && got == body(place(names, file)), "%s: visited with the body %q; Lookup has that of %q, %v", authority, got, file, err)
	}
}

func place(names []string, name string) int {
	for i := range names {
		if names[i] == name {
			return i
		}
	}
	return -1
}

func TestWalkWorkers(t *testing.T) {
	folder := t.TempDir()
	want := make(map[string]string)
	for i := range 300 {
		name := fmt.Sprintf("host%d.example", i)
		text := body(i % 7)
		write(t, folder, name+[]string{"", ".txt", ".gz", "/robots.txt"}[i%4], text)
		want["http://"+name], want["https://"+name] = text, text
	}
	d := open(t, folder, Options{})
	for _, workers := range []int{-1, 1, 8} {
		got := walked(t, d, workers)
		must.Equal(t, len(got), len(want), workers, "workers", "authorities")
		for authority, text := range want {
			must.Equal(t, got[authority], text, workers, "workers", authority)
		}
	}
}

func TestWalkLimit(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "a", strings.Repeat("#", robotstxt.DefaultLimit+100))
	for authority, text := range walked(t, open(t, folder, Options{}), 1) {
		must.Equal(t, len(text), (robotstxt.Options{}).ReadSize(), authority, "bytes")
	}
}

func TestWalkErrors(t *testing.T) {
	folder := t.TempDir()
	for i := range 100 {
		write(t, folder, fmt.Sprintf("host%d", i), body(0))
	}
	d := open(t, folder, Options{Chains: []matcher.Chain{{"*"}}})
	stop := errors.New("enough")
	for _, workers := range []int{1, 4} {
		var visited atomic.Int64
		err := d.Walk(workers, func() {}, func([]byte, []byte) error {
			if visited.Add(1) == 10 {
				return stop
			}
			return nil
		})
		must.Is(t, err, stop, workers, "workers")
		// Others may go on until they hear of it, so only one worker is sure.
		must.Be(t, workers != 1 || visited.Load() == 10, "%d visits, the last of which was to end it", visited.Load())
	}
	must.Do(t, os.Remove(filepath.Join(folder, "host50")))
	must.Mention(t, d.Walk(4, func() {}, func([]byte, []byte) error { return nil }), "host50", "must not change")
}
