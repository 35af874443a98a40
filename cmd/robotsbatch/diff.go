package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"robotsbatch/batch"
	"robotsbatch/batch/compare"
	"robotsbatch/batch/evaluate"
	"robotsbatch/batch/option"
	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/cmd/robotsbatch/internal/config"
	"robotsbatch/cmd/robotsbatch/internal/console"
	"robotsbatch/io/frontier"
	"robotsbatch/io/report"
	"robotsbatch/io/report/export"
	"robotsbatch/io/rules/ruleset"
	"robotsbatch/io/store/blob"
	"robotsbatch/matcher"
	"robotsbatch/matcher/usage"
)

// diffHelp is the command diff.
var diffHelp = &cli.Command{
	Name: "diff", New: func() cli.Config {
		c := &diffCommand{tableCommand: newTable()}
		c.Out = ""
		return c
	},
	Usage: []string{
		"diff OLD NEW [-in FILE] [-agent NAME] [-out FILE] [flags]",
		"diff RULES -old-profile rfc9309 -new-profile google [flags]",
		"diff RULES -agent NAME -against NAME [flags]",
	},
	About: "compares two sets of rules, two profiles or two agents. With -in it finds the URLs whose verdict changes, without it " +
		"the hosts whose access changes.",
	Details: "OLD and NEW are what -rules takes. With -use it also finds the hosts that state something else about a use. The summary names the agents, hosts and rules that change most; -out writes a table of " +
		"all changes (robotsbatch help diff).",
	Examples: []string{"diff old.rules new.rules -in urls.parquet -out changes.parquet", "diff old.rules robots -agent GPTBot"},
	Exits:    append([]cli.Exit{{Status: "0", Meaning: "done, whether anything changes or not"}}, tableExits[1:]...),
}

// diffCommand is its configuration.
type diffCommand struct {
	tableCommand
	config.Input
	uses       []usage.Use
	against    matcher.Chain   // the agent of the new side; nil for those of -agent
	newProfile matcher.Profile // that of the old side is Rules.Profile

	sides [2]config.Rules // old and new
	names []string        // of the agents, such as "GPTBot", or "GPTBot → CCBot" if the sides differ
}

// Flags implements cli.Config.
func (c *diffCommand) Flags() cli.Flags {
	rules := c.OneTimeFlags("compare what held at this time: ignore later captures").Without("agents", "profile", "fetch-list", "max-age").
		Saying("rules", "the rules to compare: OLD, then NEW, as without the flag", config.RuleForms).Saying("agent", "crawler for which both sides are compared; with -against, that of the old side")
	input := c.Input.Flags().Saying("in", "list or table of URLs whose verdicts are compared; without it the access of hosts is")
	table := c.TableFlags().Saying("out", "write all changes as a table: a file, an object, or -")
	table[0].Standard = "none, the summary alone" // of -out
	return slices.Concat(input, rules, cli.Flags{{
		Name: "against", Argument: "NAME", Topic: config.RulesTopic, Common: true,
		Short: "agent on the new side, if it differs", Standard: "that of -agent",
		Value: func(s string) (err error) {
			c.against, err = matcher.ParseChain(s)
			return err
		},
	}, {
		Name: "old-profile", Argument: "NAME", Topic: config.RulesTopic, Standard: "rfc9309", Value: cli.OneOf(&c.Profile, config.Profiles...),
		Short: "profile on the old side: rfc9309 or google",
	}, {
		Name: "new-profile", Argument: "NAME", Topic: config.RulesTopic, Standard: "rfc9309", Value: cli.OneOf(&c.newProfile, config.Profiles...),
		Short: "profile on the new side",
	}}, table, cli.Flags{config.StatedUsesFlag(&c.uses)}, c.Running.Flags())
}

// execute compares two sets of rules.
func (c *diffCommand) execute(ctx context.Context) (status int, err error) {
	ctx = c.showProgress(ctx, c.Out == blob.Stdio)
	if c.HasInputs() {
		return exitDone, c.compareURLs(ctx)
	}
	return exitDone, c.compareAccess(ctx)
}

