package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"robotsbatch/io/store/must"
)

// openTerminal returns a new terminal, and the file from which what is written
// to it can be read.
func openTerminal(t *testing.T) (screen, terminal *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { screen.Close() })
	fd := int(screen.Fd())
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Skip(err)
	}
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { terminal.Close() })
	return screen, terminal
}

// Arrow does not go to a terminal; csv does.
func TestBinaryOnTerminal(t *testing.T) {
	workplace(t)
	must.WriteFile(t, "urls.txt", "https://example.com/private\n")
	_, terminal := openTerminal(t)
	var stderr bytes.Buffer
	status := run(t.Context(), []string{"-in", "urls.txt", "-rules", "rules", "-out-format", "arrow"}, nil, terminal, &stderr)
	must.Be(t, status == exitUsage && strings.Contains(stderr.String(), "-out-format csv"), "exit status %d: %s", status, &stderr)
	stderr.Reset()
	must.Equal(t, run(t.Context(), []string{"-in", "urls.txt", "-rules", "rules"}, nil, terminal, &stderr), exitDone, "csv: exit status", &stderr)
}

// shown runs a command with its error stream on a terminal of that width, and its output
// there as well if onScreen is true. It returns all that was written to the terminal.
func shown(t *testing.T, width uint16, status int, onScreen bool, args ...string) string {
	t.Helper()
	screen, terminal := openTerminal(t)
	if err := unix.IoctlSetWinsize(int(terminal.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 25, Col: width}); err != nil {
		t.Skip(err)
	}
	var stdout io.Writer
	if onScreen {
		stdout = terminal
	}
	got := run(t.Context(), args, nil, stdout, terminal)
	must.Need(t, got == status, "exit status %d", got)
	fmt.Fprintln(terminal, "END")
	for text := ""; ; {
		more := make([]byte, 4096)
		text += string(more[:must.Get(screen.Read(more))(t)])
		if all, ended := strings.CutSuffix(text, "END\r\n"); ended {
			return all
		}
	}
}

// shownOn is what a job of one row shows on a terminal of that width.
func shownOn(t *testing.T, width uint16) string {
	t.Helper()
	text := shown(t, width, exitDone, false, "-in", "urls.txt", "-rules", "rules", "-out", "out.csv")
	must.Be(t, strings.HasSuffix(text, "a second\r\n"), "shown %q", text)
	return text
}

// On a terminal progress is one line, which the summary takes the place of. It fits.
func TestProgressOnTerminal(t *testing.T) {
	workplace(t)
	must.WriteFile(t, "urls.txt", "https://example.com/private\n")
	t.Setenv("TERM", "xterm")
	for width, parts := range map[uint16]string{80: ", 100 % done, 0:00 left, ", 40: ", 100 %, 0:00 left, ", 12: ""} {
		progress, summary, found := strings.Cut(shownOn(t, width), "\x1b[K\r\x1b[K")
		must.Be(t, found && strings.HasPrefix(progress, "\r1 row") && strings.HasPrefix(summary, "robotsbatch: 1 row for everyone (*): 0 allowed, 1 denied"),
			"%d columns: shown %q, %q", width, progress, summary)
		line := progress[1:]
		must.Be(t, len(line) < int(width) && strings.Contains(line, parts), "%d columns: %q", width, line)
	}
	t.Setenv("TERM", "dumb")
	shown := shownOn(t, 80)
	must.Be(t, strings.HasPrefix(shown, "robotsbatch: 1 row for everyone (*): "), "on a terminal without cursor: %q", shown)
}

