package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"robotsbatch/batch/option"
	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/cmd/robotsbatch/internal/config"
	"robotsbatch/cmd/robotsbatch/internal/console"
	"robotsbatch/cmd/robotsbatch/manual"
	"robotsbatch/io/store/blob"
	_ "robotsbatch/io/store/blob/stores"
)

// Exit statuses, the same in every help text. A program that a signal stops ends
// with 128 and the signal's number.
const (
	exitDone, exitExceeded           = 0, 3
	exitFailed, exitUsage, exitRetry = console.ExitFailed, console.ExitUsage, console.ExitRetry
)

func main() {
	debug.SetTraceback("crash")  // a crash ends with SIGABRT (134) then, not with 2 as wrong use does
	log.SetOutput(io.Discard)    // drivers of stores log there what their errors say
	console.IgnoreFailedWrites() // so that they are errors
	console.CloseSubstitutes()   // so that a stream which is missing is an error
	ctx := console.Context()
	out := blob.NewStdout(ctx)
	status := run(ctx, os.Args[1:], os.Stdin, out, os.Stderr)
	if err := out.Err(); err != nil && status == exitDone { // commands that only print check no write
		status = failAsText(os.Stderr, err)
	}
	os.Exit(status)
}

// isInput reports whether the first argument is a flag or an input of the main job, and not a
// misspelt command.
func isInput(name string) bool {
	_, err := os.Stat(name)
	return err == nil || blob.IsURL(name) || strings.HasPrefix(name, "-") || strings.ContainsAny(name, "./*")
}

// streams are the standard streams of one run.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// run is the program: it runs the command that args name, and returns the exit status. Data
// goes to stdout, everything else to stderr.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	s := streams{stdin, stdout, stderr}
	if len(args) == 0 {
		fmt.Fprint(s.err, program.ShortHelp())
		return exitUsage
	}
	name := args[0]
	command := program.Command(name)
	switch {
	case command != nil:
		return start(ctx, command, args[1:], s)
	case name == "help":
		return runHelp(args[1:], s)
	case slices.Contains([]string{"version", "-version", "--version", "-V"}, name):
		if len(args) > 1 {
			return failAsText(s.err, option.Usagef("version takes no arguments"))
		}
		cli.PrintVersion(s.out)
		return exitDone
	case !isInput(name):
		return failAsText(s.err, program.UnknownCommand(name))
	}
	return start(ctx, program.Main, args, s)
}

// program is the command line, made of the commands and their flags.
var program = cli.Program{
	Purpose: "robots.txt verdicts for lists and tables of URLs", Version: cli.Version(),
	Main: jobHelp, Commands: commands, Topics: config.Topics, Pages: manual.Topics(),
}

// Exit statuses that several commands have.
var (
	doneExit    = cli.Exit{Status: "0", Meaning: "done, even if the reader of a pipe closed it early"}
	failedExit  = cli.Exit{Status: "1", Meaning: "failed; no file is left half-written"}
	usageExit   = cli.Exit{Status: "2", Meaning: "wrong use"}
	retryExit   = cli.Exit{Status: "75", Meaning: "failed, but try again: a store or disk failed, or a file is being written"}
	stoppedExit = cli.Exit{Status: "129, 130, 143", Meaning: "stopped by SIGHUP, Ctrl-C or SIGTERM; no file is left half-written"}

	// tableExits are those of commands that write a table.
	tableExits = []cli.Exit{doneExit, failedExit, usageExit, retryExit, stoppedExit}
)

// jobHelp is what the program does without a command.
var jobHelp = &cli.Command{
	Name: "robotsbatch", New: func() cli.Config { return newJob() },
	Usage: []string{"-in FILE -rules RULES [-agent NAME] [-out FILE] [flags]"},
	About: "checks every URL of a list or table against robots.txt (RFC 9309): may this crawler fetch it? It reads files, " +
		"contacts no website, and keeps the order of the rows.",
	Examples: []string{
		"-in frontier.arrow -rules robots -agent CCBot -out verdicts.arrow",
		"-in urls.txt.zst -rules robots -emit allowed -out ok.txt.zst",
		`-in "*.arrow" -rules my.rules -agent GPTBot -agent CCBot -out o/`,
	},
	Exits: []cli.Exit{
		doneExit, failedExit, usageExit, {Status: "3", Meaning: "done, but -max-invalid or -max-no-robots was exceeded"}, retryExit, stoppedExit,
	},
}

// commands are all others, but help and version, which have no flags.
var commands = []*cli.Command{
	explainHelp, compileHelp, verifyHelp, pipeHelp, exportHelp, hostsHelp, diffHelp, surveyHelp, lintHelp,
}
