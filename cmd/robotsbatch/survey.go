package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"robotsbatch/batch/option"
	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/cmd/robotsbatch/internal/config"
	"robotsbatch/io/frontier"
	"robotsbatch/io/frontier/outputs"
	"robotsbatch/io/report"
	"robotsbatch/io/report/export"
	"robotsbatch/io/report/stats"
	"robotsbatch/io/rules/ruleset"
	"robotsbatch/io/store/blob"
	"robotsbatch/matcher/usage"
)

// surveyHelp is the command survey.
var surveyHelp = &cli.Command{
	Name: "survey", New: func() cli.Config { return &surveyCommand{tableCommand: newTable()} },
	Usage: []string{
		"survey -agents FILE [-out FILE] [flags] RULES...", "survey -agents FILE -changes [-out FILE] [flags] RULES...", "survey -agents FILE -by WHAT [-out FILE] [flags] RULES...",
		"survey -as FORMAT [-use NAMES] [-rank FILE] [-by WHAT] SURVEY", "survey -as FORMAT -agents FILE [-by month] [flags] RULES...",
	},
	About: "measures, for every site in the rules, how much of it each agent is denied: a table with a row for each host and agent, or with -as how many sites deny each agent everything, the front page or something.",
	Details: "The column blocked is none, some or all: it follows from the rules themselves, for every possible path, not from a few samples. " +
		"With captures from more than one time it adds since when, and -changes lists who started or stopped blocking whom. " +
		"-use adds what sites state of uses of what is fetched. " +
		"-as counts rules, or a SURVEY that was written before: Parquet, Arrow, csv, tsv or jsonl. " +
		"Columns and counts are described in robotsbatch help survey, and how others count in robotsbatch help studies.",
	Examples: []string{
		"survey -rules crawl.warc.gz -agents ai.txt -out survey.parquet",
		`survey -rules "*.warc.gz" -agents ai.txt -changes -out changes.csv`,
		"survey -as csv -rank tranco.csv -by host survey.parquet",
		"survey -as html -agents ai.txt -by month -out page.html my.rules",
	},
	Exits: tableExits,
}

// statsFormats are the values of -as.
var statsFormats = cli.WordsOf(report.StatsFormats...)

// counts are the values of -as, for flags that are about counts.
var counts = &cli.Formats{Names: cli.Names(statsFormats), Of: "counts", Else: option.Messagef("say in which form with %s", option.As.With("text"))}

// baseWords are the values of -of.
var baseWords = cli.WordsOf(stats.BaseReached, stats.BaseRules, stats.BaseAll)

// siteWords are the values of -by that say what counts as a site.
var siteWords = []cli.Word[stats.Site]{{Name: "domain", Value: stats.ByDomain}, {Name: "host", Value: stats.ByHost}, {Name: "authority", Value: stats.ByAuthority}}

// surveyCommand is its configuration.
type surveyCommand struct {
	tableCommand
	input   config.Input
	uses    []usage.Use
	changes bool                // write what changed
	format  *report.StatsFormat // of -as, for counts; nil for the table
	rank    string              // the file of -rank
	site    stats.Site          // of -by
	base    stats.Base          // of -of
	monthly bool                // -by month is given
	hasSite bool                // -by is given with another value
}

// Flags implements cli.Config.
func (c *surveyCommand) Flags() cli.Flags {
	timed := cli.Flags{{
		Name: "history", Topic: config.RulesTopic, Common: true, Value: &c.History,
		Short: "add since when: columns first_seen, last_seen, since, since_after, changes",
		More:  "It needs captures from more than one time, or packs compiled with -history.",
	}, {
		Name: "changes", Topic: config.RulesTopic, Common: true, Value: &c.changes,
		Short: "a row for each change instead: who started or stopped blocking whom, and when",
		More:  "It needs what -history needs.",
	}}
	return slices.Concat(c.PlainFlags().Before("assume", timed...).Saying("agent", "crawler to measure: how much of each host it is denied"),
		c.TableFlags().Saying("out", "the survey or the counts to write: a file, an object, or -"), c.countFlags(), cli.Flags{config.StatedUsesFlag(&c.uses)}, c.Running.Flags())
}