// A job with large inputs says on a terminal what it is about to do; elsewhere it does not.
func TestPlanOnTerminal(t *testing.T) {
	workplace(t)
	must.WriteFile(t, "urls.txt", "https://example.com/private\n")
	t.Setenv("TERM", "xterm")
	plan := "inputs   1 file, 28 bytes: urls.txt\r\nformat   text\r\noutputs  1 file, the first is out.csv: csv, with allowed\r\n" +
		"rules    rules: folder\r\nagents   *\r\n"
	shown := shownOn(t, 80)
	must.Be(t, !strings.Contains(shown, "inputs"), "a small input: shown %q", shown)
	defer func(size int64) { longFrom = size }(longFrom)
	longFrom = 28
	shown = shownOn(t, 80)
	must.Be(t, strings.HasPrefix(shown, plan), "shown %q", shown)
	longFrom = 29
	shown = shownOn(t, 80)
	must.Be(t, !strings.Contains(shown, "inputs"), "a byte less: shown %q", shown)
	longFrom = 28
	for _, args := range [][]string{{}, {"-dry-run"}} {
		_, terminal := openTerminal(t)
		var stderr bytes.Buffer
		run(t.Context(), append(args, "-in", "urls.txt", "-rules", "rules", "-out", "out.csv"), nil, terminal, &stderr)
		must.Be(t, !strings.Contains(stderr.String(), "inputs "), "%q, stderr to a file: %s", args, &stderr)
	}
}

// Other commands show steps on the same line, which messages take the place of.
func TestStepsOnTerminal(t *testing.T) {
	workplace(t)
	t.Setenv("TERM", "xterm")
	shown := shown(t, 80, exitDone, false, "compile", "-rules", "rules", "-out", "site.rules")
	want := "\rreading robots.txt: 1 of 1 files, 100 % done, 0:00 left, "
	must.Be(t, strings.HasPrefix(shown, want), "%q does not begin with %q", shown, want)
	must.Be(t, strings.Contains(shown, "\x1b[K\r\x1b[Krobotsbatch: "), "%q: the line stands before the summary", shown)
}

// On a terminal explain colors the verdict and the rule that decides, and wraps long paths at
// slashes; with NO_COLOR, TERM=dumb or another stream it does not color.
func TestExplainOnTerminal(t *testing.T) {
	workplace(t)
	must.WriteFile(t, filepath.Join("rules", "long.example"), "User-agent: *\nDisallow: /a/rather/long/path/\n")
	url := "https://long.example/a/rather/long/path/" + strings.Repeat("x", 60) + "/ends"
	shown := func(width uint16) string {
		t.Helper()
		return shown(t, width, exitFailed, true, "explain", "-rules", "rules", url)
	}
	const verdict, rule = "  verdict     \x1b[35mdenied\x1b[0m\r\n", ">     2  \x1b[35mDisallow: /a/rather/long/path/\x1b[0m\r\n"
	t.Setenv("NO_COLOR", "")
	t.Setenv("TERM", "xterm")
	text := shown(200)
	must.Be(t, strings.Contains(text, verdict) && strings.Contains(text, rule) && strings.Count(text, "\x1b[") == 4 && strings.HasPrefix(text, url+"\r\n"), "in 200 columns:\n%q", text)
	narrow := shown(40)
	for line := range strings.Lines(strings.NewReplacer("\x1b[35m", "", "\x1b[0m", "").Replace(narrow)) {
		line = strings.TrimRight(line, "\r\n")
		must.Be(t, len(line) <= 40, "%d columns: %s", len(line), line)
	}
	want := "  path        /a/rather/long/path/\r\n" + strings.Repeat(" ", 14) + strings.Repeat("x", 26) + "\r\n"
	must.Be(t, strings.HasPrefix(narrow, "https://long.example/a/rather/long/path/\r\n  xxx") && strings.Contains(narrow, want), "in 40 columns:\n%s", narrow)
	text = shown(3)
	must.Be(t, strings.Contains(text, "/ends"), "in 3 columns:\n%q", text)
	t.Setenv("TERM", "dumb")
	text = shown(80)
	must.Be(t, !strings.Contains(text, "\x1b"), "TERM=dumb:\n%q", text)
	t.Setenv("TERM", "xterm")
	t.Setenv("NO_COLOR", "1")
	text = shown(80)
	must.Be(t, !strings.Contains(text, "\x1b"), "NO_COLOR:\n%q", text)
}
