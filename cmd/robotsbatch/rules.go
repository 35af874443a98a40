package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"robotsbatch/batch/option"
	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/cmd/robotsbatch/internal/config"
	"robotsbatch/cmd/robotsbatch/internal/heap"
	"robotsbatch/io/frontier"
	"robotsbatch/io/report"
	"robotsbatch/io/rules/ruleset"
	"robotsbatch/io/store/blob"
	"robotsbatch/matcher/spelling"
	"robotsbatch/matcher/usage"
)

// find looks up what each -rules is, and opens none. It returns an error if an output would
// replace rules. A rule pack of captures is made only when it is opened or compiled: nothing
// else runs then, so it may take all of -memory.
func (c *call) find(ctx context.Context, r *config.Rules, outputs ...option.Given) (*ruleset.Found, error) {
	if !r.SingleElsewhere { // diff asks twice, for its two sides
		r.Fallbacks(c.log.Notice)
	}
	o := r.Options
	o.Memory = cmp.Or(o.Memory, c.Memory)
	o.Budget, o.Workers, o.Maker = c.sharedBudget(), c.Workers, "robotsbatch "+cli.Version()
	o.HoldHeap = func() func() { return heap.Hold(o.Memory) }
	o.Warn, o.Note, o.MoreIgnored = c.log.Warn, c.log.Note, c.log.JSON()
	o.Stdin = c.stdin(ctx, r.Sources)
	found, err := ruleset.Find(ctx, o)
	if err == nil {
		err = checkSparedRules(found, r, outputs...)
	}
	return found, err
}

// stdin returns the standard input if a source is read from it, else nil. It reads ahead, so
// that ctx can end a wait.
func (c *call) stdin(ctx context.Context, sources []string) io.Reader {
	if !slices.Contains(sources, blob.Stdio) {
		return nil
	}
	return frontier.Interruptible(ctx, func() (io.ReadCloser, error) { return io.NopCloser(c.s.in), nil })
}

// checkSparedRules returns an error if an output would replace what rules are read from, or
// the list of agents.
func checkSparedRules(found *ruleset.Found, r *config.Rules, outputs ...option.Given) error {
	for _, o := range outputs {
		if source := found.Replaces(o.Value); source != "" {
			return option.Usagef("%s would replace the rules, which are read from %s: choose another name", o.Name.With(blob.Shown(o.Value)), source)
		}
		if r.AgentsFile != "" && blob.Replaced(r.AgentsFile)(o.Value) != "" {
			return option.Usagef("%s would replace the list of %s: choose another name", o.Name.With(blob.Shown(o.Value)), option.Agents)
		}
	}
	return nil
}

// warnUses warns of uses that no vocabulary defines: they may be misspelt.
func (c *call) warnUses(uses []usage.Use) {
	keys := cli.Map(usage.Vocabulary(usage.ContentUsage), func(use usage.Use) string { return use.Key })
	for _, use := range uses {
		if use.Defined() {
			continue
		}
		advice := "few sites will state it, if any"
		if near := spelling.Nearest(use.Key, keys); near != "" {
			advice = fmt.Sprintf("did you mean %s?", near)
		}
		c.log.Notice(option.Messagef("%s is not a key of draft-ietf-aipref-vocab-08: %s", option.Use.With(use.String()), advice))
	}
}

// openRules opens the rules that were found and reports what was read. It sets r.AsOf to the
// time that decides: that of -as-of, or of the newest fetch.
func (c *call) openRules(ctx context.Context, r *config.Rules, found *ruleset.Found) (*ruleset.Set, error) {
	set, err := found.Open(ctx)
	if err != nil {
		return nil, err
	}
	c.noteOpened(set.Captured(), set.Odd())
	r.AsOf = set.AsOf()
	return set, nil
}

// findRules finds and opens rules.
func (c *call) findRules(ctx context.Context, r *config.Rules) (*ruleset.Set, error) {
	found, err := c.find(ctx, r)
	if err != nil {
		return nil, err
	}
	return c.openRules(ctx, r, found)
}

// checkTimeless returns an error if no rules have times, which the option asked needs. If only
// some have none, it names them.
func (c *call) checkTimeless(asked option.Given, t ruleset.Timeless) error {
	if t.All {
		return option.Usagef("%s needs rules with times, and %s has none: captures have them in WARC files, or in a column fetched_at; "+
			"rule packs where they were compiled of these (robotsbatch help history)", asked, ruleset.SomeOf(t.Names))
	}
	if len(t.Names) > 0 {
		c.log.Info(t.String(), "timeless", "rules", t.Names)
	}
	return nil
}

// noteOpened says, when rules are opened, what was read of captures, and how many bodies of rule
// packs are no text.
func (c *call) noteOpened(captured *ruleset.Captured, odd []ruleset.OddBodies) {
	c.sayCaptured(captured)
	c.noteOdd(odd, whenOpened)
}

// When it is known how many bodies of a source are HTML or binary: see ruleset.OddBodies.Read.
const whenOpened, whenRead = false, true

// noteOdd says how many bodies are HTML or binary, of the sources for which that is known at this
// time.
func (c *call) noteOdd(odd []ruleset.OddBodies, known bool) {
	for i := range odd {
		if source := &odd[i]; source.Read == known {
			c.log.Info(report.OddBodies(source), "bodies", "rules", source.Name, "html", source.HTML, "binary", source.Binary)
		}
	}
}

// sayCaptured says what was read of captures, if there are any.
func (c *call) sayCaptured(captured *ruleset.Captured) {
	if captured != nil {
		counts := report.CapturesOf(captured)
		c.log.Info(counts.String(), "rules", "captures", counts)
	}
}