// countFlags returns the flags for counting sites. All but -by and -as are mistakes without -as.
func (c *surveyCommand) countFlags() cli.Flags {
	format := c.input.Flags().Only("in-format").Saying("in-format", "format of the saved survey")
	format[0].For = counts
	return append(format, cli.Flags{{
		Name: "rank", Argument: "FILE", Topic: config.InputTopic, Common: true, Files: true, For: counts, Value: &c.rank,
		Short: "list of domains by rank, a domain or RANK,DOMAIN a line",
		More: "For example the Tranco list; .gz and .zst are read. An entry means the domain, host or authority (-by) to which it belongs. Sites are counted " +
			"again among the first hundred, thousand and so on.",
	}, {
		Name: "by", Argument: "WHAT", Topic: config.OutputTopic, Common: true, Repeat: true, Standard: "domain", Value: cli.Choice{Words: append(cli.Names(siteWords), "month"), Set: c.setBy},
		Short: "what counts as a site: domain, host or authority; month for a history",
		More: "Without -as a table with a row for each site, and a column for each agent. A domain is a registered domain such as example.co.uk with all its hosts, a host has http and https together, and authority tells these " +
			"apart. -by month counts the sites at the end of each month, and can be given with another.",
	}, {
		Name: "of", Argument: "SITES", Topic: config.OutputTopic, Common: true, Standard: "reached", For: counts, Value: cli.OneOf(&c.base, baseWords...),
		Short: "what shares are of: sites that were reached, that have rules, or all",
		More:  "reached are the sites with an answer, whichever it was; rules are those that served a robots.txt, and no page in its place; all includes sites without an answer.",
	}, {
		Name: "as", Argument: "FORMAT", Topic: config.OutputTopic, Common: true,
		Short: "count sites instead: text, csv, json or html",
		More:  "html is a single-file page like that of -report.",
		Value: cli.OneOf(&c.format, statsFormats...),
	}}...)
}

// setBy takes a value of -by: what counts as a site, or that the sites of each month are counted.
func (c *surveyCommand) setBy(s string) error {
	if s == "month" {
		c.monthly = true
		return nil
	}
	if c.hasSite {
		return errors.New("it says a second time what counts as a site")
	}
	c.hasSite = true
	if cli.OneOf(&c.site, siteWords...).Set(s) != nil {
		return errors.New("want domain, host, authority or month")
	}
	return nil
}

// execute writes a survey, or with -as counts sites.
func (c *surveyCommand) execute(ctx context.Context) (status int, err error) {
	saved, err := c.isSaved(ctx)
	if err != nil {
		return 0, err
	}
	if !saved {
		c.Sources = append(c.Sources, c.operands...)
		if len(c.Chains) == 0 && c.AgentsFile == "" {
			return 0, option.Usagef("%s is missing: name a list of agents, one a line, or give some with %s", option.Agents, option.Agent)
		}
		if err := c.CheckOneTime(ctx); err != nil {
			return 0, err
		}
	}
	table, needsTimes := export.Survey(c.Chains, c.Classes, c.uses, c.History), option.Name("")
	switch {
	case c.format != nil:
		return exitDone, c.writeCounts(ctx, saved)
	case c.changes:
		c.History = true
		table, needsTimes = export.SurveyChanges(c.Chains, c.uses), option.Changes
	case c.hasSite:
		if table, err = stats.SiteTable(ctx, c.Chains, stats.Options{Site: c.site}); err != nil {
			return 0, err
		}
	case c.History:
		needsTimes = option.History
	}
	return exitDone, c.export(ctx, table, needsTimes, c.uses...)
}

// check returns an error for flags that do not go together: flags of counts without -as, and flags of the
// table with it.
func (c *surveyCommand) check(context.Context) error {
	if c.format == nil {
		if err := c.countFlags().CheckFormat(c.given, counts.Of, ""); err != nil {
			return err
		}
		if form := strings.TrimPrefix(filepath.Ext(c.Out), "."); form != "csv" && slices.Contains(counts.Names, form) {
			return option.Usagef("%s: %s is a form of counts: ask for these with %s", option.Out.With(blob.Shown(c.Out)), form, option.As.With(form))
		}
		if c.monthly {
			return option.Usagef("%s month counts sites: say in which form with %s", option.By, option.As.With("text"))
		}
		for _, name := range []option.Name{option.History, option.Changes, option.Use} {
			if c.hasSite && len(c.given[string(name)]) > 0 {
				return option.Usagef("%s is for a row of each authority and agent, and %s makes one of each site", name, option.By)
			}
		}
		return c.checkTable(surveyHelp)
	}
	for _, name := range []option.Name{option.History, option.Changes, option.OutFormat, option.Compression} {
		if len(c.given[string(name)]) > 0 {
			return option.Usagef("%s is for the table of a survey, and %s counts sites", name, option.As)
		}
	}
	if outputs.IsFolder(c.Out) {
		return option.Usagef("%s is a folder: name a file", option.Out.With(blob.Shown(c.Out)))
	}
	c.SetWork()
	return cmp.Or(config.StdinOnce(c.Sources, c.operands, []string{c.rank}), config.ResolveNames(option.Rank, &c.rank), config.ResolveNames(option.Out, &c.Out))
}

