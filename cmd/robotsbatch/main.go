package main

import (
	"context"
	"io"
	"log"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// Exit statuses, the same in every help text. A program that a signal stops ends
// with 128 and the signal's number.
const (
	exitDone    = 0
	exitFailed  = 1
	exitUsage   = 2
	exitInvalid = 3
	// exitRetry is EX_TEMPFAIL of sysexits.h.
	exitRetry = 75
)

func main() {
	log.SetOutput(io.Discard) // drivers of stores log there what their errors say
	// Without this a write to a closed pipe, or beyond a limit of size, would
	// kill the program before it could remove a temporary file; now the write
	// fails.
	signal.Ignore(failedWrites...)
	os.Exit(run(stopContext(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// stopped is the cause of the end of the program's context.
type stopped struct{ signal syscall.Signal }

func (s stopped) Error() string { return s.signal.String() }

// status is the exit status that shells give a program that a signal ended.
func (s stopped) status() int { return 128 + int(s.signal) }

// stopContext returns a context that a signal to stop ends. A second one kills at
// once. Signals that the program was started to ignore, as nohup does, stay
// ignored.
func stopContext() context.Context {
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

// streams are the standard streams of one run.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// run is the program: it does what args ask for and returns the exit status.
// Data goes to stdout, everything else to stderr.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	s := streams{stdin, stdout, stderr}
	if len(args) == 0 {
		program.ShortHelp(s.err)
		return exitUsage
	}
	switch command := args[0]; {
	case command == "explain":
		return runExplain(ctx, args[1:], s)
	case command == "version", command == "-version", command == "--version":
		return runVersion(args[1:], s)
	case command == "help":
		return runHelp(args[1:], s)
	case command == "compile":
		return runCompile(ctx, args[1:], s)
	case command == "inspect":
		return runInspect(ctx, args[1:], s)
	case command == "verify":
		return runVerify(ctx, args[1:], s)
	case command == "export":
		return runExport(ctx, args[1:], s)
	case command == "stats":
		return runStats(ctx, args[1:], s)
	case command == "survey":
		return runSurvey(ctx, args[1:], s)
	case command == "lint":
		return runLint(ctx, args[1:], s)
	case command == "diff":
		return runDiff(ctx, args[1:], s)
	case command == "hosts":
		return runHosts(ctx, args[1:], s)
	case command == "pipe":
		return runPipe(ctx, args[1:], s)
	case command == "hash":
		return runHash(args[1:], s)
	case command == "merge":
		return runMerge(ctx, args[1:], s)
	case !strings.HasPrefix(command, "-"):
		return failUsage(s, "", program.UnknownCommand(command))
	}
	return runJob(ctx, args, s)
}
