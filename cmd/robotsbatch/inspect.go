package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"robotsbatch/io/blob"
	"robotsbatch/io/rulepack"
	"robotsbatch/io/ruleset"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/robotstxt"
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
		return printHelp(s, commandOf("inspect").help)
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
	operands, err := parseMixed(newFlagSet(commandOf("inspect"), flags), args)
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
		printPack(w, blob.Shown(c.name), p.Info())
	}
	for i, authority := range c.authorities {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if err := printAuthority(w, p, authority); err != nil {
			return err
		}
	}
	return nil
}

// printPack says what a pack says of itself.
func printPack(w io.Writer, name string, info *rulepack.Info) {
	limit := "none"
	if info.Limit > 0 {
		limit = grouped(int64(info.Limit)) + " octets of a robots.txt"
	}
	asOf := "unknown"
	if info.AsOf != 0 {
		asOf = time.Unix(info.AsOf, 0).UTC().Format(time.RFC3339)
	}
	fmt.Fprintln(w, name)
	for _, line := range [][2]string{
		{"format", fmt.Sprint(info.Version)},
		{"made by", printable(info.Maker)},
		{"profile", profileName(info.Profile)},
		{"limit", limit},
		{"as of", asOf},
		{"authorities", grouped(info.Authorities)},
		{"rules", grouped(info.Rules)},
		{"allow all", grouped(info.AllowAll)},
		{"disallow all", grouped(info.DisallowAll)},
		{"cut", grouped(info.Limited)},
		{"HTML", grouped(info.HTML)},
		{"bodies", fmt.Sprintf("%s distinct, of %s octets", grouped(info.Bodies), grouped(info.SourceBytes))},
		{"uncompiled", grouped(info.Uncompiled)},
		{"size", grouped(info.Size) + " octets"},
	} {
		fmt.Fprintf(w, "  %-12s  %s\n", line[0], line[1])
	}
	for _, s := range info.Sections {
		fmt.Fprintf(w, "    %-10s  %15s\n", s.Name, grouped(s.Length))
	}
}

var accessNames = map[access.Outcome]string{
	access.Unknown: "unknown: the pack does not have this authority", access.Rules: "rules",
	access.AllowAll: "allow all", access.DisallowAll: "disallow all",
}

// printAuthority says what a pack has on an authority.
func printAuthority(w io.Writer, p *rulepack.Pack, authority []byte) error {
	a, _, err := p.Authority(authority)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s\n  access       %s\n", authority, accessNames[a.Access])
	if a.Status != 0 {
		fmt.Fprintf(w, "  status       %d\n", a.Status)
	}
	if a.Fetched != 0 {
		fmt.Fprintf(w, "  fetched      %s\n", time.Unix(a.Fetched, 0).UTC().Format(time.RFC3339))
	}
	if a.Access != access.Rules {
		return nil
	}
	body, err := p.Body(a.Body)
	if err != nil {
		return err
	}
	odd := ""
	if a.Limited {
		odd += ", cut"
	}
	if a.Stale {
		odd += ", stale"
	}
	if body.HTML {
		odd += ", HTML"
	}
	fmt.Fprintf(w, "  body         %d%s\n", a.Body, odd)
	for _, sitemap := range body.Records.Sitemaps {
		fmt.Fprintf(w, "  sitemap      %s\n", printable(sitemap))
	}
	for _, delay := range body.Records.CrawlDelays {
		fmt.Fprintf(w, "  crawl-delay  %s for %s\n", printable(delay.Value), printable(strings.Join(delay.Agents, ", ")))
	}
	if body.Source != nil {
		fmt.Fprintf(w, "  uncompiled   its groups overlap too much to be compiled for all agents at once\n")
		printTries(w, sourceTries(body.Source, p.Info().Profile))
		return nil
	}
	printTries(w, compiledTries(body.Compiled))
	return nil
}

// agentTrie are an agent's rules.
type agentTrie struct {
	agent string
	trie  matcher.Trie
}

// compiledTries are the rules of all agents that a body names.
func compiledTries(b *matcher.Body) []agentTrie {
	var list []agentTrie
	if b.HasEveryone() {
		list = append(list, agentTrie{matcher.Everyone, b.Tries(nil, []matcher.Chain{{matcher.Everyone}})[0]})
	}
	for name := range b.Names() {
		list = append(list, agentTrie{string(name), b.Tries(nil, []matcher.Chain{{string(name)}})[0]})
	}
	return list
}

// sourceTries are the rules for everyone of a body that is not compiled for all
// agents.
func sourceTries(source []byte, p matcher.Profile) []agentTrie {
	f := robotstxt.Parse(source, robotstxt.Options{Profile: p, Limit: len(source)})
	return []agentTrie{{matcher.Everyone, matcher.Compile(f, []matcher.Chain{{matcher.Everyone}})[0]}}
}

// printTries prints agents with their rules in the order of their lines, those
// that obey the same ones together.
func printTries(w io.Writer, list []agentTrie) {
	var order []string
	agents := make(map[string][]string)
	for _, a := range list {
		rules := ruleLines(&a.trie)
		if agents[rules] == nil {
			order = append(order, rules)
		}
		agents[rules] = append(agents[rules], printable(a.agent))
	}
	for _, rules := range order {
		fmt.Fprintf(w, "  agents       %s\n%s", strings.Join(agents[rules], ", "), rules)
	}
}

// ruleLines are the rules of a trie, each once, by line.
func ruleLines(t *matcher.Trie) string {
	type rule struct {
		line int
		text string
	}
	var rules []rule
	for line, text := range t.Lines() {
		rules = append(rules, rule{line, string(text)})
	}
	slices.SortFunc(rules, func(x, y rule) int { return x.line - y.line })
	var b strings.Builder
	for _, r := range slices.Compact(rules) {
		fmt.Fprintf(&b, "    %6d  %s\n", r.line, printable(r.text))
	}
	return b.String()
}