// check returns an error unless the flags name two things to compare: sets of rules, profiles
// or agents. It then sets both sides.
func (c *diffCommand) check(ctx context.Context) error {
	if err := c.checkTable(diffHelp); err != nil {
		return err
	}
	operands := append(c.Sources, c.operands...)
	switch n := len(operands); {
	case n == 0:
		return option.Usagef("diff needs rules: two to compare, OLD and NEW, or one with %s or %s", option.Against, option.NewProfile)
	case n > 2:
		return option.Usagef("unexpected argument %q: diff compares two sets of rules", blob.Shown(operands[2]))
	case n == 1 && c.against == nil && c.Profile == c.newProfile:
		return option.Usagef("%s alone is compared with nothing: name a second set of rules, or %s or %s", blob.Shown(operands[0]), option.Against, option.NewProfile)
	case c.against != nil && len(c.Chains) > 1:
		return option.Usagef("%s takes the place of one agent: give %s once", option.Against, option.Agent)
	case c.HasInputs() && len(c.uses) > 0:
		return option.Usagef("%s compares what sites state, without URLs: leave out %s", option.Use, option.In)
	}
	return c.setSides(ctx, operands)
}

// setSides sets the rules of both sides and the names of the agents. names are one or two
// sources of rules; a single one is on both sides. The agent of -against is the only one of the new side.
func (c *diffCommand) setSides(ctx context.Context, names []string) error {
	for i := range c.sides {
		side := &c.sides[i]
		*side = c.Rules
		side.Sources = []string{names[min(i, len(names)-1)]}
		if i == 1 {
			side.Profile = c.newProfile
			if c.against != nil {
				side.Chains, side.Listed = []matcher.Chain{c.against}, 0
			}
		}
		if err := side.CheckOneTime(ctx); err != nil {
			return err
		}
	}
	both := []string{c.sides[0].Sources[0], c.sides[1].Sources[0]}
	err := config.StdinOnce(both)
	if c.HasInputs() {
		err = c.Input.Check(both...)
	}
	if err != nil {
		return err
	}
	c.Fallbacks(c.log.Notice)
	c.Chains = c.sides[0].Chains // with the default
	older, newer := c.sides[0].AgentChains(), c.sides[1].AgentChains()
	for i, name := range newer {
		if older[i] != name {
			name = older[i] + " → " + name
		}
		c.names = append(c.names, name)
	}
	return nil
}

// findSides looks up the rules of both sides. The rules of each side get a quarter of -memory, and
// c.Memory becomes the other half.
func (c *diffCommand) findSides(ctx context.Context) (found [2]*ruleset.Found, err error) {
	memory := c.Running.Memory / 4
	c.Running.Memory /= 2
	for i := range found {
		o := &c.sides[i].Options
		o.SingleElsewhere, o.Memory, o.Explain = true, memory, c.HasInputs()
		if found[i], err = c.find(ctx, &c.sides[i], option.Out.With(c.Out)); err != nil {
			return found, err
		}
	}
	if c.Single != nil && !found[0].HasSingle() && !found[1].HasSingle() { // one side is enough
		return found, ruleset.ErrNoSingle
	}
	return found, nil
}

// compareAccess writes and counts the hosts whose access differs between the sides.
func (c *diffCommand) compareAccess(ctx context.Context) error {
	out, err := c.openTable(&frontier.Source{Schema: export.ChangesSchema(c.uses)})
	if err != nil {
		return err
	}
	defer out.Close()
	found, err := c.findSides(ctx)
	if err != nil {
		return err
	}
	var sides [2]export.RuleSide
	for i := range sides {
		listing, err := found[i].List(ctx)
		if err != nil {
			return err
		}
		defer listing.Close()
		c.noteOpened(listing.Captured(), listing.Odd())
		sides[i] = export.RuleSide{Listing: listing, Profile: c.sides[i].Profile, Agents: c.sides[i].Chains}
	}
	done := &report.AccessChanges{Version: cli.Version()}
	unchanged := func() error { return errors.Join(sides[0].Listing.Unchanged(), sides[1].Listing.Unchanged()) }
	if _, err := out.Rows(ctx, "changes", export.Changes(sides[0], sides[1], c.uses, c.BatchRows, &done.Changed), unchanged); err != nil {
		return err
	}
	done.Seconds = c.seconds()
	return c.printSummary(done.String(), done)
}

