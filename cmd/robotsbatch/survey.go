package main

import (
	"context"
	"errors"
	"flag"

	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/io/blob"
	"robotsbatch/io/export"
)

// surveyHelp is the command survey.
var surveyHelp = cli.Command{
	Name: "survey", Set: surveyCommand,
	Usage: []string{"survey -rules RULES -agents FILE [-out FILE] [flags]"},
	About: "says of every authority that rules know how much of it each agent is denied: a table with a row for each authority and agent.",
	Details: "The column blocked is none, some or all: decided by the rules themselves, for every path there can be, and not by trying a few. " +
		"What the columns mean is in robotsbatch help survey. robotsbatch stats makes the tables that studies publish of it.",
	Examples: []string{"survey -rules crawl.warc.gz -agents ai.txt -out survey.parquet"},
	Exits: []cli.Exit{
		{Status: "0", Meaning: "done, also when the reader of a pipe had enough before the end"},
		{Status: "1", Meaning: "failed; nothing half-written is left"},
		{Status: "2", Meaning: "wrong use"},
		{Status: "129, 130, 143", Meaning: stoppedStatus},
	},
}

// runSurvey writes the survey of what rules deny agents.
func runSurvey(ctx context.Context, args []string, s streams) int {
	c, operands, err := parseTable("survey", args)
	if errors.Is(err, flag.ErrHelp) {
		return printCommandHelp(s, program.Command("survey"))
	}
	log := newConsole(s.err, c.logJSON, c.quiet).of("survey")
	if err == nil && len(operands) > 0 {
		err = usageErrorf("unexpected argument %q: each source takes a -rules of its own", blob.Shown(operands[0]))
	}
	if err == nil {
		err = c.addAgents()
	}
	if err == nil && len(c.agents) == 0 {
		err = usageErrorf("-agents is missing: name a list of agents, one a line, or give some with -agent")
	}
	if err == nil {
		err = c.rulesConfig.check()
	}
	if err == nil {
		c.table = export.Survey(c.agents)
		err = c.export(blob.WithTimeout(ctx, c.storeTimeout), s, log)
	}
	return c.endTable(ctx, log, err)
}
