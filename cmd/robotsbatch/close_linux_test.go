package main

import (
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

// A table that cannot be written leaves nothing running that makes its rows.
func TestFailedTableCloses(t *testing.T) {
	ignored := goleak.IgnoreCurrent()
	rules, urls := filepath.Join(sample, "rules"), filepath.Join(sample, "frontier.txt.zst")
	empty := t.TempDir()
	for _, args := range [][]string{
		{"export", "-rules", rules, "-table", "rules"},
		{"survey", "-rules", rules, "-agent", "CCBot"},
		{"hosts", "-in", urls, "-rules", rules, "-max-age", "1s"},
		{"diff", rules, empty, "-allow-no-rules", "-agent", "CCBot"},
	} {
		args = append(args, "-out", "/dev/full", "-out-format", "arrows", "-batch-rows", "1")
		status, _, stderr := runWith(t.Context(), "", args...)
		if status != exitRetry || !strings.Contains(stderr, "no space left on device") {
			t.Errorf("%s: status %d: %s", strings.Join(args, " "), status, stderr)
		}
		if err := goleak.Find(ignored); err != nil {
			t.Errorf("%s: %v", args[0], err)
		}
	}
}
