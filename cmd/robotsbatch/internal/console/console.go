// Package console is how the program meets the terminal or scheduler that started it:
// messages and progress on the error stream, and signals.
package console

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/term"

	"robotsbatch/batch/manifest"
	"robotsbatch/batch/option"
	"robotsbatch/io/report"
	"robotsbatch/io/rules/rulepack"
	"robotsbatch/io/store/blob"
	"robotsbatch/io/store/panics"
)

// Exit statuses of failures. After wrong use a message names the help; ExitRetry is EX_TEMPFAIL
// of sysexits.h.
const (
	ExitFailed = 1
	ExitUsage  = 2
	ExitRetry  = 75
)

// Options say how a [Console] writes messages.
type Options struct {
	// JSON makes each message a line of JSON instead of text.
	JSON bool
	// Quiet silences everything but warnings and errors, and OneLine everything but the
	// line that says why the program fails.
	Quiet, OneLine bool
	// Command is the one whose help a mistake on the command line points to; empty for
	// the main job.
	Command string
	// Words says how messages spell options.
	Words option.Words
}

// Console writes messages for people and schedulers to the error stream. It may be used by several
// goroutines at once.
type Console struct {
	o    Options
	w    io.Writer
	json *slog.Logger // nil for text

	mu     sync.Mutex
	status bool // a line of progress is on the terminal, which the next message replaces
}

// print writes text to the error stream. It first clears the line of progress on a terminal.
func (c *Console) print(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.status {
		_, _ = io.WriteString(c.w, "\r\x1b[K")
		c.status = false
	}
	fmt.Fprintf(c.w, format, args...)
}

// setStatus shows a line of progress, in place of the last one.
func (c *Console) setStatus(line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.status = true
	_, _ = io.WriteString(c.w, "\r"+line+"\x1b[K")
}

// New returns a console that writes to w.
func New(w io.Writer, o Options) *Console {
	c := &Console{o: o, w: w}
	if o.JSON {
		c.json = slog.New(slog.NewJSONHandler(w, nil))
	}
	return c
}

// JSON reports whether messages are lines of JSON, for programs.
func (c *Console) JSON() bool { return c.json != nil }

// Info writes a message that is no error: text for people, or in JSON message with the attributes
// attrs, which are as for [slog.Logger.Info]. Quiet silences it.
func (c *Console) Info(text, message string, attrs ...any) {
	switch {
	case c.o.Quiet:
	case c.json != nil:
		c.json.Info(message, attrs...)
	default:
		c.print("robotsbatch: %s\n", report.Printable(text))
	}
}

// Lines writes lines that belong to the last message of Info, for people alone.
func (c *Console) Lines(lines []string) {
	if c.o.Quiet || c.json != nil {
		return
	}
	for _, line := range lines {
		c.print("  %s\n", report.Printable(line))
	}
}

// Warn writes a warning, which Quiet does not silence.
func (c *Console) Warn(m option.Message) {
	parts := m.Parts()
	text := report.Printable(parts.In(c.o.Words))
	switch {
	case c.o.OneLine:
	case c.json != nil:
		c.json.Warn(text, c.attrs(parts)...)
	default:
		c.print("robotsbatch: %s\n", text)
	}
}

// WarnAll writes several warnings.
func (c *Console) WarnAll(messages []option.Message) {
	for _, m := range messages {
		c.Warn(m)
	}
}

// attrs returns the JSON attribute "parts" of a message that names options; nil for a message that
// names none. It changes parts: texts become printable. An option becomes a text if Words spells it by
// its value alone, as it does for lint's source, which is an operand.
func (c *Console) attrs(parts option.Parts) []any {
	named := false
	for i := range parts {
		p := &parts[i]
		if p.Option != "" && c.o.Words(option.Given{Name: p.Option, Value: p.Value}) == p.Value {
			*p = option.Part{Text: p.Value}
		}
		p.Text, p.Value = report.Printable(p.Text), report.Printable(p.Value)
		named = named || p.Option != ""
	}
	if !named {
		return nil
	}
	return []any{"parts", []option.Part(parts)}
}

