package main

import (
	"context"

	"robotsbatch/batch/option"
	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/io/report/export"
)

// surveyHelp is the command survey.
var surveyHelp = cli.Command{
	Name: "survey", Set: surveyCommand,
	Usage: []string{"survey -rules RULES -agents FILE [-out FILE] [flags]", "survey -rules RULES -agents FILE -changes [-out FILE] [flags]"},
	About: "measures, for every site in the rules, how much of it each agent is denied: a table with a row for each authority and agent.",
	Details: "The column blocked is none, some or all: decided by the rules themselves, for every path there can be, and not by trying a few. " +
		"With captures from more than one time it adds since when, and -changes lists who started or stopped blocking whom. " +
		"-use adds what sites state of uses of what is fetched. " +
		"The columns are described in robotsbatch help survey. robotsbatch stats turns a survey into the tables that studies publish.",
	Examples: []string{
		"survey -rules crawl.warc.gz -agents ai.txt -out survey.parquet",
		`survey -rules "*.warc.gz" -agents ai.txt -changes -out changes.csv`,
	},
	Exits: tableExits,
}

// The flags that survey has alone.
var (
	surveyHistory = cli.Flag[jobConfig]{
		Name: "history", Topic: rulesTopic, Commands: surveyCommand, Common: true,
		Short: "add since when: columns first_seen, last_seen, since, since_after, changes",
		More:  "It needs captures from more than one time, or packs compiled with -history.",
		Bind:  func(c *jobConfig) any { return &c.history },
	}
	surveyChanges = cli.Flag[jobConfig]{
		Name: "changes", Topic: rulesTopic, Commands: surveyCommand, Common: true,
		Short: "a row for each change instead: who started or stopped blocking whom, and when",
		More:  "It needs what -history needs.",
		Bind:  func(c *jobConfig) any { return &c.changes },
	}
)

// survey writes the survey of what rules deny agents.
func (c *call) survey(ctx context.Context) (status int, err error) {
	if err := c.checkTable(&surveyHelp); err != nil {
		return 0, err
	}
	if err := c.refuseOperands(otherRules); err != nil {
		return 0, err
	}
	if err := c.addAgents(); err != nil {
		return 0, err
	}
	if len(c.agents) == 0 {
		return 0, option.Usagef("-agents is missing: name a list of agents, one a line, or give some with -agent")
	}
	if err := c.checkOneTime(); err != nil {
		return 0, err
	}
	c.table = export.Survey(c.agents, c.uses, c.history)
	if c.changes {
		c.table, c.history = export.SurveyChanges(c.agents, c.uses), true
	}
	return exitDone, c.export(ctx)
}
