package export

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/io/frontier/tableio"
	"robotsbatch/io/rules/rulepack"
	"robotsbatch/io/rules/ruleset"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/domains"
	"robotsbatch/matcher/extent"
	"robotsbatch/matcher/usage"
)

// Kinds of changes.
const (
	// opened and closed: the agent is denied less, or more, of the authority.
	opened = "opened"
	closed = "closed"
	// otherRules: it obeys other rules, which deny as much: nothing, something or all.
	otherRules = "rules"
	// added and removed: nothing was known of the authority, or is any more.
	added   = "added"
	removed = "removed"
	// useChanged: what is stated of a use is another.
	useChanged = "use"
)

// useChangeColumns are the columns that a table of changes also has if uses are compared.
var useChangeColumns = []arrow.Field{optionalText("use"), optionalText("old_use"), optionalText("new_use")}

// writeUseChange writes the values of useChangeColumns: the use with an index, and what was stated
// about it before and after. If the index is -1, the row is about no use, and the values are null.
func writeUseChange(w *tableio.Writer, uses []usage.Use, use int, before, after usage.Values) {
	name := ""
	if use >= 0 {
		name = uses[use].String()
	}
	w.Put(name, before.String(), after.String())
}

// ChangesSchema returns the schema of the table of changes. It has a row for each authority
// and agent whose access changes, and one for each use about which the authority states
// something else.
func ChangesSchema(uses []usage.Use) *arrow.Schema {
	columns := []arrow.Field{
		text("agent"), text("change"), optionalText("old_blocked"), optionalText("new_blocked"), optionalText("old_access"), optionalText("new_access"),
		optional("old_status", arrow.PrimitiveTypes.Int32), optional("new_status", arrow.PrimitiveTypes.Int32),
	}
	if len(uses) > 0 {
		columns = append(columns, useChangeColumns...)
	}
	return schema(columns...)
}

// RuleSide is one side of a comparison of rules.
type RuleSide struct {
	Listing *ruleset.Listing
	// Profile is the one that it was listed under.
	Profile matcher.Profile
	// Agents of both sides are compared by index. Both sides have the same number.
	Agents []matcher.Chain
}

// Changed counts what a comparison found.
type Changed struct {
	// Authorities counts those that are on at least one side, and Different those whose access
	// changes for some agent.
	Authorities int64          `json:"authorities"`
	Different   int64          `json:"authorities_changed"`
	Agents      []AgentChanges `json:"agents"`
	// Stating counts the authorities that state something else about some use to some agent; nil if
	// no uses are compared. Uses has an element for each agent and use.
	Stating *int64       `json:"authorities_stating,omitempty"`
	Uses    []UseChanges `json:"uses,omitempty"`
}

// AgentChanges counts authorities by how an agent's access changes.
type AgentChanges struct {
	Agent   string `json:"agent"`
	Closed  int64  `json:"closed"`
	Opened  int64  `json:"opened"`
	Rules   int64  `json:"rules"`
	Added   int64  `json:"added"`
	Removed int64  `json:"removed"`
}

// counterOf returns the counter of a kind of changes.
func (a *AgentChanges) counterOf(change string) *int64 {
	return map[string]*int64{closed: &a.Closed, opened: &a.Opened, otherRules: &a.Rules, added: &a.Added, removed: &a.Removed}[change]
}

// UseChanges counts authorities that state something else about a use to an agent, by what they
// state now.
type UseChanges struct {
	Agent      string `json:"agent"`
	Use        string `json:"use"`
	Disallowed int64  `json:"disallowed"`
	Allowed    int64  `json:"allowed"`
	// Other counts those that state another value, several values, nothing, or the same value for
	// other paths than before.
	Other int64 `json:"other"`
}

// add counts an authority that now states said.
func (c *UseChanges) add(said usage.Values) {
	switch said.Single() {
	case usage.Allowed:
		c.Allowed++
	case usage.Disallowed:
		c.Disallowed++
	default:
		c.Other++
	}
}