// Note is Info with the same message for people and programs.
func (c *Console) Note(m option.Message) {
	text := report.Printable(c.Say(m))
	c.Info(text, text)
}

// Say returns a message with options as Words spells them.
func (c *Console) Say(m option.Message) string { return m.Parts().In(c.o.Words) }

// Message returns an error's message with options as Words spells them.
func (c *Console) Message(err error) string {
	return report.Printable(option.PartsOf(err).In(c.o.Words))
}

// Notice is Warn, but Quiet silences it: what it warns of may well be meant.
func (c *Console) Notice(m option.Message) {
	if !c.o.Quiet {
		c.Warn(m)
	}
}

// Fail writes an error, with its stack if it was a panic, and returns its exit status.
func (c *Console) Fail(err error) int {
	exit := status(err)
	if c.json != nil {
		attrs := append(c.attrs(option.PartsOf(err)), "exit_status", exit)
		if stack := panics.StackOf(err); stack != nil {
			attrs = append(attrs, "stack", string(stack))
		}
		c.json.Error(c.Message(err), attrs...)
		return exit
	}
	c.print("robotsbatch: %s\n", c.Message(err))
	if stack := panics.StackOf(err); stack != nil && !c.o.OneLine {
		c.print("%s", stack)
	}
	if exit == ExitUsage && !c.o.OneLine {
		c.print("Run \"robotsbatch %s\" for help.\n", strings.TrimSpace(c.o.Command+" -h"))
	}
	return exit
}

// IsTerminal reports whether a stream is a terminal.
func IsTerminal(stream any) bool {
	file, ok := stream.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(file.Fd()))
}

// IsPiped reports whether a stream is a pipe or a regular file.
func IsPiped(stream any) bool {
	file, ok := stream.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && (info.Mode().IsRegular() || info.Mode().Type() == os.ModeNamedPipe)
}

// Width returns the number of columns of a terminal; 0 for a stream that is none.
func Width(stream any) int {
	if !IsTerminal(stream) {
		return 0
	}
	width, _, _ := term.GetSize(int(stream.(interface{ Fd() uintptr }).Fd())) // 0 after an error
	return cmp.Or(width, standardWidth)
}

const standardWidth = 80 // of a terminal that does not say its width

// Colors reports whether a stream is a terminal that shows colors, and NO_COLOR does not forbid them.
func Colors(stream any) bool {
	return IsTerminal(stream) && os.Getenv("TERM") != "dumb" && os.Getenv("NO_COLOR") == ""
}

// status returns the exit status for an error: 128 and its number for a signal, 2 for a mistake on the
// command line, 75 for a failure that may be gone at another try, 1 for all others.
func status(err error) int {
	var signal stopped
	switch {
	case errors.As(err, &signal):
		return 128 + int(signal.signal) // which shells give a program that a signal ended
	case errors.As(err, new(*option.UsageError)):
		return ExitUsage
	case blob.Temporary(err), errors.Is(err, manifest.ErrIncomplete), errors.Is(err, rulepack.ErrChanged), errors.Is(err, rulepack.ErrUnreadable):
		return ExitRetry
	}
	return ExitFailed
}

// stopped is the cause of the end of the program's context: a signal.
type stopped struct{ signal syscall.Signal }

// Error names the signal.
func (s stopped) Error() string { return s.signal.String() }

// IgnoreFailedWrites makes a write to a closed pipe, or beyond a limit of file sizes, return an error. The
// system would also send a signal, which would kill the program before it could remove temporary
// files.
func IgnoreFailedWrites() { signal.Ignore(failedWrites...) }

// Context returns a context that ends with the first SIGINT, SIGTERM or SIGHUP, which is its cause. A
// second signal ends the program. A signal that is ignored when the program starts, as nohup has it, stays
// ignored.
func Context() context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			signal.Notify(signals, s)
		}
	}
	go func() {
		s := <-signals
		signal.Reset(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
		cancel(stopped{s.(syscall.Signal)})
	}()
	return ctx
}
