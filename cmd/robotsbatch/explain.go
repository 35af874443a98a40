package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"runtime"
	"time"

	"robotsbatch/batch"
	"robotsbatch/batch/evaluate"
	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/io/blob"
	"robotsbatch/io/report"
	"robotsbatch/io/ruleset"
	"robotsbatch/matcher"
	"robotsbatch/matcher/robotstxt"
	"robotsbatch/matcher/urls"
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
func parseExplain(args []string) (*rulesConfig, []string, error) {
	c := newConfig()
	urls, err := cli.ParseMixed(program.FlagSet(program.Command("explain"), c), args)
	if err != nil {
		return nil, nil, err
	}
	if len(urls) == 0 {
		return nil, nil, usageErrorf("explain needs a URL")
	}
	return &c.rulesConfig, urls, c.rulesConfig.check()
}

// explainURLs explains all URLs for all agents and returns the worst status.
func explainURLs(ctx context.Context, c *rulesConfig, rules *ruleset.Set, urls []string, w io.Writer) (int, error) {
	evaluator := evaluate.New(rules.Origins(), evaluate.Options{
		Agents: len(c.agents), Profile: c.profile, Missing: c.missing, Explain: true,
		Facts: true, AsOf: c.asOfSeconds(),
	})
	var verdicts batch.Verdicts
	worst := exitDone
	for i, url := range urls {
		if err := context.Cause(ctx); err != nil {
			return 0, err
		}
		if i > 0 {
			fmt.Fprintln(w)
		}
		one := batch.Batch{Input: "argument", URLs: batch.Column{Offsets64: []int64{0, int64(len(url))}, Data: []byte(url)}}
		if err := evaluator.Evaluate(&one, &verdicts); err != nil {
			return 0, err
		}
		file, err := printURL(w, c, rules, url)
		if err != nil {
			return 0, err
		}
		var facts matcher.Facts
		if of := verdicts.FactsOf[0]; of >= 0 {
			facts = verdicts.Facts[of]
		}
		printFacts(w, c, &facts)
		for agent, name := range c.agentChains() {
			fmt.Fprintf(w, "  agent       %s\n", name)
			worst = max(worst, printVerdict(w, &verdicts.Agents[agent], file))
			if delay, known := facts.CrawlDelay(agent); known {
				fmt.Fprintf(w, "  crawl-delay %g s\n", delay)
			}
		}
	}
	return worst, nil
}

// printURL says how a URL is taken apart, and returns the file whose rules
// concern it, if there is one.
func printURL(w io.Writer, c *rulesConfig, rules *ruleset.Set, url string) (string, error) {
	fmt.Fprintln(w, report.Printable(url))
	var scratch urls.Scratch
	authority, path, err := scratch.Split([]byte(url))
	if err != nil {
		return "", nil
	}
	normal := path
	if c.profile == robotstxt.RFC9309 {
		normal = urls.Normalise(path)
	}
	fmt.Fprintf(w, "  authority   %s\n  path        %s\n  normalised  %s\n", authority, report.Printable(string(path)), normal)
	return rules.File(authority)
}

// printFacts says what is known of the robots.txt.
func printFacts(w io.Writer, c *rulesConfig, facts *matcher.Facts) {
	if facts.Status != 0 {
		fmt.Fprintf(w, "  status      %d\n", facts.Status)
	}
	if facts.Fetched != 0 {
		fmt.Fprintf(w, "  fetched     %s\n", time.Unix(facts.Fetched, 0).UTC().Format(time.RFC3339))
	}
	if seconds, known := facts.Age(c.asOfSeconds()); known {
		age, old := time.Duration(seconds)*time.Second, ""
		if age > c.maxAge {
			old = ", more than " + report.Age(c.maxAge)
		}
		fmt.Fprintf(w, "  age         %s%s\n", report.Age(age), old)
	}
	if facts.Records == nil {
		return
	}
	for _, sitemap := range facts.Records.Sitemaps {
		fmt.Fprintf(w, "  sitemap     %s\n", report.Printable(sitemap))
	}
	if facts.Records.MoreSitemaps {
		fmt.Fprintf(w, "  sitemap     … and more\n")
	}
}

// printVerdict prints one agent's verdict and returns its exit status.
func printVerdict(w io.Writer, v *batch.AgentVerdicts, file string) int {
	verdict, status := "none", exitUsage
	switch {
	case v.Valid[0]&1 == 0:
	case v.Allowed[0]&1 != 0:
		verdict, status = "allowed", exitDone
	default:
		verdict, status = "denied", exitFailed
	}
	fmt.Fprintf(w, "  verdict     %s\n  reason      %s\n", verdict, v.Reasons[0])
	if rule := v.Rules[0]; rule >= 0 {
		why := v.Explanations[rule]
		fmt.Fprintf(w, "  rule        %s\n  line        %d\n  group       %s\n", report.Printable(why.Text), why.Line, report.Printable(why.Agent))
	}
	if file != "" {
		fmt.Fprintf(w, "  file        %s\n", report.Printable(file))
	}
	return status
}
