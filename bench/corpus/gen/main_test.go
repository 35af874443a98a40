package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"robotsbatch/io/store/must"
)

func TestRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	args := []string{"-out", dir, "-origins", "10", "-urls", "30", "-missing", "0", "-formats", "txt,arrows"}
	must.Do(t, run(args))
	if got, want := names(t, dir), []string{"frontier.arrows", "frontier.txt", "rules"}; !slices.Equal(got, want) {
		t.Errorf("wrote %q, want %q", got, want)
	}
	if got := names(t, filepath.Join(dir, "rules")); len(got) != 10 {
		t.Errorf("%d files with -missing 0, want 10", len(got))
	}
	text := must.Get(os.ReadFile(filepath.Join(dir, "frontier.txt")))(t)
	if got := strings.Count(string(text), "\n"); got != 30 {
		t.Errorf("%d URLs, want 30", got)
	}
}

func TestRunUnknownFormat(t *testing.T) {
	err := run([]string{"-out", t.TempDir(), "-rules=false", "-formats", "txt,csv"})
	if err == nil || !strings.Contains(err.Error(), `"csv"`) {
		t.Errorf("error %v, want one that names csv", err)
	}
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries := must.Get(os.ReadDir(dir))(t)
	var found []string
	for _, entry := range entries {
		found = append(found, entry.Name())
	}
	return found
}
