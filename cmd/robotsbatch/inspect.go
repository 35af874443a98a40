package main

import (
	"context"
	"fmt"
	"slices"

	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/io/blob"
	"robotsbatch/io/report"
	"robotsbatch/io/rulepack"
	"robotsbatch/io/ruleset"
	"robotsbatch/matcher/urls"
)

// inspectHelp is the command inspect.
var inspectHelp = cli.Command{
	Name: "inspect", Set: inspectCommand,
	Usage: []string{"inspect PACK [AUTHORITY...]"},
	About: "says what is in a rule pack.",
	Details: "PACK is a file or an object, of which a temporary copy is made. With an AUTHORITY, such as https://example.com or any URL of it, " +
		"it says what the pack has on that: the outcome of the fetch, the agents named in its robots.txt, their rules by line, sitemaps and " +
		"crawl-delays. Without one, it sums the pack up.",
	Examples: []string{"inspect site.rules", "inspect site.rules https://example.com"},
	Exits: []cli.Exit{
		{Status: "0", Meaning: "done, also when the pack does not have an AUTHORITY"},
		{Status: "1", Meaning: "the pack cannot be read, or is damaged"},
		usageExit,
		retryExit,
		stoppedExit,
	},
}

// inspect says what is in a rule pack.
func (c *call) inspect(ctx context.Context) (status int, err error) {
	if len(c.operands) == 0 {
		return 0, usageErrorf("inspect needs a rule pack")
	}
	name := c.operands[0]
	var authorities [][]byte
	for _, operand := range c.operands[1:] {
		authority, err := parseAuthority(operand)
		if err != nil {
			return 0, err
		}
		authorities = append(authorities, authority)
	}
	return exitDone, ruleset.Inspect(ctx, name, func(p *rulepack.Pack) error {
		if len(authorities) == 0 {
			report.Pack(c.s.out, blob.Shown(name), profileName(p.Info().Profile), p.Info())
		}
		for i, authority := range authorities {
			if i > 0 {
				fmt.Fprintln(c.s.out)
			}
			if err := report.Authority(c.s.out, p, authority); err != nil {
				return err
			}
		}
		return nil
	})
}

// parseAuthority takes an authority with its scheme, or any URL of it.
func parseAuthority(url string) ([]byte, error) {
	var scratch urls.Scratch
	authority, _, err := scratch.Split([]byte(url))
	if err != nil {
		return nil, usageErrorf("%q is no authority: give it with its scheme, such as https://example.com", url)
	}
	return slices.Clone(authority), nil
}
