package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/io/blob"
	"robotsbatch/io/captures"
	"robotsbatch/io/findings"
	"robotsbatch/io/frontier"
	"robotsbatch/io/report"
	"robotsbatch/io/ruleset"
	"robotsbatch/matcher/lint"
	"robotsbatch/matcher/robotstxt"
	"robotsbatch/matcher/spelling"
)

// lintConfig is what the command line of lint has alone.
type lintConfig struct {
	sarif, counts bool
	least, failOn lint.Severity
	neverFail     bool
	ignore        []string // codes
}

// lintFiles finds mistakes in robots.txt files.
var lintFiles = cli.Command{
	Name: "lint", Set: lintCommand,
	Usage: []string{"lint [flags] FILE|FOLDER|PACK|WARC..."},
	About: "finds mistakes in robots.txt files: lines that are ignored, rules that never decide, agents that nobody has.",
	Details: "A FILE is a robots.txt (- for stdin), a FOLDER has them named by host, a WARC or a table has captures of them, and a PACK their rules alone. Each finding is a line: " +
		"file:line:column: severity: message [code]. What each code means, with examples: robotsbatch help lint, or robotsbatch help CODE.",
	Examples: []string{"lint robots.txt", "lint -sarif robots/ > robots.sarif", `lint -counts "crawl/*.warc.gz"`},
	Exits: []cli.Exit{
		{Status: "0", Meaning: "nothing found that is as grave as -fail-on"},
		{Status: "1", Meaning: "something was"},
		{Status: "2", Meaning: "wrong use, or what was named cannot be read"},
		{Status: "129, 130, 143", Meaning: stoppedStatus},
	},
}

// lintFlags are the flags of lint alone.
var lintFlags = []cli.Flag[jobConfig]{
	{
		Name: "robots-limit", Argument: "SIZE", Topic: rulesTopic, Commands: lintCommand, Standard: "500KiB, the least there is",
		Short: "bytes of a robots.txt that count",
		Bind:  func(c *jobConfig) any { return cli.Size(&c.limit, robotstxt.DefaultLimit) },
	},
	{
		Name: "least", Argument: "SEVERITY", Topic: outputTopic, Commands: lintCommand, Standard: "note", Words: []string{"note", "warning", "error"},
		Short: "what is told: note (all), warning or error",
		Bind:  func(c *jobConfig) any { return cli.OneOf(&c.lint.least, severityWords...) },
	},
	{
		Name: "ignore", Argument: "CODE", Topic: outputTopic, Commands: lintCommand, Repeat: true,
		Short: "a code that is not told, such as split-group",
		Bind:  func(c *jobConfig) any { return ignoreOf(&c.lint) },
	},
	{
		Name: "fail-on", Argument: "SEVERITY", Topic: outputTopic, Commands: lintCommand, Standard: "error", Words: []string{"note", "warning", "error", "never"},
		Short: "what makes the exit status 1: note, warning, error or never",
		Bind:  func(c *jobConfig) any { return failOnOf(&c.lint) },
	},
	{
		Name: "json", Topic: outputTopic, Commands: lintCommand,
		Short: "JSON for programs: an object for each finding, on a line of its own",
		Bind:  func(c *jobConfig) any { return &c.json },
	},
	{
		Name: "sarif", Topic: outputTopic, Commands: lintCommand,
		Short: "SARIF 2.1 for tools that show findings beside code",
		Bind:  func(c *jobConfig) any { return &c.lint.sarif },
	},
	{
		Name: "counts", Topic: outputTopic, Commands: lintCommand,
		Short: "how often each code was found instead of each finding",
		Bind:  func(c *jobConfig) any { return &c.lint.counts },
	},
	{
		Name: "quiet", Topic: runningTopic, Commands: lintCommand, Indifferent: true,
		Short: "no summary",
		Bind:  func(c *jobConfig) any { return &c.quiet },
	},
}

var severityWords = []cli.Word[lint.Severity]{{Name: "note", Value: lint.Note}, {Name: "warning", Value: lint.Warning}, {Name: "error", Value: lint.Error}}

// failOnOf sets the severity from which on the exit status is 1.
func failOnOf(c *lintConfig) func(string) error {
	return func(s string) error {
		if c.neverFail = s == "never"; c.neverFail {
			return nil
		}
		if err := cli.OneOf(&c.failOn, severityWords...)(s); err != nil {
			return errors.New("want note, warning, error or never")
		}
		return nil
	}
}

