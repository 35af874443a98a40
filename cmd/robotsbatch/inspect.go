package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"time"

	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/io/blob"
	"robotsbatch/io/report"
	"robotsbatch/io/rulepack"
	"robotsbatch/io/ruleset"
	"robotsbatch/matcher/urls"
)

// inspectConfig is the command line of inspect.
type inspectConfig struct {
	name        string
	authorities [][]byte

	storeTimeout time.Duration
}

// runInspect says what is in a rule pack.
func runInspect(ctx context.Context, args []string, s streams) int {
	c, err := parseInspect(args)
	if errors.Is(err, flag.ErrHelp) {
		return printCommandHelp(s, program.Command("inspect"))
	}
	if err == nil {
		err = c.inspect(blob.WithTimeout(ctx, c.storeTimeout), s.out)
	}
	if err != nil {
		return failUsage(s, "inspect", err)
	}
	return exitDone
}

// parseInspect reads the arguments; flags may follow names.
func parseInspect(args []string) (*inspectConfig, error) {
	flags := newConfig()
	operands, err := cli.ParseMixed(program.FlagSet(program.Command("inspect"), flags), args)
	if err != nil {
		return nil, err
	}
	c := &inspectConfig{storeTimeout: flags.storeTimeout}
	for i, operand := range operands {
		if i == 0 {
			c.name = operand
			continue
		}
		authority, err := parseAuthority(operand)
		if err != nil {
			return nil, err
		}
		c.authorities = append(c.authorities, authority)
	}
	if c.name == "" {
		return nil, usageErrorf("inspect needs a rule pack")
	}
	return c, nil
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

func (c *inspectConfig) inspect(ctx context.Context, w io.Writer) error {
	return ruleset.Inspect(ctx, c.name, func(p *rulepack.Pack) error { return c.print(w, p) })
}

// print says what is asked for.
func (c *inspectConfig) print(w io.Writer, p *rulepack.Pack) error {
	if len(c.authorities) == 0 {
		report.Pack(w, blob.Shown(c.name), profileName(p.Info().Profile), p.Info())
	}
	for i, authority := range c.authorities {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if err := report.Authority(w, p, authority); err != nil {
			return err
		}
	}
	return nil
}