// compareURLs writes and counts the URLs of -in whose verdicts differ between the sides.
func (c *diffCommand) compareURLs(ctx context.Context) error {
	inputs, err := c.Resolve(ctx, c.s.in, option.Out.With(c.Out))
	if err != nil {
		return err
	}
	found, err := c.findSides(ctx)
	if err != nil {
		return err
	}
	var sets [2]*ruleset.Set
	for i := range sets {
		if sets[i], err = c.openRules(ctx, &c.sides[i], found[i]); err != nil {
			return err
		}
		defer sets[i].Close()
	}
	suffixes, err := batch.AgentSuffixes(c.AgentNames())
	if err != nil {
		return err
	}
	columns := compare.Columns(suffixes)
	o := &c.Reading
	o.BatchRows, o.Columns, o.Verdicts, o.Keep, o.Memory = c.BatchRows, true, columns, batch.KeepURL, c.BatchMemory()/2
	src, err := frontier.Concatenate(ctx, inputs, *o)
	if err != nil {
		return err
	}
	defer src.Close() // it was only read from
	c.shown.Plan(inputs)
	return c.writeChanges(ctx, src, columns, sets, c.shown.Output(len(inputs)))
}

// countersShare is the part of c.Memory, an eighth, that counting changes may take: the rest is for batches.
const countersShare = 8

// writeChanges evaluates the rows of src by both sets of rules, the old and the new. It writes the rows
// with a verdict that differs, with these columns, and prints the summary.
func (c *diffCommand) writeChanges(ctx context.Context, src *frontier.Concatenation, columns []batch.VerdictColumn, sets [2]*ruleset.Set, progress *console.OutputProgress) error {
	out, err := c.openTable(src.First())
	if err != nil {
		return err
	}
	defer out.Close()
	var compared [2]compare.Side
	for i, side := range c.sides {
		compared[i] = compare.Side{Rules: sets[i].Origins(), Options: evaluate.Options{Agents: len(c.names), Profile: side.Profile, Missing: side.Missing}}
	}
	out.Run.Emit, out.Options.Keep, out.Options.Verdicts = batch.EmitSelected, batch.KeepURL, columns
	out.Run.Progress = func(s batch.Stats) { progress.Report(&s, src) }
	tally := report.NewChangeCounter(c.names, c.Running.Memory/countersShare, os.TempDir())
	defer tally.Close()
	newEvaluator := func() batch.Evaluator { return compare.New(compared[0], compared[1], tally.Add) }
	stats, err := out.Write(ctx, src, newEvaluator, func() error {
		return errors.Join(src.Unchanged(), src.Complete(), sets[0].Unchanged(), sets[1].Unchanged())
	})
	if err != nil {
		return err
	}
	for _, set := range sets {
		c.noteOdd(set.Odd(), whenRead)
	}
	changes, err := tally.Changes()
	if err != nil {
		return err
	}
	changes.Version, changes.Rows, changes.RowsChanged, changes.Seconds = cli.Version(), stats.Rows, stats.Selected, c.seconds()
	return c.printSummary(changes.String(), changes)
}

// printSummary prints the summary. With -log json it is the message done, else text: on stdout if no
// table is written, and on stderr if one is.
func (c *diffCommand) printSummary(text string, done any) error {
	c.shown.End()
	switch {
	case c.log.JSON():
		c.log.Info(text, "done", "summary", done)
	case c.Out == "":
		_, err := fmt.Fprint(c.s.out, text)
		return err
	case !c.Quiet:
		fmt.Fprint(c.s.err, text)
	}
	return nil
}
