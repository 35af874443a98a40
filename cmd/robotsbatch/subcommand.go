package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"syscall"

	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/cmd/robotsbatch/internal/console"
	"robotsbatch/io/store/blob"
)

// subcommand is how a command runs.
type subcommand struct {
	help *cli.Command
	// defaults, if not nil, sets what flags leave unset, where that differs from the main
	// job.
	defaults func(c *jobConfig)
	// run checks operands and flags together, does what they ask for, and returns the exit
	// status, unless it fails.
	run func(c *call, ctx context.Context) (status int, err error)
	// failed is the least exit status of a failure, for a command of which 1 is a result.
	failed int
	// left says what a command leaves when a signal stops it.
	left string
}

// call is one run of a command.
type call struct {
	*jobConfig
	s        streams
	operands []string
	log      *console.Console
	// schemeless is a line of a list of URLs without schemes; empty for none.
	schemeless string
}

const nothingLeft = "; nothing half-written is left"

// subcommands are all commands by name, but help and version.
func subcommands() map[string]subcommand {
	all := make(map[string]subcommand)
	for _, sub := range []subcommand{
		{help: &explainHelp, defaults: explainDefaults, run: (*call).explainURLs, failed: exitUsage},
		{help: &compileHelp, defaults: compileDefaults, run: (*call).compilePacks, left: nothingLeft},
		{help: &inspectHelp, run: (*call).inspect},
		{help: &verifyHelp, run: (*call).verify},
		{help: &pipeHelp, defaults: pipeDefaults, run: (*call).pipe},
		{help: &exportHelp, run: (*call).exportTable, left: nothingLeft},
		{help: &hostsHelp, run: (*call).listHosts, left: nothingLeft},
		{help: &diffHelp, defaults: diffDefaults, run: (*call).diff, left: nothingLeft},
		{help: &mergeHelp, run: (*call).merge},
		{help: &surveyHelp, run: (*call).survey, left: nothingLeft},
		{help: &hashHelp, run: (*call).printHashes},
		{help: &lintHelp, run: (*call).lint, failed: exitUsage},
		{help: &statsHelp, defaults: statsDefaults, run: (*call).printStats},
	} {
		all[sub.help.Name] = sub
	}
	return all
}

// start runs the command with these arguments and returns the exit status.
func (sub *subcommand) start(ctx context.Context, args []string, s streams) int {
	c := &call{jobConfig: newConfig(), s: s}
	if sub.defaults != nil {
		sub.defaults(c.jobConfig)
	}
	var err error
	c.operands, err = cli.ParseMixed(program.FlagSet(sub.help, c.jobConfig), args)
	if errors.Is(err, flag.ErrHelp) {
		program.Help(sub.help, s.out)
		return exitDone
	}
	c.log = c.console(s, sub.help.Name)
	status := exitDone
	if err == nil {
		blob.SweepScratch()
		status, err = sub.run(c, blob.WithTimeout(ctx, c.storeTimeout))
	}
	switch {
	case err == nil:
		return status
	case errors.Is(err, syscall.EPIPE):
		return exitDone // its reader has what it wanted
	case ctx.Err() != nil:
		err = fmt.Errorf("stopped (%w)%s", context.Cause(ctx), sub.left)
	}
	return max(c.log.Fail(err), sub.failed)
}

// console returns the one that the flags ask for.
func (c *jobConfig) console(s streams, command string) *console.Console {
	words := cli.Words
	if command == lintHelp.Name {
		words = lintWords
	}
	oneLine := c.oneLine && !c.verbose
	return console.New(s.err, console.Options{JSON: c.logJSON, Quiet: c.quiet || oneLine, OneLine: oneLine, Command: command, Words: words, Status: statusOf})
}

// failPlain reports an error where no flag says how.
func failPlain(s streams, err error) int { return newConfig().console(s, "").Fail(err) }