// Changes yields the changes from the older to the newer side as records of ChangesSchema,
// ordered by SURT, with at most rows rows each. It counts them in c as it yields them.
//
// For each agent it compares how much the rules deny (see package extent) and what is stated
// about the uses. A body with the same bytes on both sides is not read, if profile and agents
// are the same.
func Changes(older, newer RuleSide, uses []usage.Use, rows int, c *Changed) iter.Seq2[arrow.Record, error] {
	d := &differ{sides: [2]*ruledSide{newRuledSide(older, uses), newRuledSide(newer, uses)}, uses: uses, changed: c}
	d.alike = older.Profile == newer.Profile && slices.EqualFunc(older.Agents, newer.Agents, slices.Equal)
	for i, chain := range newer.Agents {
		name := chain.String()
		if before := older.Agents[i].String(); before != name {
			name = before + " → " + name
		}
		d.names = append(d.names, name)
		c.Agents = append(c.Agents, AgentChanges{Agent: name})
		for _, use := range uses {
			c.Uses = append(c.Uses, UseChanges{Agent: name, Use: use.String()})
		}
	}
	if len(uses) > 0 {
		c.Stating = new(int64)
	}
	return tableio.WrittenRecords(ChangesSchema(uses), rows, d.merge)
}

// differ compares two sides: the older and the newer one.
type differ struct {
	sides   [2]*ruledSide
	alike   bool     // the sides have the same profile and agents
	names   []string // of agents
	uses    []usage.Use
	changed *Changed
}

// errStopped ends a listing whose caller wants no more.
var errStopped = errors.New("stopped")

// eachListed yields copies of the authorities of a listing, which stay valid. At the end it sets *err
// to the error of the listing, or to errStopped if the caller stopped before.
func eachListed(l *ruleset.Listing, err *error) iter.Seq[*ruleset.Listed] {
	return func(yield func(*ruleset.Listed) bool) {
		*err = l.Each(func(x *ruleset.Listed) error {
			kept := *x
			kept.Key, kept.SURT = bytes.Clone(x.Key), bytes.Clone(x.SURT)
			if !yield(&kept) {
				return errStopped
			}
			return nil
		})
	}
}

// merge compares each authority that either side has, in the order of SURT, and writes the
// changes.
func (d *differ) merge(w *tableio.Writer) error {
	var errs [2]error
	nextOld, stopOld := iter.Pull(eachListed(d.sides[0].Listing, &errs[0]))
	defer stopOld()
	nextNew, stopNew := iter.Pull(eachListed(d.sides[1].Listing, &errs[1]))
	defer stopNew()
	older, _ := nextOld() // nil at the end
	newer, _ := nextNew()
	for older != nil || newer != nil {
		x, y := older, newer // those of the first authority that is left; nil on a side that lacks it
		if x != nil && y != nil {
			switch order := cmp.Or(bytes.Compare(x.SURT, y.SURT), bytes.Compare(x.Key, y.Key)); {
			case order < 0:
				y = nil
			case order > 0:
				x = nil
			}
		}
		if err := d.compare(w, x, y); err != nil {
			return err
		}
		if x != nil {
			older, _ = nextOld()
		}
		if y != nil {
			newer, _ = nextNew()
		}
	}
	return errors.Join(errs[0], errs[1])
}

// compare compares an authority, writes a row for each change, and counts the changes in d.changed. x is the
// older side and y the newer; nil on a side that does not know the authority.
func (d *differ) compare(w *tableio.Writer, x, y *ruleset.Listed) error {
	d.changed.Authorities++
	if x != nil && y != nil && d.alike && x.Access == y.Access { // the rules of equal bodies need not be read
		if same, err := sameRules(x, y); same || err != nil {
			return err
		}
	}
	if err := d.sides[0].read(x); err != nil {
		return err
	}
	if err := d.sides[1].read(y); err != nil {
		return err
	}
	different, stating := false, false
	for agent := range d.names {
		if change := d.change(x, y, agent); change != "" {
			different = true
			*d.changed.Agents[agent].counterOf(change)++
			const noUse = -1
			d.writeChange(w, x, y, agent, change, noUse)
		}
		before, after := d.sides[0].usageOf(x), d.sides[1].usageOf(y)
		for use := range d.uses {
			if !matcher.SameStated(before, after, agent, use) {
				stating = true
				d.changed.Uses[agent*len(d.uses)+use].add(after.Stated(agent, use))
				d.writeChange(w, x, y, agent, useChanged, use)
			}
		}
	}
	if different {
		d.changed.Different++
	}
	if stating {
		*d.changed.Stating++
	}
	return w.Err()
}

// sameRules reports whether x and y, which have the same access, have the same rules because their
// bodies have the same bytes, or they have no bodies.
func sameRules(x, y *ruleset.Listed) (bool, error) {
	if x.Access != access.Rules {
		return true, nil
	}
	_, older, err := x.Pack().BodyFacts(x.Body)
	if err != nil {
		return false, err
	}
	_, newer, err := y.Pack().BodyFacts(y.Body)
	return older == newer, err
}

