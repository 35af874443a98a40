package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"robotsbatch/batch/option"
	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/cmd/robotsbatch/internal/config"
	"robotsbatch/io/report/findings"
	"robotsbatch/io/rules/ruleset"
	"robotsbatch/io/store/blob"
	"robotsbatch/matcher/lint"
)

// lintHelp finds mistakes in robots.txt files.
var lintHelp = &cli.Command{
	Name: "lint", New: func() cli.Config {
		c := &lintCommand{call: newCall(), failOn: lint.Error}
		c.leastFailed, c.words = exitUsage, lintWords
		return c
	},
	Usage: []string{"lint [flags] FILE|FOLDER|PACK|WARC..."},
	About: "finds mistakes in robots.txt files: ignored lines, rules that never decide, agents that do not exist.",
	Details: "A FILE is a robots.txt (- for stdin), a FOLDER has them named by host, a WARC or a table has captures of them, and a PACK their rules alone. Each finding is a line: " +
		"file:line:column: severity: message [code]. What each code means, with examples: robotsbatch help lint, or robotsbatch help CODE.",
	Examples: []string{"lint robots.txt", "lint -sarif robots/ > robots.sarif", `lint -counts "crawl/*.warc.gz"`},
	Exits: []cli.Exit{
		{Status: "0", Meaning: "found nothing as severe as -fail-on"},
		{Status: "1", Meaning: "found something"},
		{Status: "2", Meaning: "wrong use, or an input cannot be read"},
		retryExit, stoppedExit,
	},
}

// lintCommand is its configuration.
type lintCommand struct {
	call
	rules               config.Rules
	limit               int
	json, sarif, counts bool
	least               lint.Severity // of what is shown
	failOn              lint.Severity // from which on the exit status is 1
	ignore              []string      // codes
}

// Flags implements cli.Config.
func (c *lintCommand) Flags() cli.Flags {
	return slices.Concat(c.rules.Flags().Only("rules").Saying("rules", "what to check, as without the flag", config.RuleForms), cli.Flags{config.LimitFlag(&c.limit), {
		Name: "least", Argument: "SEVERITY", Topic: config.OutputTopic, Standard: "note", Value: cli.OneOf(&c.least, severityWords...),
		Short: "least severity to show: note (all), warning or error",
	}, {
		Name: "ignore", Argument: "CODE", Topic: config.OutputTopic, Repeat: true, Value: c.setIgnored,
		Short: "do not show this code, such as split-group",
	}, {
		Name: "fail-on", Argument: "SEVERITY", Topic: config.OutputTopic, Standard: "error", Value: cli.OneOf(&c.failOn, failWords...),
		Short: "severity that makes the exit status 1: note, warning, error or never",
	}, {
		Name: "json", Topic: config.OutputTopic, Value: &c.json,
		Short: "JSON for programs: an object for each finding, on a line of its own",
	}, {
		Name: "sarif", Topic: config.OutputTopic, Value: &c.sarif,
		Short: "SARIF 2.1 for tools that show findings beside code",
	}, {
		Name: "counts", Topic: config.OutputTopic, Value: &c.counts,
		Short: "count findings by code instead of listing them",
	}}, c.Running.Flags().Only("store-timeout", "log", "quiet").Saying("quiet", "no summary"))
}

// The values of -least and -fail-on.
var (
	severityWords = cli.WordsOf(lint.Note, lint.Warning, lint.Error)
	failWords     = append(slices.Clip(severityWords), cli.Word[lint.Severity]{Name: "never", Value: findings.Never})
)

// setIgnored adds a code to those that are not looked for.
func (c *lintCommand) setIgnored(code string) error {
	c.ignore = append(c.ignore, code)
	return lint.CheckCode(code)
}

// check puts the sources of -rules before the operands, which are sources as well, and returns an error
// for flags that do not go together.
func (c *lintCommand) check(context.Context) error {
	c.operands = append(c.rules.Sources, c.operands...)
	switch {
	case len(c.operands) == 0:
		return option.Usagef("lint needs a robots.txt, a folder of them, or captures; - is stdin")
	case c.json && c.sarif, c.counts && (c.json || c.sarif):
		return option.Usagef("%s, %s and %s exclude each other", option.JSON, option.SARIF, option.Counts)
	}
	return refuseWebsites(c.operands, "fetch it, such as with curl -s %s | robotsbatch lint -")
}

// execute writes the findings in all sources, or with -counts their numbers. The exit status is 1
// if one is as severe as -fail-on.
func (c *lintCommand) execute(ctx context.Context) (status int, err error) {
	sources := ruleset.Options{
		Sources: c.operands, Limit: c.limit, Memory: config.DefaultMemory, Stdin: c.stdin(ctx, c.operands), Warn: c.log.Warn, Note: c.log.Note,
	}
	out := c.writer()
	tally, fails, err := findings.Find(ctx, sources, findings.Options{Least: c.least, FailOn: c.failOn, Ignore: c.ignore}, out)
	if err == nil && c.counts {
		err = tally.WriteCounts(c.s.out)
	} else if err == nil {
		err = out.Close()
	}
	if err != nil {
		return 0, err
	}
	c.log.Info(tally.String(), "lint")
	if fails {
		return exitFailed, nil
	}
	return exitDone, nil
}

// refuseWebsites returns an error if a name is the URL of a website, because the program contacts none.
// instead says what to do; it is a format with one %s for the URL.
func refuseWebsites(names []string, instead string) error {
	for _, name := range names {
		if scheme, _, ok := strings.Cut(strings.ToLower(name), "://"); ok && (scheme == "http" || scheme == "https") {
			return option.Usagef("%s: robotsbatch asks no website: %s", blob.Shown(name), fmt.Sprintf(instead, blob.Shown(name)))
		}
	}
	return nil
}

// lintWords is [cli.Words] for lint, where a source is an operand: in place of -rules and a value it
// returns the value.
func lintWords(o option.Given) string {
	if o.Name == option.Rules && o.Value != "" {
		return o.Value
	}
	return cli.Words(o)
}

// writer returns the writer of findings that the flags select.
func (c *lintCommand) writer() findings.Writer {
	switch {
	case c.counts:
		return findings.NewText(io.Discard)
	case c.json:
		return findings.NewJSON(c.s.out)
	case c.sarif:
		return findings.NewSARIF(c.s.out, cli.Version())
	}
	return findings.NewText(c.s.out)
}
