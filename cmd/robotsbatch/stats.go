package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"robotsbatch/batch/option"
	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/cmd/robotsbatch/internal/config"
	"robotsbatch/cmd/robotsbatch/internal/heap"
	"robotsbatch/io/frontier"
	"robotsbatch/io/frontier/format"
	"robotsbatch/io/report"
	"robotsbatch/io/report/export"
	"robotsbatch/io/report/stats"
	"robotsbatch/io/rules/ruleset"
	"robotsbatch/io/store/blob"
	"robotsbatch/matcher/usage"
)

// statsHelp is the command stats.
var statsHelp = &cli.Command{
	Name: "stats", New: func() cli.Config { return newStats() },
	Usage: []string{"stats [-use NAMES] [-rank FILE] [-by WHAT] [-as FORMAT] SURVEY", "stats -agents FILE [-use NAMES] [-by month] [-rank FILE] RULES..."},
	About: "counts who blocks whom: for each agent, how many sites deny it everything or something, by rules for it or for everyone; with -use what sites state of a use.",
	Details: "SURVEY is what robotsbatch survey wrote: Parquet, Arrow, csv, tsv or jsonl. RULES are a folder of robots.txt files, a rule pack or " +
		"WARC files, or what -rules names; with captures of several times -by month counts each month. With -rank the sites are counted again among the first " +
		"hundred, thousand and so on of a list of domains. How sites are counted: robotsbatch help survey.",
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

// statsWriter writes what was counted of a survey, or of rules, in a format.
type statsWriter struct {
	blocked func(w io.Writer, counts []stats.Count, o *statsOrigin) error
	uses    func(w io.Writer, counts []stats.UseCount, o *statsOrigin) error
}

// statsOrigin says what was counted.
type statsOrigin struct {
	site stats.Site
	name string // of the survey or the rules
}

var statsFormats = []cli.Word[statsWriter]{
	{Name: "text", Value: statsWriter{
		func(w io.Writer, counts []stats.Count, o *statsOrigin) error {
			return stats.WriteText(w, counts, o.site)
		},
		func(w io.Writer, counts []stats.UseCount, o *statsOrigin) error {
			return stats.WriteUsesText(w, counts, o.site)
		},
	}},
	{Name: "csv", Value: statsWriter{
		func(w io.Writer, counts []stats.Count, _ *statsOrigin) error { return stats.WriteCSV(w, counts) },
		func(w io.Writer, counts []stats.UseCount, _ *statsOrigin) error { return stats.WriteUsesCSV(w, counts) },
	}},
	{Name: "json", Value: statsWriter{
		func(w io.Writer, counts []stats.Count, _ *statsOrigin) error { return stats.WriteJSON(w, counts) },
		func(w io.Writer, counts []stats.UseCount, _ *statsOrigin) error {
			return stats.WriteUsesJSON(w, counts)
		},
	}},
	{Name: "html", Value: statsWriter{
		func(w io.Writer, counts []stats.Count, o *statsOrigin) error {
			return report.Stats(counts, o.site, o.name, cli.Version(), time.Now()).Write(w)
		},
		func(w io.Writer, counts []stats.UseCount, o *statsOrigin) error {
			return report.StatsUses(counts, o.site, o.name, cli.Version(), time.Now()).Write(w)
		},
	}},
}

var siteWords = []cli.Word[stats.Site]{{Name: "domain", Value: stats.ByDomain}, {Name: "host", Value: stats.ByHost}, {Name: "authority", Value: stats.ByAuthority}}

// statsCommand is its configuration.
type statsCommand struct {
	call
	config.Rules
	input   config.Input
	uses    []usage.Use
	rank    string
	site    stats.Site
	monthly bool
	hasSite bool
	write   statsWriter
}

func newStats() *statsCommand {
	return &statsCommand{call: newCall(), Rules: config.NewRules(), write: statsFormats[0].Value}
}

// Flags implements cli.Config.
func (c *statsCommand) Flags() cli.Flags {
	return slices.Concat(c.input.Flags().Only("in-format"), c.PlainFlags(), cli.Flags{
		{
			Name: "rank", Argument: "FILE", Topic: config.InputTopic, Common: true, Files: true,
			Short: "list of domains by rank, a domain or RANK,DOMAIN a line",
			More:  "For example the Tranco list; .gz and .zst are read.",
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
			Name: "as", Argument: "FORMAT", Topic: config.OutputTopic, Common: true, Standard: "text", Words: cli.Names(statsFormats),
			Short: "text, csv, json or html",
			More:  "html is a single-file page like that of -report.",
			Value: cli.OneOf(&c.write, statsFormats...),
		},
	}, cli.Flags{config.StatedUsesFlag(&c.uses)}, c.Running.Flags().Only("memory", "store-timeout"))
}

// setBy takes what counts as a site, or that months are counted.
func (c *statsCommand) setBy(s string) error {
	if s == "month" {
		c.monthly = true
		return nil
	}
	if c.hasSite {
		return errors.New("it says for the second time what a site is")
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
	if err := config.ResolveNames("rank", &c.rank); err != nil {
		return 0, err
	}
	o := stats.Options{Site: c.site, Uses: c.uses}
	if c.rank != "" {
		if o.Ranks, err = stats.OpenRanks(ctx, c.rank); err != nil {
			return 0, fmt.Errorf("-rank %s: %w", blob.Shown(c.rank), err)
		}
	}
	var tally *stats.Tally
	var names []string
	if fromRules {
		names = c.Sources
		tally, err = c.countRules(ctx, o)
	} else {
		names = c.operands
		tally = stats.NewTally(o)
		err = c.countSurvey(ctx, c.operands[0], tally)
	}
	var missing *stats.UseMissingError
	if errors.As(err, &missing) {
		return 0, fmt.Errorf("%w: make it again with -use %s", err, missing.Use)
	}
	if err != nil {
		return 0, err
	}
	var b bytes.Buffer
	origin := &statsOrigin{o.Site, report.FileNames(names)}
	if len(c.uses) > 0 {
		err = c.write.uses(&b, tally.Uses(), origin)
	} else {
		err = c.write.blocked(&b, tally.Tables(), origin)
	}
	if err != nil {
		return 0, err
	}
	_, err = c.s.out.Write(b.Bytes())
	return exitDone, err
}

// statsOfRules tells whether rules are to be counted, and not a survey, and checks the flags
// for that.
func (c *statsCommand) statsOfRules(ctx context.Context) (bool, error) {
	if len(c.Sources) == 0 && len(c.operands) > 0 {
		rules, err := isRules(ctx, c.operands[0])
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
			return false, option.Usagef("-agents is missing: name a list of agents, one a line, or give some with -agent")
		}
		c.History = c.monthly
		c.SetWork()
		return true, c.CheckOneTime()
	case len(c.operands) != 1:
		return false, option.Usagef("stats takes one SURVEY, and not %d: robotsbatch survey makes one; rules to count are named by -rules", len(c.operands))
	case c.monthly:
		return false, option.Usagef("-by month counts captures of several times, and a survey has those of one: name the captures, or a pack of compile -history, with -rules")
	case len(c.Chains) > 0 || c.AgentsFile != "":
		return false, option.Usagef("-agent and -agents are for rules: a survey has its agents")
	}
	return false, nil
}

// isRules tells whether an operand is a folder, a rule pack or a WARC file, and not a table.
func isRules(ctx context.Context, name string) (bool, error) {
	if name == blob.Stdio {
		return false, nil
	}
	if strings.HasSuffix(name, "/") {
		return true, nil
	}
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return true, nil
	}
	if path := strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst"); strings.HasSuffix(path, ".warc") {
		return true, nil
	}
	f, err := blob.Open(ctx, name)
	if err != nil {
		return false, err
	}
	defer f.Close()
	head := make([]byte, len(format.RulePackMagic))
	_, err = io.ReadFull(f, head)
	return err == nil && string(head) == format.RulePackMagic, nil
}

