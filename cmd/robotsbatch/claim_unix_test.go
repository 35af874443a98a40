//go:build unix

package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// waiting starts a job that waits for its input, after it has written a row.
func waiting(t *testing.T, out string) (cmd *exec.Cmd, feed io.WriteCloser) {
	t.Helper()
	cmd, feed, _ = underWay(t, "-in", "-", "-rules", "rules", "-out", out, "-batch-rows", "1")
	return cmd, feed
}

// Of two runs on one output, the second says so at once. A killed one locks
// nobody out, and nothing of it remains after the next.
func TestTwoRuns(t *testing.T) {
	for _, out := range []string{"out.csv", "out/"} {
		t.Run(out, func(t *testing.T) {
			workplace(t)
			first, feed := waiting(t, out)
			second := exec.Command("robotsbatch", "-in", "-", "-rules", "rules", "-out", out)
			said, _ := second.CombinedOutput()
			if second.ProcessState.ExitCode() != exitRetry || !strings.Contains(string(said), "another run is writing it") {
				t.Errorf("exit status %d: %s", second.ProcessState.ExitCode(), said)
			}
			if err := first.Process.Signal(syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			feed.Close()
			exitStatus(t, first)
			if left := hidden(t); len(left) < 2 {
				t.Errorf("the killed run has left %q, want a lock and a temporary file", left)
			}

			third, feed := waiting(t, out)
			feed.Close()
			if status := exitStatus(t, third); status != exitDone {
				t.Errorf("exit status %d", status)
			}
			if left := hidden(t); len(left) > 0 {
				t.Errorf("%q are left", left)
			}
		})
	}
}

// A file in a folder of outputs may be another run's output.
func TestFileInFolder(t *testing.T) {
	workplace(t)
	if err := os.Mkdir("out", 0o777); err != nil {
		t.Fatal(err)
	}
	first, feed := waiting(t, filepath.Join("out", "urls.csv"))
	writeFile(t, "urls.txt", "https://example.com/\n")
	second := exec.Command("robotsbatch", "-in", "urls.txt", "-rules", "rules", "-out", "out")
	said, _ := second.CombinedOutput()
	if second.ProcessState.ExitCode() != exitRetry || !strings.Contains(string(said), "out/urls.csv: another run is writing it") {
		t.Errorf("exit status %d: %s", second.ProcessState.ExitCode(), said)
	}
	feed.Close()
	if status := exitStatus(t, first); status != exitDone {
		t.Errorf("exit status %d", status)
	}
}

// hidden lists the files of the program's own.
func hidden(t *testing.T) (names []string) {
	t.Helper()
	for _, pattern := range []string{".*.robotsbatch*", "*/.*robotsbatch*"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, found...)
	}
	return names
}

// An input or a rule pack that is written to while it is used ends the job, and
// the output before stays.
func TestChangedMeanwhile(t *testing.T) {
	tests := []struct {
		name   string
		change func(t *testing.T)
		want   string
	}{
		{"pack cut", func(t *testing.T) { truncate(t, "site.rules", 100) }, "site.rules: the rule pack was written to while it was used"},
		{"pack empty", func(t *testing.T) { truncate(t, "site.rules", 0) }, "site.rules: the rule pack was written to while it was used"},
		{"input longer", func(t *testing.T) { truncate(t, "more.txt", 1000) }, "more.txt: it was written to while it was read"},
		{"input cut", func(t *testing.T) { truncate(t, "more.txt", 3) }, "more.txt: it was written to while it was read"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			workplace(t)
			writeFile(t, "more.txt", strings.Repeat("https://example.com/\n", 10))
			writeFile(t, "out.csv", "as before\n")
			if made := exec.Command("robotsbatch", "compile", "-rules", "rules", "-out", "site.rules"); made.Run() != nil {
				t.Fatal("compile")
			}
			cmd, feed, stderr := underWay(t, "-in", "more.txt", "-in", "-", "-rules", "site.rules", "-out", "out.csv", "-batch-rows", "1")
			test.change(t)
			_, _ = io.WriteString(feed, "https://other.example/\n") // it may have failed already
			feed.Close()
			if status := exitStatus(t, cmd); status != exitRetry || !strings.Contains(stderr.String(), test.want) {
				t.Errorf("exit status %d: %s", status, stderr.String())
			}
			if left := hidden(t); len(left) > 0 {
				t.Errorf("%q are left", left)
			}
			if got, err := os.ReadFile("out.csv"); err != nil || string(got) != "as before\n" {
				t.Errorf("out.csv: %q, %v", got, err)
			}
		})
	}
}

func truncate(t *testing.T, name string, size int64) {
	t.Helper()
	if err := os.Truncate(name, size); err != nil {
		t.Fatal(err)
	}
}
