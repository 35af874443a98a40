package main

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"

	"robotsbatch/batch/option"
	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/cmd/robotsbatch/internal/config"
	"robotsbatch/cmd/robotsbatch/internal/heap"
	"robotsbatch/io/frontier"
	"robotsbatch/io/report"
	"robotsbatch/io/report/stats"
	"robotsbatch/io/rules/ruleset"
	"robotsbatch/io/store/blob"
	"robotsbatch/matcher/usage"
)

// statsHelp is the command stats.
var statsHelp = &cli.Command{
	Name: "stats", New: func() cli.Config { return newStats() },
	Usage: []string{"stats [-use NAMES] [-rank FILE] [-by WHAT] [-of WHAT] SURVEY", "stats -agents FILE [-use NAMES] [-by month] [-rank FILE] RULES..."},
	About: "counts who blocks whom: for each agent, and for any of them, how many sites deny it everything, the front page or something, by rules for it or for everyone; with -use what sites state of a use.",
	Details: "SURVEY is what robotsbatch survey wrote: Parquet, Arrow, csv, tsv or jsonl. RULES are a folder of robots.txt files, a rule pack or " +
		"WARC files, or what -rules names; with captures of several times -by month counts each month. With -rank the sites are counted again among the first " +
		"hundred, thousand and so on of a list of domains. How sites are counted: robotsbatch help survey; how others count them: robotsbatch help studies.",
	Examples: []string{
		"stats survey.parquet", "stats -rank tranco.csv -by host -as csv survey.parquet",
		"stats -agents ai.txt -by month -as html history.rules >closed.html",
	},
	Exits: []cli.Exit{
		doneExit,
		{Status: "1", Meaning: "failed: SURVEY or RULES cannot be read"},
		usageExit,
		retryExit,
		stoppedExit,
	},
}

// statsFormats are the values of -as.
func statsFormats() (words []cli.Word[*report.StatsFormat]) {
	for i := range report.StatsFormats {
		words = append(words, cli.Word[*report.StatsFormat]{Name: report.StatsFormats[i].Name, Value: &report.StatsFormats[i]})
	}
	return words
}

var baseWords = []cli.Word[stats.Base]{{Name: stats.BaseReached.String(), Value: stats.BaseReached}, {Name: stats.BaseRules.String(), Value: stats.BaseRules}, {Name: stats.BaseAll.String(), Value: stats.BaseAll}}

var siteWords = []cli.Word[stats.Site]{{Name: "domain", Value: stats.ByDomain}, {Name: "host", Value: stats.ByHost}, {Name: "authority", Value: stats.ByAuthority}}

// statsCommand is its configuration.
type statsCommand struct {
	call
	config.Rules
	input   config.Input
	uses    []usage.Use
	rank    string
	site    stats.Site
	base    stats.Base
	monthly bool
	hasSite bool
	format  *report.StatsFormat
}

func newStats() *statsCommand {
	return &statsCommand{call: newCall(), Rules: config.NewRules(), format: &report.StatsFormats[0]}
}

// Flags implements cli.Config.
func (c *statsCommand) Flags() cli.Flags {
	input := c.input.Flags().Only("in-format").Saying("in-format", "format of the survey")
	rules := c.PlainFlags().Saying("agent", "crawler to count sites for, if RULES are counted")
	return slices.Concat(input, rules, cli.Flags{
		{
			Name: "rank", Argument: "FILE", Topic: config.InputTopic, Common: true, Files: true,
			Short: "list of domains by rank, a domain or RANK,DOMAIN a line",
			More:  "For example the Tranco list; .gz and .zst are read. An entry means the domain, host or authority (-by) to which it belongs.",
			Value: &c.rank,
		},
		{
			Name: "by", Argument: "WHAT", Topic: config.OutputTopic, Common: true, Repeat: true, Standard: "domain", Words: []string{"domain", "host", "authority", "month"},
			Short: "what counts as a site: domain, host or authority; month for a history",
			More: "A domain is a registered domain such as example.co.uk with all its hosts, a host has http and https together, and authority tells these " +
				"apart. -by month counts the sites at the end of each month, and can be given with another.",
			Value: c.setBy,
		},
		{
			Name: "of", Argument: "SITES", Topic: config.OutputTopic, Common: true, Standard: "reached", Words: cli.Names(baseWords),
			Short: "what shares are of: sites that were reached, that have rules, or all",
			More:  "reached are the sites with an answer, whichever it was; rules are those that served a robots.txt, and no page in its place; all includes sites without an answer.",
			Value: cli.OneOf(&c.base, baseWords...),
		},
		{
			Name: "as", Argument: "FORMAT", Topic: config.OutputTopic, Common: true, Standard: "text", Words: cli.Names(statsFormats()),
			Short: "text, csv, json or html",
			More:  "html is a single-file page like that of -report.",
			Value: cli.OneOf(&c.format, statsFormats()...),
		},
	}, cli.Flags{config.StatedUsesFlag(&c.uses)}, c.Running.Flags().Only("memory", "store-timeout"), cli.Flags{c.ProgressFlag()}, c.MessageFlags().Only("log"))
}

