package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
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
	writeFile(t, "urls.txt", "https://example.com/private\n")
	_, terminal := openTerminal(t)
	var stderr bytes.Buffer
	status := run(t.Context(), []string{"-in", "urls.txt", "-rules", "rules", "-out-format", "arrow"}, nil, terminal, &stderr)
	if status != exitUsage || !strings.Contains(stderr.String(), "-out-format csv") {
		t.Errorf("exit status %d: %s", status, &stderr)
	}
	stderr.Reset()
	if status := run(t.Context(), []string{"-in", "urls.txt", "-rules", "rules"}, nil, terminal, &stderr); status != exitDone {
		t.Errorf("csv: exit status %d: %s", status, &stderr)
	}
}

// On a terminal progress is one line, which the summary takes the place of.
func TestProgressOnTerminal(t *testing.T) {
	workplace(t)
	writeFile(t, "urls.txt", "https://example.com/private\n")
	screen, terminal := openTerminal(t)
	if status := run(t.Context(), []string{"-in", "urls.txt", "-rules", "rules", "-out", "out.csv"}, nil, nil, terminal); status != exitDone {
		t.Fatalf("exit status %d", status)
	}
	var shown string
	for !strings.HasSuffix(shown, "a second\r\n") {
		more := make([]byte, 4096)
		n, err := screen.Read(more)
		if err != nil {
			t.Fatal(err)
		}
		shown += string(more[:n])
	}
	progress, summary, _ := strings.Cut(shown, "0:00\r\x1b[K")
	if !strings.HasPrefix(progress, "\r\x1b[K1 row, ") || !strings.HasPrefix(summary, "robotsbatch: 1 row: 0 allowed, 1 denied") {
		t.Errorf("shown: %q", shown)
	}
}
