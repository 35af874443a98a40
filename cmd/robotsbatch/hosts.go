package main

import (
	"context"
	"errors"
	"os"
	"time"

	"robotsbatch/batch"
	"robotsbatch/batch/option"
	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/io/frontier"
	"robotsbatch/io/report"
	"robotsbatch/io/rules/hosts"
	"robotsbatch/io/rules/ruleset"
	"robotsbatch/io/store/blob"
)

// hostsHelp is the command hosts.
var hostsHelp = cli.Command{
	Name: "hosts", Set: hostsCommand,
	Usage: []string{"hosts -in FILE [-rules RULES] [-max-age SPAN] [-out FILE] [flags]"},
	About: "lists the robots.txt files to fetch before a frontier can be judged: those that are missing and those that are too old, " +
		"most wanted first.",
	Details: "A row has the URL of a robots.txt, the number of rows that wait for it, the reason, and the result of its last fetch. " +
		"A list (.txt) has the URLs alone, for wget -i, curl or aria2. Without -rules all are missing (robotsbatch help hosts).",
	Examples: []string{"hosts -in urls.txt -out fetch.txt", "hosts -in urls.txt -rules site.rules -max-age 7d -out fetch.csv"},
	Exits:    tableExits,
}

// listHosts lists the robots.txt that must be fetched.
func (c *call) listHosts(ctx context.Context) (status int, err error) {
	c.listing = true
	if err := c.checkTable(&hostsHelp); err != nil {
		return 0, err
	}
	if err := c.refuseOperands("name a list or table of URLs with -in"); err != nil {
		return 0, err
	}
	if len(c.folders) > 0 {
		if err := c.rulesConfig.check(); err != nil {
			return 0, err
		}
	}
	if err := c.checkFrontier(); err != nil {
		return 0, err
	}
	return exitDone, c.writeHosts(ctx)
}

// writeHosts writes the table.
func (c *call) writeHosts(ctx context.Context) error {
	started := time.Now()
	if c.asOf.IsZero() {
		c.asOf = started
	}
	out, err := c.openTable(hosts.Schema)
	if err != nil {
		return err
	}
	defer out.close()
	var found *ruleset.Found // nil without rules
	if len(c.folders) > 0 {
		if found, err = c.find(ctx, ruleUse{}); err != nil {
			return err
		}
	}
	waiting := hosts.NewWaiting(c.memory/4, os.TempDir())
	defer waiting.Close()
	stats, err := c.count(ctx, waiting)
	if err != nil {
		return err
	}
	wanted, err := c.findHosts(ctx, found, waiting)
	if err != nil {
		return err
	}
	defer wanted.Close()
	if c.writing().WantsText() {
		err = out.writeText(ctx, wanted.URLs)
	} else {
		_, err = out.writeRows(ctx, "hosts", wanted.Rows(c.batchRows), func() error { return nil })
	}
	if err != nil {
		return err
	}
	done := report.HostsDone{
		Version: cli.Version(), Rows: stats.Rows, Invalid: waiting.Invalid(), Authorities: wanted.Authorities,
		Missing: wanted.Missing, MissingRows: wanted.MissingRows, Stale: wanted.Stale, StaleRows: wanted.StaleRows,
		AsOf: c.asOf.UTC().Truncate(time.Second), MaxAgeSeconds: int64(c.maxAge / time.Second), Out: blob.Shown(c.out), Seconds: time.Since(started).Seconds(),
	}
	if invalid := waiting.Invalid(); stats.Rows > 0 && invalid == stats.Rows {
		c.log.Warn(allInvalid(stats.Rows, c.schemeless))
	}
	c.log.Info(done.String(), "done", "summary", done)
	return nil
}

// count counts the rows of the frontier by authority.
func (c *call) count(ctx context.Context, waiting *hosts.Waiting) (batch.Stats, error) {
	src, err := c.openFrontier(ctx)
	if err != nil {
		return batch.Stats{}, err
	}
	defer src.Close() // it was only read from
	c.schemeless = src.First().Schemeless
	stats, err := batch.Run(ctx, src, batch.Discard, waiting.NewEvaluator, batch.Options{Workers: c.workers, Memory: c.flightMemory() / 2})
	if err != nil {
		return stats, err
	}
	return stats, errors.Join(src.Unchanged(), src.Complete())
}

// findHosts finds out what the rules lack.
func (c *call) findHosts(ctx context.Context, found *ruleset.Found, waiting *hosts.Waiting) (*hosts.Wanted, error) {
	o := hosts.Options{AsOf: c.asOf.Unix(), MaxAge: int64(c.maxAge / time.Second), Memory: c.memory / 4, Folder: os.TempDir()}
	if found == nil {
		return hosts.Find(waiting, hosts.NoRules{}, o)
	}
	rules, err := c.openRules(ctx, found)
	if err != nil {
		return nil, err
	}
	defer rules.Close()
	o.Fetches = func(add func([]byte, int, int64, []byte) error) error { return found.EachFetch(ctx, add) }
	wanted, err := hosts.Find(waiting, rules, o)
	if err != nil {
		return nil, err
	}
	if err := rules.Unchanged(); err != nil {
		wanted.Close()
		return nil, err
	}
	return wanted, nil
}

// checkFrontier finds what is wrong with the flags that name a frontier.
func (c *jobConfig) checkFrontier() error {
	if len(c.in) == 0 && c.filesFrom == "" {
		return option.Usagef("-in is missing: name a file, a folder or - for stdin")
	}
	if err := resolveNames("in", pointers(c.in)...); err != nil {
		return err
	}
	return resolveNames("files-from", &c.filesFrom)
}

// openFrontier opens the URLs of all inputs.
func (c *call) openFrontier(ctx context.Context) (*frontier.Concatenation, error) {
	inputs, err := c.resolveInputs(ctx)
	if err != nil {
		return nil, err
	}
	o := c.reading()
	o.Keep, o.Memory = batch.KeepNone, c.batchMemory()/2
	return frontier.Concatenate(ctx, inputs, o)
}
