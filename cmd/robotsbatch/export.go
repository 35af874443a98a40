package main

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/batch"
	"robotsbatch/batch/option"
	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/cmd/robotsbatch/internal/config"
	"robotsbatch/io/frontier"
	"robotsbatch/io/frontier/format"
	"robotsbatch/io/frontier/outputs"
	"robotsbatch/io/report"
	"robotsbatch/io/report/export"
	"robotsbatch/io/store/blob"
	"robotsbatch/matcher/usage"
)

// exportHelp is the command export.
var exportHelp = &cli.Command{
	Name: "export", New: func() cli.Config { return &exportCommand{tableCommand: newTable()} },
	Usage: []string{"export -rules RULES -table NAME [-out FILE] [flags]"},
	About: "writes rules as a table for SQL: rules, agents, sitemaps, records, access, signals or captures.",
	Details: "Rows are sorted by surt_host_name; captures keep the order of the files. The columns are described in " +
		"robotsbatch help export.",
	Examples: []string{"export -rules crawl.warc.gz -table rules -out rules.parquet", "export -rules robots -table agents"},
	Exits:    tableExits,
}

// tableWords are the values of -table.
var tableWords = cli.WordsOf(append(slices.Clip(export.Tables), export.Captures)...)

// exportCommand is its configuration.
type exportCommand struct {
	tableCommand
	table *export.Table
}

// Flags implements cli.Config.
func (c *exportCommand) Flags() cli.Flags {
	return slices.Concat(c.PlainFlags().Without("agent", "agents"), cli.Flags{{
		Name: "table", Argument: "NAME", Topic: config.OutputTopic, Common: true,
		Short: "which table: rules, agents, sitemaps, records, access, signals or captures",
		More: "captures lists all captures, even those that decide nothing, or the fetches that a rule pack with a history keeps; " +
			"the other tables list what decides.",
		Value: cli.OneOf(&c.table, tableWords...),
	}}, c.TableFlags(), c.Running.Flags())
}

// check adds the operands to -rules and returns an error for flags that are missing or do not
// go together.
func (c *exportCommand) check(ctx context.Context) error {
	if err := c.checkTable(exportHelp); err != nil {
		return err
	}
	c.Sources = append(c.Sources, c.operands...)
	if c.table == nil {
		return option.Usagef("%s is missing: name one of %s", option.Table, cli.InWords(cli.Names(tableWords), "or"))
	}
	return c.CheckOneTime(ctx)
}

// execute writes a table of what rules have.
func (c *exportCommand) execute(ctx context.Context) (status int, err error) {
	return exitDone, c.export(ctx, c.table, "")
}

// export writes a table made of rules to -out. needsTimes is the option for which the rules must have
// times; empty if there is none. uses are those for which the table has columns: odd ones are warned of.
func (c *tableCommand) export(ctx context.Context, table *export.Table, needsTimes option.Name, uses ...usage.Use) error {
	ctx = c.showProgress(ctx, c.Out == blob.Stdio)
	out, err := c.openTable(&frontier.Source{Schema: table.Schema})
	if err != nil {
		return err
	}
	defer out.Close()
	c.warnUses(uses)
	c.History = c.History || table == export.Captures
	found, err := c.find(ctx, &c.Rules, option.Out.With(c.Out))
	if err != nil {
		return err
	}
	o := export.Options{Profile: c.Profile, Rows: c.BatchRows}
	var rows iter.Seq2[arrow.Record, error]
	unchanged := func() error { return nil }
	if table == export.Captures && !found.Compiled() {
		rows = export.CaptureRows(ctx, found, o, c.Limit)
	} else {
		listing, err := found.List(ctx)
		if err != nil {
			return err
		}
		defer listing.Close()
		c.noteOpened(listing.Captured(), listing.Odd())
		if needsTimes != "" {
			if err := c.checkTimeless(option.Given{Name: needsTimes}, listing.Timeless()); err != nil {
				return err
			}
		}
		rows, unchanged = export.Rows(listing, table, o), listing.Unchanged
	}
	stats, err := out.Rows(ctx, table.Name, rows, unchanged)
	if err != nil {
		return err
	}
	done := report.TableDone{Version: cli.Version(), Table: table.Name, Rows: stats.Rows, Out: blob.Shown(c.Out), Seconds: c.seconds()}
	c.log.Info(done.String(), "done", "summary", done)
	return nil
}

// tableCommand is what commands have that write a table of their own, without columns of an input.
type tableCommand struct {
	call
	config.Rules
	config.Output
}

// newTable returns what such a command has without flags.
func newTable() tableCommand {
	return tableCommand{newCall(), config.NewRules(), config.NewOutput()}
}

// left implements command.
func (c *tableCommand) left() option.Message { return leftText(c.Out) }

// checkTable returns an error for a value of -out that cannot be the table of the command, and sets the
// defaults of what it may use.
func (c *tableCommand) checkTable(command *cli.Command) error {
	if err := config.ResolveNames(option.Out, &c.Out); err != nil {
		return err
	}
	if outputs.IsFolder(c.Out) {
		return option.Usagef("%s is a folder: name a file, such as %s.parquet", option.Out.With(blob.Shown(c.Out)), command.Name)
	}
	if c.WantsText() && command != hostsHelp {
		return option.Usagef("%s: a list of URLs has no columns: use .parquet, .arrow, .csv, .tsv or .jsonl", option.Out.With(blob.Shown(c.Out)))
	}
	c.SetWork()
	return nil
}

// openTable decides how the table is written and locks its name, before anything that takes
// long. Without -out the rows are made and dropped. first has the schema. The caller closes the
// table.
func (c *tableCommand) openTable(first *frontier.Source) (*outputs.Table, error) {
	c.limitMemory(c.Sources)
	run := batch.Options{Workers: c.Running.Workers, Budget: c.sharedBudget()}
	if c.Out == "" {
		return outputs.DroppedTable(run), nil
	}
	// There is no input from which to take stdout's format, if none was asked for: CSV suits one of CSV.
	t, err := c.Output.Target(outputs.Output{Path: c.Out}, &frontier.Source{Format: format.CSV})
	if err == nil {
		err = cmp.Or(c.TableFlags().CheckFormat(c.given, config.OfOutputs, t.Format.String()), c.refuseTerminal(t))
	}
	if err != nil {
		return nil, err
	}
	release, err := outputs.Claim(c.Out, nil)
	if err != nil {
		return nil, err
	}
	return &outputs.Table{Options: &c.Output.Options, Target: t, First: first, Stdout: c.s.out, BatchMemory: c.BatchMemory(), Run: run, Release: release}, nil
}
