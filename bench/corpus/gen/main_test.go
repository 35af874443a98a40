package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"robotsbatch/io/store/must"
)

func TestRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	args := []string{"-out", dir, "-origins", "10", "-urls", "30", "-missing", "0", "-formats", "txt,arrows"}
	must.Do(t, run(args))
	must.EqualSlices(t, names(t, dir), []string{"frontier.arrows", "frontier.txt", "rules"}, "wrote")
	got := names(t, filepath.Join(dir, "rules"))
	must.Be(t, len(got) == 10, "%d files with -missing 0, want 10", len(got))
	text := must.Get(os.ReadFile(filepath.Join(dir, "frontier.txt")))(t)
	must.Equal(t, strings.Count(string(text), "\n"), 30, "URLs")
}

func TestRunUnknownFormat(t *testing.T) {
	must.Say(t, run([]string{"-out", t.TempDir(), "-rules=false", "-formats", "txt,csv"}), `"csv"`)
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
