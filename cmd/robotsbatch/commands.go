package main

import (
	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/cmd/robotsbatch/internal/config"
	"robotsbatch/cmd/robotsbatch/manual"
)

// program is the command line, made of the commands and their flags.
var program = cli.Program{
	Purpose: "robots.txt verdicts for lists and tables of URLs", Version: cli.Version(),
	Main: jobHelp, Commands: commands, Topics: config.Topics, Pages: manual.Topics(),
}

// Exit statuses that several commands have.
var (
	doneExit    = cli.Exit{Status: "0", Meaning: "done, even if the reader of a pipe closed it early"}
	failedExit  = cli.Exit{Status: "1", Meaning: "failed; nothing half-written is left"}
	usageExit   = cli.Exit{Status: "2", Meaning: "wrong use"}
	retryExit   = cli.Exit{Status: "75", Meaning: "failed, but try again: a store or disk failed, or a file is being written"}
	stoppedExit = cli.Exit{Status: "129, 130, 143", Meaning: "stopped by SIGHUP, Ctrl-C or SIGTERM; nothing half-written is left"}

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
