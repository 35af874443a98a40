package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"robotsbatch/batch/manifest"

	"robotsbatch/batch/option"
	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/io/frontier"
	"robotsbatch/io/report"
	"robotsbatch/io/rules/captures"
	"robotsbatch/io/rules/ruleset"
	"robotsbatch/io/store/blob"
	"robotsbatch/matcher"
)

// ruleUse says what rules are used for.
type ruleUse struct {
	// explain is whether rules will be described.
	explain bool
	// records is whether the records that are no rules are needed.
	records bool
	// usage is what is needed of the statements about use.
	usage matcher.UsageOptions
	// compared is whether other rules are opened to compare these with.
	compared bool
	// used, if not nil, is told of each file of a folder that is read, by any
	// goroutine.
	used func(folder string, file manifest.File)
}

// find finds out what each -rules is. While a rule pack of captures is made nothing else
// runs, and it may take all of -memory.
func (c *call) find(ctx context.Context, use ruleUse) (*ruleset.Found, error) {
	if !use.compared { // diff asks twice, for its two sides
		c.warnChains()
		c.warnUses()
	}
	o := ruleset.Options{
		Sources: c.folders, Single: c.single, Asked: c.fetchList, SingleElsewhere: use.compared, AllowNone: c.allowNoRules,
		Chains: c.agents, Listed: c.listed, Profile: c.profile, Limit: int(c.limit), Policy: c.policy, AsOf: c.asOf, History: c.history,
		Explain: use.explain, Records: use.records, Usage: use.usage,
		Memory: c.memory, Workers: c.workers, Maker: "robotsbatch " + cli.Version(),
		HoldHeap: func() func() { return holdHeap(c.memory) },
		OpenTable: func(ctx context.Context, name string, o captures.TableOptions) (captures.Reader, error) {
			return ruleset.OpenTable(ctx, name, c.memory, o)
		},
		Used: use.used,
		Warn: c.log.WarnOf, Note: c.log.Note,
		AllIgnored: c.log.JSON(),
	}
	if slices.Contains(c.folders, blob.Stdio) { // an interruptible reader reads ahead
		o.Stdin = frontier.Interruptible(ctx, func() (io.ReadCloser, error) { return io.NopCloser(c.s.in), nil })
	}
	found, err := ruleset.Find(ctx, o)
	if err == nil {
		err = c.spareRules(found)
	}
	return found, err
}

// spareRules refuses outputs that would replace what rules are read from.
func (c *call) spareRules(found *ruleset.Found) error {
	for _, output := range []struct{ flag, name string }{{"-out", c.out}, {"-report", c.reportFile}, {"-summary-json", c.summaryJSON}} {
		if err := spareSource(found, output.flag, output.name); err != nil {
			return err
		}
	}
	return nil
}

// spareSource refuses an output that would replace what rules are read from.
func spareSource(found *ruleset.Found, flag, name string) error {
	if source := found.Replaces(name); source != "" {
		return option.Usagef("%s %s would replace the rules, which are read from %s: choose another name", flag, blob.Shown(name), source)
	}
	return nil
}

// warnChains warns of agents that are likely meant to be several.
func (c *call) warnChains() {
	for _, chain := range c.agents {
		if chain.Related() {
			continue
		}
		each := make([]string, len(chain))
		for i, name := range chain {
			each[i] = "-agent " + name
		}
		c.log.Notice(fmt.Sprintf("-agent %s is one agent with a fallback: the rules for %s count only where a robots.txt has none for %s. For a verdict on each give %s",
			strings.Join(chain, ","), strings.Join(chain[1:], " and "), chain[0], strings.Join(each, " ")))
	}
}

// warnUses warns of uses that no vocabulary defines yet: they may be misspelt.
func (c *call) warnUses() {
	for _, use := range c.uses {
		if !use.Defined() {
			c.log.Notice(fmt.Sprintf("-use %s is not a key of draft-ietf-aipref-vocab-08: few sites will state it, if any", use))
		}
	}
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

// checkTimeless refuses rules without times where a flag asks for what held when, and
// names those that hold at all times beside others.
func (c *call) checkTimeless(flag string, t ruleset.Timeless) error {
	if t.All {
		return option.Usagef("%s needs rules with times, and %s has none: captures have them in WARC files, or in a column fetched_at; "+
			"rule packs where they were compiled of these (robotsbatch help history)", flag, ruleset.SomeOf(t.Names))
	}
	if len(t.Names) > 0 {
		text := ruleset.SomeOf(t.Names) + " has no times: its rules hold at all times"
		if len(t.Names) > 1 {
			text = ruleset.SomeOf(t.Names) + " have no times: their rules hold at all times"
		}
		c.log.Info(text, "timeless", "rules", t.Names)
	}
	return nil
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
