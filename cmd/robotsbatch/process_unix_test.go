//go:build unix

package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// workplace makes a folder with rules and changes to it.
func workplace(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	if err := os.Mkdir("rules", 0o777); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join("rules", "example.com"), "User-agent: *\nDisallow: /private\n")
}

func writeFile(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
}

// exitStatus waits for the program and returns its status, -1 when a signal
// killed it.
func exitStatus(t *testing.T, cmd *exec.Cmd) int {
	t.Helper()
	err := cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode()
}

// underWay starts a job that reads stdin, and writes more to that than a pipe
// holds: the job has begun to read, and waits for more.
func underWay(t *testing.T, args ...string) (cmd *exec.Cmd, feed io.WriteCloser, stderr *strings.Builder) {
	t.Helper()
	cmd, stderr = exec.Command("robotsbatch", args...), new(strings.Builder)
	cmd.Stderr = stderr
	feed, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for range 100_000 {
		if _, err := io.WriteString(feed, "https://example.com/private\n"); err != nil {
			t.Fatal(err)
		}
	}
	return cmd, feed, stderr
}

// A signal stops a job whose input never ends: it fails, says so, and what was
// there before it is there still.
func TestSignalStopsJob(t *testing.T) {
	ignoreNoSignals(t)
	for _, sent := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		t.Run(sent.String(), func(t *testing.T) {
			workplace(t)
			writeFile(t, "out.csv", "as before\n")
			cmd, _, stderr := underWay(t, "-in", "-", "-rules", "rules", "-out", "out.csv", "-batch-rows", "1")
			if err := cmd.Process.Signal(sent); err != nil {
				t.Fatal(err)
			}
			if status := exitStatus(t, cmd); status != 128+int(sent) {
				t.Errorf("exit status %d", status)
			}
			if !strings.HasPrefix(stderr.String(), "robotsbatch: stopped (") {
				t.Errorf("stderr: %s", stderr.String())
			}
			wantOnly(t, "out.csv", "as before\n")
		})
	}
}

// ignoreNoSignals has the children of a test ignore no signal, which a shell that starts
// tests in the background, or nohup, would have them do.
func ignoreNoSignals(t *testing.T) {
	t.Helper()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(signals) })
}

// wantOnly checks that name and rules are all there is, and what is in name.
func wantOnly(t *testing.T, name, content string) {
	t.Helper()
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if entry.Name() != name && entry.Name() != "rules" {
			t.Errorf("%s was left behind", entry.Name())
		}
	}
	got, err := os.ReadFile(name)
	if err != nil || string(got) != content {
		t.Errorf("%s: %q, %v", name, got, err)
	}
}

// A named pipe that nobody writes to holds the program up in open already.
func TestSignalStopsOpen(t *testing.T) {
	workplace(t)
	if err := syscall.Mkfifo("feed", 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("robotsbatch", "-in", "feed", "-files-from", "list", "-rules", "rules")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo("list", 0o666); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// The list is read after the signal handlers are there.
	list, err := os.OpenFile("list", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	list.Close()
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	said, err := io.ReadAll(stderr)
	if err != nil {
		t.Fatal(err)
	}
	if status := exitStatus(t, cmd); status != 128+int(syscall.SIGTERM) || !strings.Contains(string(said), "stopped (terminated)") {
		t.Errorf("exit status %d: %s", status, said)
	}
}

// A write to a pipe that nobody reads keeps the job from stopping at a signal. A
// second one kills it then.
func TestSecondSignalKills(t *testing.T) {
	ignoreNoSignals(t)
	workplace(t)
	writeFile(t, "urls.txt", strings.Repeat("https://example.com/private/and/so/on\n", 50_000))
	cmd := exec.Command("robotsbatch", "-in", "urls.txt", "-rules", "rules")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// The batch is written at once and larger than a pipe: after its first byte
	// came, the job waits for a reader.
	if _, err := io.ReadFull(stdout, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	// It does not show that it has had a signal, and one that comes too soon
	// after another is the same, so it is given them until it has had two.
	for cmd.Process.Signal(syscall.SIGINT) == nil {
		var status syscall.WaitStatus
		if pid, err := syscall.Wait4(cmd.Process.Pid, &status, syscall.WNOHANG, nil); err != nil {
			t.Fatal(err)
		} else if pid != 0 {
			if !status.Signaled() || status.Signal() != syscall.SIGINT {
				t.Errorf("it ended otherwise: %v: %s", status, stderr.String())
			}
			break
		}
		time.Sleep(time.Millisecond)
	}
	_ = cmd.Wait() // for what reads stderr; the process is gone already
	if stderr.Len() > 0 {
		t.Errorf("stderr: %s", stderr.String())
	}
}

// A reader that closes the pipe early is success.
func TestEarlyClosedPipe(t *testing.T) {
	workplace(t)
	writeFile(t, "urls.txt", strings.Repeat("https://example.com/private/and/so/on\n", 200_000))
	cmd := exec.Command("robotsbatch", "-in", "urls.txt", "-rules", "rules", "-batch-rows", "1000", "-summary-json", "summary.json")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(stdout, make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	stdout.Close()
	if status := exitStatus(t, cmd); status != exitDone {
		t.Errorf("exit status %d", status)
	}
	if !strings.Contains(stderr.String(), "closed the output early") {
		t.Errorf("stderr: %s", stderr.String())
	}
	summary, err := os.ReadFile("summary.json")
	if err != nil || !strings.Contains(string(summary), `"complete": false`) {
		t.Errorf("summary: %s, %v", summary, err)
	}
}

// A program that was started to ignore SIGHUP, as nohup does, goes on.
func TestIgnoredSignal(t *testing.T) {
	workplace(t)
	cmd := exec.Command("sh", "-c", `trap "" HUP; exec robotsbatch -in - -rules rules -out out.csv`)
	feed, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for range 100_000 { // more than a pipe holds: the job has begun
		if _, err := io.WriteString(feed, "https://example.com/private\n"); err != nil {
			t.Fatal(err)
		}
	}
	if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	feed.Close()
	if status := exitStatus(t, cmd); status != exitDone {
		t.Errorf("exit status %d", status)
	}
}
