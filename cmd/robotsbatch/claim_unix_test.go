//go:build unix

package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"robotsbatch/io/store/must"
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
			must.Be(t, second.ProcessState.ExitCode() == exitRetry && strings.Contains(string(said), "another run is writing it"),
				"exit status %d: %s", second.ProcessState.ExitCode(), said)
			must.Do(t, first.Process.Signal(syscall.SIGKILL))
			feed.Close()
			exitStatus(t, first)
			left := hidden(t)
			must.Be(t, len(left) >= 2, "the killed run has left %q, want a lock and a temporary file", left)

			third, feed := waiting(t, out)
			feed.Close()
			must.Equal(t, exitStatus(t, third), exitDone, "exit status")
			left = hidden(t)
			must.Be(t, len(left) == 0, "%q are left", left)
		})
	}
}

// A file in a folder of outputs may be another run's output.
func TestFileInFolder(t *testing.T) {
	workplace(t)
	must.Do(t, os.Mkdir("out", 0o777))
	first, feed := waiting(t, filepath.Join("out", "urls.csv"))
	must.WriteFile(t, "urls.txt", "https://example.com/\n")
	second := exec.Command("robotsbatch", "-in", "urls.txt", "-rules", "rules", "-out", "out")
	said, _ := second.CombinedOutput()
	must.Be(t, second.ProcessState.ExitCode() == exitRetry && strings.Contains(string(said), "out/urls.csv: another run is writing it"),
		"exit status %d: %s", second.ProcessState.ExitCode(), said)
	feed.Close()
	must.Equal(t, exitStatus(t, first), exitDone, "exit status")
}

// hidden lists the files of the program's own.
func hidden(t *testing.T) (names []string) {
	t.Helper()
	for _, pattern := range []string{".*.robotsbatch*", "*/.*robotsbatch*"} {
		found := must.Get(filepath.Glob(pattern))(t)
		names = append(names, found...)
	}
	return names
}

// What is written to while it is used ends the job, and so does what is gone when it is needed;
// what is replaced as a whole does not. The output before stays, or the new one is complete.
func TestChangedMeanwhile(t *testing.T) {
	pack := []string{"-in", "more.txt", "-in", "-", "-rules", "site.rules", "-out", "out.csv"}
	folder := []string{"-in", "-", "-rules", "rules", "-out", "out.csv"}
	const packChanged = "site.rules: the rule pack was written to while it was used"
	const inputChanged = "more.txt: it was written to while it was read"
	const missing = "rules/b.example: it was there when the folder was listed"
	cut := func(name string, size int64) func() error { return func() error { return os.Truncate(name, size) } }
	replace := func(name, text string) func() error {
		return func() error { return errors.Join(os.WriteFile("new", []byte(text), 0o666), os.Rename("new", name)) }
	}
	remove := func(name string) func() error { return func() error { return os.RemoveAll(name) } }
	for _, test := range []struct {
		name   string
		args   []string
		change func() error
		status int
		want   string
		rows   int // of the output, if it is complete
	}{
		{"pack cut", pack, cut("site.rules", 100), exitRetry, packChanged, 0},
		{"pack empty", pack, cut("site.rules", 0), exitRetry, packChanged, 0},
		{"input longer", pack, cut("more.txt", 1000), exitRetry, inputChanged, 0},
		{"input cut", pack, cut("more.txt", 3), exitRetry, inputChanged, 0},
		{"input replaced", pack, replace("more.txt", "http://c.example/\n"), exitDone, "", fedRows + 12},
		{"input gone before its turn", []string{"-in", "-", "-in", "more.txt", "-rules", "rules", "-out", "out.csv"}, remove("more.txt"), exitFailed, "more.txt: no such file or directory", 0},
		{"folder of the output removed", []string{"-in", "-", "-rules", "rules", "-out", "out/big.csv"}, remove("out"), exitFailed, "out/big.csv: rename: no such file or directory", 0},
		{"folder of outputs removed", []string{"-in", "-", "-rules", "rules", "-out", "out"}, remove("out"), exitFailed, "out/stdin.csv: rename: no such file or directory", 0},
		{"robots.txt replaced before it is needed", folder, replace("rules/b.example", ""), exitDone, "1 allowed", fedRows + 2},
		{"robots.txt replaced after it was read", folder, replace("rules/example.com", ""), exitDone, "0 allowed", fedRows + 2},
		{"robots.txt removed before it is needed", folder, remove("rules/b.example"), exitFailed, missing, 0},
		{"folder in the place of a robots.txt", folder, func() error { return errors.Join(os.Remove("rules/b.example"), os.Mkdir("rules/b.example", 0o777)) }, exitFailed, "rules/b.example: not a regular file: put a robots.txt in its place, or remove it", 0},
		{"rules removed", folder, remove("rules"), exitFailed, missing, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			workplace(t)
			must.WriteFile(t, "rules/b.example", "User-agent: *\nDisallow: /private\n")
			must.WriteFile(t, "more.txt", strings.Repeat("https://example.com/\n", 10))
			must.WriteFile(t, "out.csv", "as before\n")
			must.Do(t, os.Mkdir("out", 0o777))
			mustRun(t, "compile", "-rules", "rules", "-out", "site.rules", "-quiet")
			cmd, feed, stderr := underWay(t, append(test.args, "-batch-rows", "100")...)
			must.Do(t, test.change())
			_, _ = io.WriteString(feed, "https://example.com/private\nhttps://b.example/private\n") // it may have failed already
			feed.Close()
			status := exitStatus(t, cmd)
			must.Be(t, status == test.status && strings.Contains(stderr.String(), test.want), "exit status %d: %s", status, stderr)
			left := hidden(t)
			must.Be(t, len(left) == 0, "%q are left", left)
			got := string(readFile(t, "out.csv"))
			rows := strings.Count(got, "\n") - 1
			must.Be(t, (test.rows <= 0 || rows == test.rows) && (test.rows != 0 || got == "as before\n"), "out.csv: %d rows, %.100q", rows, got)
		})
	}
}

