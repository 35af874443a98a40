//go:build unix

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"robotsbatch/io/store/must"
)

// exitStatus waits for the program and returns its status, -1 when a signal
// killed it.
func exitStatus(t *testing.T, cmd *exec.Cmd) int {
	t.Helper()
	err := cmd.Wait()
	var exit *exec.ExitError
	must.Need(t, err == nil || errors.As(err, &exit), "%v", err)
	return cmd.ProcessState.ExitCode()
}

// fedRows is the number of rows that underWay writes.
const fedRows = 40_000

// underWay starts a job that reads stdin, and writes more to that than a pipe
// holds: the job has begun to read, and waits for more.
func underWay(t *testing.T, args ...string) (cmd *exec.Cmd, feed io.WriteCloser, stderr *strings.Builder) {
	t.Helper()
	cmd, stderr = exec.Command("robotsbatch", args...), new(strings.Builder)
	cmd.Stderr = stderr
	return cmd, fed(t, cmd), stderr
}

// fed starts a program and writes rows to its stdin.
func fed(t *testing.T, cmd *exec.Cmd) io.WriteCloser {
	t.Helper()
	feed := must.Get(cmd.StdinPipe())(t)
	must.Do(t, cmd.Start())
	for range fedRows {
		must.Get(io.WriteString(feed, "https://example.com/private\n"))(t)
	}
	return feed
}

// writing starts a job that writes to stdout, of which first has been read.
func writing(t *testing.T, first int, args ...string) (cmd *exec.Cmd, stdout io.ReadCloser, stderr *strings.Builder) {
	t.Helper()
	cmd, stderr = exec.Command("robotsbatch", args...), new(strings.Builder)
	cmd.Stderr = stderr
	stdout = must.Get(cmd.StdoutPipe())(t)
	must.Do(t, cmd.Start())
	must.Get(io.ReadFull(stdout, make([]byte, first)))(t)
	return cmd, stdout, stderr
}

// A crash, which SIGQUIT asks the runtime for, does not end with the status of wrong use.
func TestCrashIsNoWrongUse(t *testing.T) {
	workplace(t)
	cmd, _, stderr := underWay(t, "-in", "-", "-rules", "rules", "-out", "out.csv")
	must.Do(t, cmd.Process.Signal(syscall.SIGQUIT))
	exitStatus(t, cmd)
	end, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	must.Be(t, ok && end.Signal() == syscall.SIGABRT, "it ended with %v\n%.300s", cmd.ProcessState, stderr)
}

// A signal stops a job whose input never ends: it fails, says so, and what was
// there before it is there still.
func TestSignalStopsJob(t *testing.T) {
	ignoreNoSignals(t)
	for _, sent := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		t.Run(sent.String(), func(t *testing.T) {
			workplace(t)
			must.WriteFile(t, "out.csv", "as before\n")
			cmd, _, stderr := underWay(t, "-in", "-", "-rules", "rules", "-out", "out.csv", "-batch-rows", "1")
			must.Do(t, cmd.Process.Signal(sent))
			must.Equal(t, exitStatus(t, cmd), 128+int(sent), "exit status")
			said := stderr.String()
			must.Be(t, strings.HasPrefix(said, "robotsbatch: stopped (") && strings.Contains(said, "; no file is left half-written"), "stderr: %s", said)
			wantOnly(t, "out.csv", "as before\n")
		})
	}
}

