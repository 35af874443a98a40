package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"time"

	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/io/blob"
	"robotsbatch/io/format"
	"robotsbatch/io/frontier"
	"robotsbatch/io/report"
	"robotsbatch/io/stats"
)

// statsHelp is the command stats.
var statsHelp = cli.Command{
	Name: "stats", Set: statsCommand,
	Usage: []string{"stats [-rank FILE] [-by WHAT] [-as FORMAT] SURVEY"},
	About: "counts a survey of who blocks whom: for each agent how many sites deny it all or some, by rules for it or for everyone.",
	Details: "SURVEY is what robotsbatch survey wrote: Parquet, Arrow, csv, tsv or jsonl. With -rank the sites are counted again among the first " +
		"hundred, thousand and so on of a list of domains. What is counted how is in robotsbatch help survey.",
	Examples: []string{"stats survey.parquet", "stats -rank tranco.csv -by domain -as csv survey.parquet", "stats -as html survey.parquet >survey.html"},
	Exits: []cli.Exit{
		doneExit,
		{Status: "1", Meaning: "failed: SURVEY cannot be read, or is none"},
		usageExit,
		retryExit,
		stoppedExit,
	},
}

// statsConfig are the flags that stats has alone.
type statsConfig struct {
	rank    string
	domains bool
	write   statsWriter
}

// statsWriter writes counts of sites, such as "authorities", of a survey with this name.
type statsWriter func(w io.Writer, counts []stats.Count, sites, survey string) error

// statsFlags are these flags.
var statsFlags = []cli.Flag[jobConfig]{
	{
		Name: "rank", Argument: "FILE", Topic: inputTopic, Commands: statsCommand, Common: true, Files: true,
		Short: "list of domains, the first one first, or lines of RANK,DOMAIN",
		More:  "Such as Tranco's; also as .gz or .zst.",
		Bind:  func(c *jobConfig) any { return &c.stats.rank },
	},
	{
		Name: "by", Argument: "WHAT", Topic: outputTopic, Commands: statsCommand, Common: true, Standard: "authority", Words: []string{"authority", "domain"},
		Short: "what is a site: an authority, or a registered domain",
		Bind: func(c *jobConfig) any {
			return cli.OneOf(&c.stats.domains, cli.Word[bool]{Name: "authority"}, cli.Word[bool]{Name: "domain", Value: true})
		},
	},
	{
		Name: "as", Argument: "FORMAT", Topic: outputTopic, Commands: statsCommand, Common: true, Standard: "text", Words: []string{"text", "csv", "json", "html"},
		Short: "text, csv, json or html",
		More:  "html is a page as -report writes one, in one file that asks nothing of any server.",
		Bind: func(c *jobConfig) any {
			return cli.OneOf(&c.stats.write, cli.Word[statsWriter]{Name: "text", Value: writeStatsText},
				cli.Word[statsWriter]{Name: "csv", Value: func(w io.Writer, counts []stats.Count, _, _ string) error { return stats.WriteCSV(w, counts) }},
				cli.Word[statsWriter]{Name: "json", Value: func(w io.Writer, counts []stats.Count, _, _ string) error { return stats.WriteJSON(w, counts) }},
				cli.Word[statsWriter]{Name: "html", Value: writeStatsPage})
		},
	},
}

func statsDefaults(c *jobConfig) { c.stats.write = writeStatsText }

func writeStatsText(w io.Writer, counts []stats.Count, sites, _ string) error {
	return stats.WriteText(w, counts, sites)
}

func writeStatsPage(w io.Writer, counts []stats.Count, sites, survey string) error {
	return report.Stats(counts, sites, survey, cli.Version(), time.Now()).Write(w)
}

// printStats counts a survey and prints the tables.
func (c *call) printStats(ctx context.Context) (status int, err error) {
	if len(c.operands) != 1 {
		return 0, usageErrorf("stats takes one SURVEY, and not %d: robotsbatch survey makes one", len(c.operands))
	}
	if err := resolveNames("rank", &c.stats.rank); err != nil {
		return 0, err
	}
	o, sites := stats.Options{}, "authorities"
	if c.stats.domains {
		o.Domains, sites = true, "registered domains"
	}
	if c.stats.rank != "" {
		if o.Ranks, err = stats.OpenRanks(ctx, c.stats.rank); err != nil {
			return 0, fmt.Errorf("-rank %s: %w", blob.Shown(c.stats.rank), err)
		}
	}
	tally := stats.NewTally(o)
	if err := c.countSurvey(ctx, c.operands[0], tally); err != nil {
		return 0, err
	}
	var b bytes.Buffer
	if err := c.stats.write(&b, tally.Tables(), sites, blob.Shown(c.operands[0])); err != nil {
		return 0, err
	}
	_, err = c.s.out.Write(b.Bytes())
	return exitDone, err
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
		return usageErrorf("%s is %s by its first bytes: stats reads surveys in Parquet, Arrow, csv, tsv, and jsonl with -in-format jsonl or by its name", blob.Shown(name), src.Format)
	}
	return tally.AddAll(ctx, src, blob.Shown(name))
}
