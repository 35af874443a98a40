package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"robotsbatch/batch"
	"robotsbatch/batch/compare"
	"robotsbatch/batch/evaluate"
	"robotsbatch/batch/option"
	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/io/frontier"
	"robotsbatch/io/report"
	"robotsbatch/io/report/export"
	"robotsbatch/io/rules/ruleset"
	"robotsbatch/io/store/blob"
	"robotsbatch/matcher"
)

// diffHelp is the command diff.
var diffHelp = cli.Command{
	Name: "diff", Set: diffCommand,
	Usage: []string{
		"diff OLD NEW [-in FILE] [-agent NAME] [-out FILE] [flags]",
		"diff RULES -old-profile rfc9309 -new-profile google [flags]",
		"diff RULES -agent NAME -against NAME [flags]",
	},
	About: "compares two sets of rules, two profiles or two agents. With -in it finds the URLs whose verdict changes, without it " +
		"the hosts whose access changes.",
	Details: "OLD and NEW are what -rules takes. With -use it also finds the hosts that state another thing of a use. The summary names the agents, authorities and rules that change most; -out writes a table of " +
		"all changes (robotsbatch help diff).",
	Examples: []string{"diff old.rules new.rules -in urls.parquet -out changes.parquet", "diff old.rules robots -agent GPTBot"},
	Exits: []cli.Exit{
		{Status: "0", Meaning: "done, whether anything changes or not"},
		failedExit,
		usageExit,
		retryExit,
		stoppedExit,
	},
}

// The flags that diff has alone.
var (
	diffAgainst = cli.Flag[jobConfig]{
		Name: "against", Argument: "NAME", Topic: rulesTopic, Commands: diffCommand, Common: true,
		Short: "agent on the new side, if it differs", Standard: "that of -agent",
		Bind: func(c *jobConfig) any {
			return func(s string) (err error) {
				c.against, err = matcher.ParseChain(s)
				return err
			}
		},
	}
	diffOldProfile = cli.Flag[jobConfig]{
		Name: "old-profile", Argument: "NAME", Topic: rulesTopic, Commands: diffCommand, Standard: "rfc9309", Words: []string{"rfc9309", "google"},
		Short: "profile on the old side: rfc9309 or google",
		Bind:  func(c *jobConfig) any { return cli.OneOf(&c.profile, profiles...) },
	}
	diffNewProfile = cli.Flag[jobConfig]{
		Name: "new-profile", Argument: "NAME", Topic: rulesTopic, Commands: diffCommand, Standard: "rfc9309", Words: []string{"rfc9309", "google"},
		Short: "profile on the new side",
		Bind:  func(c *jobConfig) any { return cli.OneOf(&c.newProfile, profiles...) },
	}
	diffOut = cli.Flag[jobConfig]{
		Name: "out", Argument: "FILE", Topic: outputTopic, Commands: diffCommand, Common: true, Files: true, Indifferent: true,
		Short: "write all changes as a table: a file, an object, or -", Standard: "none, the summary alone",
		More: "Format by name: .parquet, .arrow, .arrows, .csv, .tsv, .jsonl; text also with .gz or .zst.",
		Bind: func(c *jobConfig) any { return &c.out },
	}
)

func diffDefaults(c *jobConfig) { c.out = "" }

// diff compares two sets of rules.
func (c *call) diff(ctx context.Context) (status int, err error) {
	if err := c.checkTable(&diffHelp); err != nil {
		return 0, err
	}
	d, err := newDiff(c)
	switch {
	case err != nil:
		return 0, err
	case len(c.in) > 0 || c.filesFrom != "":
		return exitDone, d.urls(ctx)
	}
	return exitDone, d.access(ctx)
}

// diff is a comparison. Its sides are calls of their own.
type diff struct {
	*call
	sides [2]call
	names []string // of agents
}

// newDiff finds out what is compared with what.
func newDiff(c *call) (*diff, error) {
	operands := c.operands
	switch n := len(operands); {
	case n == 0:
		return nil, option.Usagef("diff needs rules: two to compare, OLD and NEW, or one with -against or -new-profile")
	case n > 2:
		return nil, option.Usagef("unexpected argument %q: diff compares two sets of rules", blob.Shown(operands[2]))
	case n == 1 && c.against == nil && c.profile == c.newProfile:
		return nil, option.Usagef("%s alone is compared with nothing: name a second set of rules, or -against or -new-profile", blob.Shown(operands[0]))
	case c.against != nil && len(c.agents) > 1:
		return nil, option.Usagef("-against takes the place of one agent: give -agent once")
	}
	if err := c.checkInputs(); err != nil {
		return nil, err
	}
	d := &diff{call: c}
	for i := range d.sides {
		side := &d.sides[i]
		flags := *c.jobConfig
		*side = call{jobConfig: &flags, s: c.s, log: c.log}
		side.folders = []string{operands[min(i, len(operands)-1)]}
		side.memory = c.memory / 4
		if i == 1 {
			side.profile = c.newProfile
			if c.against != nil {
				side.agents, side.listed = []matcher.Chain{c.against}, 0
			}
		}
		if err := side.checkOneTime(); err != nil {
			return nil, err
		}
	}
	if d.sides[0].folders[0] == blob.Stdio && d.sides[1].folders[0] == blob.Stdio {
		return nil, option.Usagef("stdin is read twice: name - only once")
	}
	c.warnChains()
	c.memory /= 2 // the sides have the other half
	d.agents = d.sides[0].agents
	older, newer := d.sides[0].agentChains(), d.sides[1].agentChains()
	for i, name := range newer {
		if older[i] != name {
			name = older[i] + " → " + name
		}
		d.names = append(d.names, name)
	}
	return d, nil
}

