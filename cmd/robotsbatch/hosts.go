package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"
	"time"

	"robotsbatch/batch"
	"robotsbatch/batch/option"
	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/cmd/robotsbatch/internal/config"
	"robotsbatch/cmd/robotsbatch/internal/console"
	"robotsbatch/io/frontier"
	"robotsbatch/io/frontier/outputs"
	"robotsbatch/io/report"
	"robotsbatch/io/rules/hosts"
	"robotsbatch/io/rules/ruleset"
	"robotsbatch/io/store/blob"
)

// hostsHelp is the command hosts.
var hostsHelp = &cli.Command{
	Name: "hosts", New: func() cli.Config { return &hostsCommand{tableCommand: newTable()} },
	Usage: []string{"hosts FILE [-rules RULES] [-max-age SPAN] [-out FILE] [flags]"},
	About: "lists the robots.txt files to fetch before a frontier can be judged: those that are missing and those that are too old, " +
		"most wanted first.",
	Details: "A row has the URL of a robots.txt, the number of rows that wait for it, the reason, and the result of its last fetch. " +
		"A list (.txt) has the URLs alone, for wget -i, curl or aria2. Without -rules all are missing (robotsbatch help hosts).",
	Examples: []string{"hosts -in urls.txt -out fetch.txt", "hosts -in urls.txt -rules site.rules -max-age 7d -out fetch.csv"},
	Exits:    tableExits,
}

// hostsCommand is its configuration.
type hostsCommand struct {
	tableCommand
	config.Input
}

// Flags implements cli.Config.
func (c *hostsCommand) Flags() cli.Flags {
	aging := cli.Flags{{
		Name: "as-of", Argument: "TIME", Topic: config.RulesTopic, Standard: "now", Value: cli.Time(&c.AsOf),
		Short: "count ages up to this time, and ignore later captures",
		More:  "2026-03-01T12:00:00Z, or a day, meaning its end.",
	}, {
		Name: "max-age", Argument: "SPAN", Topic: config.RulesTopic, Common: true, Standard: "24h, as RFC 9309 advises", Value: cli.Age(&c.MaxAge),
		Short: "an older robots.txt is stale, such as 36h or 7d",
	}}
	return slices.Concat(c.Input.Flags().Saying("in", "list or table of the URLs that are to be judged: their hosts count"), c.PlainFlags().Without("agent", "agents", "as-of").Before("assume", aging...),
		c.TableFlags().Saying("out", "what to fetch: a table, a list of robots.txt URLs (.txt), or -"), c.Running.Flags())
}

// check adds the operands to -in, and returns an error for flags that do not go together. Rules may be
// missing: then all hosts are.
func (c *hostsCommand) check(ctx context.Context) error {
	if err := c.checkTable(hostsHelp); err != nil {
		return err
	}
	c.In = append(c.In, c.operands...)
	if len(c.Sources) > 0 || c.Asked != "" {
		if err := c.Rules.Check(ctx); err != nil {
			return err
		}
	}
	return c.Input.Check(c.Sources...)
}

// execute counts the rows of the inputs by authority, compares them with the rules, and writes the
// robots.txt that are missing or stale.
func (c *hostsCommand) execute(ctx context.Context) (status int, err error) {
	ctx = c.showProgress(ctx, c.Out == blob.Stdio)
	if c.AsOf.IsZero() {
		c.AsOf, c.Clock = c.started, true
	}
	out, err := c.openTable(&frontier.Source{Schema: hosts.Schema})
	if err != nil {
		return 0, err
	}
	defer out.Close()
	var found *ruleset.Found // nil without rules
	if len(c.Sources) > 0 {
		if found, err = c.find(ctx, &c.Rules, option.Out.With(c.Out)); err != nil {
			return 0, err
		}
	}
	waiting := hosts.NewWaiting(c.Running.Memory/4, os.TempDir()) // and findHosts takes as much
	defer waiting.Close()
	rows, err := c.countRows(ctx, waiting)
	if err != nil {
		return 0, err
	}
	wanted, err := c.findHosts(ctx, found, waiting)
	if err != nil {
		return 0, err
	}
	defer wanted.Close()
	if c.WantsText() {
		err = out.Text(ctx, wanted.URLs)
	} else {
		_, err = out.Rows(ctx, "hosts", wanted.Rows(c.BatchRows), func() error { return nil })
	}
	if err != nil {
		return 0, err
	}
	done := report.HostsDone{
		Version: cli.Version(), Rows: rows, Invalid: waiting.Invalid(), Authorities: wanted.Authorities,
		Missing: wanted.Missing, MissingRows: wanted.MissingRows, Stale: wanted.Stale, StaleRows: wanted.StaleRows,
		AsOf: c.AsOf.UTC().Truncate(time.Second), MaxAgeSeconds: int64(c.MaxAge / time.Second), Out: blob.Shown(c.Out), Seconds: c.seconds(),
	}
	if invalid := waiting.Invalid(); rows > 0 && invalid == rows {
		c.log.Warn(report.AllInvalid(rows, c.schemeless))
	}
	c.log.Info(done.String(), "done", "summary", done)
	return exitDone, nil
}