// ignoreOf adds a code to those that are not looked for.
func ignoreOf(c *lintConfig) func(string) error {
	return func(s string) error {
		codes := codeNames()
		if !slices.Contains(codes, s) {
			if near := spelling.Nearest(s, codes); near != "" {
				return fmt.Errorf("there is no such code: did you mean %s?", near)
			}
			return errors.New("there is no such code; robotsbatch help lint lists them")
		}
		c.ignore = append(c.ignore, s)
		return nil
	}
}

// codeNames are the names of all codes of lint.
func codeNames() []string {
	var names []string
	for _, code := range lint.Codes() {
		names = append(names, code.Name)
	}
	return names
}

// runLint finds mistakes in robots.txt files.
func runLint(ctx context.Context, args []string, s streams) int {
	c := newConfig()
	names, err := cli.ParseMixed(program.FlagSet(program.Command("lint"), c), args)
	if errors.Is(err, flag.ErrHelp) {
		return printCommandHelp(s, program.Command("lint"))
	}
	log := newConsole(s.err, false, c.quiet).of("lint")
	switch {
	case err != nil:
	case len(names) == 0:
		err = usageErrorf("lint needs a robots.txt, a folder of them, or captures; - is stdin")
	case c.json && c.lint.sarif, c.lint.counts && (c.json || c.lint.sarif):
		err = usageErrorf("-json, -sarif and -counts exclude each other")
	default:
		err = refuseWebsites(names)
	}
	if err != nil {
		return log.fail(err)
	}
	tally, fails, err := c.lintAll(blob.WithTimeout(ctx, c.storeTimeout), names, s, log)
	if err != nil {
		return max(log.fail(err), exitUsage) // 1 would mean findings
	}
	log.info(tally.String(), "lint")
	if fails {
		return exitFailed
	}
	return exitDone
}

// refuseWebsites is an error for URLs of websites, which the program never asks.
func refuseWebsites(names []string) error {
	for _, name := range names {
		if strings.HasPrefix(name, "http://") || strings.HasPrefix(name, "https://") {
			return usageErrorf("%s: robotsbatch asks no website: fetch it, such as with curl -s %s | robotsbatch lint -", name, name)
		}
	}
	return nil
}

// lintAll writes what is found in all sources, and tells whether anything is as grave as
// -fail-on.
func (c *jobConfig) lintAll(ctx context.Context, names []string, s streams, log *console) (tally *findings.Tally, fails bool, err error) {
	out := c.lintWriter(s.out)
	tally = new(findings.Tally)
	o := ruleset.Options{
		Sources: names, Limit: int(c.limit), Memory: defaultMemory,
		OpenTable: func(ctx context.Context, name string, o captures.TableOptions) (captures.Reader, error) {
			return frontier.OpenCaptures(ctx, name, defaultMemory, o)
		},
		Warn: func(message string) { log.warn(report.Printable(message)) },
		Note: func(message string) { log.info(message, message) },
	}
	if slices.Contains(names, blob.Stdio) {
		o.Stdin = frontier.Interruptible(ctx, func() (io.ReadCloser, error) { return io.NopCloser(s.in), nil })
	}
	err = ruleset.Bodies(ctx, o, func(body *ruleset.Body) error {
		found := lint.Body(body.Text, lint.Options{Limit: int(c.limit), Cut: body.Cut, Packed: body.Packed, Profile: body.Profile})
		shown := slices.DeleteFunc(found.Findings, func(f lint.Finding) bool {
			ignored := slices.Contains(c.lint.ignore, f.Code)
			fails = fails || !ignored && !c.lint.neverFail && f.Severity >= c.lint.failOn
			return ignored || f.Severity < c.lint.least
		})
		tally.Add(shown, found.More)
		return out.Add(body.Name, shown)
	})
	switch {
	case err != nil:
	case c.lint.counts:
		err = tally.WriteCounts(s.out)
	default:
		err = out.Close()
	}
	return tally, fails, err
}

// lintWriter is the writer that is asked for.
func (c *jobConfig) lintWriter(w io.Writer) findings.Writer {
	switch {
	case c.lint.counts:
		return findings.NewText(io.Discard)
	case c.json:
		return findings.NewJSON(w)
	case c.lint.sarif:
		return findings.NewSARIF(w, version())
	}
	return findings.NewText(w)
}
