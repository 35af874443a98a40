package main

import (
	"context"
	"io"
	"slices"

	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/io/blob"
	"robotsbatch/io/captures"
	"robotsbatch/io/frontier"
	"robotsbatch/io/report"
	"robotsbatch/io/rulesdir"
	"robotsbatch/io/ruleset"
)

// ruleUse says what rules are used for.
type ruleUse struct {
	// explain is whether rules will be described.
	explain bool
	// records is whether the records that are no rules are needed.
	records bool
	// used, if not nil, is told of each file of a folder that is read, by any
	// goroutine.
	used func(folder string, u rulesdir.Used)
}

// find finds out what each -rules is. While a rule pack of captures is made nothing else
// runs, and it may take all of -memory.
func (c *call) find(ctx context.Context, use ruleUse) (*ruleset.Found, error) {
	o := ruleset.Options{
		Sources: c.folders, Single: c.single, AllowNone: c.allowNoRules,
		Chains: c.agents, Profile: c.profile, Limit: int(c.limit), Policy: c.policy, AsOf: c.asOf, History: c.history,
		Explain: use.explain, Records: use.records,
		Memory: c.memory, Workers: c.workers, Maker: "robotsbatch " + cli.Version(),
		HoldHeap: func() func() { return holdHeap(c.memory) },
		OpenTable: func(ctx context.Context, name string, o captures.TableOptions) (captures.Reader, error) {
			return frontier.OpenCaptures(ctx, name, c.memory, o)
		},
		Used: use.used,
		Warn: func(message string) { c.log.Warn(report.Printable(message)) },
		Note: func(message string) {
			text := report.Printable(message)
			c.log.Info(text, text)
		},
		AllIgnored: c.log.JSON(),
	}
	if slices.Contains(c.folders, blob.Stdio) { // an interruptible reader reads ahead
		o.Stdin = frontier.Interruptible(ctx, func() (io.ReadCloser, error) { return io.NopCloser(c.s.in), nil })
	}
	return ruleset.Find(ctx, o)
}

// openRules opens what was found, reports what was read of captures, and sets c.asOf to
// the newest fetch unless -as-of did.
func (c *call) openRules(ctx context.Context, found *ruleset.Found) (*ruleset.Set, error) {
	set, err := found.Open(ctx)
	if err != nil {
		return nil, err
	}
	c.sayCaptured(set.Captured())
	c.asOf = set.AsOf()
	return set, nil
}

// findRules finds and opens rules.
func (c *call) findRules(ctx context.Context, use ruleUse) (*ruleset.Set, error) {
	found, err := c.find(ctx, use)
	if err != nil {
		return nil, err
	}
	return c.openRules(ctx, found)
}

// sayCaptured says what was read of captures, if there are any.
func (c *call) sayCaptured(captured *ruleset.Captured) {
	if captured != nil {
		counts := report.CapturesOf(captured)
		c.log.Info(counts.String(), "rules", "captures", counts)
	}
}

// asOfSeconds is the time that ages are counted up to, in seconds since 1970; 0
// for none.
func (c *rulesConfig) asOfSeconds() int64 {
	if c.asOf.IsZero() {
		return 0
	}
	return c.asOf.Unix()
}
