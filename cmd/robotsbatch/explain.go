package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"

	"robotsbatch/batch/option"
	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/cmd/robotsbatch/internal/config"
	"robotsbatch/cmd/robotsbatch/internal/console"
	"robotsbatch/io/report/explain"
)

// explainHelp is the command explain.
var explainHelp = &cli.Command{
	Name: "explain", New: func() cli.Config {
		c := &explainCommand{call: newCall(), Rules: config.NewRules()}
		c.Running.Workers, c.Quiet, c.leastFailed = runtime.GOMAXPROCS(0), true, exitUsage // Quiet still lets warnings through
		return c
	},
	Usage: []string{"explain -rules RULES [-agent NAME] [flags] URL...", "explain -for HOST [-agent NAME] [flags] FILE PATH..."},
	About: "shows which rule decides about a URL, its line and group, and which other rules matched.",
	Examples: []string{
		"explain -rules robots -agent CCBot https://example.com/a?b=c",
		"explain -for example.com robots.txt /a",
		"explain -rules robots -agents ai.txt https://example.com/a",
	},
	Exits: []cli.Exit{
		{Status: "0", Meaning: "allowed; with several URLs or agents, the worst counts"},
		{Status: "1", Meaning: "denied"},
		{Status: "2", Meaning: "wrong use, no verdict, or rules that cannot be read"},
		retryExit, stoppedExit,
	},
}

// explainCommand is its configuration.
type explainCommand struct {
	call
	config.Rules
	json       bool
	partitions int
}

// Flags implements cli.Config.
func (c *explainCommand) Flags() cli.Flags {
	return slices.Concat(c.OneTimeFlags("explain what held at this time: ignore later captures, count ages up to it").Saying("agent", "crawler whose verdict is explained, such as CCBot").Saying("max-age", "mark a robots.txt that is older than this, such as 36h or 7d"), cli.Flags{{
		Name: "json", Topic: config.OutputTopic, Value: &c.json,
		Short: "JSON for programs: an object for each URL, on a line of its own",
	}, {
		Name: "partitions", Argument: "N", Topic: config.OutputTopic, Value: cli.Count(&c.partitions),
		Short: "also say to which of N partitions the host belongs (robotsbatch help compile)",
	}}, c.Running.Flags().Only("store-timeout", "log"))
}

// check takes the rules from the operands if -for is given without -rules, and returns an error for flags
// that do not go together, or if no URL is left.
func (c *explainCommand) check(ctx context.Context) (err error) {
	if len(c.operands) == 0 {
		return option.Usagef("explain needs a URL, such as https://example.com/a?b=c, in quotes where the shell would take a part of it")
	}
	if c.operands, err = c.TakePaths(c.operands); err != nil {
		return err
	}
	return c.CheckOneTime(ctx)
}

// execute explains the verdict on each URL. The exit status is that of the worst verdict: 0 if allowed, 1
// if denied, 2 if there is none.
func (c *explainCommand) execute(ctx context.Context) (status int, err error) {
	c.Explain, c.Records, c.Usage = true, true, explain.Wanted()
	rules, err := c.findRules(ctx, &c.Rules)
	if err != nil {
		return 0, err
	}
	defer rules.Close()
	explainer := explain.New(rules, explain.Options{
		Chains: c.Chains, Profile: c.Profile, Missing: c.Missing, AsOf: c.AsOfSeconds(), MaxAge: c.MaxAge,
		Partitions: c.partitions,
	})
	for i, url := range c.operands {
		why, err := explainer.URL(ctx, url)
		if err != nil {
			return 0, err
		}
		write := why.WriteText
		switch {
		case c.json:
			write = func(w io.Writer, _ explain.Style) error { return why.WriteJSON(w) }
		case c.AgentsFile != "":
			write = why.WriteTable
		}
		if i > 0 && !c.json {
			fmt.Fprintln(c.s.out)
		}
		if err := write(c.s.out, explain.Style{Width: console.Width(c.s.out), Color: console.Colors(c.s.out)}); err != nil {
			return 0, err
		}
		for _, agent := range why.Agents {
			switch {
			case agent.Allowed == nil:
				status = exitUsage
			case !*agent.Allowed:
				status = max(status, exitFailed)
			}
		}
	}
	c.log.WarnAll(rules.Misspelt())
	return status, nil
}
