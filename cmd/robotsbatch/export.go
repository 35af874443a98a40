package main

import (
	"context"
	"errors"
	"flag"
	"iter"
	"slices"
	"time"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/batch"
	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/io/blob"
	"robotsbatch/io/export"
	"robotsbatch/io/report"
	"robotsbatch/io/ruleset"
	"robotsbatch/io/tables"
)

// exportHelp is the command export.
var exportHelp = cli.Command{
	Name: "export", Set: exportCommand,
	Usage: []string{"export -rules RULES -table NAME [-out FILE] [flags]"},
	About: "writes what rules have as a table, for SQL: one of rules, agents, sitemaps, records, access and captures.",
	Details: "Rows come in the order of surt_host_name, those of captures in the order of the files. What the columns mean is in " +
		"robotsbatch help tables.",
	Examples: []string{"export -rules crawl.warc.gz -table rules -out rules.parquet", "export -rules robots -table agents"},
	Exits: []cli.Exit{
		{Status: "0", Meaning: "done, also when the reader of a pipe had enough before the end"},
		{Status: "1", Meaning: "failed; nothing half-written is left"},
		{Status: "2", Meaning: "wrong use"},
		{Status: "75", Meaning: retryStatus},
		{Status: "129, 130, 143", Meaning: stoppedStatus},
	},
}

// tableNames are the values of -table.
func tableNames() []string {
	var names []string
	for _, t := range append(slices.Clone(export.Tables), export.Captures) {
		names = append(names, t.Name)
	}
	return names
}

// exportTable is the flag that export has alone.
var exportTable = cli.Flag[jobConfig]{
	Name: "table", Argument: "NAME", Topic: outputTopic, Commands: exportCommand, Common: true, Words: tableNames(),
	Short: "which table: rules, agents, sitemaps, records, access or captures",
	More:  "Captures are all there are, also those that decide nothing; the others are what decides.",
	Bind: func(c *jobConfig) any {
		return func(s string) error {
			var words []cli.Word[*export.Table]
			for _, t := range append(slices.Clone(export.Tables), export.Captures) {
				words = append(words, cli.Word[*export.Table]{Name: t.Name, Value: t})
			}
			return cli.OneOf(&c.table, words...)(s)
		}
	},
}

// runExport writes a table of what rules have.
func runExport(ctx context.Context, args []string, s streams) int {
	c, operands, err := parseTable("export", args)
	if errors.Is(err, flag.ErrHelp) {
		return printCommandHelp(s, program.Command("export"))
	}
	log := newConsole(s.err, c.logJSON, c.quiet).of("export")
	switch {
	case err != nil:
	case len(operands) > 0:
		err = usageErrorf("unexpected argument %q: each source takes a -rules of its own", blob.Shown(operands[0]))
	case c.table == nil:
		err = usageErrorf("-table is missing: name one of %s", listOf(tableNames()))
	default:
		err = c.rulesConfig.check()
	}
	if err == nil {
		err = c.export(blob.WithTimeout(ctx, c.storeTimeout), s, log)
	}
	return c.endTable(ctx, log, err)
}

// export writes the table that c.table names, a survey too.
func (c *jobConfig) export(ctx context.Context, s streams, log *console) error {
	started := time.Now()
	out, err := c.openTable(ctx, s, c.table.Schema)
	if err != nil {
		return err
	}
	defer out.close()
	found, err := c.find(ctx, ruleUse{memory: c.memory, workers: c.workers, stdin: s.in}, log)
	if err != nil {
		return err
	}
	o := export.Options{Profile: c.profile, Rows: c.batchRows}
	var rows iter.Seq2[arrow.Record, error]
	unchanged := func() error { return nil }
	if c.table == export.Captures {
		rows = export.CaptureRows(ctx, found, o, int(c.limit))
	} else {
		listing, err := found.List(ctx)
		if err != nil {
			return err
		}
		defer listing.Close()
		sayCaptured(log, listing)
		rows, unchanged = export.Rows(listing, c.table, o), listing.Unchanged
	}
	source := tables.NewRecords(c.table.Name, rows)
	stats, err := out.write(ctx, source, func() batch.Evaluator { return tables.NoVerdicts{} }, unchanged)
	if err != nil {
		return err
	}
	defer source.Close()
	done := report.TableDone{Version: version(), Table: c.table.Name, Rows: stats.Rows, Out: blob.Shown(c.out), Seconds: time.Since(started).Seconds()}
	log.info(done.String(), "done", "summary", done)
	return nil
}

// sayCaptured says what was read of captures.
func sayCaptured(log *console, listing *ruleset.Listing) {
	if captured := listing.Captured(); captured != nil {
		counts := report.CapturesOf(captured)
		log.info(counts.String(), "rules", "captures", counts)
	}
}
