package main

import (
	"context"
	"fmt"
	"runtime"

	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/io/explain"
)

// explainHelp is the command explain.
var explainHelp = cli.Command{
	Name: "explain", Set: explainCommand,
	Usage: []string{"explain -rules RULES [-agent NAME] [flags] URL..."},
	About: "says which rule of which line decides about a URL, in which group, and what else matched.",
	Examples: []string{
		"explain -rules robots -agent CCBot https://example.com/a?b=c",
		"explain -rules robots.txt -for example.com https://example.com/a",
	},
	Exits: []cli.Exit{
		{Status: "0", Meaning: "allowed; with several URLs or agents, the worst counts"},
		{Status: "1", Meaning: "denied"},
		{Status: "2", Meaning: "wrong use, no verdict, or rules that cannot be read"},
		retryExit,
		stoppedExit,
	},
}

func explainDefaults(c *jobConfig) {
	c.workers, c.quiet = runtime.GOMAXPROCS(0), true // warnings are told
}

// explainURLs says of single URLs which rule decides. The exit status is the worst
// verdict: 0 allowed, 1 denied, 2 none.
func (c *call) explainURLs(ctx context.Context) (status int, err error) {
	if len(c.operands) == 0 {
		return 0, usageErrorf("explain needs a URL, such as https://example.com/a?b=c, in quotes where the shell would take a part of it")
	}
	if err := c.checkOneTime(); err != nil {
		return 0, err
	}
	rules, err := c.findRules(ctx, ruleUse{explain: true, records: true})
	if err != nil {
		return 0, err
	}
	defer rules.Close()
	explainer := explain.New(rules, explain.Options{
		Chains: c.agents, Profile: c.profile, Missing: c.missing, AsOf: c.asOfSeconds(), MaxAge: c.maxAge,
	})
	for i, url := range c.operands {
		if err := context.Cause(ctx); err != nil {
			return 0, err
		}
		why, err := explainer.URL(url)
		if err != nil {
			return 0, err
		}
		if c.json {
			err = why.WriteJSON(c.s.out)
		} else {
			if i > 0 {
				fmt.Fprintln(c.s.out)
			}
			err = why.WriteText(c.s.out)
		}
		if err != nil {
			return 0, err
		}
		for _, agent := range why.Agents {
			status = max(status, explainedStatus(agent.Allowed))
		}
	}
	for _, line := range rules.Misspelt() {
		c.log.Warn(line)
	}
	return status, nil
}

// explainedStatus is the exit status for a verdict, nil for none.
func explainedStatus(allowed *bool) int {
	switch {
	case allowed == nil:
		return exitUsage
	case *allowed:
		return exitDone
	}
	return exitFailed
}
