package main

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"golang.org/x/term"

	"robotsbatch/io/report"
)

// console is where the program speaks to people and schedulers: the error
// stream, as text or as JSON lines. It is for one goroutine.
type console struct {
	w io.Writer
	// json is nil for text.
	json *slog.Logger
	// quiet silences everything but errors.
	quiet bool
	// oneLine silences everything but the line that says why the program fails.
	oneLine bool
	// command is the one whose help a mistake on the command line points to; empty
	// for the main job.
	command string
}

func newConsole(w io.Writer, asJSON, quiet bool) *console {
	c := &console{w: w, quiet: quiet}
	if asJSON {
		c.json = slog.New(slog.NewJSONHandler(w, nil))
	}
	return c
}

// of returns c, which from now on points to the help of that command.
func (c *console) of(command string) *console {
	c.command = command
	return c
}

// info says something that is no error: text for people, or message and
// attributes for programs.
func (c *console) info(text, message string, attrs ...any) {
	switch {
	case c.quiet:
	case c.json != nil:
		c.json.Info(message, attrs...)
	default:
		fmt.Fprintf(c.w, "robotsbatch: %s\n", report.Printable(text))
	}
}

// warn says what -quiet does not silence.
func (c *console) warn(text string) {
	text = report.Plain(text)
	switch {
	case c.oneLine:
	case c.json != nil:
		c.json.Warn(text)
	default:
		fmt.Fprintf(c.w, "robotsbatch: %s\n", text)
	}
}

// fail reports err and returns the exit status that it asks for.
func (c *console) fail(err error) int {
	status := statusOf(err)
	if c.json != nil {
		c.json.Error(report.Message(err), "exit_status", status)
		return status
	}
	fmt.Fprintf(c.w, "robotsbatch: %s\n", report.Message(err))
	if status == exitUsage && !c.oneLine {
		fmt.Fprintf(c.w, "Run \"robotsbatch %s\" for help.\n", strings.TrimSpace(c.command+" -h"))
	}
	return status
}

// failUsage reports a mistake on the command line before its flags have said how to
// write messages.
func failUsage(s streams, command string, err error) int {
	return newConsole(s.err, false, false).of(command).fail(err)
}

// isTerminal tells whether a stream is a terminal.
func isTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
