package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"runtime"

	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/io/blob"
	"robotsbatch/io/explain"
	"robotsbatch/io/ruleset"
)

// runExplain says of single URLs which rule decides. Its exit status is the
// worst verdict: 0 allowed, 1 denied, 2 none.
func runExplain(ctx context.Context, args []string, s streams) int {
	c, urls, err := parseExplain(args)
	if errors.Is(err, flag.ErrHelp) {
		return printCommandHelp(s, program.Command("explain"))
	}
	if err != nil {
		return failUsage(s, "explain", err)
	}
	ctx = blob.WithTimeout(ctx, c.storeTimeout)
	log := newConsole(s.err, false, true)
	use := ruleUse{memory: defaultMemory, workers: runtime.GOMAXPROCS(0), explain: true, records: true, stdin: s.in}
	var rules *ruleset.Set
	found, err := c.find(ctx, use, log)
	if err == nil {
		rules, err = c.openRules(ctx, found, log)
	}
	if err == nil {
		defer rules.Close()
		var status int
		if status, err = explainURLs(ctx, c, rules, urls, s.out); err == nil {
			for _, line := range rules.Misspelt() {
				log.warn(line)
			}
			return status
		}
	}
	return max(failUsage(s, "explain", err), exitUsage) // 1 would mean denied
}

// parseExplain reads the arguments; flags may follow URLs.
func parseExplain(args []string) (*jobConfig, []string, error) {
	c := newConfig()
	urls, err := cli.ParseMixed(program.FlagSet(program.Command("explain"), c), args)
	if err != nil {
		return nil, nil, err
	}
	if len(urls) == 0 {
		return nil, nil, usageErrorf("explain needs a URL, such as https://example.com/a?b=c, in quotes where the shell would take a part of it")
	}
	return c, urls, c.checkOneTime()
}

// explainURLs explains all URLs for all agents and returns the worst status.
func explainURLs(ctx context.Context, c *jobConfig, rules *ruleset.Set, urls []string, w io.Writer) (int, error) {
	explainer := explain.New(rules, explain.Options{
		Chains: c.agents, Profile: c.profile, Missing: c.missing, AsOf: c.asOfSeconds(), MaxAge: c.maxAge,
	})
	worst := exitDone
	for i, url := range urls {
		if err := context.Cause(ctx); err != nil {
			return 0, err
		}
		why, err := explainer.URL(url)
		if err != nil {
			return 0, err
		}
		if c.json {
			err = why.WriteJSON(w)
		} else {
			if i > 0 {
				fmt.Fprintln(w)
			}
			err = why.WriteText(w)
		}
		if err != nil {
			return 0, err
		}
		for _, agent := range why.Agents {
			worst = max(worst, explainedStatus(agent.Allowed))
		}
	}
	return worst, nil
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