// countRules counts what rules deny the agents.
func (c *statsCommand) countRules(ctx context.Context, o stats.Options) (*stats.Tally, error) {
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
	var months []export.Month
	if c.monthly {
		if months, err = export.Months(listing); err != nil {
			return nil, err
		}
		if len(months) == 0 {
			return nil, option.Usagef("-by month needs captures with times, and -rules %s has none", ruleset.SomeOf(c.Sources))
		}
		for _, month := range months {
			o.Months = append(o.Months, month.Name)
		}
	}
	tally := stats.NewTally(o)
	for _, agent := range c.AgentChains() {
		tally.Agent(agent)
	}
	var domain []byte // of the sites that were added last
	err = export.States(listing, c.Chains, c.uses, months, func(s *export.Stated) error {
		site := s.Registered
		if len(site) == 0 {
			site = s.SURT
		}
		if !bytes.Equal(site, domain) { // those of a domain follow one another
			if err := context.Cause(ctx); err != nil {
				return err
			}
			domain = append(domain[:0], site...)
			tally.Flush()
		}
		authority, registered := string(s.Authority), string(s.Registered)
		if len(c.uses) > 0 {
			for use := range c.uses {
				tally.AddUse(authority, registered, s.Agent, use, s.Month, s.Of(use), s.Access)
			}
			return nil
		}
		state, err := stats.StateOf(s.Blocked, s.By, s.Access)
		tally.AddState(authority, registered, s.Agent, s.Month, state)
		return err
	})
	if err == nil {
		err = listing.Unchanged()
	}
	return tally, err
}

// countSurvey reads a survey and counts it.
func (c *statsCommand) countSurvey(ctx context.Context, name string, tally *stats.Tally) error {
	if named, _ := format.ByName(blob.Shown(name)); c.input.InFormat == format.JSONL || c.input.InFormat == format.Unknown && named == format.JSONL {
		return tally.AddObjects(ctx, name, c.s.in)
	}
	src, err := frontier.Open(ctx, frontier.Input{Path: name}, frontier.Options{
		Stdin: c.s.in, Format: c.input.InFormat, URLColumn: "authority", BatchRows: config.DefaultRows, Memory: c.BatchMemory(), Columns: true,
	})
	if err != nil {
		return err
	}
	defer src.Close()
	if src.Format == format.JSONL || src.Schema == nil {
		return option.Usagef("%s is %s by its first bytes: stats reads surveys in Parquet, Arrow, csv, tsv, and jsonl with -in-format jsonl or by its name", blob.Shown(name), src.Format)
	}
	return tally.AddAll(ctx, src, blob.Shown(name))
}
