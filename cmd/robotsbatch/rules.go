package main

import (
	"context"
	"io"
	"slices"

	"robotsbatch/io/blob"
	"robotsbatch/io/captures"
	"robotsbatch/io/frontier"
	"robotsbatch/io/report"
	"robotsbatch/io/rulesdir"
	"robotsbatch/io/ruleset"
)

// ruleUse says what rules are used for, and with what.
type ruleUse struct {
	// memory is how many bytes making a rule pack of captures may take; nothing else
	// runs then. A part of it is for compiled rules afterwards.
	memory int64
	// workers make it.
	workers int
	// explain is whether rules will be described.
	explain bool
	// records is whether the records that are no rules are needed.
	records bool
	// used, if not nil, is told of each file of a folder that is read, by any
	// goroutine.
	used func(folder string, u rulesdir.Used)
	// stdin is read for -rules -.
	stdin io.Reader
}

// find finds out what each -rules is.
func (c *rulesConfig) find(ctx context.Context, use ruleUse, log *console) (*ruleset.Found, error) {
	o := ruleset.Options{
		Sources: c.folders, Single: c.single, AllowNone: c.allowNoRules,
		Chains: c.agents, Profile: c.profile, Limit: int(c.limit), Policy: c.policy, AsOf: c.asOf, History: c.history,
		Explain: use.explain, Records: use.records,
		Memory: use.memory, Workers: use.workers, Maker: "robotsbatch " + version(),
		HoldHeap: func() func() { return holdHeap(use.memory) },
		OpenTable: func(ctx context.Context, name string, o captures.TableOptions) (captures.Reader, error) {
			return frontier.OpenCaptures(ctx, name, use.memory, o)
		},
		Used: use.used,
		Warn: func(message string) { log.warn(report.Printable(message)) },
		Note: func(message string) {
			text := report.Printable(message)
			log.info(text, text)
		},
		AllIgnored: log.json != nil,
	}
	if slices.Contains(c.folders, blob.Stdio) { // an interruptible reader reads ahead
		o.Stdin = frontier.Interruptible(ctx, func() (io.ReadCloser, error) { return io.NopCloser(use.stdin), nil })
	}
	return ruleset.Find(ctx, o)
}

// openRules opens what was found, reports what was read of captures, and sets c.asOf to
// the newest fetch unless -as-of did.
func (c *rulesConfig) openRules(ctx context.Context, found *ruleset.Found, log *console) (*ruleset.Set, error) {
	set, err := found.Open(ctx)
	if err != nil {
		return nil, err
	}
	if captured := set.Captured(); captured != nil {
		counts := report.CapturesOf(captured)
		log.info(counts.String(), "rules", "captures", counts)
	}
	c.asOf = set.AsOf()
	return set, nil
}

// asOfSeconds is the time that ages are counted up to, in seconds since 1970; 0
// for none.
func (c *rulesConfig) asOfSeconds() int64 {
	if c.asOf.IsZero() {
		return 0
	}
	return c.asOf.Unix()
}
