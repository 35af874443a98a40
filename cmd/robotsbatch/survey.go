package main

import (
	"context"
	"slices"

	"robotsbatch/batch/option"
	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/cmd/robotsbatch/internal/config"
	"robotsbatch/io/report/export"
	"robotsbatch/matcher/usage"
)

// surveyHelp is the command survey.
var surveyHelp = &cli.Command{
	Name: "survey", New: func() cli.Config { return newSurvey() },
	Usage: []string{"survey -rules RULES -agents FILE [-out FILE] [flags]", "survey -rules RULES -agents FILE -changes [-out FILE] [flags]"},
	About: "measures, for every site in the rules, how much of it each agent is denied: a table with a row for each host and agent.",
	Details: "The column blocked is none, some or all: it follows from the rules themselves, for every possible path, not from a few samples. " +
		"With captures from more than one time it adds since when, and -changes lists who started or stopped blocking whom. " +
		"-use adds what sites state of uses of what is fetched. " +
		"The columns are described in robotsbatch help survey. robotsbatch stats turns a survey into the tables that studies publish.",
	Examples: []string{
		"survey -rules crawl.warc.gz -agents ai.txt -out survey.parquet",
		`survey -rules "*.warc.gz" -agents ai.txt -changes -out changes.csv`,
	},
	Exits: tableExits,
}

// surveyCommand is its configuration.
type surveyCommand struct {
	tableCommand
	uses    []usage.Use
	changes bool // a survey of what changed
}

func newSurvey() *surveyCommand { return &surveyCommand{tableCommand: newTable()} }

// Flags implements cli.Config.
func (c *surveyCommand) Flags() cli.Flags {
	timed := cli.Flags{
		{
			Name: "history", Topic: config.RulesTopic, Common: true,
			Short: "add since when: columns first_seen, last_seen, since, since_after, changes",
			More:  "It needs captures from more than one time, or packs compiled with -history.",
			Value: &c.History,
		},
		{
			Name: "changes", Topic: config.RulesTopic, Common: true,
			Short: "a row for each change instead: who started or stopped blocking whom, and when",
			More:  "It needs what -history needs.",
			Value: &c.changes,
		},
	}
	return slices.Concat(c.PlainFlags().Before("assume", timed...).Saying("agent", "crawler to measure: how much of each host it is denied"),
		c.TableFlags().Saying("out", "the survey to write: a file, an object, or -"), cli.Flags{config.StatedUsesFlag(&c.uses)}, c.Running.Flags(), cli.Flags{c.ProgressFlag()}, c.MessageFlags())
}

// run writes the survey of what rules deny agents.
func (c *surveyCommand) run(ctx context.Context) (status int, err error) {
	if err := c.checkTable(surveyHelp); err != nil {
		return 0, err
	}
	if err := c.refuseOperands(otherRules); err != nil {
		return 0, err
	}
	if _, err := c.AddAgents(); err != nil {
		return 0, err
	}
	if len(c.Chains) == 0 {
		return 0, option.Usagef("%s is missing: name a list of agents, one a line, or give some with %s", option.Agents, option.Agent)
	}
	if err := c.CheckOneTime(); err != nil {
		return 0, err
	}
	switch {
	case c.changes:
		c.History = true
		return exitDone, c.export(ctx, export.SurveyChanges(c.Chains, c.uses), option.Changes, c.uses...)
	case c.History:
		return exitDone, c.export(ctx, export.Survey(c.Chains, c.Classes, c.uses, true), option.History, c.uses...)
	}
	return exitDone, c.export(ctx, export.Survey(c.Chains, c.Classes, c.uses, false), "", c.uses...)
}
