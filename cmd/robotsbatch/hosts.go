package main

import (
	"context"
	"errors"
	"flag"
	"os"
	"time"

	"robotsbatch/batch"
	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/io/blob"
	"robotsbatch/io/frontier"
	"robotsbatch/io/hosts"
	"robotsbatch/io/report"
	"robotsbatch/io/ruleset"
	"robotsbatch/io/tables"
)

// hostsHelp is the command hosts.
var hostsHelp = cli.Command{
	Name: "hosts", Set: hostsCommand,
	Usage: []string{"hosts -in FILE -rules RULES [-max-age SPAN] [-out FILE] [flags]"},
	About: "lists the robots.txt that must be fetched before a frontier is judged: those that rules do not have and those that are too old, " +
		"most wanted first.",
	Details: "A row has the URL of a robots.txt, the number of rows that wait for it, why, and what its last fetch said " +
		"(robotsbatch help fetching).",
	Examples: []string{"hosts -in frontier.parquet -rules site.rules -out fetch.csv", "hosts -in urls.txt -rules robots -max-age 7d"},
	Exits: []cli.Exit{
		{Status: "0", Meaning: "done, also when the reader of a pipe had enough before the end"},
		{Status: "1", Meaning: "failed; nothing half-written is left"},
		{Status: "2", Meaning: "wrong use"},
		{Status: "75", Meaning: retryStatus},
		{Status: "129, 130, 143", Meaning: stoppedStatus},
	},
}

// runHosts lists the robots.txt that must be fetched.
func runHosts(ctx context.Context, args []string, s streams) int {
	c, operands, err := parseTable("hosts", args)
	if errors.Is(err, flag.ErrHelp) {
		return printCommandHelp(s, program.Command("hosts"))
	}
	log := newConsole(s.err, c.logJSON, c.quiet).of("hosts")
	switch {
	case err != nil:
	case len(operands) > 0:
		err = usageErrorf("unexpected argument %q: name a list or table of URLs with -in", blob.Shown(operands[0]))
	default:
		if err = c.rulesConfig.check(); err == nil {
			err = c.checkFrontier()
		}
	}
	if err == nil {
		err = c.listHosts(blob.WithTimeout(ctx, c.storeTimeout), s, log)
	}
	return c.endTable(ctx, log, err)
}

// listHosts writes the table.
func (c *jobConfig) listHosts(ctx context.Context, s streams, log *console) error {
	started := time.Now()
	if c.asOf.IsZero() {
		c.asOf = started
	}
	out, err := c.openTable(ctx, s, hosts.Schema)
	if err != nil {
		return err
	}
	defer out.close()
	found, err := c.find(ctx, ruleUse{memory: c.memory, workers: c.workers, stdin: s.in}, log)
	if err != nil {
		return err
	}
	waiting := hosts.NewWaiting(c.memory/4, os.TempDir())
	defer waiting.Close()
	stats, err := c.count(ctx, s, waiting)
	if err != nil {
		return err
	}
	wanted, err := c.findHosts(ctx, found, waiting, log)
	if err != nil {
		return err
	}
	defer wanted.Close()
	source := tables.NewRecords("hosts", wanted.Rows(c.batchRows))
	if _, err := out.write(ctx, source, func() batch.Evaluator { return tables.NoVerdicts{} }, func() error { return nil }); err != nil {
		return err
	}
	defer source.Close()
	done := report.HostsDone{
		Version: version(), Rows: stats.Rows, Invalid: waiting.Invalid(), Authorities: wanted.Authorities,
		Missing: wanted.Missing, MissingRows: wanted.MissingRows, Stale: wanted.Stale, StaleRows: wanted.StaleRows,
		AsOf: c.asOf.UTC().Truncate(time.Second), MaxAgeSeconds: int64(c.maxAge / time.Second), Out: blob.Shown(c.out), Seconds: time.Since(started).Seconds(),
	}
	log.info(done.String(), "done", "summary", done)
	return nil
}

// count counts the rows of the frontier by authority.
func (c *jobConfig) count(ctx context.Context, s streams, waiting *hosts.Waiting) (batch.Stats, error) {
	src, err := c.openFrontier(ctx, s)
	if err != nil {
		return batch.Stats{}, err
	}
	stats, err := batch.Run(ctx, src, batch.Discard, waiting.NewEvaluator, batch.Options{Workers: c.workers, Memory: c.flightMemory() / 2})
	if err != nil {
		return stats, err
	}
	return stats, errors.Join(src.Unchanged(), src.Complete(), src.Close())
}

// findHosts finds out what the rules lack.
func (c *jobConfig) findHosts(ctx context.Context, found *ruleset.Found, waiting *hosts.Waiting, log *console) (*hosts.Wanted, error) {
	rules, err := c.openRules(ctx, found, log)
	if err != nil {
		return nil, err
	}
	defer rules.Close()
	wanted, err := hosts.Find(waiting, rules, hosts.Options{
		AsOf: c.asOf.Unix(), MaxAge: int64(c.maxAge / time.Second), Memory: c.memory / 4, Folder: os.TempDir(),
		Locations: func(add func([]byte, int64, []byte) error) error { return found.EachRedirect(ctx, add) },
	})
	if err == nil {
		err = rules.Unchanged()
	}
	return wanted, err
}

// checkFrontier finds what is wrong with the flags that name a frontier.
func (c *jobConfig) checkFrontier() error {
	if len(c.in) == 0 && c.filesFrom == "" {
		return usageErrorf("-in is missing: name a file, a folder or - for stdin")
	}
	if err := resolveNames("in", pointers(c.in)...); err != nil {
		return err
	}
	return resolveNames("files-from", &c.filesFrom)
}

// openFrontier opens the URLs of all inputs.
func (c *jobConfig) openFrontier(ctx context.Context, s streams) (*frontier.Concatenation, error) {
	inputs, err := resolveInputs(ctx, c, s.in)
	if err != nil {
		return nil, err
	}
	return frontier.Concatenate(ctx, inputs, frontier.Options{
		Stdin: s.in, Format: c.inFormat, URLColumn: c.urlColumn, BatchRows: c.batchRows, MaxLine: int(c.maxLine), Separator: c.separator,
		AcceptTruncated: c.acceptTruncated, Keep: batch.KeepNone, Memory: c.batchMemory() / 2,
	})
}
