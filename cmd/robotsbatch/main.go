package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"robotsbatch/batch/option"
	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/cmd/robotsbatch/internal/console"
	"robotsbatch/cmd/robotsbatch/internal/heap"
	"robotsbatch/io/store/blob"
	_ "robotsbatch/io/store/blob/stores"
)

func main() {
	debug.SetTraceback("crash")  // a crash ends with SIGABRT (134) then, not with 2 as wrong use does
	log.SetOutput(io.Discard)    // drivers of stores log what their errors also say
	console.IgnoreFailedWrites() // so that a failed write is an error, and no signal
	console.CloseSubstitutes()   // so that a missing stream is an error
	ctx := console.Context()
	out := blob.NewStdout(ctx)
	status := run(ctx, os.Args[1:], os.Stdin, out, os.Stderr)
	if err := out.Err(); err != nil && status == exitDone { // commands that only print check no write
		status = failAsText(os.Stderr, err)
	}
	os.Exit(status)
}

// isInput reports whether the first argument, which is no command, belongs to the main job: it is a
// flag, or looks like an input rather than like a misspelt command.
func isInput(name string) bool {
	_, err := os.Stat(name)
	return err == nil || blob.IsURL(name) || strings.HasPrefix(name, "-") || strings.ContainsAny(name, "./*")
}

// run is the program: it runs the command that args name, and returns the exit status. Data
// goes to stdout, everything else to stderr.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		fmt.Fprint(stderr, program.ShortHelp())
		return exitUsage
	}
	s := streams{stdin, stdout, stderr}
	var text string
	var err error
	switch command, name := program.Command(args[0]), args[0]; {
	case command != nil:
		return start(ctx, command, args[1:], s)
	case name == "help":
		text, err = helpOn(args[1:])
	case slices.Contains([]string{"version", "-version", "--version", "-V"}, name):
		if text = cli.Build(); len(args) > 1 {
			err = option.Usagef("version takes no arguments")
		}
	case isInput(name):
		return start(ctx, program.Main, args, s)
	default:
		err = program.UnknownCommand(name)
	}
	if err != nil {
		return failAsText(stderr, err)
	}
	_, _ = io.WriteString(stdout, text) // what the reader of a pipe does not want is no error
	return exitDone
}

// start makes the command that entry describes, parses its arguments, runs it, reports its error, and
// returns the exit status.
func start(ctx context.Context, entry *cli.Command, args []string, s streams) (status int) {
	asked := entry.New().(command)
	c := asked.common()
	c.s, c.started = s, time.Now()
	var err error
	c.operands, err = asked.Flags().Parse(args, c.recordFlag)
	if errors.Is(err, flag.ErrHelp) {
		text := program.Help(entry)
		if entry == program.Main && !cli.WantsAllHelp(args) {
			text = program.ShortHelp()
		}
		fmt.Fprint(s.out, text)
		return exitDone
	}
	c.openConsole(entry) // after an error of Parse, by the flags before it
	ctx = blob.WithMemory(blob.WithTimeout(ctx, c.StoreTimeout), c.Memory)
	if err == nil {
		err = asked.check(ctx)
	}
	if err == nil {
		blob.SweepScratch()
		status, err = asked.execute(ctx)
		c.shown.End()
	}
	switch {
	case err == nil:
		return status
	case errors.Is(err, syscall.EPIPE) && entry != program.Main:
		// The reader of stdout has what it wanted. The main job has dealt with that, and fails
		// for another pipe, such as that of -summary-json.
		return exitDone
	case ctx.Err() != nil:
		err = option.Errorf("stopped (%w)%s", context.Cause(ctx), asked.left())
	}
	if len(asked.Flags().Only(string(option.Memory))) > 0 { // else nobody could follow the advice
		err = heap.WithMemory(err, c.Memory)
	}
	status = max(c.log.Fail(err), c.leastFailed)
	asked.failed(ctx, err, status)
	return status
}

// openConsole opens the console, as the flags ask for it.
func (c *call) openConsole(entry *cli.Command) {
	o := console.Options{JSON: c.LogJSON, OneLine: c.OneLine && !c.Verbose, Words: c.words}
	o.Quiet = c.Quiet || o.OneLine
	if entry != program.Main {
		o.Command = entry.Name
	}
	c.log = console.New(c.s.err, o)
}