// setBy takes what counts as a site, or that months are counted.
func (c *statsCommand) setBy(s string) error {
	if s == "month" {
		c.monthly = true
		return nil
	}
	if c.hasSite {
		return errors.New("it says a second time what counts as a site")
	}
	c.hasSite = true
	if err := cli.OneOf(&c.site, siteWords...)(s); err != nil {
		return errors.New("want domain, host, authority or month")
	}
	return nil
}

// run counts a survey, or rules, and prints the tables.
func (c *statsCommand) run(ctx context.Context) (status int, err error) {
	fromRules, err := c.statsOfRules(ctx)
	if err != nil {
		return 0, err
	}
	if err := config.ResolveNames(option.Rank, &c.rank); err != nil {
		return 0, err
	}
	o := stats.Options{Site: c.site, Base: c.base, Uses: c.uses, Classes: c.Classes}
	if c.rank != "" {
		if o.Ranks, err = stats.OpenRanks(ctx, c.rank, c.site); err != nil {
			return 0, option.Errorf("%s: %w", option.Rank.With(blob.Shown(c.rank)), err)
		}
	}
	ctx = c.showProgress(ctx, false)
	var tally *stats.SiteCounter
	names := c.Sources
	if fromRules {
		tally, err = c.count(ctx, o)
	} else {
		names = c.operands
		tally, err = stats.OfSurvey(ctx, frontier.Input{Path: c.operands[0]}, frontier.Options{
			Stdin: c.s.in, Format: c.input.InFormat, BatchRows: config.DefaultRows, Memory: c.BatchMemory(),
		}, o)
	}
	if err != nil {
		return 0, err
	}
	c.shown.End()
	var b bytes.Buffer
	if err := c.format.Write(&b, tally.Table(), &report.StatsOrigin{Name: report.FileNames(names), Version: cli.Version(), Made: time.Now()}); err != nil {
		return 0, err
	}
	_, err = c.s.out.Write(b.Bytes())
	return exitDone, err
}

// statsOfRules tells whether rules are to be counted, and not a survey, and checks the flags
// for that.
func (c *statsCommand) statsOfRules(ctx context.Context) (bool, error) {
	if len(c.Sources) == 0 && len(c.operands) > 0 {
		rules, err := ruleset.IsRules(ctx, c.operands[0])
		if err != nil {
			return false, err
		}
		if rules {
			c.Sources, c.operands = c.operands, nil
		}
	}
	switch {
	case len(c.Sources) > 0:
		if err := c.refuseOperands(otherRules); err != nil {
			return false, err
		}
		if _, err := c.AddAgents(); err != nil {
			return false, err
		}
		if len(c.Chains) == 0 {
			return false, option.Usagef("%s is missing: name a list of agents, one a line, or give some with %s", option.Agents, option.Agent)
		}
		c.History = c.monthly
		c.SetWork()
		return true, c.CheckOneTime()
	case len(c.operands) != 1:
		return false, option.Usagef("stats takes one SURVEY, and not %d: robotsbatch survey makes one; rules to count are named by %s", len(c.operands), option.Rules)
	case c.monthly:
		return false, option.Usagef("%s month counts captures of several times, and a survey has those of one: name the captures, or a pack of compile %s, with %s", option.By, option.History, option.Rules)
	case len(c.Chains) > 0 || c.AgentsFile != "":
		return false, option.Usagef("%s and %s are for rules: a survey has its agents", option.Agent, option.Agents)
	}
	return false, nil
}

// count counts what rules deny the agents, or state of uses.
func (c *statsCommand) count(ctx context.Context, o stats.Options) (*stats.SiteCounter, error) {
	c.fitMemory(c.Sources)
	heap.Limit(c.Memory)
	found, err := c.find(ctx, &c.Rules, ruleUse{uses: c.uses})
	if err != nil {
		return nil, err
	}
	listing, err := found.List(ctx)
	if err != nil {
		return nil, err
	}
	defer listing.Close()
	tally, err := stats.OfRules(ctx, listing, c.Chains, c.monthly, o)
	if errors.Is(err, stats.ErrTimeless) {
		return nil, option.Usagef("%s month needs captures with times, and %s has none", option.By, option.Rules.With(ruleset.SomeOf(c.Sources)))
	}
	return tally, err
}