// A command that writes to standard output cannot take back what it wrote.
func TestSignalStopsCommand(t *testing.T) {
	ignoreNoSignals(t)
	for out, left := range map[string]string{"-": "; what was written to standard output is incomplete\n", "out.csv": "; no file is left half-written\n"} {
		workplace(t)
		cmd, _, stderr := underWay(t, "hosts", "-in", "-", "-out", out)
		must.Do(t, cmd.Process.Signal(syscall.SIGTERM))
		status := exitStatus(t, cmd)
		must.Be(t, status == 128+int(syscall.SIGTERM) && stderr.String() == "robotsbatch: stopped (terminated)"+left, "-out %s: exit status %d: %s", out, status, stderr)
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
	entries := must.Get(os.ReadDir("."))(t)
	for _, entry := range entries {
		must.Be(t, entry.Name() == name || entry.Name() == "rules", "%s was left behind", entry.Name())
	}
	got, err := os.ReadFile(name)
	must.Be(t, err == nil && string(got) == content, "%s: %q, %v", name, got, err)
}

// A named pipe that nobody writes to holds the program up in open already, and one whose writer is
// silent in its first read.
func TestSignalStopsOpen(t *testing.T) {
	workplace(t)
	must.Do(t, syscall.Mkfifo("feed", 0o666))
	must.Do(t, syscall.Mkfifo("silent", 0o666))
	writer := must.Get(os.OpenFile("silent", os.O_RDWR, 0))(t)
	defer writer.Close()
	must.Do(t, syscall.Mkfifo("list", 0o666))
	must.WriteFile(t, "urls.txt", "https://example.com/\n")
	for _, args := range [][]string{
		{"-in", "feed", "-rules", "rules", "-files-from", "list"},
		{"-in", "urls.txt", "-rules", "rules", "-fetch-list", "feed", "-files-from", "list"},
		{"-in", "silent", "-rules", "rules", "-files-from", "list"},
		{"-in", "urls.txt", "-rules", "rules", "-fetch-list", "silent", "-files-from", "list"},
		{"-in", "urls.txt", "-rules", "rules", "-agents", "list"},
		{"verify", "list"},
	} {
		cmd := exec.Command("robotsbatch", args...)
		stderr := must.Get(cmd.StderrPipe())(t)
		must.Do(t, cmd.Start())
		// The list is read after the signal handlers are there.
		list := must.Get(os.OpenFile("list", os.O_WRONLY, 0))(t)
		silent := slices.Contains(args, "silent") || !slices.Contains(args, "-files-from")
		if slices.Contains(args, "-files-from") {
			list.Close()
		} else {
			defer list.Close()
		}
		if silent {
			time.Sleep(300 * time.Millisecond) // so that it waits in the read
		}
		must.Do(t, cmd.Process.Signal(syscall.SIGTERM))
		killed := time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
		said := must.Get(io.ReadAll(stderr))(t)
		status := exitStatus(t, cmd)
		must.Be(t, status == 128+int(syscall.SIGTERM) && strings.Contains(string(said), "stopped (terminated)"), "%s: exit status %d: %s", args, status, said)
		killed.Stop()
	}
}

// -dry-run takes nothing from a pipe, which a job can read once, and waits for no writer.
func TestDryRunOpensNoPipe(t *testing.T) {
	workplace(t)
	must.WriteFile(t, "urls.csv", "url\nhttps://example.com/\n")
	must.Do(t, syscall.Mkfifo("feed", 0o666))
	feed := must.Get(os.OpenFile("feed", os.O_RDWR|syscall.O_NONBLOCK, 0))(t)
	defer feed.Close()
	sent := must.Get(feed.WriteString(strings.Repeat("https://example.com/\n", 3000)))(t)
	for _, test := range []struct{ args, want string }{
		{"-in urls.csv -in feed -out folder/", "format   csv\n"},
		{"-in feed -in urls.csv -out folder/", "format   known when feed is read\n"},
		{"-in urls.csv -in feed -out v.csv", "format   csv\n"},
	} {
		plan := mustRun(t, append(strings.Fields(test.args), "-rules", "rules", "-dry-run")...)
		must.Be(t, strings.Contains(plan, test.want), "%s: %s", test.args, plan)
	}
	left, err := 0, error(nil)
	must.Do(t, must.Get(feed.SyscallConn())(t).Read(func(fd uintptr) bool {
		left, err = syscall.Read(int(fd), make([]byte, sent))
		return true
	}))
	must.Equal(t, left, sent, "bytes are left in the pipe", err)
}

// A message to a pipe that nobody reads keeps the program from stopping at a signal. A
// second one kills it then.
func TestSecondSignalKills(t *testing.T) {
	ignoreNoSignals(t)
	workplace(t)
	r, w, err := os.Pipe()
	must.Do(t, err)
	defer r.Close()
	defer w.Close()
	must.Do(t, w.SetWriteDeadline(time.Now().Add(50*time.Millisecond)))
	for err == nil { // until it is full
		_, err = w.Write(make([]byte, 4096))
	}
	must.WriteFile(t, "urls.txt", "https://example.com/private\n")
	cmd := exec.Command("robotsbatch", "-in", "urls.txt", "-rules", "rules")
	cmd.Stderr = w
	stdout := must.Get(cmd.StdoutPipe())(t)
	must.Do(t, cmd.Start())
	must.Get(io.ReadFull(stdout, make([]byte, 1)))(t)
	time.Sleep(50 * time.Millisecond)
	// A signal that comes too soon after another is the same.
	for range 50 {
		if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
		var status syscall.WaitStatus
		if pid, err := syscall.Wait4(cmd.Process.Pid, &status, syscall.WNOHANG, nil); err != nil {
			t.Fatal(err)
		} else if pid != 0 {
			must.Be(t, status.Signaled() && status.Signal() == syscall.SIGINT, "it ended otherwise: %v", status)
			return
		}
	}
	_ = cmd.Process.Kill()
	t.Error("it did not end")
}

// A reader that closes the pipe early is success.
func TestEarlyClosedPipe(t *testing.T) {
	workplace(t)
	must.WriteFile(t, "urls.txt", strings.Repeat("https://example.com/private/and/so/on\n", 200_000))
	cmd, stdout, stderr := writing(t, 100, "-in", "urls.txt", "-rules", "rules", "-batch-rows", "1000", "-summary-json", "summary.json")
	stdout.Close()
	must.Equal(t, exitStatus(t, cmd), exitDone, "exit status")
	must.Be(t, strings.Contains(stderr.String(), "closed the output early"), "stderr: %s", stderr.String())
	summary, err := os.ReadFile("summary.json")
	must.Be(t, err == nil && strings.Contains(string(summary), `"complete": false`), "summary: %s, %v", summary, err)
}

// A program that was started to ignore SIGHUP, as nohup does, goes on.
func TestIgnoredSignal(t *testing.T) {
	workplace(t)
	cmd := exec.Command("sh", "-c", `trap "" HUP; exec robotsbatch -in - -rules rules -out out.csv`)
	feed := fed(t, cmd)
	must.Do(t, cmd.Process.Signal(syscall.SIGHUP))
	feed.Close()
	must.Equal(t, exitStatus(t, cmd), exitDone, "exit status")
}

// What a run that was killed left in the folder of temporary files is removed by the next
// one.
func TestKilledRunsTemporaryFolder(t *testing.T) {
	workplace(t)
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	cmd := exec.Command("robotsbatch", "-in", "urls.txt", "-rules", "captures.jsonl")
	must.WriteFile(t, "urls.txt", "https://example.com/private\n")
	var captures strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&captures, `{"url":"https://h%d.example.com/robots.txt","body":""}`+"\n", i)
	}
	must.WriteFile(t, "captures.jsonl", captures.String())
	must.Do(t, cmd.Start())
	left := func() []string { return must.Get(filepath.Glob(filepath.Join(temp, "*")))(t) }
	for began := time.Now(); len(left()) < 2; time.Sleep(time.Millisecond) {
		must.Need(t, time.Since(began) <= 20*time.Second, "no temporary folder appeared")
	}
	must.Do(t, cmd.Process.Signal(syscall.SIGSTOP))
	out, err := exec.Command("robotsbatch", "-in", "urls.txt", "-rules", "rules").CombinedOutput()
	must.Be(t, err == nil && len(left()) >= 2, "the folder of a program that runs was removed: %v, %s", err, out)
	must.Do(t, cmd.Process.Kill())
	_ = cmd.Wait() // it was killed
	out, err = exec.Command("robotsbatch", "-in", "urls.txt", "-rules", "rules").CombinedOutput()
	must.Need(t, err == nil, "%v: %s", err, out)
	names := left()
	must.Be(t, len(names) == 0, "%q are left", names)
}

