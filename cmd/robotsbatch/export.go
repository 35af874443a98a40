package main

import (
	"context"
	"iter"
	"slices"
	"time"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/batch/option"
	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/io/report"
	"robotsbatch/io/report/export"
	"robotsbatch/io/store/blob"
)

// exportHelp is the command export.
var exportHelp = cli.Command{
	Name: "export", Set: exportCommand,
	Usage: []string{"export -rules RULES -table NAME [-out FILE] [flags]"},
	About: "writes rules as a table for SQL: rules, agents, sitemaps, records, access or captures.",
	Details: "Rows are sorted by surt_host_name; captures keep the order of the files. The columns are described in " +
		"robotsbatch help export.",
	Examples: []string{"export -rules crawl.warc.gz -table rules -out rules.parquet", "export -rules robots -table agents"},
	Exits:    tableExits,
}

// tableNames are the values of -table.
func tableNames() []string {
	var names []string
	for _, t := range append(slices.Clone(export.Tables), export.Captures) {
		names = append(names, t.Name)
	}
	return names
}

// tableFlag is the flag that export has alone.
var tableFlag = cli.Flag[jobConfig]{
	Name: "table", Argument: "NAME", Topic: outputTopic, Commands: exportCommand, Common: true, Words: tableNames(),
	Short: "which table: rules, agents, sitemaps, records, access or captures",
	More:  "captures lists all captures, even those that decide nothing; the other tables list what decides.",
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

const otherRules = "each source takes a -rules of its own"

// exportTable writes a table of what rules have.
func (c *call) exportTable(ctx context.Context) (status int, err error) {
	if err := c.checkTable(&exportHelp); err != nil {
		return 0, err
	}
	if err := c.refuseOperands(otherRules); err != nil {
		return 0, err
	}
	if c.table == nil {
		return 0, option.Usagef("-table is missing: name one of %s", listOf(tableNames()))
	}
	if err := c.checkOneTime(); err != nil {
		return 0, err
	}
	return exitDone, c.export(ctx)
}

// export writes the table that c.table names, a survey too.
func (c *call) export(ctx context.Context) error {
	started := time.Now()
	out, err := c.openTable(c.table.Schema)
	if err != nil {
		return err
	}
	defer out.close()
	found, err := c.find(ctx, ruleUse{})
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
		c.sayCaptured(listing.Captured())
		if c.history {
			flag := "-history"
			if c.changes {
				flag = "-changes"
			}
			if err := c.checkTimeless(flag, listing.Timeless()); err != nil {
				return err
			}
		}
		rows, unchanged = export.Rows(listing, c.table, o), listing.Unchanged
	}
	stats, err := out.writeRows(ctx, c.table.Name, rows, unchanged)
	if err != nil {
		return err
	}
	done := report.TableDone{Version: cli.Version(), Table: c.table.Name, Rows: stats.Rows, Out: blob.Shown(c.out), Seconds: time.Since(started).Seconds()}
	c.log.Info(done.String(), "done", "summary", done)
	return nil
}
