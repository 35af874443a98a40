//go:build unix

package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"robotsbatch/io/store/must"
)

// A reader that has enough before the first byte is success for every command.
func TestReaderHasEnough(t *testing.T) {
	workplace(t)
	writeFile(t, "urls.txt", "https://example.com/\n")
	for _, args := range [][]string{
		{"-in", "urls.txt", "-rules", "rules"},
		{"explain", "-rules", "rules", "https://example.com/"},
		{"compile", "-rules", "rules", "-out", "-"},
		{"lint", "rules"},
		{"lint", "-json", "rules"},
		{"lint", "-sarif", "rules"},
		{"lint", "-counts", "rules"},
		{"export", "-rules", "rules", "-table", "rules"},
		{"survey", "-rules", "rules", "-agent", "a"},
		{"diff", "rules", "rules"},
		{"hosts", "-in", "urls.txt", "-rules", "rules"},
		{"help"},
		{"version"},
	} {
		r, w, err := os.Pipe()
		must.Do(t, err)
		r.Close()
		cmd := exec.Command("robotsbatch", args...)
		var stderr strings.Builder
		cmd.Stdout, cmd.Stderr = w, &stderr
		err = cmd.Start()
		w.Close()
		must.Do(t, err)
		status := exitStatus(t, cmd)
		must.Be(t, status == exitDone && !strings.Contains(stderr.String(), "broken pipe"), "%s: exit status %d: %s", strings.Join(args, " "), status, &stderr)
	}
}