// The first signal ends a job whose output nobody reads, be it stdout or a named pipe,
// and one that waits for the reader of a named pipe.
func TestSignalStopsBlockedOutput(t *testing.T) {
	ignoreNoSignals(t)
	for name, test := range map[string]struct {
		out  []string
		open bool
	}{
		"stdout":            {nil, true},
		"named pipe":        {[]string{"-out", "pipe", "-out-format", "csv"}, true},
		"unread named pipe": {[]string{"-out", "pipe", "-out-format", "csv"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			workplace(t)
			must.WriteFile(t, "urls.txt", strings.Repeat("https://example.com/private\n", 300_000))
			must.Do(t, syscall.Mkfifo("pipe", 0o666))
			args := append([]string{"-in", "urls.txt", "-rules", "rules", "-log", "text", "-summary-json", "s.json"}, test.out...)
			cmd, stdout, stderr := writing(t, 0, args...)
			var reader io.Reader = stdout
			if test.open && test.out != nil {
				pipe := must.Get(os.Open("pipe"))(t)
				defer pipe.Close()
				reader = pipe
			}
			if test.open { // it writes, and then waits for more to be read
				must.Get(io.ReadFull(reader, make([]byte, 10)))(t)
			} else {
				for began := time.Now(); time.Since(began) < 20*time.Second; time.Sleep(time.Millisecond) {
					if found, _ := filepath.Glob(".s.json.*"); len(found) > 0 {
						break // it comes before the output
					}
				}
			}
			time.Sleep(50 * time.Millisecond) // so that the pipe is full
			must.Do(t, cmd.Process.Signal(syscall.SIGTERM))
			time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() })
			status := exitStatus(t, cmd)
			must.Be(t, status == 128+int(syscall.SIGTERM) && strings.Contains(stderr.String(), "stopped (terminated)"), "exit status %d: %s", status, stderr)
			must.Equal(t, strings.Contains(stderr.String(), "what was written to standard output is incomplete"), test.out == nil, "stderr", stderr)
			found, _ := filepath.Glob(".*")
			must.Be(t, len(found) == 0, "left behind: %q", found)
		})
	}
}

