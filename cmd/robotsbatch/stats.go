package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"robotsbatch/batch/option"
	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/io/frontier"
	"robotsbatch/io/frontier/format"
	"robotsbatch/io/report"
	"robotsbatch/io/report/export"
	"robotsbatch/io/report/stats"
	"robotsbatch/io/rules/ruleset"
	"robotsbatch/io/store/blob"
)

// statsHelp is the command stats.
var statsHelp = cli.Command{
	Name: "stats", Set: statsCommand,
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

// statsConfig are the flags that stats has alone.
type statsConfig struct {
	rank    string
	site    stats.Site
	monthly bool
	hasSite bool
	write   statsWriter
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

// statsFlags are these flags.
var statsFlags = []cli.Flag[jobConfig]{
	{
		Name: "rank", Argument: "FILE", Topic: inputTopic, Commands: statsCommand, Common: true, Files: true,
		Short: "list of domains by rank, a domain or RANK,DOMAIN a line",
		More:  "For example the Tranco list; .gz and .zst are read.",
		Bind:  func(c *jobConfig) any { return &c.stats.rank },
	},
	{
		Name: "by", Argument: "WHAT", Topic: outputTopic, Commands: statsCommand, Common: true, Repeat: true, Standard: "domain", Words: []string{"domain", "host", "authority", "month"},
		Short: "what counts as a site: domain, host or authority; month for a history",
		More: "A domain is a registered domain such as example.co.uk with all its hosts, a host has http and https together, and authority tells these " +
			"apart. -by month counts the sites at the end of each month, and can be given with another.",
		Bind: func(c *jobConfig) any {
			return func(s string) error {
				if s == "month" {
					c.stats.monthly = true
					return nil
				}
				if c.stats.hasSite {
					return errors.New("it says for the second time what a site is")
				}
				c.stats.hasSite = true
				if err := cli.OneOf(&c.stats.site, siteWords...)(s); err != nil {
					return errors.New("want domain, host, authority or month")
				}
				return nil
			}
		},
	},
	{
		Name: "as", Argument: "FORMAT", Topic: outputTopic, Commands: statsCommand, Common: true, Standard: "text", Words: wordsOf(statsFormats),
		Short: "text, csv, json or html",
		More:  "html is a single-file page like that of -report.",
		Bind:  func(c *jobConfig) any { return cli.OneOf(&c.stats.write, statsFormats...) },
	},
}

func statsDefaults(c *jobConfig) { c.stats.write = statsFormats[0].Value }

// printStats counts a survey, or rules, and prints the tables.
func (c *call) printStats(ctx context.Context) (status int, err error) {
	fromRules, err := c.statsOfRules(ctx)
	if err != nil {
		return 0, err
	}
	if err := resolveNames("rank", &c.stats.rank); err != nil {
		return 0, err
	}
	o := stats.Options{Site: c.stats.site, Uses: c.uses}
	if c.stats.rank != "" {
		if o.Ranks, err = stats.OpenRanks(ctx, c.stats.rank); err != nil {
			return 0, fmt.Errorf("-rank %s: %w", blob.Shown(c.stats.rank), err)
		}
	}
	var tally *stats.Tally
	var names []string
	if fromRules {
		names = c.folders
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
		err = c.stats.write.uses(&b, tally.Uses(), origin)
	} else {
		err = c.stats.write.blocked(&b, tally.Tables(), origin)
	}
	if err != nil {
		return 0, err
	}
	_, err = c.s.out.Write(b.Bytes())
	return exitDone, err
}

// statsOfRules tells whether rules are to be counted, and not a survey, and checks the flags
// for that.
func (c *call) statsOfRules(ctx context.Context) (bool, error) {
	if len(c.folders) == 0 && len(c.operands) > 0 {
		rules, err := isRules(ctx, c.operands[0])
		if err != nil {
			return false, err
		}
		if rules {
			c.folders, c.operands = c.operands, nil
		}
	}
	switch {
	case len(c.folders) > 0:
		if err := c.refuseOperands(otherRules); err != nil {
			return false, err
		}
		if err := c.addAgents(); err != nil {
			return false, err
		}
		if len(c.agents) == 0 {
			return false, option.Usagef("-agents is missing: name a list of agents, one a line, or give some with -agent")
		}
		c.history = c.stats.monthly
		c.setWork()
		return true, c.checkOneTime()
	case len(c.operands) != 1:
		return false, option.Usagef("stats takes one SURVEY, and not %d: robotsbatch survey makes one; rules to count are named by -rules", len(c.operands))
	case c.stats.monthly:
		return false, option.Usagef("-by month counts captures of several times, and a survey has those of one: name the captures, or a pack of compile -history, with -rules")
	case len(c.agents) > 0 || c.agentsFile != "":
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
func (c *call) countRules(ctx context.Context, o stats.Options) (*stats.Tally, error) {
	limitHeap(c.memory)
	found, err := c.find(ctx, ruleUse{})
	if err != nil {
		return nil, err
	}
	listing, err := found.List(ctx)
	if err != nil {
		return nil, err
	}
	defer listing.Close()
	var months []export.Month
	if c.stats.monthly {
		if months, err = export.Months(listing); err != nil {
			return nil, err
		}
		if len(months) == 0 {
			return nil, option.Usagef("-by month needs captures with times, and -rules %s has none", ruleset.SomeOf(c.folders))
		}
		for _, month := range months {
			o.Months = append(o.Months, month.Name)
		}
	}
	tally := stats.NewTally(o)
	for _, agent := range c.agentChains() {
		tally.Agent(agent)
	}
	var domain []byte // of the sites that were added last
	err = export.States(listing, c.agents, c.uses, months, func(s *export.Stated) error {
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
func (c *call) countSurvey(ctx context.Context, name string, tally *stats.Tally) error {
	if named, _ := format.ByName(blob.Shown(name)); c.inFormat == format.JSONL || c.inFormat == format.Unknown && named == format.JSONL {
		return tally.AddObjects(ctx, name, c.s.in)
	}
	src, err := frontier.Open(ctx, frontier.Input{Path: name}, frontier.Options{
		Stdin: c.s.in, Format: c.inFormat, URLColumn: "authority", BatchRows: defaultRows, Memory: c.batchMemory(), Columns: true,
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