// checkInputs finds what is wrong with the flags that name a frontier, if there is one.
func (c *jobConfig) checkInputs() error {
	if len(c.in) == 0 && c.filesFrom == "" {
		return nil
	}
	if len(c.uses) > 0 {
		return option.Usagef("-use compares what sites state, without URLs: leave out -in")
	}
	return c.checkFrontier()
}

// find finds out what the rules of both sides are.
func (d *diff) find(ctx context.Context, use ruleUse) (found [2]*ruleset.Found, err error) {
	use.compared = true
	for i := range found {
		if found[i], err = d.sides[i].find(ctx, use); err != nil {
			return found, err
		}
		if err := d.spareRules(found[i]); err != nil {
			return found, err
		}
	}
	if d.single != nil && !found[0].HasSingle() && !found[1].HasSingle() {
		return found, ruleset.ErrNoSingle
	}
	return found, nil
}

// access compares what both sides know of authorities.
func (d *diff) access(ctx context.Context) error {
	started := time.Now()
	out, err := d.open(&frontier.Source{Schema: export.ChangesSchema(d.uses)})
	if err != nil {
		return err
	}
	defer out.close()
	found, err := d.find(ctx, ruleUse{})
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
		d.sayCaptured(listing.Captured())
		sides[i] = export.RuleSide{Listing: listing, Profile: d.sides[i].profile, Agents: d.sides[i].agents}
	}
	var changed export.Changed
	unchanged := func() error { return errors.Join(sides[0].Listing.Unchanged(), sides[1].Listing.Unchanged()) }
	if _, err := out.writeRows(ctx, "changes", export.Changes(sides[0], sides[1], d.uses, d.batchRows, &changed), unchanged); err != nil {
		return err
	}
	done := &report.AccessChanges{Version: cli.Version(), Authorities: changed.Authorities, Changed: changed.Different, Seconds: time.Since(started).Seconds()}
	for i, name := range d.names {
		n := changed.Agents[i]
		done.Agents = append(done.Agents, report.AgentAccess{
			Agent: name, Closed: n[export.Closed], Opened: n[export.Opened], Rules: n[export.OtherRules], Added: n[export.Added], Removed: n[export.Removed],
		})
	}
	if len(d.uses) > 0 {
		done.Stating = &changed.Stating
	}
	for i, name := range d.names {
		for j, n := range changed.Uses[i] {
			done.Uses = append(done.Uses, report.AgentUses{Agent: name, Use: d.uses[j].String(), Disallowed: n.Disallowed, Allowed: n.Allowed, Other: n.Other})
		}
	}
	return d.sum(done.String(), done)
}

// urls compares the verdicts on all URLs.
func (d *diff) urls(ctx context.Context) error {
	started := time.Now()
	inputs, err := d.resolveInputs(ctx)
	if err != nil {
		return err
	}
	found, err := d.find(ctx, ruleUse{explain: true})
	if err != nil {
		return err
	}
	var sets [2]*ruleset.Set
	for i := range sets {
		if sets[i], err = d.sides[i].openRules(ctx, found[i]); err != nil {
			return err
		}
		defer sets[i].Close()
	}
	suffixes, err := batch.AgentSuffixes(d.agentNames())
	if err != nil {
		return &option.UsageError{Err: err}
	}
	columns := compare.Columns(suffixes)
	o := d.reading()
	o.Columns, o.Verdicts, o.Keep, o.Memory = true, columns, batch.KeepURL, d.batchMemory()/2
	src, err := frontier.Concatenate(ctx, inputs, o)
	if err != nil {
		return err
	}
	d.keep, d.columns = batch.KeepURL, columns
	out, err := d.open(src.First())
	if err != nil {
		return err
	}
	defer out.close()
	out.emit = batch.EmitSelected
	tally := report.NewTally(d.names, d.memory/8, os.TempDir())
	defer tally.Close()
	newEvaluator := func() batch.Evaluator {
		return compare.New(d.side(0, sets[0]), d.side(1, sets[1]), len(d.names), tally.Add)
	}
	stats, err := out.write(ctx, src, newEvaluator, func() error {
		return errors.Join(src.Unchanged(), src.Complete(), sets[0].Unchanged(), sets[1].Unchanged())
	})
	if err != nil {
		return err
	}
	defer src.Close()
	changes, err := tally.Changes()
	if err != nil {
		return err
	}
	changes.Version, changes.Rows, changes.RowsChanged, changes.Seconds = cli.Version(), stats.Rows, stats.Selected, time.Since(started).Seconds()
	return d.sum(changes.String(), changes)
}

// side returns evaluators of a side's rules.
func (d *diff) side(i int, rules *ruleset.Set) compare.Side {
	c := &d.sides[i]
	o := evaluate.Options{Agents: len(c.agents), Profile: c.profile, Missing: c.missing}
	explained := o
	explained.Explain = true
	return compare.Side{Plain: evaluate.New(rules.Origins(), o), Explained: evaluate.New(rules.Origins(), explained)}
}

// open opens the table; without -out what is written to it is dropped.
func (d *diff) open(first *frontier.Source) (*tableOutput, error) {
	if d.out == "" {
		limitHeap(d.memory)
		return &tableOutput{c: d.call, release: func() {}}, nil
	}
	out, err := d.openTable(first.Schema)
	if err == nil {
		out.first = first
	}
	return out, err
}

// sum says what changed: on stdout if no table is written, else on stderr.
func (d *diff) sum(text string, done any) error {
	switch {
	case d.log.JSON():
		d.log.Info(text, "done", "summary", done)
	case d.out == "":
		_, err := fmt.Fprint(d.s.out, text)
		return err
	case !d.quiet:
		fmt.Fprint(d.s.err, text)
	}
	return nil
}