// A summary that cannot be written is a failure, even if its reader closed the pipe.
func TestEarlyClosedSummary(t *testing.T) {
	workplace(t)
	must.Do(t, syscall.Mkfifo("summary", 0o666))
	cmd, stderr := exec.Command("robotsbatch", "-in", "-", "-rules", "rules", "-out", "out.csv", "-summary-json", "summary"), new(strings.Builder)
	cmd.Stderr = stderr
	feed := must.Get(cmd.StdinPipe())(t)
	must.Do(t, cmd.Start())
	must.Do(t, must.Get(os.Open("summary"))(t).Close())
	must.Get(io.WriteString(feed, "https://example.com/private\n"))(t)
	must.Do(t, feed.Close())
	status := exitStatus(t, cmd)
	must.Be(t, status == exitFailed && strings.Contains(stderr.String(), "-summary-json: summary: broken pipe"), "exit status %d: %s", status, stderr)
}

// A program that was started without stdout fails when it has rows to write there, and one
// without stdin when it is to read that. Texts are dropped: the exit status may be all that
// is wanted.
func TestClosedStreams(t *testing.T) {
	workplace(t)
	must.WriteFile(t, "urls.txt", "https://example.com/private\n")
	for _, test := range []struct {
		command string
		status  int
		want    string
	}{
		{"-in urls.txt -rules rules >&-", 1, "stdout is closed"},
		{"-in urls.txt -rules rules -out /dev/stdout -out-format csv >&-", 1, "stdout is closed"},
		{"-in - -rules rules <&-", 1, "stdin: file already closed"},
		{"pipe -rules rules <&-", 1, "stdin: file already closed"},
		{"export -rules rules -table rules >&-", 1, "stdout is closed"},
		{"survey -rules rules -agent GPTBot -as csv >&-", 1, "stdout is closed"},
		{"version >&-", 0, ""},
		{"help export >&-", 0, ""},
		{"explain https://example.com/ -rules rules >&-", 0, ""},
		{"explain https://example.com/private -rules rules 1<>/dev/null", 1, ""}, // as Python's DEVNULL
		{"-in urls.txt -rules rules -out o.csv <&- >&-", 0, "1 row"},
		{"-in urls.txt -rules rules >/dev/null </dev/null", 0, "1 row"},
		{"-in urls.txt -rules rules -out o.csv <>/dev/null >&0", 0, "1 row"}, // as daemons open it
		{"-in urls.txt -rules rules <>/dev/null >&0", 0, "1 row"},
	} {
		cmd, stderr := exec.Command("sh", "-c", "exec robotsbatch "+test.command), new(strings.Builder)
		cmd.Stderr = stderr
		must.Do(t, cmd.Start())
		status := exitStatus(t, cmd)
		must.Be(t, status == test.status && strings.Contains(stderr.String(), test.want), "%s: status %d: %s", test.command, status, stderr)
	}
}

// A reader that has enough before the first byte is success for every command.
func TestReaderHasEnough(t *testing.T) {
	workplace(t)
	must.WriteFile(t, "urls.txt", "https://example.com/\n")
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