// change returns the kind of change of an agent's access from x, the older side, to y; empty if there
// is none. Both sides must have read the authority.
func (d *differ) change(x, y *ruleset.Listed, agent int) string {
	switch {
	case x == nil:
		return added
	case y == nil:
		return removed
	}
	before, after := d.sides[0].blocked(x, agent), d.sides[1].blocked(y, agent)
	bothRules := x.Access == access.Rules && y.Access == access.Rules
	switch {
	case before != after && before != extent.Undecided && after != extent.Undecided:
		if after > before { // extents ascend with what is denied
			return closed
		}
		return opened
	case before != after, bothRules && d.obeysOtherRules(agent): // it is not known how much, or they deny as much
		return otherRules
	}
	return ""
}

// obeysOtherRules reports whether an agent obeys other rules on the newer side than on the
// older. Rules compiled for different profiles never have the same bytes, so their normalised
// patterns are compared.
func (d *differ) obeysOtherRules(agent int) bool {
	x, y := d.sides[0], d.sides[1]
	if x.Profile == y.Profile {
		return !x.origin.Trie(agent).Equal(y.origin.Trie(agent))
	}
	return !slices.Equal(x.patterns(agent), y.patterns(agent))
}

// writeChange writes the row of a change from x to y, of which one may be nil: of an agent's access, or of
// the use with that index; use is -1 for access.
func (d *differ) writeChange(w *tableio.Writer, x, y *ruleset.Listed, agent int, change string, use int) {
	known := cmp.Or(x, y) // a side that has the authority
	var blocked, outcome [2]string
	var status [2]int
	for side, l := range [2]*ruleset.Listed{x, y} {
		if l != nil {
			blocked[side], outcome[side], status[side] = d.sides[side].blocked(l, agent).String(), outcomes[l.Access], l.Status
		}
	}
	w.Put(known.Key, domains.Registered(domains.Host(known.Key)), known.SURT, d.names[agent], change)
	w.Put(blocked[0], blocked[1], outcome[0], outcome[1], status[0], status[1])
	if len(d.uses) > 0 {
		var said [2]usage.Values
		if use >= 0 {
			said = [2]usage.Values{d.sides[0].usageOf(x).Stated(agent, use), d.sides[1].usageOf(y).Stated(agent, use)}
		}
		writeUseChange(w, d.uses, use, said[0], said[1])
	}
	w.End()
}

// ruledSide is a side with the rules of one body, which it read last.
type ruledSide struct {
	RuleSide
	rules ruleReader

	pack    *rulepack.Pack // the pack that has the body, and the body's number there
	number  uint32
	origin  matcher.Origin          // the rules
	said    *matcher.Usage          // what the body says about uses; nil for nothing
	extents map[*byte]extent.Extent // by Trie.Identity, how much the trie denies, where that was asked
}

func newRuledSide(s RuleSide, uses []usage.Use) *ruledSide {
	return &ruledSide{RuleSide: s, rules: newRuleReader(s.Agents, uses)}
}

// usageOf returns what the authority that was read last says about uses; nil for nothing.
func (s *ruledSide) usageOf(x *ruleset.Listed) *matcher.Usage {
	if x == nil || x.Access != access.Rules {
		return nil
	}
	return s.said
}

// read reads the rules of an authority. It does nothing if x is nil, has no rules, or has the
// body that was read last.
func (s *ruledSide) read(x *ruleset.Listed) error {
	if x == nil || x.Access != access.Rules || s.pack == x.Pack() && s.number == x.Body {
		return nil
	}
	stored, err := x.Pack().Body(x.Body)
	if err != nil {
		return err
	}
	s.pack, s.number, s.extents = x.Pack(), x.Body, make(map[*byte]extent.Extent)
	s.origin, s.said, _ = s.rules.read(stored, s.Profile)
	return nil
}

// patterns returns an agent's rules with normalised patterns, sorted and without duplicates.
func (s *ruledSide) patterns(agent int) []string {
	var all []string
	for _, rule := range s.origin.Trie(agent).Parsed() {
		all = append(all, fmt.Sprint(rule.Allow, matcher.NormalPattern(rule.Pattern, s.Profile)))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// blocked returns how much of an authority the agent with that index is denied.
func (s *ruledSide) blocked(x *ruleset.Listed, agent int) extent.Extent {
	if x.Access != access.Rules {
		return extentOf(x.Access)
	}
	trie := s.origin.Trie(agent)
	known, ok := s.extents[trie.Identity()]
	if !ok {
		known = extent.Of(trie).Extent
		s.extents[trie.Identity()] = known
	}
	return known
}
