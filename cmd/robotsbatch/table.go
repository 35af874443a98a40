package main

import (
	"robotsbatch/batch"
	"robotsbatch/batch/option"
	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/cmd/robotsbatch/internal/config"
	"robotsbatch/cmd/robotsbatch/internal/heap"
	"robotsbatch/io/frontier"
	"robotsbatch/io/frontier/format"
	"robotsbatch/io/frontier/outputs"
	"robotsbatch/io/store/blob"
)

// Commands that write a table of their own, which has no input's columns.

// tableCommand is the configuration of a command that writes a table of what rules have.
type tableCommand struct {
	call
	config.Rules
	config.Output
}

func newTable() tableCommand {
	return tableCommand{newCall(), config.NewRules(), config.NewOutput()}
}

// left implements command.
func (c *tableCommand) left() option.Message { return left(c.Out) }

// checkTable finds what is wrong with the flags about the table that a command writes, and
// fills in defaults.
func (c *tableCommand) checkTable(command *cli.Command) error {
	if c.Out == "" && command != diffHelp {
		return option.Usagef("%s is empty: name a file, or - for stdout", option.Out)
	}
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

// openTable finds out how the output is written, and claims it, before anything takes
// long. Without -out what is written is dropped. The caller closes it.
func (c *tableCommand) openTable(first *frontier.Source) (*outputs.Table, error) {
	c.fitMemory(c.Sources)
	heap.Limit(c.Memory)
	run := batch.Options{Workers: c.Workers, Budget: c.account()}
	if c.Out == "" {
		return outputs.DroppedTable(run), nil
	}
	t, err := c.Output.Target(outputs.Output{Path: c.Out}, &frontier.Source{Format: format.CSV})
	if err == nil {
		err = c.TableFlags().CheckFormat(c.given, config.OfOutputs, t.Format.String())
	}
	if err == nil {
		err = c.refuseTerminal(t)
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