// isSaved reports whether the operand is a saved survey, whose sites -as counts, and not rules. It
// returns an error for flags that do not go with one.
func (c *surveyCommand) isSaved(ctx context.Context) (bool, error) {
	if c.format == nil || len(c.Sources) > 0 || len(c.operands) == 0 {
		return false, nil
	}
	rules, err := ruleset.IsRules(ctx, c.operands[0])
	switch {
	case err != nil || rules:
		return false, err
	case len(c.operands) > 1:
		return false, option.Usagef("%s counts one saved survey, and not %d; rules to count are named by %s", option.As, len(c.operands), option.Rules)
	case c.monthly:
		return false, option.Usagef("%s month counts captures of several times, and a survey has those of one: name the captures, or a pack of compile %s, with %s", option.By, option.History, option.Rules)
	case len(c.Chains) > 0 || c.AgentsFile != "":
		return false, option.Usagef("%s and %s are for rules: a survey has its agents", option.Agent, option.Agents)
	}
	return true, nil
}

// writeCounts counts the sites of the saved survey, or else of the rules, and writes the counts to -out.
func (c *surveyCommand) writeCounts(ctx context.Context, saved bool) (err error) {
	read := []string{c.rank}
	if saved { // rules are looked up by find
		read = append(read, c.operands...)
	}
	if blob.Replaced(read...)(c.Out) != "" {
		return option.Usagef("%s would replace an input: choose another name", option.Out.With(blob.Shown(c.Out)))
	}
	o := stats.Options{Site: c.site, Base: c.base, Uses: c.uses, Classes: c.Classes}
	if c.rank != "" {
		if o.Ranks, err = stats.OpenRanks(ctx, c.rank, c.site); err != nil {
			return option.Errorf("%s: %w", option.Rank.With(blob.Shown(c.rank)), err)
		}
	}
	ctx = c.showProgress(ctx, false) // what goes to stdout is written after it
	var tally *stats.SiteCounter
	names := c.Sources
	if saved {
		names = c.operands
		reading := &c.input.Reading // which has -in-format
		reading.Stdin, reading.BatchRows, reading.Memory = c.s.in, config.DefaultRows, c.BatchMemory()
		tally, err = stats.OfSurvey(ctx, frontier.Input{Path: c.operands[0]}, *reading, o)
	} else {
		tally, err = c.countRules(ctx, o)
	}
	if err != nil {
		return err
	}
	c.shown.End()
	var b bytes.Buffer
	if err := c.format.Write(&b, tally.Table(), &report.StatsOrigin{Name: report.FileNames(names), Version: cli.Version(), Made: time.Now()}); err != nil {
		return err
	}
	if c.Out == blob.Stdio {
		_, err = blob.Rows(c.s.out).Write(b.Bytes())
		return err
	}
	return blob.WriteFile(ctx, c.Out, b.Bytes())
}

// countRules counts the sites of the rules by what they deny the agents, or by what they state about
// uses.
func (c *surveyCommand) countRules(ctx context.Context, o stats.Options) (*stats.SiteCounter, error) {
	c.History = c.monthly
	c.warnUses(c.uses)
	c.limitMemory(c.Sources)
	found, err := c.find(ctx, &c.Rules, option.Out.With(c.Out))
	if err != nil {
		return nil, err
	}
	listing, err := found.List(ctx)
	if err != nil {
		return nil, err
	}
	defer listing.Close()
	c.noteOpened(listing.Captured(), listing.Odd())
	tally, err := stats.OfRules(ctx, listing, c.Chains, c.monthly, o)
	if errors.Is(err, stats.ErrTimeless) {
		return nil, option.Usagef("%s month needs captures with times, and %s has none", option.By, option.Rules.With(ruleset.SomeOf(c.Sources)))
	}
	return tally, err
}