// So it is with a file in the middle of which the job is: the reader of its output waits.
func TestChangedInTheMiddle(t *testing.T) {
	for _, name := range []string{"big.txt", "big.arrow", "big.parquet"} {
		for how, change := range map[string]func(size int64) error{
			"cut":         func(int64) error { return os.Truncate(name, 1<<20) },
			"overwritten": func(size int64) error { return os.WriteFile(name, make([]byte, size), 0o666) },
		} {
			t.Run(name+" "+how, func(t *testing.T) {
				workplace(t)
				must.WriteFile(t, "big.txt", strings.Repeat("https://example.com/private\n", 300_000))
				if name != "big.txt" {
					mustRun(t, "-in", "big.txt", "-rules", "rules", "-out", name, "-columns", "url", "-prefix", "x_", "-compression", "none", "-quiet")
				}
				info := must.Get(os.Stat(name))(t)
				cmd, stdout, stderr := writing(t, 100, "-in", name, "-rules", "rules", "-columns", "url", "-batch-rows", "100")
				must.Do(t, change(info.Size()))
				must.Get(io.Copy(io.Discard, stdout))(t)
				status := exitStatus(t, cmd)
				must.Be(t, status == exitRetry && strings.Contains(stderr.String(), name+": it was written to while it was read"), "exit status %d: %s", status, stderr)
			})
		}
	}
}

// An output larger than a file may be is an error that names it.
func TestFileSizeLimit(t *testing.T) {
	workplace(t)
	must.WriteFile(t, "urls.txt", strings.Repeat("https://example.com/private\n", 5000))
	must.WriteFile(t, "out.csv", "as before\n")
	said, err := exec.Command("sh", "-c", "ulimit -f 100 && exec robotsbatch -in urls.txt -rules rules -out out.csv").CombinedOutput()
	must.Be(t, err != nil && err.Error() == "exit status 1" && strings.Contains(string(said), "out.csv: file too large"), "%v: %s", err, said)
	left := hidden(t)
	must.Be(t, len(left) == 0 && string(readFile(t, "out.csv")) == "as before\n", "out.csv has changed, or %q are left", left)
}
