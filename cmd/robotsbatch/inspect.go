package main

import (
	"context"
	"fmt"

	"robotsbatch/batch/option"
	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/cmd/robotsbatch/internal/config"
	"robotsbatch/io/report"
	"robotsbatch/io/rules/rulepack"
	"robotsbatch/io/rules/ruleset"
	"robotsbatch/io/store/blob"
	"robotsbatch/matcher/urls"
)

// inspectHelp is the command inspect.
var inspectHelp = &cli.Command{
	Name: "inspect", New: func() cli.Config { return newInspect() },
	Usage: []string{"inspect PACK [HOST|URL...]"},
	About: "describes a rule pack.",
	Details: "PACK is a file or an object (which is copied to a temporary file). With a HOST, which stands for https, or a URL, " +
		"it prints what the pack holds for that host: the outcome of the fetch, the agents named in its robots.txt, their rules " +
		"by line, sitemaps and crawl-delays. Without one, it summarises the pack.",
	Examples: []string{"inspect site.rules", "inspect site.rules example.com"},
	Exits: []cli.Exit{
		{Status: "0", Meaning: "done, even if the pack does not have the HOST"},
		{Status: "1", Meaning: "the pack cannot be read, or is damaged"},
		usageExit,
		retryExit,
		stoppedExit,
	},
}

// inspectCommand is its configuration.
type inspectCommand struct{ call }

func newInspect() *inspectCommand { return &inspectCommand{newCall()} }

// Flags implements cli.Config.
func (c *inspectCommand) Flags() cli.Flags { return c.Running.Flags().Only("store-timeout") }

// run describes a rule pack.
func (c *inspectCommand) run(ctx context.Context) (status int, err error) {
	if len(c.operands) == 0 {
		return 0, option.Usagef("inspect needs a rule pack")
	}
	name := c.operands[0]
	var authorities [][]byte
	for _, operand := range c.operands[1:] {
		authority, err := urls.Authority(operand)
		if err != nil {
			return 0, option.Usagef("%q is neither a host nor a URL: write example.com, or https://example.com", operand)
		}
		authorities = append(authorities, authority)
	}
	return exitDone, ruleset.Inspect(ctx, name, func(p *rulepack.Pack) error {
		if len(authorities) == 0 {
			report.Pack(c.s.out, blob.Shown(name), config.ProfileName(p.Info().Profile), p.Info())
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