// countRows counts the rows of all inputs by authority, in waiting, and returns their number. It reads
// several inputs at once, but returns the error of the first that fails, in their order.
func (c *hostsCommand) countRows(ctx context.Context, waiting *hosts.Waiting) (rows int64, err error) {
	inputs, err := c.Resolve(ctx, c.s.in, option.Out.With(c.Out))
	if err != nil {
		return 0, err
	}
	c.shown.Plan(inputs)
	atOnce := c.ReserveAtOnce(len(inputs), readsObjects(inputs), false) // it writes none meanwhile
	pool := batch.NewPool(waiting.NewEvaluator, batch.Options{Workers: c.Running.Workers, Memory: c.FlightMemory() / 2})
	defer pool.Close()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	chain := outputs.NewChain(atOnce, stop)
	for _, in := range inputs {
		if ctx.Err() != nil {
			break
		}
		var counted int64
		var schemeless string // as in call
		lane, progress := pool.Lane(ctx), c.shown.Output(1)
		chain.Start(outputs.Steps{
			Work: func() (err error) {
				counted, schemeless, err = c.countInput(ctx, in, lane, progress)
				return err
			},
			Complete: func() error { // for one input after the other, in order
				rows, c.schemeless = rows+counted, cmp.Or(c.schemeless, schemeless)
				return nil
			},
		})
	}
	err = cmp.Or(chain.Wait(), context.Cause(ctx))
	return rows, err
}

// countInput counts the rows of an input by authority, through lane, which it closes. schemeless is as
// in call.
func (c *hostsCommand) countInput(ctx context.Context, in frontier.Input, lane *batch.Lane, progress *console.OutputProgress) (rows int64, schemeless string, err error) {
	defer lane.Close()
	o := c.Reading
	o.BatchRows, o.Keep, o.Memory, o.Piece = c.BatchRows, batch.KeepNone, c.BatchMemory()/2, c.PieceMemory()/2
	src, err := frontier.Concatenate(ctx, []frontier.Input{in}, o)
	if err != nil {
		return 0, "", err
	}
	defer src.Close() // it was only read from
	stats, err := lane.Run(src, batch.Discard, func(s batch.Stats) { progress.Report(&s, src) })
	if err == nil {
		progress.End()
		err = errors.Join(src.Unchanged(), src.Complete())
	}
	return stats.Rows, src.First().Schemeless, err
}

// findHosts returns the robots.txt that the rules lack, or that are stale, for the hosts of waiting.
// found is nil if no rules are named: then all are missing.
func (c *hostsCommand) findHosts(ctx context.Context, found *ruleset.Found, waiting *hosts.Waiting) (*hosts.Wanted, error) {
	o := hosts.Options{AsOf: c.AsOf.Unix(), MaxAge: int64(c.MaxAge / time.Second), Memory: c.Running.Memory / 4, Folder: os.TempDir()}
	if found == nil {
		return hosts.Find(waiting, hosts.NoRules, o)
	}
	rules, err := c.openRules(ctx, &c.Rules, found)
	if err != nil {
		return nil, err
	}
	defer rules.Close()
	o.Fetches = func(add hosts.AddFetch) error { return found.EachFetch(ctx, add) }
	wanted, err := hosts.Find(waiting, rules.Fetch, o)
	if err != nil {
		return nil, err
	}
	if err := rules.Unchanged(); err != nil {
		wanted.Close()
		return nil, err
	}
	return wanted, nil
}
